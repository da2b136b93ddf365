/* Request accounts in cycles, the lock history of each hart, and the critical path. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "critical_path.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "device_config.h"
#include "guest/cpu.h"
#include "guest/memory.h"
#include "guest/symbol.h"
#include "histogram.h"
#include "lock_profile.h"
#include "schedule/clock.h"
#include "vclock_abi.h"

/* Request accounts, in cycles. */

enum part { FLASH, CHANNEL, FLASH_QUEUE, LINK, QUEUED, COMPUTE, SPIN, LOGICAL, PARTS };
static const char *const part_names[PARTS] = { "flash", "channel", "flash_queue", "link", "queued", "compute", "spin", "logical" };

enum doing { NOTHING, WORKED_AT, LEFT, DONE };
struct request {
	uint64_t tag; /* address of the request */
	enum doing doing;
	unsigned hart;      /* the hart that works at it, or did last */
	uint64_t worked;    /* … until this time; not yet booked */
	bool waits;         /* for a logical lock, or for its turn at the zone … */
	uint64_t lock;      /* … the lock; 0: its turn */
	uint64_t begun, at; /* time of the fetch; everything until `at` is booked */
	uint64_t crossed;   /* time at which its data have crossed the link; 0: no transfer needed */
	uint64_t read[3];   /* flash read before the next RUN: cells begin, channel begins, data complete; 0: none */
	uint64_t part[PARTS];
	struct vc_shares shares;
};

/* Requests by latency: sums of each bucket, to report the slow ones separately. */
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

static void spins(void *r, uint64_t lock, uint64_t cycles) { vc_share_add(&((struct request *)r)->shares, lock, VC_SPUN, cycles); }
static void holds(void *r, uint64_t lock, uint64_t cycles) { vc_share_add(&((struct request *)r)->shares, lock, VC_HELD, cycles); }
static void is_behind(void *r, uint64_t lock, uint64_t cycles) { vc_share_add(&((struct request *)r)->shares, lock, VC_BEHIND, cycles); }

/* Book the time since r->at as work of its hart. */
static void add_work(struct request *r, uint64_t end)
{
	uint64_t spun = vc_past_times(r->hart, VC_PAST_SPUN, r->at, end, spins, r);

	vc_past_times(r->hart, VC_PAST_HELD, r->at, end, holds, r);
	r->part[SPIN] += spun;
	r->part[COMPUTE] += end - r->at - spun;
	r->at = end;
}

/* Book the time since r->at in which no hart held the request. The time after a flash read is
 * queueing for hart h. */
static void add_gap(const struct vc_hart *h, struct request *r, uint64_t now)
{
	uint64_t cells = overlap(r->at, now, r->read[0], r->read[1]), channel = overlap(r->at, now, r->read[1], r->read[2]);
	uint64_t before = overlap(r->at, now, 0, r->read[0]), queued = now - r->at - before - cells - channel;

	r->part[FLASH] += cells;
	r->part[CHANNEL] += channel;
	r->part[FLASH_QUEUE] += before;
	r->part[QUEUED] += queued;
	if (queued)
		vc_past_times(h->index, VC_PAST_SPUN, now - queued, now, is_behind, r);
	memset(r->read, 0, sizeof(r->read));
}

static void add_wait(struct request *r, uint64_t now)
{
	r->part[LOGICAL] += now - r->at;
	vc_share_add(&r->shares, VC_LOGICAL_LOCK(r->lock), VC_WAITED, now - r->at);
}

/* Book the last work of a hart. A hart that has passed a request on runs ahead to its next sync
 * point, so its LEFT may be reported before the next hart's earlier RUN: the work then ends at
 * `now`. */
static void settle_work(struct request *r, uint64_t now)
{
	uint64_t end = r->doing != WORKED_AT && r->worked < now ? r->worked : now;

	if (r->worked <= r->at && r->doing != WORKED_AT)
		return;
	if (end > r->at)
		add_work(r, end);
	r->worked = 0;
}

