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

/* Copies that the collector's open zone can take. */
static uint64_t room_in_open(struct ftl *ftl, const struct conv_gc *gc)
{
	struct conventional *conv = ftl->conventional;
	uint32_t frontier = frontier_first(ftl->cfg, STREAM_COLLECT) + gc->number;
	uint64_t current = lt_load(&conv->current[frontier]), left = 0;
	struct lt_lock_node node;

	if (current) {
		struct zone *zone = backing_zone(ftl, (uint32_t)current - 1);

		lt_lock_acquire(&zone->lock, &node);
		if (lt_load(&backing_of(zone)->frontier) == frontier)
			left = ftl->backing_capacity - zone->wp;
		lt_lock_release(&zone->lock, &node);
	}
	return left;
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

/* The best sealed zone whose copies fit into the collector's open zone or, besides, an erased one; NULL: none. *hope: none now, but a zone
 * that is being programmed may become one, or another collection ends. urgent: host writes wait, or soon will; otherwise, or while another
 * collection is about to make room, only a gain of an eighth of a zone is worth the copies. So collections without a gain do not take
 * erased zones from the host in turns. No lock held. */
static struct zone *find_victim(struct ftl *ftl, const struct conv_gc *gc, bool urgent, bool *hope)
{
	struct conventional *conv = ftl->conventional;
	gc_better_fn *better = gc_policies[ftl->cfg->conventional_gc];
	struct gc_view view = { .cfg = ftl->cfg, .now = lt_load(&ftl->sequence), .capacity = ftl->backing_capacity };
	uint64_t most = lt_load(&conv->free) > lt_load(&conv->promised) ? ftl->backing_capacity : room_in_open(ftl, gc);
	struct gc_candidate best = { 0 };
	struct zone *victim = NULL;
	bool others = false;

	*hope = false;
	superblocks_wear(ftl, ftl->cfg->conventional_region == HZ_REGION_SLC, &view.wear_total, &view.wear_count);
	for (uint32_t i = 0; i < ftl->shape.backing_zones; i++) {
		const struct backing *info = &conv->backing[i];
		uint64_t state = lt_load(&info->state);
		struct gc_candidate candidate;

		others |= state == BACKING_COLLECTING;
		*hope |= others || (state == BACKING_OPEN && lt_load(&info->frontier) == FRONTIER_NONE);
		if (state != BACKING_SEALED)
			continue;
		candidate = conv_candidate(ftl, i);
		if (candidate.valid <= most && (!victim || better(&view, &candidate, &best))) {
			best = candidate;
			victim = backing_zone(ftl, i);
		}
	}
	return (urgent && !others) || best.valid <= ftl->backing_capacity - ftl->backing_capacity / 8 ? victim : NULL;
}

/* Collecting backing zones: choice of the victim, copying in batches, flush, reset. */

static void collect_batch(struct ftl_worker *self);
static void collect_next(struct ftl_worker *self);

static struct conv_gc *gc_of(const struct ftl_worker *self) { return &self->ftl->conventional->gc[self->collector]; }

struct conv_gc *conv_gc_of(const struct ftl *ftl, struct ftl_request *req)
{
	uintptr_t first = (uintptr_t)ftl->conventional->gc, at = (uintptr_t)req;

	if (at - first >= ftl->cfg->conventional_collectors * sizeof(struct conv_gc))
		return NULL;
	return (struct conv_gc *)(at - offsetof(struct conv_gc, request));
}

bool conv_gc_quiet(const struct ftl *ftl)
{
	const struct conv_gc *gc = ftl->conventional->gc;
	bool quiet = true;

	for (uint32_t i = 0; gc && quiet && i < ftl->cfg->conventional_collectors; i++)
		quiet = !lt_load(&gc[i].busy);
	return quiet;
}

/* An internal request; its completion comes back to the collector's worker. */
static void collector_submit(struct ftl_worker *self, struct ftl_request *req, enum ftl_op op, uint8_t flags,
			     void (*done)(struct ftl_request *))
{
	req->op = (uint8_t)op;
	req->flags = flags;
	req->reply_to = &self->thread;
	req->done = done;
	io_submit(self, req);
}

static struct ftl_worker *collector_of(struct ftl_request *req) { return io_of(req)->worker; }

/* Promises. */

void conv_promise_ends(struct conventional *conv, struct conv_gc *gc)
{
	if (!gc->promised)
		return;
	gc->promised = false;
	lt_add(&conv->promised, (uint64_t)-1);
}

/* A collection copies nothing more: what it promised itself and did not take is the host's. */
static void give_promise_back(struct ftl *ftl, struct conv_gc *gc)
{
	struct conventional *conv = ftl->conventional;
	struct lt_lock_node node;
	bool had;

	lt_lock_acquire(&conv->lock, &node);
	had = gc->promised;
	conv_promise_ends(conv, gc);
	lt_lock_release(&conv->lock, &node);
	if (had)
		conv_retry(ftl);
}

/* Starts. */

static void collect_start(struct lt_event *event)
{
	struct conv_gc *gc = (struct conv_gc *)((char *)event - offsetof(struct conv_gc, start));

	collect_next(gc->worker);
}

/* Fewer zones are erased, or about to be, than must be kept, with `more` in addition. */
static bool is_short(const struct ftl *ftl, uint32_t more)
{
	return lt_load(&ftl->conventional->free) + lt_load(&ftl->conventional->leaving) + more < ftl->cfg->conventional_gc_low;
}

/* The worker is one of the collector's. */
static void kick(struct ftl *ftl, struct conv_gc *gc, struct ftl_worker *worker)
{
	if (!is_short(ftl, 0))
		return;
	lt_store(&gc->wanted, 1);
	if (!lt_cas(&gc->busy, 0, 1))
		return;
	gc->worker = worker;
	lt_post(&worker->thread, &gc->start, collect_start);
}

/* A collector that found no victim, or no erased zone for its copies, may find them now. */
static void kick_next(struct ftl *ftl, const struct conv_gc *gc)
{
	uint32_t next = gc->number + 1 == ftl->cfg->conventional_collectors ? 0 : gc->number + 1;

	if (next != gc->number)
		kick(ftl, &ftl->conventional->gc[next], &ftl->workers[next]);
}

/* Leaving: everything that replaced the victim's sectors becomes durable, and it is reset. */

static void victim_leaves(struct ftl_worker *self);

/* The next victim leaves, if it waits for that. Without a victim the collector goes on or ends. */
static void has_left(struct ftl_worker *self)
{
	struct conv_gc *gc = gc_of(self);

	gc->leaving = NULL;
	lt_add(&self->ftl->conventional->leaving, (uint64_t)-1);
	kick_next(self->ftl, gc);
	if (gc->victim && gc->copied)
		victim_leaves(self);
	else if (!gc->victim)
		collect_next(self);
}

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
	struct zone *zone = gc_of(self)->leaving;

	if (req->status)
		lt_store(&backing_of(zone)->state, BACKING_LOST);
	else
		list_erased(self->ftl, zone);
	has_left(self);
}

