/* Collecting backing zones: choice of the victim, copying in batches, flush, reset. */
#include "conventional/page_gc.h"

#include "base/context.h"
#include "zone/write.h"
#include "zone/zone_ops.h"

/* --- victim --- */

/* Is a a better victim than b? */
typedef bool better_fn(const struct ftl *ftl, const struct page_zone *a, const struct page_zone *b);

static bool older(const struct ftl *ftl, const struct page_zone *a, const struct page_zone *b)
{
	(void)ftl;
	return lt_load(&a->filled) < lt_load(&b->filled);
}

/* Of equals the older one: where a map reports late what is dead, all may seem full, and each must have its turn. */
static bool fewer_valid(const struct ftl *ftl, const struct page_zone *a, const struct page_zone *b)
{
	uint64_t valid_a = lt_load(&a->valid), valid_b = lt_load(&b->valid);

	return valid_a != valid_b ? valid_a < valid_b : older(ftl, a, b);
}

/* (1 - u) / 2u * age with u = valid / capacity, compared crosswise instead of divided. */
static bool more_benefit(const struct ftl *ftl, const struct page_zone *a, const struct page_zone *b)
{
	uint64_t now = lt_load(&ftl->sequence), valid_a = lt_load(&a->valid), valid_b = lt_load(&b->valid);
	uint64_t gain_a = ftl->page.capacity - valid_a, gain_b = ftl->page.capacity - valid_b;
	unsigned __int128 benefit_a = (unsigned __int128)gain_a * valid_b * (now - lt_load(&a->filled));
	unsigned __int128 benefit_b = (unsigned __int128)gain_b * valid_a * (now - lt_load(&b->filled));

	return benefit_a != benefit_b ? benefit_a > benefit_b : older(ftl, a, b);
}

/* Erased more often than the mean, or nothing to gain. */
static bool spared(const struct ftl *ftl, const struct page_zone *zone)
{
	const struct page_gc *gc = &ftl->page.gc;

	return lt_load(&zone->erases) * gc->wear_count > gc->wear_total || lt_load(&zone->valid) >= ftl->page.capacity;
}

static bool less_worn(const struct ftl *ftl, const struct page_zone *a, const struct page_zone *b)
{
	bool spared_a = spared(ftl, a), spared_b = spared(ftl, b);

	return spared_a != spared_b ? spared_b : fewer_valid(ftl, a, b);
}

static better_fn *const policies[HZ_GC_POLICIES] = {
	[HZ_GC_GREEDY] = fewer_valid, [HZ_GC_COST_BENEFIT] = more_benefit, [HZ_GC_FIFO] = older, [HZ_GC_WEAR] = less_worn,
};

/* Copies that the collector's stream can take without a zone being erased first. */
static uint64_t room(struct ftl *ftl)
{
	struct page_space *page = &ftl->page;
	uint64_t current = lt_load(&page->current[PAGE_COLLECT]), left = 0;
	struct lt_lock_node node;

	if (current) {
		struct zone *zone = &ftl->zones[ftl->zone_count + current - 1];

		lt_lock_acquire(&zone->lock, &node);
		if (lt_load(&page->zone[current - 1].stream) == PAGE_COLLECT)
			left = page->capacity - zone->wp;
		lt_lock_release(&zone->lock, &node);
	}
	return left + lt_load(&page->free) * page->capacity;
}

/* Host writes may go on, but soon will not: then only what gains an eighth of a zone is worth the copies. */
static bool worth_it(const struct page_space *page, const struct page_zone *zone, bool urgent)
{
	return urgent || lt_load(&zone->valid) <= page->capacity - page->capacity / 8;
}

/* The best sealed zone whose copies find room; *hope: if there is none, some zone is still being programmed and may be one soon. */
static struct page_zone *pick(struct ftl *ftl, bool urgent, bool *hope)
{
	struct page_space *page = &ftl->page;
	better_fn *better = policies[ftl->cfg->conventional_gc];
	struct page_zone *best = NULL;
	uint64_t most = room(ftl);

	*hope = false;
	superblocks_wear(ftl, &page->gc.wear_total, &page->gc.wear_count);
	for (uint32_t i = 0; i < page->zones; i++) {
		struct page_zone *zone = &page->zone[i];
		uint64_t state = lt_load(&zone->state);

		*hope |= state == PAGE_OPEN && lt_load(&zone->stream) == PAGE_NO_STREAM;
		if (state == PAGE_SEALED && lt_load(&zone->valid) <= most && (!best || better(ftl, zone, best)))
			best = zone;
	}
	return best && worth_it(page, best, urgent) ? best : NULL;
}

/* --- one collection --- */

static void batch(struct ftl_worker *self);
static void next(struct ftl_worker *self);

