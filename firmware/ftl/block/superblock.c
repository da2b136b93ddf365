/* Free list, eraser and retirement of the superblocks of zones: normal ones, and SLC ones for patches. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "block/superblock.h"

#include "base/health.h"
#include "lt/arena.h"

static struct superblock *info_of(struct superblocks *sbs, uint32_t number) { return &sbs->info[number - sbs->first]; }

static struct superblocks *superblocks_of(struct ftl *ftl, uint32_t number)
{
	return number < ftl->superblocks->first ? ftl->patches : ftl->superblocks;
}

static void fifo_push(struct superblocks *sbs, struct superblock_fifo *fifo, uint32_t number)
{
	info_of(sbs, number)->next = SUPERBLOCK_NONE;
	if (fifo->count++)
		info_of(sbs, fifo->tail)->next = number;
	else
		fifo->head = number;
	fifo->tail = number;
}

static uint32_t fifo_pop(struct superblocks *sbs, struct superblock_fifo *fifo)
{
	uint32_t number = fifo->head;

	if (!fifo->count)
		return SUPERBLOCK_NONE;
	fifo->count--;
	fifo->head = info_of(sbs, number)->next;
	return number;
}

static bool erasing(const struct superblocks *sbs)
{
	for (unsigned i = 0; i < ERASE_JOBS; i++)
		if (sbs->job[i].busy)
			return true;
	return false;
}

static void superblock_had(struct superblocks *sbs, uint32_t number)
{
	info_of(sbs, number)->state = SB_USED;
	lt_tell_had(HZ_LOGICAL_SUPERBLOCK);
}

uint32_t superblock_take(struct zone *zone, bool *hopeless)
{
	struct superblocks *sbs = zone_in_patch(zone) ? zone->ftl->patches : zone->ftl->superblocks;
	struct lt_lock_node node;
	uint32_t number;

	lt_lock_acquire(&sbs->lock, &node);
	number = fifo_pop(sbs, &sbs->free);
	*hopeless = number == SUPERBLOCK_NONE && !sbs->dirty.count && !sbs->moving && !erasing(sbs);
	if (number != SUPERBLOCK_NONE)
		superblock_had(sbs, number);
	else if (!*hopeless)
		waiter_ask(&sbs->waiting, &zone->for_superblock, HZ_LOGICAL_SUPERBLOCK, sbs->first);
	zone->for_superblock.queued = number == SUPERBLOCK_NONE && !*hopeless;
	lt_lock_release(&sbs->lock, &node);
	return number;
}

/* Give an erased superblock to the zone waiting longest, or to the free list. Returns the zone to kick. Lock held. */
static struct zone *hand_out(struct superblocks *sbs, uint32_t number)
{
	struct waiter *waiter = waiter_pop(&sbs->waiting);

	if (!waiter) {
		struct zone *background = sbs->background;

		info_of(sbs, number)->state = SB_FREE;
		fifo_push(sbs, &sbs->free, number);
		sbs->background = NULL;
		return background;
	}
	superblock_had(sbs, number);
	lt_store(&waiter->granted, number + 1);
	return waiter->zone;
}

uint32_t superblock_take_spare(struct zone *zone, bool slc)
{
	struct superblocks *sbs = slc ? zone->ftl->patches : zone->ftl->superblocks;
	struct lt_lock_node node;
	uint32_t number = SUPERBLOCK_NONE;

	lt_lock_acquire(&sbs->lock, &node);
	if (!sbs->waiting.head)
		number = fifo_pop(sbs, &sbs->free);
	if (number != SUPERBLOCK_NONE)
		superblock_had(sbs, number);
	sbs->moving += number != SUPERBLOCK_NONE;
	sbs->background = number == SUPERBLOCK_NONE ? zone : NULL;
	lt_lock_release(&sbs->lock, &node);
	return number;
}

void superblock_untake(struct ftl_worker *self, uint32_t number)
{
	struct superblocks *sbs = superblocks_of(self->ftl, number);
	struct lt_lock_node node;
	struct zone *granted;

	lt_lock_acquire(&sbs->lock, &node);
	sbs->moving--;
	granted = hand_out(sbs, number);
	lt_lock_release(&sbs->lock, &node);
	if (granted)
		zone_kick(self, granted);
}

uint64_t superblock_count_read(struct ftl *ftl, uint32_t number)
{
	struct superblocks *sbs = superblocks_of(ftl, number);

	return number - sbs->first < sbs->count ? lt_add(&info_of(sbs, number)->reads, 1) + 1 : 0;
}

static void erase_start(struct ftl_worker *self, const struct superblocks *sbs, struct erase_job *job)
{
	struct ftl *ftl = self->ftl;

	job->failed = false;
	job->pending = sbs->blocks;
	for (uint32_t i = 0; i < sbs->blocks; i++) {
		struct tsu_txn *txn = &job->txn[i];

		txn->owner = &self->thread;
		txn->cause = HZ_CAUSE_HOST;
		txn->ppa = flash_block_of(ftl->map, job->superblock, i, sbs->unit_sectors);
		txn->next = i + 1 < sbs->blocks ? txn + 1 : NULL;
	}
	tsu_submit_list(ftl->tsu, job->txn);
}