/* If that fails, the old data stay: the flush fails if a zone fails during it, but does not see an earlier failure. What lost copies have
 * made valid again may have been replaced during the flush: the zone is collected once more. */
static void was_flushed(struct ftl_request *req)
{
	struct ftl_worker *self = collector_of(req);
	struct conv_gc *gc = gc_of(self);
	const struct place_zone *places = gc->leaving->places;
	bool misses = req->status || conv_may_miss(self->ftl->conventional);

	if (misses || lt_load(&places->valid) || lt_load(&places->returned)) {
		lt_store(&backing_of(gc->leaving)->state, misses ? BACKING_LOST : BACKING_SEALED);
		has_left(self);
		return;
	}
	lt_store(&gc->leaving->places->reset_sequence, lt_load(&self->ftl->sequence) - 1);
	lt_add(&self->ftl->places->resets, 1);
	collector_submit(self, req, FTL_ZONE_RESET, 0, was_reset);
}

/* Its copies have landed. The collector goes on with the next victim meanwhile. */
static void victim_leaves(struct ftl_worker *self)
{
	struct conv_gc *gc = gc_of(self);

	gc->leaving = gc->victim;
	gc->victim = NULL;
	lt_add(&self->ftl->conventional->leaving, 1);
	if (gc->moved)
		placement_moved(self->ftl, gc->leaving->stream, gc->first, gc->moved);
	gc->leave.lba = gc->leaving->start;
	collector_submit(self, &gc->leave, FTL_FLUSH, FTL_BACKING | FTL_REPLACED, was_flushed);
	collect_next(self);
}