static void end(struct ftl_worker *self, enum page_zone_state victim_state)
{
	struct page_gc *gc = &self->ftl->page.gc;

	lt_store(&gc->victim->page->state, victim_state);
	next(self);
}

/* An internal request; its completion comes back to the collector's worker. */
static void run(struct ftl_worker *self, enum ftl_op op, uint8_t flags, void (*done)(struct ftl_request *))
{
	struct ftl_request *req = &self->ftl->page.gc.request;

	req->op = (uint8_t)op;
	req->flags = flags;
	req->reply_to = &self->thread;
	req->done = done;
	ftl_submit(self->ftl, (unsigned)(self - self->ftl->workers), req);
}

static struct ftl_worker *collector_of(struct ftl_request *req) { return io_of(req)->worker; }

static void was_reset(struct ftl_request *req)
{
	struct ftl_worker *self = collector_of(req);
	struct page_gc *gc = &self->ftl->page.gc;

	if (req->status) {
		end(self, PAGE_LOST);
		return;
	}
	page_zone_erased(self->ftl, gc->victim);
	next(self);
}

/* Everything that replaced the victim's sectors is durable. If it cannot be made so, the old data stay: the flush fails if a zone fails
 * under it, and knows nothing of one that failed before, copies included. */
static void was_flushed(struct ftl_request *req)
{
	struct ftl_worker *self = collector_of(req);
	struct page_gc *gc = &self->ftl->page.gc;

	if (req->status || lt_load(&gc->victim->page->valid) || lt_load(&self->ftl->page.losses) != gc->losses) {
		end(self, PAGE_LOST);
		return;
	}
	lt_store(&gc->victim->page->reset_sequence, lt_load(&self->ftl->sequence) - 1);
	lt_add(&self->ftl->page.resets, 1);
	req->lba = gc->victim->start;
	run(self, FTL_ZONE_RESET, 0, was_reset);
}

/* The collector's stream found no zone: what is left stays where it is. */
static void was_copied(struct ftl_request *req)
{
	struct ftl_worker *self = collector_of(req);
	struct page_gc *gc = &self->ftl->page.gc;

	if (!req->status) {
		self->counters.page_gc_sectors += gc->count;
		batch(self);
		return;
	}
	lt_store(&gc->victim->page->state, PAGE_SEALED);
	lt_store(&gc->busy, 0);
	page_space_despair(self->ftl);
}

static void copy(struct ftl_worker *self)
{
	struct page_gc *gc = &self->ftl->page.gc;

	gc->request.lba = 0;
	gc->request.sectors = gc->count;
	gc->request.sgl = (struct sgl){ gc->page, 0, gc->count * HZ_SECTOR_BYTES };
	run(self, FTL_WRITE, 0, was_copied);
}

static void read_batch(struct ftl_worker *self);

static void read_done(struct tsu_txn *txn)
{
	struct ftl_worker *self = worker_of(txn);
	struct page_gc *gc = &self->ftl->page.gc;
	struct lt_lock_node node;

	if (txn->status == NAND_POWER_OFF)
		return;
	if (slc_holds(self->ftl->map, txn->ppa))
		slc_unpin(self, txn->ppa);
	gc->failed |= txn->status != NAND_OK;
	if (--gc->pending)
		return;
	lt_lock_acquire(&gc->victim->lock, &node);
	gc->victim->readers--;
	lt_lock_release(&gc->victim->lock, &node);
	if (!gc->failed)
		copy(self);
	else if (++gc->tries < PAGE_GC_READ_TRIES)
		read_batch(self);
	else
		end(self, PAGE_LOST);
}

/* Staged sectors, which a zone may have that no stream went on with, are pinned. */
static void find(struct ftl *ftl, const struct zone *zone, uint32_t offset, ppa_t *ppa)
{
	if (offset < zone->placed)
		*ppa = ppa_make(ftl->map, zone->superblock, offset);
	else
		staged_read(ftl, zone, offset, 1, ppa);
}

/* One read for each run of sectors that a flash page holds together; the victim's lock is held. */
static struct tsu_txn *make_reads(struct ftl_worker *self)
{
	struct page_gc *gc = &self->ftl->page.gc;
	struct tsu_txn *list = NULL;
	ppa_t ppa[PAGE_GC_BATCH];

	for (uint32_t i = 0; i < gc->count; i++)
		find(self->ftl, gc->victim, gc->offset[i], &ppa[i]);
	gc->pending = 0;
	for (uint32_t i = 0, run; i < gc->count; i += run) {
		struct tsu_txn *txn = &gc->read[gc->pending++];

		run = slc_holds(self->ftl->map, ppa[i]) ? 1 : read_together(self->ftl, &ppa[i], gc->count - i);
		*txn = (struct tsu_txn){
			.next = list, .owner = &self->thread, .done = read_done, .op = TSU_READ, .cause = HZ_CAUSE_GC,
			.sectors = (uint16_t)run, .ppa = ppa[i], .data = { &gc->page[i], 0, run * HZ_SECTOR_BYTES },
		};
		list = txn;
	}
	return list;
}

