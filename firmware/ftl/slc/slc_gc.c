/* SLC garbage collection: the choice of a victim, and the move of its valid sectors. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/arena.h"
#include "slc/slc.h"

/* Victim selection in the SLC log: the worth of each superblock, updated at every change, and the policies.
 *
 * The collector is asked after every program; it scans the superblocks only when one of them qualifies. */

/* Short of space: a program waits, or the last superblock but the reserve is running out. */
static bool urgent(const struct slc *slc)
{
	return slc->waiting[SLC_STAGE].head || slc->waiting[SLC_MAP].head || slc->waiting[SLC_COLLECT].head ||
	       (slc->free <= 1 + slc->dump_superblocks && slc->head[SLC_STAGE].room < slc->units / 4);
}

/* A collection must gain a program unit at least: its copies lie packed. */
uint8_t slc_worth_of(const struct slc *slc, const struct slc_block *block)
{
	if (block->state != SLC_SEALED || block->in_flight || (block->stuck && block->valid))
		return SLC_KEEP;
	if (block->doomed || !block->valid)
		return SLC_EMPTY;
	if (block->valid > slc->sectors - slc->unit_sectors)
		return SLC_KEEP;
	return block->valid <= slc->cheap_valid ? SLC_CHEAP : SLC_GAINS;
}

void slc_appraise(struct slc *slc, struct slc_block *block)
{
	slc->worth[block->worth]--;
	block->worth = slc_worth_of(slc, block);
	slc->worth[block->worth]++;
}

/* Greedy leaves superblocks alone that are more than a quarter full unless space is short; the other policies have their own reasons to
 * take them. */
void slc_victim_init(struct ftl *ftl)
{
	struct slc *slc = ftl->slc;

	slc->better = gc_policies[ftl->cfg->slc_gc];
	slc->gc_low = (ftl->cfg->slc_gc_low ? ftl->cfg->slc_gc_low : 2) + slc->dump_superblocks;
	slc->cheap_valid = ftl->cfg->slc_gc == HZ_GC_GREEDY ? slc->sectors / 4 : slc->sectors - slc->unit_sectors;
	slc->worth[SLC_KEEP] = slc->blocks;
}

/* Sectors available to a collection of the superblock. A doomed one gives nothing back, so it must leave the reserve alone. */
static uint32_t room_for(const struct slc *slc, const struct slc_block *block)
{
	uint32_t now = slc_free_now(slc), free = now - (block->doomed && now);

	return (slc->head[SLC_COLLECT].room + free * slc->units) * slc->unit_sectors;
}

static struct gc_candidate slc_candidate(const struct slc *slc, uint32_t index)
{
	const struct slc_block *block = &slc->block[index];

	return (struct gc_candidate){ .valid = block->valid, .filled = block->opened, .youngest = block->youngest, .order = index };
}

static uint32_t slc_best_of(struct ftl *ftl, uint8_t least)
{
	const struct slc *slc = ftl->slc;
	struct gc_view view = { .cfg = ftl->cfg, .now = lt_load(&ftl->sequence), .capacity = slc->sectors };
	struct gc_candidate best = { 0 };
	uint32_t found = SLC_NONE;

	for (uint32_t i = 0; i < slc->blocks; i++) {
		const struct slc_block *block = &slc->block[i];
		struct gc_candidate candidate = slc_candidate(slc, i);

		if (block->worth < least || block->valid > room_for(slc, block))
			continue;
		if (found == SLC_NONE || slc->better(&view, &candidate, &best)) {
			best = candidate;
			found = i;
		}
	}
	return found;
}

uint32_t slc_victim(struct ftl *ftl)
{
	const struct slc *slc = ftl->slc;
	uint32_t victim = SLC_NONE;

	if (slc->worth[SLC_EMPTY])
		victim = slc_best_of(ftl, SLC_EMPTY);
	if (victim == SLC_NONE && slc->worth[SLC_CHEAP] && slc->free <= slc->gc_low)
		victim = slc_best_of(ftl, SLC_CHEAP);
	if (victim == SLC_NONE && slc->worth[SLC_CHEAP] + slc->worth[SLC_GAINS] && urgent(slc))
		victim = slc_best_of(ftl, SLC_GAINS);
	return victim;
}

/* SLC garbage collection: the victim's (slc_gc.c) valid sectors move in batches to the collector's head, then it is erased.
 *
 * OOB records move unchanged, sequence number included, so a power cut in the middle leaves two equal copies. One collection at a
 * time; its worker runs every step. */

