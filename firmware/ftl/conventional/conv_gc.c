/* Collecting backing zones: choice of the victim, copying in batches, flush, reset. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "block/superblock.h"
#include "conventional/conventional.h"
#include "gc/victim.h"
#include "lt/arena.h"
#include "map/l2p.h"
#include "slc/slc.h"
#include "zone/read_write.h"
#include "zone/zone.h"

/* Choice of the victim among backing zones. */

/* Copies that the collector's stream can take before a zone must be erased. */
static uint64_t room_for_copies(struct ftl *ftl)
{
	struct conventional *conv = ftl->conventional;
	uint32_t frontier = frontier_first(ftl->cfg, STREAM_COLLECT);
	uint64_t current = lt_load(&conv->current[frontier]), left = 0;
	struct lt_lock_node node;

	if (current) {
		struct zone *zone = backing_zone(ftl, (uint32_t)current - 1);

		lt_lock_acquire(&zone->lock, &node);
		if (lt_load(&backing_of(zone)->frontier) == frontier)
			left = ftl->backing_capacity - zone->wp;
		lt_lock_release(&zone->lock, &node);
	}
	return left + lt_load(&conv->free) * ftl->backing_capacity;
}

/* Ties go to the older zone: where a map reports dead sectors late, all zones may seem full, and each must have its turn. */
static struct gc_candidate conv_candidate(const struct ftl *ftl, uint32_t number)
{
	const struct backing *info = &ftl->conventional->backing[number];
	uint64_t filled = lt_load(&info->filled);

	return (struct gc_candidate){ .valid = lt_load(&ftl->places->zone[number].valid),
				      .filled = filled,
				      .youngest = filled,
				      .erases = lt_load(&info->erases),
				      .order = filled };
}

struct zone *conv_victim(struct ftl *ftl, bool urgent, bool *hope)
{
	gc_better_fn *better = gc_policies[ftl->cfg->conventional_gc];
	struct gc_view view = { .cfg = ftl->cfg, .now = lt_load(&ftl->sequence), .capacity = ftl->backing_capacity };
	uint64_t most = room_for_copies(ftl);
	struct gc_candidate best = { 0 };
	struct zone *victim = NULL;

	*hope = false;
	superblocks_wear(ftl, ftl->cfg->conventional_region == HZ_REGION_SLC, &view.wear_total, &view.wear_count);
	for (uint32_t i = 0; i < ftl->shape.backing_zones; i++) {
		const struct backing *info = &ftl->conventional->backing[i];
		uint64_t state = lt_load(&info->state);
		struct gc_candidate candidate;

		*hope |= state == BACKING_OPEN && lt_load(&info->frontier) == FRONTIER_NONE;
		if (state != BACKING_SEALED)
			continue;
		candidate = conv_candidate(ftl, i);
		if (candidate.valid <= most && (!victim || better(&view, &candidate, &best))) {
			best = candidate;
			victim = backing_zone(ftl, i);
		}
	}
	return urgent || best.valid <= ftl->backing_capacity - ftl->backing_capacity / 8 ? victim : NULL;
}

/* Collecting backing zones: choice of the victim, copying in batches, flush, reset. */

static void collect_batch(struct ftl_worker *self);
static void collect_next(struct ftl_worker *self);

static void collect_end(struct ftl_worker *self, enum backing_state victim_state)
{
	struct conv_gc *gc = &self->ftl->conventional->gc;

	lt_store(&backing_of(gc->victim)->state, victim_state);
	collect_next(self);
}

/* An internal request; its completion comes back to the collector's worker. */
static void collector_submit(struct ftl_worker *self, enum ftl_op op, uint8_t flags, void (*done)(struct ftl_request *))
{
	struct ftl_request *req = &self->ftl->conventional->gc.request;

	req->op = (uint8_t)op;
	req->flags = flags;
	req->reply_to = &self->thread;
	req->done = done;
	io_submit(self, req);
}