/* Lock held: the next job to start, marked busy, or NULL. */
static struct erase_job *next_job(struct superblocks *sbs)
{
	for (unsigned i = 0; i < ERASE_JOBS; i++) {
		struct erase_job *job = &sbs->job[i];

		if (job->busy || !sbs->dirty.count)
			continue;
		job->superblock = fifo_pop(sbs, &sbs->dirty);
		info_of(sbs, job->superblock)->state = SB_ERASING;
		job->busy = true;
		return job;
	}
	return NULL;
}

static void pool_kick(struct ftl_worker *self, struct superblocks *sbs)
{
	struct erase_job *job;

	do {
		struct lt_lock_node node;

		lt_lock_acquire(&sbs->lock, &node);
		job = next_job(sbs);
		lt_lock_release(&sbs->lock, &node);
		if (job)
			erase_start(self, sbs, job);
	} while (job);
}

void superblocks_kick(struct ftl_worker *self)
{
	pool_kick(self, self->ftl->superblocks);
	if (self->ftl->patches->count)
		pool_kick(self, self->ftl->patches);
}

/* No superblock can become free any more: all waiters are refused (granted UINT32_MAX). Lock held; returns their list. */
static struct waiter *hopeless_waiters(struct superblocks *sbs)
{
	struct waiter *waiting = sbs->waiting.head;

	if (sbs->free.count || sbs->dirty.count || sbs->moving || erasing(sbs))
		return NULL;
	sbs->waiting = (struct waiter_queue){ NULL, NULL };
	return waiting;
}

static void refuse_waiters(struct ftl_worker *self, struct waiter *waiting)
{
	while (waiting) {
		struct waiter *next = waiting->next;

		lt_logical_wait_ended(waiting);
		lt_store(&waiting->granted, UINT32_MAX);
		zone_kick(self, waiting->zone);
		waiting = next;
	}
}

static void erase_finish(struct ftl_worker *self, struct superblocks *sbs, struct erase_job *job)
{
	struct superblock *info = info_of(sbs, job->superblock);
	struct zone *notify, *granted = NULL;
	struct waiter *refused;
	bool failed = job->failed; /* not busy any more, the job is anybody's */
	struct lt_lock_node node;

	lt_lock_acquire(&sbs->lock, &node);
	job->busy = false;
	notify = info->notify;
	info->notify = NULL;
	info->erases++;
	lt_store(&info->reads, 0);
	lt_add(&sbs->erases, 1);
	if (failed) {
		info->state = SB_BAD;
		lt_add(&sbs->bad, 1);
	} else {
		granted = hand_out(sbs, job->superblock);
	}
	refused = hopeless_waiters(sbs);
	lt_lock_release(&sbs->lock, &node);
	if (notify) {
		lt_add(&notify->erased, 1);
		zone_kick(self, notify);
	}
	if (granted)
		zone_kick(self, granted);
	if (failed)
		watch_tell(self->ftl);
	refuse_waiters(self, refused);
	pool_kick(self, sbs);
}

static void superblock_erased(struct tsu_txn *txn)
{
	struct ftl_worker *self = worker_of(txn);
	struct superblocks *sbs = superblocks_of(self->ftl, ppa_superblock(self->ftl->map, txn->ppa));

	if (txn->status == NAND_POWER_OFF)
		return;
	for (unsigned i = 0; i < ERASE_JOBS; i++) {
		struct erase_job *job = &sbs->job[i];

		if (txn < job->txn || txn >= job->txn + sbs->blocks)
			continue;
		job->failed |= txn->status != NAND_OK;
		if (--job->pending == 0)
			erase_finish(self, sbs, job);
	}
}

void superblock_release(struct ftl_worker *self, uint32_t number, struct zone *notify)
{
	struct superblocks *sbs = superblocks_of(self->ftl, number);
	struct lt_lock_node node;

	lt_lock_acquire(&sbs->lock, &node);
	info_of(sbs, number)->state = SB_DIRTY;
	info_of(sbs, number)->notify = notify;
	fifo_push(sbs, &sbs->dirty, number);
	lt_lock_release(&sbs->lock, &node);
	pool_kick(self, sbs);
}

void superblock_retire(struct ftl_worker *self, uint32_t number)
{
	struct superblocks *sbs = superblocks_of(self->ftl, number);
	struct waiter *refused;
	struct lt_lock_node node;

	lt_lock_acquire(&sbs->lock, &node);
	info_of(sbs, number)->state = SB_BAD;
	lt_add(&sbs->bad, 1);
	refused = hopeless_waiters(sbs);
	lt_lock_release(&sbs->lock, &node);
	watch_tell(self->ftl);
	refuse_waiters(self, refused);
}

void superblock_promise(struct ftl *ftl, uint32_t number, int count)
{
	struct superblocks *sbs = superblocks_of(ftl, number);
	struct lt_lock_node node;

	lt_lock_acquire(&sbs->lock, &node);
	sbs->moving += (uint32_t)count;
	lt_lock_release(&sbs->lock, &node);
}

