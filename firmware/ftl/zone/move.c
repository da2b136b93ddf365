/* Moving a zone, or its patch, to a fresh superblock; and refreshing, the choice of zones to move for the sake of their data. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/move.h"

#include "block/superblock.h"
#include "buffer/buffer.h"
#include "lt/arena.h"
#include "map/l2p.h"
#include "slc/slc.h"
#include "zone/tables.h"
#include "zone/update.h"
#include "zone/zone.h"

/* Moving a zone, or its patch, to a fresh superblock. */

static void row_start(struct ftl_worker *self);
static void move_start(struct ftl_worker *self, struct zone *zone, uint32_t target);

/* --- queue --- */

void relocate_zone(struct ftl_worker *self, struct zone *zone, uint32_t target)
{
	struct relocator *mover = self->ftl->relocator;
	struct lt_lock_node node;
	bool idle;

	lt_lock_acquire(&mover->lock, &node);
	idle = !mover->zone;
	if (idle) {
		mover->zone = zone;
	} else {
		zone->move.target = target;
		zone->move.queue.zone = zone;
		waiter_ask(&mover->queue, &zone->move.queue, HZ_LOGICAL_MOVER, 0);
	}
	lt_lock_release(&mover->lock, &node);
	if (idle)
		move_start(self, zone, target);
}

/* A move starts when something must be programmed and nothing of the old superblock is still being programmed. */
void relocate_broken(struct ftl_worker *self, struct zone *zone)
{
	uint32_t target;
	bool hopeless;

	if (zone->move.under_way || zone->move.old != SUPERBLOCK_NONE || !buffer_ready(zone))
		return;
	if (zone_throws_away(zone) || !buffer_take(self, zone))
		return;
	target = superblock_take(zone, &hopeless);
	if (hopeless)
		zone_become(zone, ZONE_FAILED);
	zone->move.under_way = !hopeless;
	zone->move.patch = zone_in_patch(zone);
	zone->move.refresh = false;
	superblocks_kick(self);
	if (target != SUPERBLOCK_NONE)
		relocate_zone(self, zone, target);
}

bool relocate_refreshed(struct ftl_worker *self, struct zone *zone, uint32_t target)
{
	struct relocator *mover = self->ftl->relocator;
	struct lt_lock_node node;
	bool idle;

	lt_lock_acquire(&mover->lock, &node);
	idle = !mover->zone && !self->ftl->refresher->shutting_down;
	if (idle)
		mover->zone = zone;
	lt_lock_release(&mover->lock, &node);
	if (!idle)
		return false;
	zone->move.under_way = zone->move.refresh = true;
	zone->move.patch = zone->refresh.patch;
	move_start(self, zone, target);
	return true;
}

/* No zone lock held: the next zone in the queue, if any, begins. */
static void move_next(struct ftl_worker *self)
{
	struct relocator *mover = self->ftl->relocator;
	struct lt_lock_node node;
	struct waiter *next;
	struct zone *zone;

	lt_lock_acquire(&mover->lock, &node);
	next = waiter_pop(&mover->queue);
	zone = mover->zone = next ? next->zone : NULL;
	lt_lock_release(&mover->lock, &node);
	if (!zone) {
		refresh_next(self);
		return;
	}
	lt_lock_acquire(&zone->lock, &node);
	move_start(self, zone, zone->move.target);
	lt_lock_release(&zone->lock, &node);
}

/* --- one move --- */

/* The moving part: superblock or patch. */
static uint32_t *part_of(struct zone *zone) { return zone->move.patch ? &zone->patch : &zone->superblock; }
static bool *bad_part(struct zone *zone) { return zone->move.patch ? &zone->bad_patch : &zone->bad_superblock; }

static void set_part(struct relocator *mover, struct zone *zone)
{
	const struct ftl *ftl = zone->ftl;

	mover->source = *part_of(zone);
	mover->base = zone->move.patch ? zone->body : 0;
	mover->end = zone->move.patch ? zone->placed - zone->body : min_u32(zone->placed, zone->body);
	mover->unit_sectors = zone->move.patch ? ftl->cfg->slc_program_sectors : ftl->unit_sectors;
	mover->read_sectors = mover->unit_sectors < ftl->page_sectors ? mover->unit_sectors : ftl->page_sectors;
	mover->most = flash_planes_of(ftl->map, mover->source) * mover->unit_sectors;
}