/* Book everything until now; h reports the event. */
static void settle(const struct vc_hart *h, struct request *r, uint64_t now)
{
	if (r->doing == NOTHING || now < r->at)
		return;
	settle_work(r, now);
	if (r->doing != WORKED_AT && r->waits)
		add_wait(r, now);
	else if (r->doing != WORKED_AT)
		add_gap(h, r, now);
	r->at = now;
}

static void work_at(const struct vc_hart *h, struct request *r)
{
	r->doing = WORKED_AT;
	r->hart = h->index;
}

static void begin(const struct vc_hart *h, struct request *r, uint64_t now)
{
	*r = (struct request){ .tag = r->tag, .begun = now, .at = now, .shares = { .at = r->shares.at, .room = r->shares.room } };
	work_at(h, r);
}

static void leave(const struct vc_hart *h, struct request *r, enum doing doing, uint64_t now)
{
	if (r->doing != WORKED_AT || r->hart != h->index)
		return;
	r->worked = now;
	r->doing = doing;
}

/* Time in which no hart held the request counts as waiting, unless a flash read was reported for
 * it. */
static void end_stay(const struct vc_hart *h, struct request *r, uint64_t now)
{
	r->waits |= r->doing == LEFT && !r->read[2];
	settle(h, r, now);
	r->waits = false;
	r->lock = 0;
}

static void done(const struct vc_hart *h, struct request *r, uint64_t now)
{
	end_stay(h, r, now);
	r->doing = DONE;
}

static void note_read(struct request *r, const struct hz_vc_slot *slot)
{
	r->read[0] = vc_duration_cycles(slot->arg0);
	r->read[1] = vc_duration_cycles(slot->arg1);
	r->read[2] = vc_duration_cycles(slot->arg2);
}

static void end(const struct vc_hart *h, struct request *r, enum kind kind, uint64_t now)
{
	uint64_t links = r->crossed > now ? r->crossed - now : 0, cycles = now + links - r->begun;
	unsigned bucket = vc_histogram_bucket(cycles);
	struct slice *slice = &kinds[kind].bucket[bucket];

	settle(h, r, now);
	r->doing = NOTHING;
	r->part[LINK] += links;
	vc_histogram_add(&kinds[kind].time, cycles);
	slice->count++;
	slice->cycles += cycles;
	for (unsigned i = 0; i < PARTS; i++)
		slice->part[i] += r->part[i];
	vc_critical_count(kind, bucket, &r->shares);
}

/* The instruction itself encodes the event and the register with the address. */
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
		return; /* a request of the device itself */
	switch (insn >> 20) {
	case HZ_VC_RUN: settle(h, r, now); return work_at(h, r);
	case HZ_VC_LEFT: return leave(h, r, LEFT, now);
	case HZ_VC_LINKS: r->crossed = vc_duration_cycles(h->slot->arg0); return;
	case HZ_VC_DONE: return done(h, r, now);
	case HZ_VC_FLASH_READ: return note_read(r, h->slot);
	case HZ_VC_ENDS_READ: return end(h, r, READS, now);
	case HZ_VC_ENDS_WRITE: return end(h, r, WRITES, now);
	}
}

void vc_request_waits(const struct vc_hart *h, uint64_t address, uint64_t lock)
{
	struct request *r = vc_table_find(&requests, address);

	if (!r || r->doing == NOTHING)
		return;
	if (r->doing != WORKED_AT && (!lock || r->waits))
		end_stay(h, r, vc_clock(h));
	r->waits = lock != 0;
	r->lock = lock;
}

uint64_t vc_request_oldest(void)
{
	uint64_t oldest = UINT64_MAX;

	for (uint64_t i = 0; i < requests.slots; i++) {
		const struct request *r = vc_table_entry(&requests, i);

		if (r && r->doing != NOTHING && r->at < oldest)
			oldest = r->at;
	}
	return oldest;
}

void vc_request_begin_anew(void)
{
	memset(kinds, 0, sizeof(kinds));
	vc_critical_begin_anew();
}