static uint32_t units_for(const struct slc *slc, uint32_t sectors)
{
	uint32_t units = 0;

	for (uint32_t done = 0; done < sectors; done += slc->unit_sectors)
		units++;
	return units;
}

static void victim_next_batch(struct ftl_worker *self);

static void victim_begin(struct lt_event *event)
{
	victim_next_batch(((struct slc_gc *)((char *)event - offsetof(struct slc_gc, event)))->worker);
}

void slc_collect(struct ftl_worker *self)
{
	struct slc *slc = self->ftl->slc;
	struct slc_gc *gc = &slc->gc;

	if (gc->busy)
		return;
	gc->victim = slc_victim(self->ftl);
	if (gc->victim == SLC_NONE)
		return;
	gc->worker = self;
	gc->position = 0;
	gc->busy = true;
	self->counters.slc_gc_runs++;
	lt_post(&self->thread, &gc->event, victim_begin);
}

static void gc_read(struct ftl_worker *self)
{
	struct ftl *ftl = self->ftl;
	struct slc_gc *gc = &ftl->slc->gc;

	gc->failed = false;
	gc->pending = gc->count;
	for (uint32_t i = 0; i < gc->count; i++) {
		struct tsu_txn *txn = &gc->read[i];

		txn->owner = &self->thread;
		txn->ppa = gc->from[i];
		txn->next = i + 1 < gc->count ? txn + 1 : NULL;
	}
	tsu_submit_list(ftl->tsu, gc->read);
}

static void gc_erase(struct ftl_worker *self)
{
	struct ftl *ftl = self->ftl;
	struct slc *slc = ftl->slc;
	struct slc_gc *gc = &slc->gc;

	gc->failed = false;
	gc->pending = slc->planes;
	slc->block[gc->victim].state = SLC_ERASING;
	slc->block[gc->victim].stuck = false;
	slc_appraise(slc, &slc->block[gc->victim]);
	lt_store(&slc->block[gc->victim].pins, 0);
	for (uint32_t i = 0; i < slc->planes; i++) {
		struct tsu_txn *txn = &gc->erase[i];

		txn->owner = &self->thread;
		txn->ppa = ppa_make(ftl->map, gc->victim, i * slc->unit_sectors);
		txn->next = i + 1 < slc->planes ? txn + 1 : NULL;
	}
	tsu_submit_list(ftl->tsu, gc->erase);
}

void slc_gc_unpinned(struct ftl_worker *self)
{
	struct lt_lock_node node;

	lt_lock_acquire(&self->ftl->slc->lock, &node);
	gc_erase(self);
	lt_lock_release(&self->ftl->slc->lock, &node);
}

/* Everything has moved. Reads at the old addresses must end before the erase. */
static void gc_release(struct ftl_worker *self)
{
	struct slc *slc = self->ftl->slc;

	if ((uint32_t)lt_or(&slc->block[slc->gc.victim].pins, SLC_PIN_WAITING) == 0)
		slc_gc_unpinned(self);
}

/* Scan a few of the victim's sectors: valid ones join the batch, at most `most`. */
static void victim_look_on(struct ftl *ftl, uint32_t most)
{
	struct slc *slc = ftl->slc;
	struct slc_gc *gc = &slc->gc;
	const uint32_t *tag = &slc->tag[gc->victim * slc->sectors];
	uint32_t end = gc->position + SLC_SCAN_SECTORS < slc->sectors ? gc->position + SLC_SCAN_SECTORS : slc->sectors;
	struct lt_lock_node node;

	lt_lock_acquire(&slc->lock, &node);
	for (; gc->count < most && gc->position < end; gc->position++) {
		if (tag[gc->position] == SLC_NONE)
			continue;
		gc->tag[gc->count] = tag[gc->position];
		gc->from[gc->count++] = ppa_make(ftl->map, gc->victim, gc->position);
	}
	lt_lock_release(&slc->lock, &node);
}

/* As many whole units as fit the batch. Nothing becomes valid in a sealed superblock, so the lock may be let go in between. */
static void victim_next_batch(struct ftl_worker *self)
{
	struct slc *slc = self->ftl->slc;
	struct slc_gc *gc = &slc->gc;
	uint32_t most = SLC_BATCH_SECTORS / slc->unit_sectors * slc->unit_sectors;

	gc->tries = 0;
	for (gc->count = 0; gc->count < most && gc->position < slc->sectors;)
		victim_look_on(self->ftl, most);
	if (gc->count)
		gc_read(self);
	else
		gc_release(self);
}