static struct ftl_worker *collector_of(struct ftl_request *req) { return io_of(req)->worker; }

/* The zone is EMPTY again. */
static void list_erased(struct ftl *ftl, struct zone *zone)
{
	struct conventional *conv = ftl->conventional;
	struct lt_lock_node node;

	places_reset(ftl, zone->places);
	lt_store(&backing_of(zone)->state, BACKING_ERASED);
	lt_lock_acquire(&conv->lock, &node);
	conv_list_erased(ftl, backing_number(zone));
	lt_lock_release(&conv->lock, &node);
	conv_retry(ftl);
}

static void was_reset(struct ftl_request *req)
{
	struct ftl_worker *self = collector_of(req);
	struct conv_gc *gc = &self->ftl->conventional->gc;

	if (req->status) {
		collect_end(self, BACKING_LOST);
		return;
	}
	list_erased(self->ftl, gc->victim);
	collect_next(self);
}

/* Everything that replaced the victim's sectors is durable. If that fails, the old data stay: the flush fails if a zone fails during it,
 * but does not see an earlier failure. */
static void was_flushed(struct ftl_request *req)
{
	struct ftl_worker *self = collector_of(req);
	struct conv_gc *gc = &self->ftl->conventional->gc;

	if (req->status || lt_load(&gc->victim->places->valid) || conv_may_miss(self->ftl->conventional)) {
		collect_end(self, BACKING_LOST);
		return;
	}
	if (gc->moved)
		placement_moved(self->ftl, gc->victim->stream, gc->first, gc->moved);
	lt_store(&gc->victim->places->reset_sequence, lt_load(&self->ftl->sequence) - 1);
	lt_add(&self->ftl->places->resets, 1);
	req->lba = gc->victim->start;
	collector_submit(self, FTL_ZONE_RESET, 0, was_reset);
}

/* The collector's stream found no zone: the remaining sectors stay. */
static void was_copied(struct ftl_request *req)
{
	struct ftl_worker *self = collector_of(req);
	struct conv_gc *gc = &self->ftl->conventional->gc;

	if (!req->status) {
		self->counters.conventional_gc_sectors += gc->count;
		gc->first = gc->moved ? gc->first : gc->lba[0];
		gc->moved += gc->count;
		collect_batch(self);
		return;
	}
	lt_store(&backing_of(gc->victim)->state, BACKING_SEALED);
	lt_store(&gc->busy, 0);
	conv_despair(self->ftl);
}

static void collect_copy(struct ftl_worker *self)
{
	struct conv_gc *gc = &self->ftl->conventional->gc;

	gc->request.lba = 0;
	gc->request.sectors = gc->count;
	gc->request.sgl = (struct sgl){ gc->memory, 0, gc->count * HZ_SECTOR_BYTES };
	collector_submit(self, FTL_WRITE, FTL_INSIDE, was_copied);
}

static void read_batch(struct ftl_worker *self);

static void copies_read(struct tsu_txn *txn)
{
	struct ftl_worker *self = worker_of(txn);
	struct conv_gc *gc = &self->ftl->conventional->gc;

	if (txn->status == NAND_POWER_OFF)
		return;
	if (slc_in_log(self->ftl, txn->ppa))
		slc_unpin(self, txn->ppa);
	gc->failed |= txn->status != NAND_OK;
	if (--gc->pending)
		return;
	readers_end(self, gc->victim);
	if (!gc->failed)
		collect_copy(self);
	else if (++gc->tries < CONV_GC_READ_TRIES)
		read_batch(self);
	else
		collect_end(self, BACKING_LOST);
}

/* Pin sectors still staged in SLC (zones that no stream resumed after a power cut). */
static ppa_t locate(struct ftl_worker *self, const struct zone *zone, uint32_t offset)
{
	ppa_t ppa;

	if (offset < zone->placed)
		return zone_place(zone, offset);
	l2p_staged_read(self, NULL, zone, offset, 1, &ppa);
	slc_pin(self->ftl, ppa);
	return ppa;
}