/* --- report --- */

static void write_slice(FILE *out, const char *name, enum kind kind, unsigned bucket, const struct slice *slice)
{
	uint64_t error = slice->cycles;

	fprintf(out, "\"%s\": {\"count\": %" PRIu64 ", \"cycles\": %" PRIu64, name, slice->count, slice->cycles);
	for (unsigned i = 0; i < PARTS; i++) {
		fprintf(out, ", \"%s\": %" PRIu64, part_names[i], slice->part[i]);
		error -= slice->part[i];
	}
	fprintf(out, ", \"error\": %" PRId64, (int64_t)error);
	vc_critical_write_json(out, kind, bucket, slice->cycles);
	fprintf(out, "}");
}

/* Requests from the bucket of this rank upwards. */
static void write_slowest(FILE *out, const char *name, enum kind kind, unsigned permille)
{
	uint64_t wanted = (kinds[kind].time.total * permille + 999) / 1000, below = 0;
	struct slice sum = { 0 };
	unsigned first = VC_HISTOGRAM_BUCKETS;

	for (unsigned i = 0; i < VC_HISTOGRAM_BUCKETS; i++) {
		const struct slice *slice = &kinds[kind].bucket[i];

		below += slice->count;
		if (below < wanted)
			continue;
		first = i < first ? i : first;
		sum.count += slice->count;
		sum.cycles += slice->cycles;
		for (unsigned p = 0; p < PARTS; p++)
			sum.part[p] += slice->part[p];
	}
	write_slice(out, name, kind, first, &sum);
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

/* Lock history: intervals for each hart and use. */

enum { MOST_HELD = 16, FIRST_ROOM = 1024, MOST_ROOM = 1 << 20 };

struct piece {
	uint64_t lock, from, to;
};
struct pieces {
	struct piece *at;
	unsigned count, room;
};
static struct past {
	struct pieces of[2];
	uint64_t lock; /* the lock that it waits for or holds now; 0: none */
	enum vc_past what;
	uint64_t since;
	uint64_t held[MOST_HELD];
	unsigned holds;
} pasts[VC_MAX_HARTS];

/* Drop intervals older than every request under way; if the room is exhausted, drop the older half. */
static void forget(struct pieces *p)
{
	uint64_t oldest = vc_request_oldest();
	unsigned gone = 0;

	while (gone < p->count && p->at[gone].to <= oldest)
		gone++;
	if (gone < p->count / 2 && p->room == MOST_ROOM)
		gone = p->count / 2;
	memmove(p->at, p->at + gone, (p->count - gone) * sizeof(*p->at));
	p->count -= gone;
}

static void make_room(struct pieces *p)
{
	if (p->room)
		forget(p);
	if (p->count * 2 <= p->room && p->room)
		return;
	if (p->room == MOST_ROOM)
		return;
	p->room = p->room ? p->room * 2 : FIRST_ROOM;
	p->at = realloc(p->at, p->room * sizeof(*p->at));
	if (!p->at)
		abort();
}

static void past_add(struct pieces *p, uint64_t lock, uint64_t from, uint64_t to)
{
	if (p->count == p->room)
		make_room(p);
	p->at[p->count++] = (struct piece){ lock, from, to };
}

/* Begin an interval in which the hart waits for or holds this lock. */
static void turn_to(struct past *past, uint64_t lock, enum vc_past what, uint64_t now)
{
	if (past->lock && now > past->since)
		past_add(&past->of[past->what], past->lock, past->since, now);
	past->lock = lock;
	past->what = what;
	past->since = now;
}

static uint64_t innermost(const struct past *past)
{
	for (unsigned i = 0; i < past->holds; i++)
		if (HZ_VC_LOCK_CLASS(past->held[i]) == HZ_LC_GLOBAL)
			return past->held[i];
	return past->holds ? past->held[past->holds - 1] : 0;
}

static void take_out(struct past *past, uint64_t lock)
{
	unsigned i = past->holds;

	while (i && past->held[i - 1] != lock)
		i--;
	if (!i)
		return;
	memmove(&past->held[i - 1], &past->held[i], (past->holds - i) * sizeof(past->held[0]));
	past->holds--;
}

void vc_past_event(const struct vc_hart *h, enum hz_vc_lock_event event, uint64_t lock)
{
	struct past *past = &pasts[h->index];
	uint64_t now = vc_clock(h);

	switch (event) {
	case HZ_VC_LOCK_ASKED: return turn_to(past, lock, VC_PAST_SPUN, now);
	case HZ_VC_LOCK_WAITED: break;
	case HZ_VC_LOCK_GOT:
	case HZ_VC_LOCK_GOT_SHARED:
		if (past->holds < MOST_HELD)
			past->held[past->holds++] = lock;
		break;
	case HZ_VC_LOCK_GIVEN: take_out(past, lock); break;
	default: return;
	}
	turn_to(past, innermost(past), VC_PAST_HELD, now);
}

bool vc_past_holds(unsigned hart, uint64_t lock_class)
{
	const struct past *past = &pasts[hart];

	return past->holds && (lock_class == VC_ANY_CLASS || HZ_VC_LOCK_CLASS(innermost(past)) == lock_class);
}

/* Report the part of the piece inside the interval; returns its length. */
static uint64_t between(const struct piece *piece, uint64_t from, uint64_t to, vc_past_fn *each, void *ctx)
{
	uint64_t begin = piece->from > from ? piece->from : from, end = piece->to < to ? piece->to : to;

	if (end <= begin)
		return 0;
	each(ctx, piece->lock, end - begin);
	return end - begin;
}

uint64_t vc_past_times(unsigned hart, enum vc_past what, uint64_t from, uint64_t to, vc_past_fn *each, void *ctx)
{
	const struct past *past = &pasts[hart];
	const struct pieces *p = &past->of[what];
	struct piece now = { past->lock, past->since, UINT64_MAX };
	uint64_t sum = past->lock && past->what == what ? between(&now, from, to, each, ctx) : 0;

	for (unsigned i = p->count; i && p->at[i - 1].to > from; i--)
		sum += between(&p->at[i - 1], from, to, each, ctx);
	return sum;
}

/* Shares of locks in the critical path, and their sums. */

enum { FIRST_SHARES = 8, MOST_TOLD = 16 };

static const char *const names[VC_CRITICALS] = { "spin", "held", "behind", "waits" };

/* Sum over the requests of a kind in a bucket. */
struct sum {
	uint64_t tag; /* the lock, with kind and bucket in the upper bits */
	uint64_t cycles[VC_CRITICALS];
};
#define TAG(kind, bucket, lock) ((lock) | (uint64_t)(kind) << 41 | (uint64_t)(bucket) << 48)
#define TAG_LOCK(tag) ((tag) & ((1ull << 41) - 1))
#define TAG_KIND(tag) ((tag) >> 41 & 127)
#define TAG_BUCKET(tag) ((tag) >> 48)

static struct vc_table sums = { .entry_bytes = sizeof(struct sum) };

static struct vc_share *share_of(struct vc_shares *shares, uint64_t lock)
{
	for (unsigned i = 0; i < shares->count; i++)
		if (shares->at[i].lock == lock)
			return &shares->at[i];
	if (shares->count == shares->room) {
		shares->room = shares->room ? shares->room * 2 : FIRST_SHARES;
		shares->at = realloc(shares->at, shares->room * sizeof(*shares->at));
		if (!shares->at)
			abort();
	}
	shares->at[shares->count] = (struct vc_share){ .lock = lock };
	return &shares->at[shares->count++];
}

void vc_share_add(struct vc_shares *shares, uint64_t lock, enum vc_critical what, uint64_t cycles)
{
	share_of(shares, lock)->cycles[what] += cycles;
}

static void shares_add(uint64_t *to, const uint64_t *cycles)
{
	for (unsigned i = 0; i < VC_CRITICALS; i++)
		to[i] += cycles[i];
}

void vc_critical_count(unsigned kind, unsigned bucket, const struct vc_shares *shares)
{
	for (unsigned i = 0; i < shares->count; i++) {
		struct sum *sum = vc_table_at(&sums, TAG(kind, bucket, shares->at[i].lock));

		shares_add(sum->cycles, shares->at[i].cycles);
	}
}

void vc_critical_begin_anew(void)
{
	for (uint64_t i = 0; i < sums.slots; i++) {
		struct sum *sum = vc_table_entry(&sums, i);

		if (sum)
			memset(sum->cycles, 0, sizeof(sum->cycles));
	}
}

/* --- report --- */

static uint64_t all_of(const struct sum *sum)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < VC_CRITICALS; i++)
		all += sum->cycles[i];
	return all;
}

