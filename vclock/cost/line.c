/* The 64-byte lines touched by synchronising instructions. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "line.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "guest/cpu.h"
#include "guest/memory.h"
#include "schedule/clock.h"
#include "schedule/token.h"

/* Address space for all lines of RAM and so many of the host's; memory for those that were accessed. Line 0 is unused. */
enum { MOST_OUTSIDE = 1 << 22 };
static struct vc_line *lines;
static uint64_t most;
static uint32_t used;

bool vc_line_create(void)
{
	most = (vc.ram_bytes >> VC_LINE_SHIFT) + MOST_OUTSIDE;
	lines = mmap(NULL, most * sizeof(*lines), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (lines == MAP_FAILED)
		return false;
	madvise(lines, most * sizeof(*lines), MADV_HUGEPAGE);
	return true;
}

static __attribute__((noinline)) uint32_t new_line(uint64_t address)
{
	if (++used == most) {
		vc_say("harts synchronise through more than %d lines outside of RAM", MOST_OUTSIDE);
		abort();
	}
	lines[used].tag = (address >> VC_LINE_SHIFT) + 1;
	return used;
}

static struct vc_line *line_of(struct vc_copies *copies, uint64_t address)
{
	if (__builtin_expect(!copies->line, 0))
		copies->line = new_line(address);
	return &lines[copies->line];
}

static struct vc_line *find(uint64_t address) { return line_of(vc_cache_copies(address), address); }

/* The hub, with option dispatch: transfers begin in order. With arbiter=turns the waiting ones form
 * a set. */
static struct {
	uint64_t next_begin;           /* earliest begin of the next transfer */
	uint64_t waiting;              /* harts, one bit each */
	uint64_t wanted[VC_MAX_HARTS]; /* addresses in the lines they wait for */
	unsigned last;                 /* hart of the last transfer */
} hub;

/* Round robin: the next waiting hart below the last by number, then the highest. */
static unsigned first_in_turn(void)
{
	uint64_t below = hub.waiting & ((1ull << hub.last) - 1);

	return 63 - (unsigned)__builtin_clzll(below ? below : hub.waiting);
}

/* Cycles until h, which waits, polls again; 0: it is its turn. */
static uint64_t look_again(const struct vc_hart *h)
{
	unsigned first = first_in_turn();
	uint64_t now = vc_clock(h), at = find(hub.wanted[first])->busy_until;

	at = at > hub.next_begin ? at : hub.next_begin;
	if (at > now)
		return at - now;
	return first == h->index ? 0 : vc.options.cost.dispatch;
}

/* False for an SC that cannot store. */
static bool wants(const struct vc_hart *h, enum vc_kind kind, const struct vc_line *line)
{
	return vc_holds(h) && !vc.ended && (kind != VC_SC || (h->reserved && h->reserved_line == line->tag));
}

void vc_line_wait_turn(struct vc_hart *h, enum vc_kind kind, uint64_t address, bool alone)
{
	uint64_t self = 1ull << h->index, cycles;

	if (h->frozen)
		return;
	if (kind != VC_DATA && vc.options.store_buffer) {
		vc_store_buffer_drain(h);
		vc_come_first(h, kind);
	}
	if (!wants(h, kind, find(address)) || vc_cache_hit(h, vc_cache_copies(address), alone))
		return;
	hub.waiting |= self;
	hub.wanted[h->index] = address;
	while (wants(h, kind, find(address)) && (cycles = look_again(h))) {
		find(address)->queue_cycles += cycles;
		vc_charge(h, cycles);
		vc_come_first(h, kind);
	}
	hub.waiting &= ~self;
	if (wants(h, kind, find(address)))
		hub.last = h->index;
}

static struct {
	uint64_t waits; /* for a lock of this class, plus 1 */
	uint64_t last;  /* address that it accessed last */
} uses[VC_MAX_HARTS];

void vc_line_lock_event(const struct vc_hart *h)
{
	uint64_t lock = HZ_VC_LOCK_CLASS(h->slot->arg1) + 1;

	if (vc.options.transfer == 1000)
		return;
	switch ((enum hz_vc_lock_event)h->slot->arg0) {
	case HZ_VC_LOCK_ASKED: uses[h->index].waits = lock; return;
	case HZ_VC_LOCK_GOT:
	case HZ_VC_LOCK_GOT_SHARED:
		uses[h->index].waits = 0;
		if (uses[h->index].last)
			find(uses[h->index].last)->lock = lock;
		return;
	default: return;
	}
}

static void note_use(const struct vc_hart *h, struct vc_line *line)
{
	uses[h->index].last = vc_line_address(line);
	if (uses[h->index].waits)
		line->lock = uses[h->index].waits;
}

static uint64_t fetch_cost(const struct vc_line *line, enum vc_source source)
{
	uint64_t cost = vc_cache_cost(source), only = vc.options.transfer_class;

	if (vc.options.transfer == 1000 || !line->lock || (only != VC_ANY_CLASS && line->lock != only + 1))
		return cost;
	return cost * vc.options.transfer / 1000;
}

/* The line comes to h, which asks for it at `now`. Returns when the access that it is for is done, which then takes `work` more. */
static uint64_t transfer_end(struct vc_hart *h, struct vc_line *line, struct vc_copies *copies, uint64_t now, bool alone, uint64_t work,
			     enum vc_source *source)
{
	uint64_t start = line->busy_until > now ? line->busy_until : now, end;

	if (vc.options.cost.dispatch) {
		start = hub.next_begin > start ? hub.next_begin : start;
		hub.next_begin = start + vc.options.cost.dispatch;
	}
	line->queue_cycles += start - now;
	*source = vc_cache_fetch(h, vc_line_address(line), copies, alone);
	end = start + fetch_cost(line, *source) + (vc.options.busy_access ? work : 0);
	if (alone || !vc.options.merge)
		line->busy_until = vc.options.busy_access ? end : start + vc.options.cost.occupancy;
	return end;
}

/* End of a synchronising access that may begin at `now`. */
static uint64_t access_end(struct vc_hart *h, struct vc_line *line, uint64_t now, bool write)
{
	struct vc_copies *copies = vc_cache_copies(vc_line_address(line));
	bool alone = write || vc.options.lr_alone;
	uint64_t end = now + vc.options.cost.local;
	enum vc_source source;

	line->accesses++;
	if (__builtin_expect(vc.options.transfer != 1000, 0))
		note_use(h, line);
	if (!vc_cache_hit(h, copies, alone)) {
		line->transfers++;
		end = transfer_end(h, line, copies, now, alone, vc.options.cost.local, &source);
	}
	copies->dirty |= write;
	return end;
}

/* Charge an access and return its end. Inside a freeze it costs nothing and moves no line. */
static uint64_t pay(struct vc_hart *h, struct vc_line *line, bool write)
{
	uint64_t now;

	if (h->frozen)
		return vc_clock(h);
	vc_store_buffer_drain(h);
	now = vc_clock(h);
	vc_charge(h, access_end(h, line, now, write) - now);
	return vc_clock(h);
}

/* Charge a release: the hart pays for a hit; the store buffer waits for the rest. */
static uint64_t pay_release(struct vc_hart *h, struct vc_line *line)
{
	uint64_t end;

	if (h->frozen || !vc.options.store_buffer)
		return pay(h, line, true);
	end = access_end(h, line, vc_store_buffer_room(h), true);
	vc_store_buffer_add(h, end);
	vc_charge(h, vc.options.cost.local);
	return end;
}

void vc_line_load_reserved(struct vc_hart *h, uint64_t address)
{
	struct vc_line *line = find(address);

	pay(h, line, false);
	line->watchers |= 1ull << h->index;
	h->reserved = true;
	h->reserved_line = line->tag;
	h->reserved_address = address;
}

/* A hart in HZ_VC_WAIT may still have the reservation of an earlier LR. */
static bool waits_for_line(const struct vc_hart *h) { return h->state == VC_PARKED && h->wait_kind != VC_WAIT; }

/* h has written the line at `cycles`: break the reservations of the others and make their waiters
 * ready. */
static void break_reservations(struct vc_hart *h, struct vc_line *line, uint64_t cycles)
{
	uint64_t self = 1ull << h->index, others = line->watchers & ~self;

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
		vc_unpark(h, watcher, cycles + vc.options.cost.wake);
	}
}