/* From here on only the mover's worker touches the mover. Zone lock held. */
static void move_start(struct ftl_worker *self, struct zone *zone, uint32_t target)
{
	struct relocator *mover = self->ftl->relocator;

	lt_tell_had(HZ_LOGICAL_MOVER);
	mover->worker = self;
	mover->target = target;
	mover->offset = mover->tries = 0;
	set_part(mover, zone);
	if (zone->move.refresh)
		update_fold_begin(zone);
	if (*bad_part(zone) == zone->move.refresh) /* a refreshed zone's has been promised with the target */
		superblock_promise(self->ftl, mover->source, zone->move.refresh ? -1 : 1);
	lt_post(&self->thread, &mover->event, mover->begin);
}

/* The copy is complete: the zone goes on in the new superblock. */
static void move_end(struct ftl_worker *self)
{
	struct relocator *mover = self->ftl->relocator;
	struct zone *zone = mover->zone;
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	zone->move.old = mover->source;
	zone->move.old_bad = *bad_part(zone);
	*part_of(zone) = mover->target;
	*bad_part(zone) = zone->move.under_way = false;
	if (!zone_failed(zone))
		zone_become(zone, ZONE_SOUND);
	if (zone->move.refresh)
		refresh_end(zone, true, self);
	if (!zone_is_backing(zone))
		l2p_moved(self, zone);
	update_fold_moved(self, zone);
	buffer_restart(zone);
	zone_pump(self, zone);
	lt_lock_release(&zone->lock, &node);
	move_next(self);
}

void relocate_settle(struct ftl_worker *self, struct zone *zone)
{
	if (!readers_gone(zone))
		return;
	if (zone->move.old_bad) {
		superblock_retire(self, zone->move.old);
	} else {
		superblock_release(self, zone->move.old, NULL);
		superblock_promise(self->ftl, zone->move.old, -1);
	}
	zone->move.old = SUPERBLOCK_NONE;
	if (!zone->op.code)
		zone_unpark(zone);
}

/* Sectors of backing zones are mapped by their offset, wherever the zone lies. */
static void move_remap(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, uint32_t superblock)
{
	if (!zone_is_backing(zone))
		l2p_remap_run(self, zone, self->ftl->relocator->base + offset, count, ppa_make(self->ftl->map, superblock, offset));
}

/* Abort the move: map the zone back; free the target superblock once its readers are done. Zone lock held. */
static void move_back(struct ftl_worker *self, struct zone *zone)
{
	struct relocator *mover = self->ftl->relocator;

	move_remap(self, zone, 0, mover->offset, mover->source);
	if (*bad_part(zone))
		superblock_promise(self->ftl, mover->target, 1);
	zone->move.old = mover->target;
	zone->move.old_bad = zone->move.under_way = false;
	update_fold_cancel(zone);
}

/* A sector of the old superblock is unreadable: the zone can be neither continued nor moved. A full one needs neither. */
static void move_fail(struct ftl_worker *self)
{
	struct relocator *mover = self->ftl->relocator;
	struct zone *zone = mover->zone;
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	move_back(self, zone);
	if (zone->move.refresh) {
		self->counters.refresh_failures++;
		zone->refresh.never = true;
		refresh_end(zone, false, self);
	} else {
		zone_fail(self, zone);
	}
	zone_pump(self, zone);
	lt_lock_release(&zone->lock, &node);
	move_next(self);
}

/* A refreshed zone is about to be reset. */
static void move_stop(struct ftl_worker *self)
{
	struct zone *zone = self->ftl->relocator->zone;
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	move_back(self, zone);
	refresh_end(zone, false, self);
	zone_pump(self, zone);
	lt_lock_release(&zone->lock, &node);
	move_next(self);
}