static int most(const void *a, const void *b)
{
	const struct sum *x = *(const void *const *)a, *y = *(const void *const *)b;

	return vc_by_weight(all_of(x), all_of(y), x->tag, y->tag);
}

/* With `classes`, sum over each class and store it as the lock of index 0. */
static void gather(struct vc_table *out, unsigned kind, unsigned bucket, bool classes)
{
	for (uint64_t i = 0; i < sums.slots; i++) {
		const struct sum *sum = vc_table_entry(&sums, i);
		uint64_t lock;

		if (!sum || TAG_KIND(sum->tag) != kind || TAG_BUCKET(sum->tag) < bucket || !all_of(sum))
			continue;
		lock = TAG_LOCK(sum->tag);
		shares_add(((struct sum *)vc_table_at(out, classes ? lock >> 32 << 32 : lock))->cycles, sum->cycles);
	}
}

static const char *class_name(uint64_t lock)
{
	if (!(lock & VC_LOGICAL_LOCK(0)))
		return vc_lock_class_name(HZ_VC_LOCK_CLASS(lock));
	lock &= ~VC_LOGICAL_LOCK(0);
	return lock ? vc_logical_class_name(HZ_VC_LOCK_CLASS(lock)) : "turn";
}

static void write_cycles(FILE *out, const struct sum *sum)
{
	if (sum->tag & VC_LOGICAL_LOCK(0)) {
		fprintf(out, "\"%s\": %" PRIu64, names[VC_WAITED], sum->cycles[VC_WAITED]);
		return;
	}
	for (unsigned i = 0; i < VC_WAITED; i++)
		fprintf(out, "%s\"%s\": %" PRIu64, i ? ", " : "", names[i], sum->cycles[i]);
}