void vc_line_write(struct vc_hart *h, uint64_t address, bool release)
{
	struct vc_line *line = find(address);

	break_reservations(h, line, release ? pay_release(h, line) : pay(h, line, true));
}

/* With data=moves: no wait for a busy line, and the line stays free. */
static void fetch_data(struct vc_hart *h, struct vc_line *line, struct vc_copies *copies, bool write)
{
	uint64_t now = vc_clock(h), end;
	enum vc_source source;

	if (vc.options.data == HZ_DATA_ORDERED) {
		end = transfer_end(h, line, copies, now, write, 0, &source);
	} else {
		source = vc_cache_fetch(h, vc_line_address(line), copies, write);
		end = now + vc_cache_cost(source);
	}
	vc_charge(h, end - now);
	h->fetches[source]++;
	h->fetch_cycles += end - now;
	line->data_transfers++;
}

void vc_line_data(struct vc_hart *h, uint64_t address, bool write)
{
	struct vc_copies *copies = vc_cache_copies(address);
	struct vc_line *line = line_of(copies, address);

	if (!vc_cache_hit(h, copies, write))
		fetch_data(h, line, copies, write);
	copies->dirty |= write;
	if (write && vc.options.data == HZ_DATA_ORDERED)
		break_reservations(h, line, vc_clock(h));
}