/* The new superblock is bad as well: begin again with another. */
static void move_again(struct ftl_worker *self)
{
	struct relocator *mover = self->ftl->relocator;
	struct zone *zone = mover->zone;
	struct lt_lock_node node;
	uint32_t target;
	bool hopeless;

	lt_lock_acquire(&zone->lock, &node);
	move_remap(self, zone, 0, mover->offset, mover->source);
	if (!*bad_part(zone))
		superblock_promise(self->ftl, mover->source, -1);
	superblock_retire(self, mover->target);
	if (zone->move.refresh) { /* later, when more reads have come */
		zone->move.under_way = hopeless = false;
		update_fold_cancel(zone);
		target = SUPERBLOCK_NONE;
		refresh_end(zone, false, self);
		zone_pump(self, zone);
	} else {
		target = superblock_take(zone, &hopeless);
	}
	if (hopeless) {
		zone_fail(self, zone);
		zone_pump(self, zone);
	} else if (target != SUPERBLOCK_NONE) {
		move_start(self, zone, target);
	}
	lt_lock_release(&zone->lock, &node);
	if (target == SUPERBLOCK_NONE)
		move_next(self);
}

/* --- one row: read, merge writes in place, program, remap --- */

static void row_was_read(struct tsu_txn *txn);
static void row_was_merged(struct tsu_txn *txn);
static void row_programmed(struct tsu_txn *txn);

static uint32_t padded(const struct relocator *mover, uint32_t sectors)
{
	uint32_t units = 0;

	while (units < sectors)
		units += mover->unit_sectors;
	return units;
}

static void row_read(struct ftl_worker *self)
{
	struct ftl *ftl = self->ftl;
	struct relocator *mover = ftl->relocator;
	uint32_t count = mover->row_sectors, page = mover->read_sectors, reads = count / page;

	mover->failed = false;
	mover->pending = reads;
	for (uint32_t i = 0; i < reads; i++)
		mover->read[i] = (struct tsu_txn){
			.next = i + 1 < reads ? &mover->read[i + 1] : NULL,
			.owner = &self->thread,
			.done = row_was_read,
			.op = TSU_READ,
			.cause = relocate_cause(mover),
			.sectors = (uint16_t)page,
			.ppa = ppa_make(ftl->map, mover->source, mover->offset + i * page),
			.data = { &mover->memory[i * page], 0, page * HZ_SECTOR_BYTES },
			.oob = &mover->oob[i * page],
		};
	tsu_submit_list(ftl->tsu, mover->read);
}

static void row_program(struct ftl_worker *self)
{
	struct ftl *ftl = self->ftl;
	struct relocator *mover = ftl->relocator;
	uint32_t count = mover->row_sectors, unit = mover->unit_sectors, programs = count / unit;
	uint64_t sequence = sequence_take(ftl, count);

	for (uint32_t i = 0; i < count && !zone_is_backing(mover->zone); i++) /* their numbers order the versions of an LBA */
		mover->oob[i].sequence = sequence + i;
	mover->pending = programs;
	for (uint32_t i = 0; i < programs; i++)
		mover->program[i] = (struct tsu_txn){
			.next = i + 1 < programs ? &mover->program[i + 1] : NULL,
			.owner = &self->thread,
			.done = row_programmed,
			.op = TSU_PROGRAM,
			.cause = relocate_cause(mover),
			.sectors = (uint16_t)unit,
			.ppa = ppa_make(ftl->map, mover->target, mover->offset + i * unit),
			.data = { &mover->memory[i * unit], 0, unit * HZ_SECTOR_BYTES },
			.oob = &mover->oob[i * unit],
		};
	if (move_has_parity(mover))
		move_add_parity(self, &mover->program[programs - 1]);
	tsu_submit_list(ftl->tsu, mover->program);
}

static void row_start(struct ftl_worker *self)
{
	struct relocator *mover = self->ftl->relocator;
	uint32_t rest = mover->end - mover->offset;

	if (mover->offset >= mover->end) {
		move_end(self);
		return;
	}
	mover->row_sectors = padded(mover, rest < mover->most ? rest : mover->most);
	mover->tries = 0;
	row_read(self);
}

/* Sector i of the row comes from its copy. */
static void merge_read(struct ftl_worker *self, uint32_t i, ppa_t ppa)
{
	struct relocator *mover = self->ftl->relocator;

	mover->oob[i].flags = 0;
	mover->read[mover->pending] = (struct tsu_txn){
		.next = mover->pending ? &mover->read[mover->pending - 1] : NULL,
		.owner = &self->thread,
		.done = row_was_merged,
		.op = TSU_READ,
		.cause = relocate_cause(mover),
		.sectors = 1,
		.ppa = ppa,
		.data = { &mover->memory[i], 0, HZ_SECTOR_BYTES },
	};
	mover->pending++;
}