static void write_sums(FILE *out, const char *name, unsigned kind, unsigned bucket, uint64_t cycles, bool classes)
{
	struct vc_table table = { .entry_bytes = sizeof(struct sum) };
	const void **all;
	unsigned n;

	gather(&table, kind, bucket, classes);
	n = vc_sorted(&table, most, &all);
	fprintf(out, ", \"%s\": [", name);
	for (unsigned i = 0; i < n && (classes || i < MOST_TOLD); i++) {
		const struct sum *sum = all[i];

		fprintf(out, "%s{\"class\": \"%s\", \"logical\": %s, ", i ? ", " : "", class_name(sum->tag),
			sum->tag & VC_LOGICAL_LOCK(0) ? "true" : "false");
		if (!classes)
			fprintf(out, "\"index\": %" PRIu32 ", ", HZ_VC_LOCK_INDEX(sum->tag));
		write_cycles(out, sum);
		fprintf(out, ", \"share\": %.6f}", (double)all_of(sum) / (double)cycles);
	}
	fprintf(out, "]");
	free(all);
	vc_table_drop(&table);
}

void vc_critical_write_json(FILE *out, unsigned kind, unsigned bucket, uint64_t cycles)
{
	write_sums(out, "lock_classes", kind, bucket, cycles, true);
	write_sums(out, "locks", kind, bucket, cycles, false);
}
