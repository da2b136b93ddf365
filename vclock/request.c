/* Keeping the accounts of requests, in cycles. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "request.h"

#include <inttypes.h>
#include <string.h>

#include "account.h"
#include "clock.h"
#include "histogram.h"
#include "memory.h"
#include "registers.h"
#include "table.h"

enum part { FLASH, CHANNEL, FLASH_QUEUE, LINK, QUEUED, COMPUTE, SPIN, LOGICAL, PARTS };
static const char *const part_names[PARTS] = { "flash", "channel", "flash_queue", "link", "queued", "compute", "spin", "logical" };

enum doing { NOTHING, WORKED_AT, LEFT, LINKS, DONE };
struct request {
	uint64_t tag; /* its address */
	enum doing doing;
	unsigned hart; /* that works at it */
	bool waits;
	uint64_t begun, at; /* fetched; accounted for until then */
	uint64_t spun;      /* by the hart, when it began to work at it */
	uint64_t read[3];   /* the flash read that the next RUN follows: cells begin, channel begins, all at hand; 0: none */
	uint64_t part[PARTS];
};

/* Requests by their time: sums of each bucket, so that the slow ones can be told from all. */
struct slice {
	uint64_t count, cycles, part[PARTS];
};
enum kind { READS, WRITES, KINDS };
static const char *const kind_names[KINDS] = { "read", "write" };
static struct {
	struct vc_histogram time;
	struct slice bucket[VC_HISTOGRAM_BUCKETS];
} kinds[KINDS];
static struct vc_table requests = { .entry_bytes = sizeof(struct request) };

static uint64_t overlap(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end)
{
	uint64_t from = a > b ? a : b, to = a_end < b_end ? a_end : b_end;

	return to > from ? to - from : 0;
}

/* It was out of any hart's hands since r->at. */
static void add_gap(struct request *r, uint64_t now)
{
	uint64_t cells = overlap(r->at, now, r->read[0], r->read[1]), channel = overlap(r->at, now, r->read[1], r->read[2]);
	uint64_t before = overlap(r->at, now, 0, r->read[0]);

	r->part[FLASH] += cells;
	r->part[CHANNEL] += channel;
	r->part[FLASH_QUEUE] += before;
	r->part[QUEUED] += now - r->at - before - cells - channel;
	memset(r->read, 0, sizeof(r->read));
}

/* A hart that has passed a request on runs ahead to its next order point, so it may tell that it left before the next one tells that
 * it took over at an earlier time: what it did with the request ended then. */
static void give_back(struct request *r, uint64_t now)
{
	if (now >= r->at)
		return;
	r->part[COMPUTE] -= r->at - now;
	r->at = now;
}

/* Accounts for everything until now. */
static void settle(struct request *r, uint64_t now)
{
	uint64_t spun;

	give_back(r, now);

	switch (r->doing) {
	case NOTHING: break;
	case WORKED_AT:
		spun = vc_account_spin(r->hart) - r->spun;
		spun = spun < now - r->at ? spun : now - r->at;
		r->part[SPIN] += spun;
		r->part[COMPUTE] += now - r->at - spun;
		r->spun += spun;
		break;
	case LINKS: r->part[LINK] += now - r->at; break;
	case LEFT:
	case DONE:
		if (r->waits)
			r->part[LOGICAL] += now - r->at;
		else
			add_gap(r, now);
		break;
	}
	r->at = now;
}

static void work_at(const struct vc_hart *h, struct request *r)
{
	r->doing = WORKED_AT;
	r->hart = h->index;
	r->spun = vc_account_spin(h->index);
}

static void begin(const struct vc_hart *h, struct request *r, uint64_t now)
{
	*r = (struct request){ .tag = r->tag, .begun = now, .at = now };
	work_at(h, r);
}

static void leave(const struct vc_hart *h, struct request *r, enum doing doing, uint64_t now)
{
	if (r->doing != WORKED_AT || r->hart != h->index)
		return;
	settle(r, now);
	r->doing = doing;
}

/* What no hart had, and the FTL resumes or has done on its own, waited there, be it that a flash read has just been told. */
static void end_stay(struct request *r, uint64_t now)
{
	r->waits |= r->doing == LEFT && !r->read[2];
	settle(r, now);
	r->waits = false;
}

static void done(struct request *r, uint64_t now)
{
	end_stay(r, now);
	r->doing = DONE;
}