/* False: nothing of the row has been written in place. */
static bool row_merge(struct ftl_worker *self)
{
	struct relocator *mover = self->ftl->relocator;
	struct zone *zone = mover->zone;
	uint64_t first = zone->start + mover->base + mover->offset;
	uint32_t count = min_u32(mover->end - mover->offset, mover->row_sectors);
	struct lt_lock_node node;
	ppa_t ppa;

	mover->pending = 0;
	lt_lock_acquire(&zone->lock, &node);
	for (uint32_t i = 0; zone->updates.folding && i < count; i++) {
		i += updates_gap(self->ftl, first + i, count - i);
		if (i < count && updates_pin(self->ftl, first + i, 1, &ppa))
			merge_read(self, i, ppa);
	}
	lt_lock_release(&zone->lock, &node);
	if (mover->pending)
		tsu_submit_list(self->ftl->tsu, &mover->read[mover->pending - 1]);
	return mover->pending;
}

/* All reads of the row have ended, or failed. */
static void row_go_on(struct ftl_worker *self)
{
	struct relocator *mover = self->ftl->relocator;

	if (!mover->failed)
		row_program(self);
	else if (++mover->tries < RELOCATE_TRIES)
		row_read(self);
	else
		move_fail(self);
}

void relocate_mended(struct ftl_worker *self, bool good)
{
	self->ftl->relocator->failed = !good;
	if (!good || !row_merge(self))
		row_go_on(self);
}

static void row_was_merged(struct tsu_txn *txn)
{
	struct ftl_worker *self = worker_of(txn);
	struct relocator *mover = self->ftl->relocator;

	if (txn->status == NAND_POWER_OFF)
		return;
	slc_unpin(self, txn->ppa);
	mover->failed |= txn->status != NAND_OK;
	if (--mover->pending == 0)
		row_go_on(self);
}

static void row_was_read(struct tsu_txn *txn)
{
	struct ftl_worker *self = worker_of(txn);
	struct relocator *mover = self->ftl->relocator;

	if (txn->status == NAND_POWER_OFF)
		return;
	if (txn->status != NAND_OK)
		move_read_failed(mover, txn);
	if (--mover->pending)
		return;
	if (mover->failed && move_has_parity(mover) && mover->tries + 1 == RELOCATE_TRIES)
		move_read_parity(self);
	else if (mover->failed || !row_merge(self))
		row_go_on(self);
}

/* False: the zone is to be reset, and need not move any more. */
static bool row_remap(struct ftl_worker *self)
{
	struct ftl *ftl = self->ftl;
	struct relocator *mover = ftl->relocator;
	struct zone *zone = mover->zone;
	uint32_t rest = mover->end - mover->offset, count = rest < mover->row_sectors ? rest : mover->row_sectors;
	struct lt_lock_node node;
	bool stays;

	lt_lock_acquire(&zone->lock, &node);
	move_remap(self, zone, mover->offset, count, mover->target);
	stays = zone->move.refresh && zone->op.code == FTL_ZONE_RESET;
	lt_lock_release(&zone->lock, &node);
	mover->offset += count;
	self->counters.refreshed_sectors += zone->move.refresh ? count : 0;
	return !stays;
}

static void row_programmed(struct tsu_txn *txn)
{
	struct ftl_worker *self = worker_of(txn);
	struct relocator *mover = self->ftl->relocator;

	if (txn->status == NAND_POWER_OFF)
		return;
	mover->failed |= txn->status != NAND_OK;
	if (--mover->pending)
		return;
	if (mover->failed) {
		move_again(self);
		return;
	}
	if (row_remap(self))
		row_start(self);
	else
		move_stop(self);
}

static void row_begin(struct lt_event *event)
{
	struct relocator *mover = (struct relocator *)((char *)event - offsetof(struct relocator, event));

	row_start(mover->worker);
}

bool relocator_quiet(struct ftl *ftl)
{
	struct lt_lock_node node;
	bool quiet;

	lt_lock_acquire(&ftl->relocator->lock, &node);
	ftl->refresher->shutting_down = true;
	quiet = !ftl->relocator->zone;
	lt_lock_release(&ftl->relocator->lock, &node);
	return quiet;
}