/* One read for each run of sectors within a flash page. The victim's lock is held. */
static struct tsu_txn *make_reads(struct ftl_worker *self)
{
	struct conv_gc *gc = &self->ftl->conventional->gc;
	struct tsu_txn *list = NULL;
	ppa_t ppa[CONV_GC_BATCH];

	for (uint32_t i = 0; i < gc->count; i++)
		ppa[i] = locate(self, gc->victim, gc->offset[i]);
	gc->pending = 0;
	for (uint32_t i = 0, run; i < gc->count; i += run) {
		struct tsu_txn *txn = &gc->read[gc->pending++];

		run = slc_in_log(self->ftl, ppa[i]) ? 1 : read_together(self->ftl, &ppa[i], gc->count - i);
		*txn = (struct tsu_txn){
			.next = list,
			.owner = &self->thread,
			.done = copies_read,
			.op = TSU_READ,
			.cause = HZ_CAUSE_GC,
			.sectors = (uint16_t)run,
			.ppa = ppa[i],
			.data = { &gc->memory[i], 0, run * HZ_SECTOR_BYTES },
			.oob = &gc->oob[i],
		};
		list = txn;
	}
	return list;
}

static void read_batch(struct ftl_worker *self)
{
	struct conv_gc *gc = &self->ftl->conventional->gc;
	struct lt_lock_node node;
	struct tsu_txn *list;

	gc->failed = false;
	lt_lock_acquire(&gc->victim->lock, &node);
	readers_begin(gc->victim, 1);
	list = make_reads(self);
	lt_lock_release(&gc->victim->lock, &node);
	tsu_submit_list(self->ftl->tsu, list);
}

/* The next valid sectors, or the end. A sealed zone has no writer: its reverse map may be read. */
static void collect_batch(struct ftl_worker *self)
{
	struct conv_gc *gc = &self->ftl->conventional->gc;
	const struct place_zone *info = gc->victim->places;
	uint32_t capacity = self->ftl->backing_capacity, at = gc->position;

	for (gc->count = 0; gc->count < CONV_GC_BATCH && at < capacity; at++) {
		uint64_t bits = lt_load(&info->bits[at / PLACE_BITS]);

		if (!(uint32_t)bits) {
			at |= PLACE_BITS - 1;
		} else if (bits >> (at & (PLACE_BITS - 1)) & 1) {
			gc->offset[gc->count] = at;
			gc->lba[gc->count++] = info->lba[at];
		}
	}
	gc->position = at;
	gc->tries = 0;
	if (gc->count)
		read_batch(self);
	else
		collector_submit(self, FTL_FLUSH, FTL_BACKING, was_flushed);
}

static void collect(struct ftl_worker *self, struct zone *victim)
{
	struct conv_gc *gc = &self->ftl->conventional->gc;

	lt_store(&backing_of(victim)->state, BACKING_COLLECTING);
	gc->victim = victim;
	gc->position = gc->moved = 0;
	self->counters.conventional_gc_runs++;
	collect_batch(self);
}

/* `busy` is ours: continue while erased zones are short. A later request either finds it busy and sets `wanted`, or starts a new
 * collection. */
static void collect_next(struct ftl_worker *self)
{
	struct conventional *conv = self->ftl->conventional;
	struct conv_gc *gc = &conv->gc;

	do {
		bool urgent = lt_load(&conv->free) <= 1, hope = false;
		struct zone *victim = NULL;

		lt_store(&gc->wanted, 0);
		if (lt_load(&conv->free) < self->ftl->cfg->conventional_gc_low && !lt_load(&conv->losses))
			victim = conv_victim(self->ftl, urgent, &hope);
		if (victim) {
			collect(self, victim);
			return;
		}
		lt_store(&gc->busy, 0);
		if (urgent && !hope)
			conv_despair(self->ftl);
	} while (lt_load(&gc->wanted) && lt_cas(&gc->busy, 0, 1));
}