uint8_t superblock_state(struct ftl *ftl, uint32_t number)
{
	struct superblocks *sbs = superblocks_of(ftl, number);
	struct lt_lock_node node;
	uint8_t state;

	lt_lock_acquire(&sbs->lock, &node);
	state = info_of(sbs, number)->state;
	lt_lock_release(&sbs->lock, &node);
	return state;
}

uint32_t superblock_erases(struct ftl *ftl, uint32_t number)
{
	struct superblocks *sbs = superblocks_of(ftl, number);
	struct lt_lock_node node;
	uint32_t erases;

	lt_lock_acquire(&sbs->lock, &node);
	erases = info_of(sbs, number)->erases;
	lt_lock_release(&sbs->lock, &node);
	return erases;
}

void superblocks_wear(struct ftl *ftl, bool slc, uint64_t *erases, uint64_t *count)
{
	struct superblocks *sbs = slc ? ftl->patches : ftl->superblocks;
	struct lt_lock_node node;

	lt_lock_acquire(&sbs->lock, &node);
	*erases = lt_load(&sbs->erases);
	*count = sbs->count;
	lt_lock_release(&sbs->lock, &node);
}

static uint8_t spare_percent(const struct superblocks *sbs, uint32_t needed)
{
	return health_spare_percent(sbs->count - needed, lt_load(&sbs->bad));
}

static uint8_t used_percent(const struct superblocks *sbs, uint32_t endurance)
{
	uint64_t used = endurance ? lt_load(&sbs->erases) * 100 / ((uint64_t)sbs->count * endurance) : 0;

	return used < UINT8_MAX ? (uint8_t)used : UINT8_MAX;
}

void superblocks_health(const struct ftl *ftl, struct ftl_health *out)
{
	const struct superblocks *normal = ftl->superblocks, *patches = ftl->patches;

	out->spare_percent = spare_percent(normal, ftl->shape.body_superblocks);
	out->used_percent = used_percent(normal, ftl->cfg->normal.endurance);
	if (!patches->count)
		return;
	if (spare_percent(patches, patches->count - ftl->cfg->spare_superblocks) < out->spare_percent)
		out->spare_percent = spare_percent(patches, patches->count - ftl->cfg->spare_superblocks);
	if (used_percent(patches, ftl->cfg->slc.endurance) > out->used_percent)
		out->used_percent = used_percent(patches, ftl->cfg->slc.endurance);
}

static bool pool_quiet(struct superblocks *sbs)
{
	struct lt_lock_node node;
	bool quiet;

	lt_lock_acquire(&sbs->lock, &node);
	quiet = !erasing(sbs);
	lt_lock_release(&sbs->lock, &node);
	return quiet;
}

bool superblocks_quiet(struct ftl *ftl) { return pool_quiet(ftl->superblocks) && (!ftl->patches->count || pool_quiet(ftl->patches)); }

static void pool_sort(struct superblocks *sbs)
{
	for (uint32_t i = 0; i < sbs->count; i++) {
		if (sbs->info[i].state == SB_FREE)
			fifo_push(sbs, &sbs->free, sbs->first + i);
		else if (sbs->info[i].state == SB_DIRTY)
			fifo_push(sbs, &sbs->dirty, sbs->first + i);
		lt_add(&sbs->bad, sbs->info[i].state == SB_BAD);
		lt_add(&sbs->erases, sbs->info[i].erases);
	}
}

void superblocks_sort(struct ftl *ftl)
{
	pool_sort(ftl->superblocks);
	pool_sort(ftl->patches);
}

static void pool_init(struct arena *arena, struct superblocks *sbs)
{
	sbs->info = arena_alloc(arena, sbs->count, sizeof(*sbs->info), "superblocks");
	for (unsigned j = 0; j < ERASE_JOBS; j++) {
		sbs->job[j].txn = arena_alloc(arena, sbs->blocks, sizeof(struct tsu_txn), "erase transactions");
		for (uint32_t i = 0; i < sbs->blocks; i++) {
			sbs->job[j].txn[i].op = TSU_ERASE;
			sbs->job[j].txn[i].done = superblock_erased;
		}
	}
}

static struct superblocks *pool_make(struct ftl *ftl, struct arena *arena, uint32_t first, uint32_t count, uint32_t unit_sectors,
				     unsigned lock)
{
	struct superblocks *sbs = arena_alloc(arena, 1, sizeof(*sbs), "superblocks");

	*sbs = (struct superblocks){
		.first = first, .count = count, .blocks = flash_blocks_of(ftl->map, first), .unit_sectors = unit_sectors
	};
	if (!count)
		return sbs;
	lt_lock_init(&sbs->lock, HZ_LC_BLOCK, lock);
	pool_init(arena, sbs);
	return sbs;
}

void superblocks_init(struct ftl *ftl, struct arena *arena)
{
	uint32_t patches = ftl->shape.patch_superblocks, slc = ftl->shape.slc_superblocks;

	ftl->superblocks = pool_make(ftl, arena, slc, ftl->shape.normal_superblocks, ftl->unit_sectors, 0);
	ftl->patches = pool_make(ftl, arena, slc - patches, patches, ftl->cfg->slc_program_sectors, 3);
}