void relocator_init(struct ftl *ftl, struct arena *arena)
{
	struct relocator *mover = arena_alloc(arena, 1, sizeof(*mover), "relocator");
	uint32_t patch_row = ftl->shape.patch_superblocks ? ftl->shape.planes * ftl->cfg->slc_program_sectors : 0;
	uint32_t sectors = ftl->superpage_sectors > patch_row ? ftl->superpage_sectors : patch_row, reads = sectors / ftl->page_sectors;
	uint32_t bytes = hz_sector_memory(ftl->cfg);
	uint8_t *data = arena_alloc_data(arena, sectors, bytes, "relocator data");

	ftl->relocator = mover;
	lt_lock_init(&mover->lock, HZ_LC_BLOCK, 1);
	mover->begin = row_begin;
	mover->memory = arena_alloc(arena, sectors, sizeof(*mover->memory), "relocator memory");
	mover->oob = arena_alloc(arena, sectors, sizeof(*mover->oob), "relocator OOB");
	if (ftl->shape.patch_superblocks && reads < ftl->shape.planes)
		reads = ftl->shape.planes;
	if (ftl->cfg->in_place_sectors)
		reads = sectors;
	mover->read = arena_alloc(arena, reads, sizeof(*mover->read), "relocator reads");
	mover->program = arena_alloc(arena, ftl->shape.planes, sizeof(*mover->program), "relocator programs");
	for (uint32_t i = 0; i < sectors; i++)
		mover->memory[i] = data + (size_t)i * bytes;
	if (ftl->cfg->rain) {
		move_parity_init(ftl, arena);
		zone_table_keep_apart(ftl);
	}
}

/* Refreshing: zones that move for the sake of their data. */

/* A zone that could not move at once is due again after this many further reads: a power of two. */
enum { AGAIN_READS = 1024 };

/* It is full, at its place, and nothing happens to it. */
static bool may_move(const struct zone *zone, bool patch)
{
	return zone->state == NVME_ZS_FULL && zone->placed && zone->placed == zone->wp && !zone->buffer && zone->condition == ZONE_SOUND &&
	       !zone->refresh.never && !zone->op.code && !zone->updates.recording && !zone->move.under_way &&
	       zone->move.old == SUPERBLOCK_NONE && (patch ? zone->patch : zone->superblock) != SUPERBLOCK_NONE;
}

static void list_push(struct zone *zone)
{
	struct refresher *refresher = zone->ftl->refresher;

	zone->refresh.next = NULL;
	if (refresher->head)
		refresher->tail->refresh.next = zone;
	else
		refresher->head = zone;
	refresher->tail = zone;
}

static struct zone *list_pop(struct refresher *refresher)
{
	struct zone *zone = refresher->head;

	if (zone)
		refresher->head = zone->refresh.next;
	return zone;
}

void refresh_due(struct zone *zone, bool patch, enum refresh_cause cause)
{
	if (zone->refresh.cause || !may_move(zone, patch))
		return;
	zone->refresh.cause = (uint8_t)cause;
	zone->refresh.patch = patch;
	list_push(zone);
}

/* A read or reset is host activity: no shutdown is under way any more. Zone lock held. */
static void become_due(struct ftl_worker *self, struct zone *zone, bool patch, enum refresh_cause cause)
{
	struct lt_lock_node node;

	lt_lock_acquire(&self->ftl->relocator->lock, &node);
	self->ftl->refresher->shutting_down = false;
	refresh_due(zone, patch, cause);
	lt_lock_release(&self->ftl->relocator->lock, &node);
	refresh_next(self);
}

void refresh_next(struct ftl_worker *self)
{
	struct refresher *refresher = self->ftl->refresher;
	struct relocator *mover = self->ftl->relocator;
	struct zone *zone = NULL;
	struct lt_lock_node node;

	lt_lock_acquire(&mover->lock, &node);
	if (!refresher->shutting_down && !mover->zone) {
		zone = (struct zone *)(uintptr_t)lt_load(&refresher->candidate);
		if (!zone)
			zone = list_pop(refresher);
		lt_store(&refresher->candidate, (uintptr_t)zone);
	}
	lt_lock_release(&mover->lock, &node);
	if (zone)
		zone_kick(self, zone);
}