static void collect_start(struct lt_event *event)
{
	struct conv_gc *gc = (struct conv_gc *)((char *)event - offsetof(struct conv_gc, start));

	collect_next(gc->worker);
}

void conv_gc_kick(struct ftl_worker *self)
{
	struct conventional *conv = self->ftl->conventional;
	struct conv_gc *gc = &conv->gc;

	if (lt_load(&conv->free) >= self->ftl->cfg->conventional_gc_low)
		return;
	lt_store(&gc->wanted, 1);
	if (!lt_cas(&gc->busy, 0, 1))
		return;
	gc->worker = self;
	lt_post(&self->thread, &gc->start, collect_start);
}

/* Nothing is appended to the zone any more. */
static void leave_frontier(struct ftl *ftl, struct zone *zone)
{
	struct conventional *conv = ftl->conventional;
	struct backing *info = backing_of(zone);
	uint64_t frontier = lt_load(&info->frontier);
	struct lt_lock_node node;

	if (frontier == FRONTIER_NONE)
		return;
	lt_lock_acquire(&zone->lock, &node);
	lt_store(&info->frontier, FRONTIER_NONE);
	lt_lock_release(&zone->lock, &node);
	lt_lock_acquire(&conv->lock, &node);
	if (lt_load(&conv->current[frontier]) == backing_number(zone) + 1)
		lt_store(&conv->current[frontier], 0);
	lt_lock_release(&conv->lock, &node);
}

/* Full, and still being programmed: it will be sealed, or lost. */
static bool is_sealing(const struct backing *info)
{
	return lt_load(&info->state) == BACKING_OPEN && lt_load(&info->frontier) == FRONTIER_NONE;
}

bool conv_purge(struct ftl_worker *self, uint32_t *next)
{
	struct conventional *conv = self->ftl->conventional;
	struct conv_gc *gc = &conv->gc;
	uint32_t zones = self->ftl->shape.backing_zones;

	if (!zones)
		return true;
	if (!lt_cas(&gc->busy, 0, 1))
		return false;
	while (*next < zones && lt_load(&conv->backing[*next].state) == BACKING_ERASED)
		++*next;
	if (*next == zones || is_sealing(&conv->backing[*next])) {
		lt_store(&gc->busy, 0);
		return *next == zones;
	}
	gc->worker = self;
	leave_frontier(self->ftl, backing_zone(self->ftl, *next));
	collect(self, backing_zone(self->ftl, (*next)++));
	return false;
}

void conv_gc_init(struct ftl *ftl, struct arena *arena)
{
	struct conv_gc *gc = &ftl->conventional->gc;
	uint32_t bytes = hz_sector_memory(ftl->cfg);
	uint8_t *data = arena_alloc_data(arena, CONV_GC_BATCH, bytes, "conventional collector data");

	gc->request.protect = FTL_MOVED;
	gc->offset = arena_alloc(arena, CONV_GC_BATCH, sizeof(*gc->offset), "conventional collector places");
	gc->lba = arena_alloc(arena, CONV_GC_BATCH, sizeof(*gc->lba), "conventional collector LBAs");
	gc->origin = arena_alloc(arena, ftl->ring_sectors, sizeof(*gc->origin), "originals of copies");
	gc->oob = arena_alloc(arena, CONV_GC_BATCH, sizeof(*gc->oob), "conventional collector OOB");
	gc->memory = arena_alloc(arena, CONV_GC_BATCH, sizeof(*gc->memory), "conventional collector memory");
	gc->read = arena_alloc(arena, CONV_GC_BATCH, sizeof(*gc->read), "conventional collector reads");
	for (uint32_t i = 0; i < CONV_GC_BATCH; i++)
		gc->memory[i] = data + (size_t)i * bytes;
}