static void copies_written(struct slc_write *write);

static void gc_write(struct ftl_worker *self)
{
	struct slc *slc = self->ftl->slc;
	struct slc_gc *gc = &slc->gc;
	uint32_t units = units_for(slc, gc->count);

	gc->failed = false;
	gc->pending = units;
	for (uint32_t i = gc->count; i < units * slc->unit_sectors; i++)
		gc->oob[i] = (struct hz_oob){ .kind = HZ_OOB_PAD };
	for (uint32_t i = 0; i < units; i++) {
		struct slc_write *write = &gc->write[i];

		write->txn.owner = &self->thread;
		write->stream = SLC_COLLECT;
		write->cause = HZ_CAUSE_GC;
		write->done = copies_written;
		write->memory = &gc->memory[i * slc->unit_sectors];
		write->oob = &gc->oob[i * slc->unit_sectors];
		slc_write(self, write);
	}
}

/* Valid sectors that no retry can read move as lost ones: a read of them fails, and the superblock becomes free. False: even a record is
 * unreadable. */
static bool keep_lost(struct slc_gc *gc)
{
	for (uint32_t i = 0; i < gc->count; i++) {
		if (gc->read[i].status == NAND_OK)
			continue;
		if (gc->oob[i].kind == HZ_OOB_ERASED)
			return false;
		gc->oob[i].flags |= HZ_OOB_LOST;
	}
	return true;
}

/* The superblock stays as it is as long as anything in it is valid: the host gets its read error, or the log is worn out. */
static void victim_give_up(struct ftl_worker *self)
{
	struct slc *slc = self->ftl->slc;
	struct lt_lock_node node;

	lt_lock_acquire(&slc->lock, &node);
	slc->block[slc->gc.victim].stuck = true;
	slc_appraise(slc, &slc->block[slc->gc.victim]);
	slc->gc.busy = false;
	slc_collect(self);
	slc_refuse_waiting(self);
	lt_lock_release(&slc->lock, &node);
}

static void victim_read(struct tsu_txn *txn)
{
	struct ftl_worker *self = worker_of(txn);
	struct slc_gc *gc = &self->ftl->slc->gc;

	if (txn->status == NAND_POWER_OFF)
		return;
	gc->failed |= txn->status != NAND_OK;
	if (--gc->pending)
		return;
	if (!gc->failed)
		gc_write(self);
	else if (++gc->tries < SLC_READ_TRIES)
		gc_read(self);
	else if (keep_lost(gc))
		gc_write(self);
	else
		victim_give_up(self);
}

/* A program's copies become valid, for sectors still at their old addresses. */
static void copies_count(struct ftl_worker *self, const struct slc_write *write)
{
	struct slc *slc = self->ftl->slc;
	struct slc_gc *gc = &slc->gc;
	uint32_t first = (uint32_t)(write - gc->write) * slc->unit_sectors, rest = gc->count - first;

	self->counters.slc_gc_sectors += rest < slc->unit_sectors ? rest : slc->unit_sectors;
	for (uint32_t i = 0; i < slc->unit_sectors && first + i < gc->count; i++)
		slc_owner_of(slc, gc->tag[first + i])->moved(self, gc->tag[first + i], gc->from[first + i], write->ppa + i);
}

/* Copies that their owners do not take (rain). */

/* Programs are left for the rest of the victim and for more copies, without the last free superblock: so the collection gains one, however
 * many copies it takes. Sectors under way count as moved. */
bool slc_copy_again(struct ftl *ftl)
{
	struct slc *slc = ftl->slc;
	struct slc_gc *gc = &slc->gc;
	uint32_t free, programs;
	struct lt_lock_node node;
	bool room;

	lt_lock_acquire(&slc->lock, &node);
	free = slc_free_now(slc);
	programs = slc->head[SLC_COLLECT].room + (free - 1) * slc->units + gc->pending;
	room = free && programs * slc->unit_sectors >= slc->block[gc->victim].valid + 2 * slc->unit_sectors;
	lt_lock_release(&slc->lock, &node);
	gc->again |= room;
	gc->failed |= room;
	return room;
}

static void sector_keep(struct slc_gc *gc, uint32_t i, uint32_t to)
{
	uint8_t *memory = gc->memory[i];

	gc->memory[i] = gc->memory[to];
	gc->memory[to] = memory;
	gc->oob[to] = gc->oob[i];
	gc->from[to] = gc->from[i];
	gc->tag[to] = gc->tag[i];
}