void refresh_end(struct zone *zone, bool moved, struct ftl_worker *self)
{
	self->counters.refreshed_reads += moved && zone->refresh.cause == REFRESH_READS;
	self->counters.refreshed_age += moved && zone->refresh.cause == REFRESH_AGE;
	self->counters.refreshed_wear += moved && zone->refresh.cause == REFRESH_WEAR;
	self->counters.refreshed_rebuilt += moved && zone->refresh.cause == REFRESH_REBUILT;
	zone->refresh.cause = REFRESH_NONE;
	lt_store(&self->ftl->refresher->candidate, 0);
}

void refresh_go_on(struct ftl_worker *self, struct zone *zone)
{
	struct ftl *ftl = self->ftl;
	uint32_t target;

	if (lt_load(&ftl->refresher->candidate) != (uintptr_t)zone || zone->move.under_way)
		return;
	if (!may_move(zone, zone->refresh.patch)) {
		refresh_end(zone, false, self);
		refresh_next(self);
		return;
	}
	target = superblock_take_spare(zone, zone->refresh.patch);
	if (target != SUPERBLOCK_NONE && !relocate_refreshed(self, zone, target))
		superblock_untake(self, target);
}

void refresh_counted(struct ftl_worker *self, struct zone *zone, ppa_t ppa)
{
	struct ftl *ftl = self->ftl;
	uint64_t reads = superblock_count_read(ftl, ppa_superblock(ftl->map, ppa)), most = ftl->cfg->refresh_reads;

	if (reads == most || (reads > most && !(reads & (AGAIN_READS - 1))))
		become_due(self, zone, ppa_superblock(ftl->map, ppa) == zone->patch, REFRESH_READS);
}

void refresh_fold(struct ftl_worker *self, struct zone *zone) { become_due(self, zone, false, REFRESH_FOLD); }

void refresh_rebuilt(struct ftl_worker *self, struct zone *zone) { become_due(self, zone, false, REFRESH_REBUILT); }

/* --- wear --- */

static void look_at(struct ftl_worker *self, struct zone *zone)
{
	struct ftl *ftl = self->ftl;
	bool patch = zone->body == 0;
	struct lt_lock_node node;
	uint64_t erases, count;

	superblocks_wear(ftl, patch, &erases, &count);
	lt_lock_acquire(&zone->lock, &node);
	if (may_move(zone, patch)) {
		uint32_t own = superblock_erases(ftl, patch ? zone->patch : zone->superblock);

		if (((uint64_t)own + ftl->cfg->refresh_wear) * count < erases)
			become_due(self, zone, patch, REFRESH_WEAR);
	}
	lt_lock_release(&zone->lock, &node);
}

static void look_once(struct lt_event *event)
{
	struct refresher *refresher = (struct refresher *)((char *)event - offsetof(struct refresher, event));
	struct ftl_worker *self = refresher->worker;
	struct zone *zone = &self->ftl->zones[refresher->cursor];

	refresher->cursor = refresher->cursor + 1 == self->ftl->all_zones ? 0 : refresher->cursor + 1;
	lt_store(&refresher->looking, 0);
	look_at(self, zone);
}

void refresh_look(struct ftl_worker *self)
{
	struct refresher *refresher = self->ftl->refresher;

	if (!self->ftl->cfg->refresh_wear || !lt_cas(&refresher->looking, 0, 1))
		return;
	refresher->worker = self;
	lt_post(&self->thread, &refresher->event, refresher->look);
}

/* --- after mount --- */

static void refresh_begin(struct lt_event *event)
{
	struct refresher *refresher = (struct refresher *)((char *)event - offsetof(struct refresher, event));

	lt_store(&refresher->looking, 0);
	refresh_next(refresher->worker);
}

void refresh_start(struct ftl *ftl)
{
	struct refresher *refresher = ftl->refresher;

	if (!refresher->head)
		return;
	lt_preset(&refresher->looking, 1);
	refresher->worker = &ftl->workers[0];
	lt_post(&refresher->worker->thread, &refresher->event, refresher->begin);
}

void refresh_init(struct ftl *ftl, struct arena *arena)
{
	ftl->refresher = arena_alloc(arena, 1, sizeof(*ftl->refresher), "refresher");
	ftl->refresher->look = look_once;
	ftl->refresher->begin = refresh_begin;
}