void vc_line_count_park(const struct vc_hart *h) { find(h->reserved_address)->parks += !h->frozen; }

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
	struct vc_line *all = calloc(used ? used : 1, sizeof(*all));
	unsigned n = 0;

	if (!all)
		abort();
	for (uint32_t i = 1; i <= used; i++)
		if (lines[i].accesses || lines[i].data_transfers)
			all[n++] = lines[i];
	qsort(all, n, sizeof(*all), compare);
	if (count > n)
		count = n;
	for (unsigned i = 0; i < count; i++)
		out[i] = all[i];
	free(all);
	return count;
}

/* LR/SC: decides whether a store-conditional succeeds. */

static uint64_t value_of(const struct vc_pair *pair)
{
	const void *word = vc_guest(pair->address, pair->bytes);
	uint64_t value = 0;

	if (word)
		memcpy(&value, word, pair->bytes);
	return value;
}

void vc_pair_open(struct vc_hart *h, uint64_t address, unsigned bytes)
{
	h->pair = (struct vc_pair){ .address = address, .bytes = bytes, .open = true };
	h->pair.found = value_of(&h->pair);
}

void vc_pair_drop(struct vc_hart *h)
{
	h->pair.open = false;
	h->reserved = false;
}

static unsigned bytes_of(uint32_t insn) { return 1u << (insn >> 12 & 7); }

static void write(const struct vc_pair *pair, uint64_t value) { memcpy(vc_guest(pair->address, pair->bytes), &value, pair->bytes); }

void vc_pair_decide(struct vc_hart *h)
{
	struct vc_pair *pair = &h->pair;
	uint32_t insn = vc_guest_instruction(h->wait_pc);
	bool same_width = bytes_of(insn) == pair->bytes;
	bool may_store = pair->open && (value_of(pair) == pair->found || !same_width); /* QEMU's decision */

	pair->stores = may_store && same_width && h->reserved;
	pair->hidden = may_store && !pair->stores && vc_guest(pair->address, pair->bytes) && vc.phase == VC_RUNNING &&
		       vc_register(h->index, insn >> 15 & 31) == pair->address;
	if (pair->hidden) {
		pair->held = value_of(pair);
		write(pair, ~pair->found);
	}
	vc_pair_drop(h);
}

bool vc_pair_close(struct vc_hart *h)
{
	if (h->pair.hidden)
		write(&h->pair, h->pair.held);
	h->pair.hidden = false;
	return h->pair.stores;
}

/* Store buffer: releases that a hart has not waited for. */

static void wait_until(struct vc_hart *h, uint64_t cycles)
{
	uint64_t now = vc_clock(h);

	if (cycles <= now)
		return;
	h->stores.waited += cycles - now;
	vc_charge(h, cycles - now);
}

static uint64_t *slot_at(struct vc_store_buffer *buffer, unsigned behind_oldest)
{
	return &buffer->done[(buffer->oldest + behind_oldest) % HZ_MAX_STORE_BUFFER];
}

/* Completion time of the last store; the buffer is not empty. */
static uint64_t all_done(struct vc_store_buffer *buffer) { return *slot_at(buffer, buffer->used - 1); }

static void let_go(struct vc_store_buffer *buffer, uint64_t now)
{
	while (buffer->used && *slot_at(buffer, 0) <= now) {
		buffer->oldest = (buffer->oldest + 1) % HZ_MAX_STORE_BUFFER;
		buffer->used--;
	}
}

uint64_t vc_store_buffer_room(struct vc_hart *h)
{
	struct vc_store_buffer *buffer = &h->stores;

	let_go(buffer, vc_clock(h));
	if (buffer->used == vc.options.store_buffer) {
		wait_until(h, *slot_at(buffer, 0));
		let_go(buffer, vc_clock(h));
	}
	return buffer->used ? all_done(buffer) : vc_clock(h);
}

void vc_store_buffer_add(struct vc_hart *h, uint64_t cycles)
{
	*slot_at(&h->stores, h->stores.used++) = cycles;
	h->stores.entered++;
}

void vc_store_buffer_drain(struct vc_hart *h)
{
	if (h->stores.used)
		wait_until(h, all_done(&h->stores));
	h->stores.used = 0;
}
