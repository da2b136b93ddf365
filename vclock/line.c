/* The 64-byte lines that synchronising instructions touched. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "line.h"

#include <stdlib.h>

#include "store_buffer.h"
#include "table.h"
#include "token.h"

static struct vc_table lines = { .entry_bytes = sizeof(struct vc_line) };

static struct vc_line *find(uint64_t address) { return vc_table_at(&lines, (address >> VC_LINE_SHIFT) + 1); }

/* From `now` on: when the transfer begins. */
static uint64_t transfer_start(struct vc_line *line, uint64_t now, bool write)
{
	uint64_t start = line->busy_until > now ? line->busy_until : now;

	line->transfers++;
	line->queue_cycles += start - now;
	if (write || !vc.options.merge)
		line->busy_until = start + vc.options.cost.occupancy;
	return start;
}

/* An access that may begin at `now`: when it is done. */
static uint64_t access_end(struct vc_hart *h, struct vc_line *line, uint64_t address, uint64_t now, bool write)
{
	uint64_t *holders = vc_cache_holders(address), start;

	line->accesses++;
	if (vc_cache_hit(h, *holders, write))
		return now + vc.options.cost.local;
	start = transfer_start(line, now, write);
	return start + vc_cache_cost(vc_cache_fetch(h, address, holders, write));
}

/* Inside a freeze an access costs nothing and moves no line. Returns when it is done. */
static uint64_t pay(struct vc_hart *h, struct vc_line *line, uint64_t address, bool write)
{
	uint64_t now;

	if (h->frozen)
		return vc_clock(h);
	vc_store_buffer_drain(h);
	now = vc_clock(h);
	vc_charge(h, access_end(h, line, address, now, write) - now);
	return vc_clock(h);
}

/* The hart pays for a hit, the store buffer waits for the rest. */
static uint64_t pay_release(struct vc_hart *h, struct vc_line *line, uint64_t address)
{
	uint64_t end;

	if (h->frozen || !vc.options.store_buffer)
		return pay(h, line, address, true);
	end = access_end(h, line, address, vc_store_buffer_room(h), true);
	vc_store_buffer_add(h, end);
	vc_charge(h, vc.options.cost.local);
	return end;
}

void vc_line_load_reserved(struct vc_hart *h, uint64_t address)
{
	struct vc_line *line = find(address);

	pay(h, line, address, false);
	line->watchers |= 1ull << h->index;
	h->reserved = true;
	h->reserved_line = line->tag;
	h->reserved_address = address;
}

/* A hart in HZ_VC_WAIT may still have the reservation of an earlier LR. */
static bool waits_for_line(const struct vc_hart *h) { return h->state == VC_PARKED && h->wait_kind != VC_WAIT; }

void vc_line_write(struct vc_hart *h, uint64_t address, bool release)
{
	struct vc_line *line = find(address);
	uint64_t self = 1ull << h->index, others = line->watchers & ~self;
	uint64_t awake;

	awake = (release ? pay_release(h, line, address) : pay(h, line, address, true)) + vc.options.cost.wake;
	line->watchers &= self;
	while (others) {
		struct vc_hart *watcher = &vc.hart[__builtin_ctzll(others)];

		others &= others - 1;
		if (!watcher->reserved || watcher->reserved_line != line->tag)
			continue;
		watcher->reserved = false;
		if (!waits_for_line(watcher))
			continue;
		line->wakes += !watcher->frozen;
		vc_unpark(h, watcher, awake);
	}
}

void vc_line_count_park(const struct vc_hart *h) { find(h->reserved_address)->parks += !h->frozen; }

void vc_line_count_data(uint64_t address) { find(address)->data_transfers++; }

static int compare(const void *a, const void *b)
{
	const struct vc_line *x = a, *y = b;
	uint64_t of_x = x->transfers + x->data_transfers, of_y = y->transfers + y->data_transfers;

	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

unsigned vc_line_top(struct vc_line *out, unsigned count)
{
	struct vc_line *all = calloc(lines.used ? lines.used : 1, sizeof(*all));
	unsigned n = 0;

	if (!all)
		abort();
	for (uint64_t i = 0; i < lines.slots; i++) {
		const struct vc_line *line = vc_table_entry(&lines, i);

		if (line && (line->accesses || line->data_transfers))
			all[n++] = *line;
	}
	qsort(all, n, sizeof(*all), compare);
	if (count > n)
		count = n;
	for (unsigned i = 0; i < count; i++)
		out[i] = all[i];
	free(all);
	return count;
}