static void read_batch(struct ftl_worker *self)
{
	struct page_gc *gc = &self->ftl->page.gc;
	struct lt_lock_node node;
	struct tsu_txn *list;

	gc->failed = false;
	lt_lock_acquire(&gc->victim->lock, &node);
	gc->victim->readers++;
	list = make_reads(self);
	lt_lock_release(&gc->victim->lock, &node);
	tsu_submit_list(self->ftl->tsu, list);
}

/* The next valid sectors, or the end. Nobody writes to a sealed zone: its reverse map may be read. */
static void batch(struct ftl_worker *self)
{
	struct page_gc *gc = &self->ftl->page.gc;
	const struct page_zone *info = gc->victim->page;
	uint32_t capacity = self->ftl->page.capacity, at = gc->position;

	for (gc->count = 0; gc->count < PAGE_GC_BATCH && at < capacity; at++) {
		uint64_t bits = lt_load(&info->bits[at / PAGE_VALID_BITS]);

		if (!(uint32_t)bits) {
			at |= PAGE_VALID_BITS - 1;
		} else if (bits >> (at & (PAGE_VALID_BITS - 1)) & 1) {
			gc->offset[gc->count] = at;
			gc->lba[gc->count++] = info->lba[at];
		}
	}
	gc->position = at;
	gc->tries = 0;
	if (gc->count)
		read_batch(self);
	else
		run(self, FTL_FLUSH, FTL_BACKING, was_flushed);
}

static void collect(struct ftl_worker *self, struct page_zone *victim)
{
	struct page_gc *gc = &self->ftl->page.gc;

	lt_store(&victim->state, PAGE_COLLECTING);
	gc->victim = &self->ftl->zones[self->ftl->zone_count + (uint32_t)(victim - self->ftl->page.zone)];
	gc->position = 0;
	gc->losses = lt_load(&self->ftl->page.losses);
	self->counters.page_gc_runs++;
	batch(self);
}

/* `busy` is ours: go on as long as erased zones are short. Who asks from now on either finds it busy and sets `wanted`, or starts
 * anew. */
static void next(struct ftl_worker *self)
{
	struct page_space *page = &self->ftl->page;
	struct page_gc *gc = &page->gc;

	do {
		bool urgent = lt_load(&page->free) <= 1, hope = false;
		struct page_zone *victim = NULL;

		lt_store(&gc->wanted, 0);
		if (lt_load(&page->free) < self->ftl->cfg->conventional_gc_low)
			victim = pick(self->ftl, urgent, &hope);
		if (victim) {
			collect(self, victim);
			return;
		}
		lt_store(&gc->busy, 0);
		if (urgent && !hope)
			page_space_despair(self->ftl);
	} while (lt_load(&gc->wanted) && lt_cas(&gc->busy, 0, 1));
}

static void start(struct lt_event *event)
{
	struct page_gc *gc = (struct page_gc *)((char *)event - offsetof(struct page_gc, start));

	next(gc->worker);
}

void page_gc_kick(struct ftl_worker *self)
{
	struct page_space *page = &self->ftl->page;
	struct page_gc *gc = &page->gc;

	if (lt_load(&page->free) >= self->ftl->cfg->conventional_gc_low)
		return;
	lt_store(&gc->wanted, 1);
	if (!lt_cas(&gc->busy, 0, 1))
		return;
	gc->worker = self;
	lt_post(&self->thread, &gc->start, start);
}

void page_gc_init(struct ftl *ftl, struct arena *arena)
{
	struct page_gc *gc = &ftl->page.gc;
	uint8_t *data = arena_alloc(arena, PAGE_GC_BATCH, HZ_SECTOR_BYTES, "page collector data");

	gc->offset = arena_alloc(arena, PAGE_GC_BATCH, sizeof(*gc->offset), "page collector places");
	gc->lba = arena_alloc(arena, PAGE_GC_BATCH, sizeof(*gc->lba), "page collector LBAs");
	gc->page = arena_alloc(arena, PAGE_GC_BATCH, sizeof(*gc->page), "page collector pages");
	gc->read = arena_alloc(arena, PAGE_GC_BATCH, sizeof(*gc->read), "page collector reads");
	for (uint32_t i = 0; i < PAGE_GC_BATCH; i++)
		gc->page[i] = data + (size_t)i * HZ_SECTOR_BYTES;
}