static void note_read(struct request *r, const struct hz_vc_slot *slot)
{
	r->read[0] = vc_duration_cycles(slot->arg0);
	r->read[1] = vc_duration_cycles(slot->arg1);
	r->read[2] = vc_duration_cycles(slot->arg2);
}

static void end(struct request *r, enum kind kind, uint64_t now)
{
	uint64_t cycles = now - r->begun;
	struct slice *slice = &kinds[kind].bucket[vc_histogram_bucket(cycles)];

	settle(r, now);
	r->doing = NOTHING;
	vc_histogram_add(&kinds[kind].time, cycles);
	slice->count++;
	slice->cycles += cycles;
	for (unsigned i = 0; i < PARTS; i++)
		slice->part[i] += r->part[i];
}

/* Which event, and which register has the address, the instruction itself says. */
void vc_request_event(const struct vc_hart *h)
{
	const void *code = vc_guest(h->wait_pc, 4);
	uint64_t now = vc_clock(h), address;
	struct request *r;
	uint32_t insn = 0;

	if (vc.ended || !code)
		return;
	memcpy(&insn, code, sizeof(insn));
	address = vc_register(h->index, insn >> 15 & 31);
	if (!address)
		return;
	r = vc_table_at(&requests, address);
	if (insn >> 20 == HZ_VC_FETCHED)
		return begin(h, r, now);
	if (r->doing == NOTHING)
		return; /* of the device itself */
	switch (insn >> 20) {
	case HZ_VC_RUN: settle(r, now); return work_at(h, r);
	case HZ_VC_LEFT: return leave(h, r, LEFT, now);
	case HZ_VC_LINKS: return leave(h, r, LINKS, now);
	case HZ_VC_DONE: return done(r, now);
	case HZ_VC_FLASH_READ: return note_read(r, h->slot);
	case HZ_VC_ENDS_READ: return end(r, READS, now);
	case HZ_VC_ENDS_WRITE: return end(r, WRITES, now);
	}
}

void vc_request_waits(const struct vc_hart *h, uint64_t address, bool waits)
{
	struct request *r = vc_table_find(&requests, address);

	if (!r || r->doing == NOTHING)
		return;
	if (waits)
		r->waits = true;
	else if (r->doing != WORKED_AT)
		end_stay(r, vc_clock(h));
	else
		r->waits = false;
}

void vc_request_begin_anew(void) { memset(kinds, 0, sizeof(kinds)); }

/* --- report --- */

static void write_slice(FILE *out, const char *name, const struct slice *slice)
{
	uint64_t error = slice->cycles;

	fprintf(out, "\"%s\": {\"count\": %" PRIu64 ", \"cycles\": %" PRIu64, name, slice->count, slice->cycles);
	for (unsigned i = 0; i < PARTS; i++) {
		fprintf(out, ", \"%s\": %" PRIu64, part_names[i], slice->part[i]);
		error -= slice->part[i];
	}
	fprintf(out, ", \"error\": %" PRId64 "}", (int64_t)error);
}

/* From the bucket on that has the value of this rank. */
static void write_slowest(FILE *out, const char *name, enum kind kind, unsigned permille)
{
	uint64_t wanted = (kinds[kind].time.total * permille + 999) / 1000, below = 0;
	struct slice sum = { 0 };

	for (unsigned i = 0; i < VC_HISTOGRAM_BUCKETS; i++) {
		const struct slice *slice = &kinds[kind].bucket[i];

		below += slice->count;
		if (below < wanted)
			continue;
		sum.count += slice->count;
		sum.cycles += slice->cycles;
		for (unsigned p = 0; p < PARTS; p++)
			sum.part[p] += slice->part[p];
	}
	write_slice(out, name, &sum);
}

void vc_request_write_json(FILE *out)
{
	const char *comma = "";

	fprintf(out, "    \"requests\": [");
	for (unsigned k = 0; k < KINDS; k++) {
		if (!kinds[k].time.total)
			continue;
		fprintf(out, "%s\n      {\"kind\": \"%s\", ", comma, kind_names[k]);
		write_slowest(out, "all", (enum kind)k, 0);
		fprintf(out, ", ");
		write_slowest(out, "p99", (enum kind)k, 990);
		fprintf(out, ", ");
		write_slowest(out, "p999", (enum kind)k, 999);
		fprintf(out, "}");
		comma = ",";
	}
	fprintf(out, "\n    ],\n");
}