/* Copying. */

/* The victim cannot be read, or there is no place for its copies: the remaining sectors stay. */
static void collect_fails(struct ftl_worker *self, enum backing_state victim_state)
{
	struct conv_gc *gc = gc_of(self);

	lt_store(&backing_of(gc->victim)->state, victim_state);
	gc->victim = NULL;
	give_promise_back(self->ftl, gc);
}

static void was_copied(struct ftl_request *req)
{
	struct ftl_worker *self = collector_of(req);
	struct conv_gc *gc = gc_of(self);

	if (req->status) { /* its write frontier found no zone, or the zone there failed */
		collect_fails(self, BACKING_SEALED);
		collect_next(self);
		return;
	}
	self->counters.conventional_gc_sectors += gc->count;
	gc->first = gc->moved ? gc->first : gc->lba[0];
	gc->moved += gc->count;
	collect_batch(self);
}

static void collect_copy(struct ftl_worker *self)
{
	struct conv_gc *gc = gc_of(self);

	gc->request.lba = 0;
	gc->request.sectors = gc->count;
	gc->request.sgl = (struct sgl){ gc->memory, 0, gc->count * HZ_SECTOR_BYTES };
	collector_submit(self, &gc->request, FTL_WRITE, FTL_INSIDE, was_copied);
}

static void read_batch(struct ftl_worker *self);

static void copies_read(struct tsu_txn *txn)
{
	struct ftl_worker *self = worker_of(txn);
	struct conv_gc *gc = gc_of(self);

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
	else {
		collect_fails(self, BACKING_LOST);
		collect_next(self);
	}
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
	struct conv_gc *gc = gc_of(self);
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
	struct conv_gc *gc = gc_of(self);
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
	struct conv_gc *gc = gc_of(self);
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
	if (gc->count) {
		read_batch(self);
		return;
	}
	give_promise_back(self->ftl, gc);
	gc->copied = true;
	if (!gc->leaving)
		victim_leaves(self);
}

/* The victim is COLLECTING. */
static void collect(struct ftl_worker *self, struct zone *victim)
{
	struct conv_gc *gc = gc_of(self);

	lt_store(&victim->places->returned, 0);
	gc->victim = victim;
	gc->copied = false;
	gc->position = gc->moved = 0;
	self->counters.conventional_gc_runs++;
	collect_batch(self);
}

/* False: another collector has it, or the erased zone that its copies need. */
static bool claim_victim(struct ftl *ftl, struct conv_gc *gc, struct zone *victim)
{
	struct conventional *conv = ftl->conventional;
	bool fits = lt_load(&victim->places->valid) <= room_in_open(ftl, gc), mine;
	struct lt_lock_node node;

	lt_lock_acquire(&conv->lock, &node);
	mine = (fits || lt_load(&conv->free) > lt_load(&conv->promised)) &&
	       lt_cas(&backing_of(victim)->state, BACKING_SEALED, BACKING_COLLECTING);
	if (mine && !fits) {
		gc->promised = true;
		lt_add(&conv->promised, 1);
	}
	lt_lock_release(&conv->lock, &node);
	return mine;
}

static struct zone *take_victim(struct ftl *ftl, struct conv_gc *gc, bool urgent)
{
	struct zone *victim;
	bool hope;

	do
		victim = find_victim(ftl, gc, urgent, &hope);
	while (victim && !claim_victim(ftl, gc, victim));
	return victim;
}

/* A collector has ended. Writes that wait fail if none is at work, none finds a victim, and no zone may become one. What fits depends on a
 * collector's open zone, so each has a look. After losses none collects. */
static void give_up(struct ftl *ftl)
{
	struct conventional *conv = ftl->conventional;

	if (!conv_gc_quiet(ftl) || conv_free_for_host(conv))
		return;
	for (uint32_t i = 0; i < ftl->cfg->conventional_collectors && !lt_load(&conv->losses); i++) {
		bool hope;

		if (find_victim(ftl, &conv->gc[i], true, &hope)) {
			kick(ftl, &conv->gc[i], &ftl->workers[i]);
			return;
		}
		if (hope)
			return;
	}
	conv_despair(ftl);
}