/* They are still valid in the victim: the batch is these alone. */
static void copies_again(struct ftl_worker *self)
{
	struct slc *slc = self->ftl->slc;
	struct slc_gc *gc = &slc->gc;
	uint32_t left = 0;
	struct lt_lock_node node;

	gc->again = false;
	lt_lock_acquire(&slc->lock, &node);
	for (uint32_t i = 0; i < gc->count; i++)
		if (*slc_tag_of(self->ftl, gc->from[i]) == gc->tag[i])
			sector_keep(gc, i, left++);
	lt_lock_release(&slc->lock, &node);
	gc->count = left;
	if (left)
		gc_write(self);
	else
		victim_next_batch(self);
}

/* noinline: so that a batch that succeeds saves no more registers. */
static __attribute__((noinline)) void batch_failed(struct ftl_worker *self)
{
	if (self->ftl->slc->gc.again)
		copies_again(self);
	else
		victim_give_up(self);
}

static void copies_written(struct slc_write *write)
{
	struct ftl_worker *self = worker_of(&write->txn);
	struct slc *slc = self->ftl->slc;
	struct slc_gc *gc = &slc->gc;

	if (write->ppa == PPA_NONE)
		gc->failed = true;
	else
		copies_count(self, write);
	if (--gc->pending)
		return;
	if (gc->failed)
		batch_failed(self);
	else
		victim_next_batch(self);
}

static void victim_erased(struct tsu_txn *txn)
{
	struct ftl_worker *self = worker_of(txn);
	struct slc *slc = self->ftl->slc;
	struct slc_gc *gc = &slc->gc;
	struct slc_block *block = &slc->block[gc->victim];
	struct lt_lock_node node;

	if (txn->status == NAND_POWER_OFF)
		return;
	gc->failed |= txn->status != NAND_OK;
	if (--gc->pending)
		return;
	lt_lock_acquire(&slc->lock, &node);
	if (gc->failed && !block->doomed)
		slc_lose_block(self->ftl);
	block->state = gc->failed || block->doomed ? SLC_BAD : SLC_FREE;
	if (block->state == SLC_FREE)
		slc_add_free(slc);
	slc_appraise(slc, block);
	gc->busy = false;
	slc_start_waiting(self);
	slc_collect(self);
	slc_refuse_waiting(self);
	lt_lock_release(&slc->lock, &node);
}

void slc_gc_init(struct ftl *ftl, struct arena *arena)
{
	struct slc_gc *gc = &ftl->slc->gc;
	uint32_t bytes = hz_sector_memory(ftl->cfg);
	uint8_t *data = arena_alloc_data(arena, SLC_BATCH_SECTORS, bytes, "SLC collector data");

	gc->read = arena_alloc(arena, SLC_BATCH_SECTORS, sizeof(*gc->read), "SLC collector reads");
	gc->from = arena_alloc(arena, SLC_BATCH_SECTORS, sizeof(*gc->from), "SLC collector addresses");
	gc->tag = arena_alloc(arena, SLC_BATCH_SECTORS, sizeof(*gc->tag), "SLC collector tags");
	gc->oob = arena_alloc(arena, SLC_BATCH_SECTORS, sizeof(*gc->oob), "SLC collector OOB");
	gc->memory = arena_alloc(arena, SLC_BATCH_SECTORS, sizeof(*gc->memory), "SLC collector memory");
	gc->write = arena_alloc(arena, SLC_BATCH_SECTORS, sizeof(*gc->write), "SLC collector writes");
	gc->erase = arena_alloc(arena, ftl->slc->planes, sizeof(*gc->erase), "SLC collector erases");
	for (uint32_t i = 0; i < SLC_BATCH_SECTORS; i++) {
		gc->memory[i] = data + (size_t)i * bytes;
		gc->read[i].op = TSU_READ;
		gc->read[i].cause = HZ_CAUSE_GC;
		gc->read[i].sectors = 1;
		gc->read[i].data = (struct sgl){ &gc->memory[i], 0, HZ_SECTOR_BYTES };
		gc->read[i].oob = &gc->oob[i];
		gc->read[i].done = victim_read;
	}
	for (uint32_t i = 0; i < ftl->slc->planes; i++) {
		gc->erase[i].op = TSU_ERASE;
		gc->erase[i].cause = HZ_CAUSE_GC;
		gc->erase[i].done = victim_erased;
	}
}