/* `busy` is ours, and there is no victim: continue while erased zones are short, and look again when the zone before has left. A later
 * request either finds it busy and sets `wanted`, or starts a new collection. While a victim leaves, the next one begins only if zones will
 * be short by one more: the sooner it begins, the more there is to copy. */
static void collect_next(struct ftl_worker *self)
{
	struct conventional *conv = self->ftl->conventional;
	struct conv_gc *gc = gc_of(self);

	do {
		struct zone *victim = NULL;

		lt_store(&gc->wanted, 0);
		if (is_short(self->ftl, gc->leaving ? 1 : 0) && !lt_load(&conv->losses))
			victim = take_victim(self->ftl, gc, !conv_free_for_host(conv));
		if (victim) {
			collect(self, victim);
			return;
		}
		if (gc->leaving)
			return;
		lt_swap(&gc->busy, 0); /* before the look at the others: the last one sees that all are quiet */
		give_up(self->ftl);
	} while (lt_load(&gc->wanted) && lt_cas(&gc->busy, 0, 1));
}

void conv_gc_kick(struct ftl_worker *self) { kick(self->ftl, gc_of(self), self); }

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

/* All collectors but this one, which is NULL or ours. */
static void collectors_give(struct ftl *ftl, uint32_t count, const struct conv_gc *but)
{
	for (struct conv_gc *gc = ftl->conventional->gc; count--; gc++)
		if (gc != but)
			lt_store(&gc->busy, 0);
}

/* False: one of them is busy. */
static bool collectors_take(struct ftl *ftl)
{
	struct conv_gc *gc = ftl->conventional->gc;

	for (uint32_t i = 0; i < ftl->cfg->conventional_collectors; i++)
		if (!lt_cas(&gc[i].busy, 0, 1)) {
			collectors_give(ftl, i, NULL);
			return false;
		}
	return true;
}

/* With all collectors taken, since a copy of another one may be landing in the zone. */
bool conv_purge(struct ftl_worker *self, uint32_t *next)
{
	struct conventional *conv = self->ftl->conventional;
	uint32_t zones = self->ftl->shape.backing_zones, collectors = self->ftl->cfg->conventional_collectors;
	struct zone *zone;

	if (!zones)
		return true;
	if (!collectors_take(self->ftl))
		return false;
	while (*next < zones && lt_load(&conv->backing[*next].state) == BACKING_ERASED)
		++*next;
	if (*next == zones || is_sealing(&conv->backing[*next])) {
		collectors_give(self->ftl, collectors, NULL);
		return *next == zones;
	}
	zone = backing_zone(self->ftl, (*next)++);
	gc_of(self)->worker = self;
	leave_frontier(self->ftl, zone);
	lt_store(&backing_of(zone)->state, BACKING_COLLECTING);
	collectors_give(self->ftl, collectors, gc_of(self));
	collect(self, zone);
	return false;
}

static void collector_init(struct ftl *ftl, struct arena *arena, struct conv_gc *gc)
{
	uint32_t bytes = hz_sector_memory(ftl->cfg);
	uint8_t *data = arena_alloc_data(arena, CONV_GC_BATCH, bytes, "conventional collector data");

	gc->request.protect = FTL_MOVED;
	gc->offset = arena_alloc(arena, CONV_GC_BATCH, sizeof(*gc->offset), "conventional collector places");
	gc->lba = arena_alloc(arena, CONV_GC_BATCH, sizeof(*gc->lba), "conventional collector LBAs");
	gc->oob = arena_alloc(arena, CONV_GC_BATCH, sizeof(*gc->oob), "conventional collector OOB");
	gc->memory = arena_alloc(arena, CONV_GC_BATCH, sizeof(*gc->memory), "conventional collector memory");
	gc->read = arena_alloc(arena, CONV_GC_BATCH, sizeof(*gc->read), "conventional collector reads");
	for (uint32_t i = 0; i < CONV_GC_BATCH; i++)
		gc->memory[i] = data + (size_t)i * bytes;
}

void conv_gc_init(struct ftl *ftl, struct arena *arena)
{
	uint32_t count = ftl->cfg->conventional_collectors;
	struct conv_gc *gc = arena_alloc(arena, count, sizeof(*gc), "conventional collectors");

	ftl->conventional->gc = gc;
	for (uint32_t i = 0; i < count; i++) {
		gc[i].number = i;
		collector_init(ftl, arena, &gc[i]);
	}
}
