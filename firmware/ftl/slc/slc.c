/* SLC log: allocation at the heads, programs in lanes, validity, pins. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "slc/slc.h"

#include "base/health.h"
#include "dump_size.h"
#include "logical_locks.h"
#include "lt/arena.h"
#include "lt/logical.h"

struct slc_block *slc_block_of(struct ftl *ftl, ppa_t ppa) { return &ftl->slc->block[ppa_superblock(ftl->map, ppa)]; }

ppa_t slc_sector_at(const struct ftl *ftl, uint32_t block, uint32_t column, uint32_t sector)
{
	uint32_t unit = ftl->slc->unit_sectors, row = sector / unit;

	return ppa_make(ftl->map, block, (row * ftl->slc->planes + column) * unit + sector - row * unit);
}

const struct slc_owner *slc_owner_of(const struct slc *slc, uint32_t tag)
{
	for (unsigned i = 0; i < SLC_OWNERS; i++)
		if (slc->owner[i].moved && tag >= slc->owner[i].first && tag <= slc->owner[i].last)
			return &slc->owner[i];
	return NULL;
}

uint32_t *slc_tag_of(struct ftl *ftl, ppa_t ppa)
{
	return &ftl->slc->tag[ppa_superblock(ftl->map, ppa) * ftl->slc->sectors + ppa_offset(ftl->map, ppa)];
}

static void head_reset(struct ftl *ftl, struct slc_head *head, uint32_t block)
{
	head->block = block;
	head->unit = head->row = head->column = 0;
	head->room = ftl->slc->units;
	memset(head->column_row, 0, ftl->slc->planes * sizeof(*head->column_row));
}

static void head_seal(struct slc *slc, struct slc_head *head)
{
	if (head->block != SLC_NONE) {
		slc->block[head->block].state = SLC_SEALED;
		slc_appraise(slc, &slc->block[head->block]);
	}
	head->block = SLC_NONE;
	head->room = 0;
}

static uint32_t slc_take_free(struct ftl *ftl)
{
	struct slc *slc = ftl->slc;

	while (slc->block[slc->cursor].state != SLC_FREE)
		slc->cursor = slc->cursor + 1 == slc->blocks ? 0 : slc->cursor + 1;
	slc->block[slc->cursor].state = SLC_OPEN;
	slc->block[slc->cursor].opened = lt_load(&ftl->sequence);
	slc->block[slc->cursor].youngest = 0;
	slc->free--;
	return slc->cursor;
}

/* Only the collector may take the last free superblock. */
static bool head_ready(struct ftl *ftl, struct slc_head *head)
{
	struct slc *slc = ftl->slc;
	uint32_t reserve = head == &slc->head[SLC_COLLECT] ? 0 : 1;

	if (head->room)
		return true;
	if (slc_free_now(slc) <= reserve)
		return false;
	head_seal(slc, head);
	head_reset(ftl, head, slc_take_free(ftl));
	return true;
}

static void head_step(struct slc *slc, struct slc_head *head)
{
	head->unit++;
	if (++head->column == slc->planes) {
		head->column = 0;
		head->row++;
	}
}

/* The next unit of a head with room. */
static ppa_t head_take(struct ftl *ftl, struct slc_head *head, uint32_t *column)
{
	struct slc *slc = ftl->slc;
	ppa_t ppa;

	while (head->column_row[head->column] > head->row)
		head_step(slc, head);
	ppa = ppa_make(ftl->map, head->block, head->unit * slc->unit_sectors);
	*column = head->column;
	head->column_row[head->column] = head->row + 1;
	head->room--;
	slc->block[head->block].in_flight++;
	head_step(slc, head);
	return ppa;
}

static void lane_submit(struct ftl_worker *self, struct slc_write *write)
{
	write->txn.ppa = write->ppa;
	write->txn.next = NULL;
	tsu_submit(self->ftl->tsu, &write->txn);
}

static void queue_push(struct slc_queue *queue, struct slc_write *write)
{
	write->next = NULL;
	if (queue->tail)
		queue->tail->next = write;
	else
		queue->head = write;
	queue->tail = write;
}

static struct slc_write *queue_pop(struct slc_queue *queue)
{
	struct slc_write *write = queue->head;

	queue->head = write->next;
	if (!queue->head)
		queue->tail = NULL;
	return write;
}

static struct slc_write *waiting_pop(struct slc_queue *queue)
{
	lt_logical_wait_ended(queue->head);
	return queue_pop(queue);
}

static void slc_note_age(struct ftl *ftl, const struct slc_write *write)
{
	struct slc_block *block = slc_block_of(ftl, write->ppa);

	for (uint32_t i = 0; i < ftl->slc->unit_sectors; i++)
		if (write->oob[i].sequence > block->youngest)
			block->youngest = write->oob[i].sequence;
}

/* Lock held; false: no room. */
static bool slc_place(struct ftl_worker *self, struct slc_write *write)
{
	struct slc_head *head = &self->ftl->slc->head[write->stream];
	struct slc_lane *lane;

	if (!head_ready(self->ftl, head))
		return false;
	write->ppa = head_take(self->ftl, head, &write->column);
	lt_tell_had(HZ_LOGICAL_SLC);
	slc_note_age(self->ftl, write);
	lane = &head->lane[write->column];
	if (lane->busy || lane->queue.head) { /* the lane may be between two programs, in lane_next */
		queue_push(&lane->queue, write);
	} else {
		lane->busy = true;
		lane_submit(self, write);
	}
	return true;
}

/* --- a worn-out log --- */

void slc_lose_block(struct ftl *ftl)
{
	lt_add(&ftl->slc->usable, (uint64_t)-1);
	watch_tell(ftl);
}

void slc_health(const struct ftl *ftl, struct ftl_health *out)
{
	const struct slc *slc = ftl->slc;
	uint8_t percent = health_spare_percent(slc->blocks - slc->least, slc->blocks - lt_load(&slc->usable));

	if (percent < out->spare_percent)
		out->spare_percent = percent;
}

static void write_refused(struct lt_event *event)
{
	struct slc_write *write = (struct slc_write *)((char *)event - offsetof(struct slc_write, refused));

	write->ppa = PPA_NONE;
	write->done(write);
}

/* By an event: done may take locks held by the caller of slc_write. */
static void refuse_stream(struct slc *slc, unsigned stream)
{
	while (slc->waiting[stream].head) {
		struct slc_write *write = waiting_pop(&slc->waiting[stream]);

		lt_post(write->txn.owner, &write->refused, write_refused);
	}
}

/* The collector's own programs never wait; the others may, while it is at work. */
void slc_refuse_waiting(struct ftl_worker *self)
{
	struct slc *slc = self->ftl->slc;

	if (lt_load(&slc->usable) >= slc->least)
		return;
	refuse_stream(slc, SLC_COLLECT);
	if (slc->gc.busy)
		return;
	refuse_stream(slc, SLC_STAGE);
	refuse_stream(slc, SLC_MAP);
}

/* Each stream has its own queue: the collector's writes make room for the others. Lock held. */
static void place_or_wait(struct ftl_worker *self, struct slc_write *write)
{
	struct slc_queue *waiting = &self->ftl->slc->waiting[write->stream];

	if (waiting->head || !slc_place(self, write)) {
		lt_logical_wait(HZ_LOGICAL_SLC, write->stream, write);
		queue_push(waiting, write);
	}
	slc_collect(self);
	if (waiting->head)
		slc_refuse_waiting(self);
}

static void start_waiting(struct ftl_worker *self, unsigned stream)
{
	struct slc *slc = self->ftl->slc;

	while (slc->waiting[stream].head && head_ready(self->ftl, &slc->head[stream]))
		slc_place(self, waiting_pop(&slc->waiting[stream]));
}

/* Data and tables take turns at a free superblock, so that neither starves. */
void slc_start_waiting(struct ftl_worker *self)
{
	struct slc *slc = self->ftl->slc;

	start_waiting(self, SLC_COLLECT);
	start_waiting(self, slc->turn);
	slc->turn = slc->turn == SLC_STAGE ? SLC_MAP : SLC_STAGE;
	start_waiting(self, slc->turn);
}

/* Lock held: a program of the superblock has ended. */
static void program_ended(struct ftl *ftl, ppa_t ppa)
{
	struct slc_block *block = slc_block_of(ftl, ppa);

	block->in_flight--;
	slc_appraise(ftl->slc, block);
}

/* A program failed: nothing more goes to this superblock, and it is retired once collected. */
static void doom(struct ftl *ftl, ppa_t ppa)
{
	struct slc *slc = ftl->slc;
	uint32_t block = ppa_superblock(ftl->map, ppa);

	if (!slc->block[block].doomed)
		slc_lose_block(ftl);
	slc->block[block].doomed = true;
	for (unsigned i = 0; i < SLC_STREAMS; i++)
		if (slc->head[i].block == block)
			head_seal(slc, &slc->head[i]);
}

/* The lane's next program; programs for a doomed superblock get new places. Lock held. */
static void lane_next(struct ftl_worker *self, struct slc_lane *lane)
{
	lane->busy = false;
	while (!lane->busy && lane->queue.head) {
		struct slc_write *write = queue_pop(&lane->queue);
		struct slc_block *block = slc_block_of(self->ftl, write->ppa);

		if (block->doomed) {
			program_ended(self->ftl, write->ppa);
			place_or_wait(self, write);
		} else {
			lane->busy = true;
			lane_submit(self, write);
		}
	}
}

static void slc_programmed(struct tsu_txn *txn)
{
	struct slc_write *write = (struct slc_write *)((char *)txn - offsetof(struct slc_write, txn));
	struct ftl_worker *self = worker_of(txn);
	struct slc *slc = self->ftl->slc;
	struct lt_lock_node node;
	bool good = txn->status == NAND_OK;
	ppa_t ppa = write->ppa; /* done may start the next write with the same object */

	if (txn->status == NAND_POWER_OFF)
		return;
	lt_lock_acquire(&slc->lock, &node);
	if (!good)
		doom(self->ftl, write->ppa);
	lane_next(self, &slc->head[write->stream].lane[write->column]);
	if (!good) {
		program_ended(self->ftl, write->ppa);
		place_or_wait(self, write);
	}
	lt_lock_release(&slc->lock, &node);
	if (!good)
		return;
	write->done(write);
	lt_lock_acquire(&slc->lock, &node);
	program_ended(self->ftl, ppa);
	slc_collect(self);
	lt_lock_release(&slc->lock, &node);
}

void slc_write(struct ftl_worker *self, struct slc_write *write)
{
	struct slc *slc = self->ftl->slc;
	struct lt_lock_node node;

	write->txn.op = TSU_PROGRAM;
	write->txn.cause = write->cause;
	write->txn.sectors = (uint16_t)slc->unit_sectors;
	write->txn.data = (struct sgl){ write->memory, 0, slc->unit_sectors * HZ_SECTOR_BYTES };
	write->txn.data_at = 0;
	write->txn.oob = write->oob;
	write->txn.done = slc_programmed;
	lt_lock_acquire(&slc->lock, &node);
	place_or_wait(self, write);
	lt_lock_release(&slc->lock, &node);
}

void slc_validate(struct ftl *ftl, ppa_t ppa, uint32_t count, uint32_t tag)
{
	uint32_t *slot = slc_tag_of(ftl, ppa);
	struct lt_lock_node node;

	lt_lock_acquire(&ftl->slc->lock, &node);
	for (uint32_t i = 0; i < count; i++)
		slot[i] = tag + i;
	slc_block_of(ftl, ppa)->valid += count;
	slc_appraise(ftl->slc, slc_block_of(ftl, ppa));
	lt_lock_release(&ftl->slc->lock, &node);
}

static bool slc_somebody_waits(const struct slc *slc)
{
	return slc->waiting[SLC_STAGE].head || slc->waiting[SLC_MAP].head || slc->waiting[SLC_COLLECT].head;
}

/* Lock held. */
static void sector_invalid(struct ftl *ftl, ppa_t ppa)
{
	struct slc_block *block = slc_block_of(ftl, ppa);

	*slc_tag_of(ftl, ppa) = SLC_NONE;
	block->valid--;
	slc_appraise(ftl->slc, block);
}

void slc_invalidate(struct ftl_worker *self, const ppa_t *ppa, uint32_t count)
{
	struct slc *slc = self->ftl->slc;
	struct lt_lock_node node;

	lt_lock_acquire(&slc->lock, &node);
	for (uint32_t i = 0; i < count; i++)
		sector_invalid(self->ftl, ppa[i]);
	if (slc_somebody_waits(slc))
		slc_collect(self);
	lt_lock_release(&slc->lock, &node);
}

void slc_invalidate_own(struct ftl_worker *self, const ppa_t *ppa, uint32_t count, uint32_t tag)
{
	struct slc *slc = self->ftl->slc;
	struct lt_lock_node node;

	lt_lock_acquire(&slc->lock, &node);
	for (uint32_t i = 0; i < count; i++)
		if (slc_holds(self->ftl->map, ppa[i]) && *slc_tag_of(self->ftl, ppa[i]) == tag + i)
			sector_invalid(self->ftl, ppa[i]);
	if (slc_somebody_waits(slc))
		slc_collect(self);
	lt_lock_release(&slc->lock, &node);
}

static ppa_t find_piece(struct ftl *ftl, uint32_t tag, uint32_t block, uint32_t from)
{
	struct slc *slc = ftl->slc;
	uint32_t end = min_u32(from + SLC_SCAN_SECTORS, slc->sectors);
	ppa_t found = PPA_NONE;
	struct lt_lock_node node;

	lt_lock_acquire(&slc->lock, &node);
	for (uint32_t o = from; o < end; o++)
		if (slc->tag[block * slc->sectors + o] == tag)
			found = ppa_make(ftl->map, block, o);
	lt_lock_release(&slc->lock, &node);
	return found;
}

ppa_t slc_find(struct ftl *ftl, uint32_t tag)
{
	ppa_t found = PPA_NONE;

	for (uint32_t b = 0; found == PPA_NONE && b < ftl->slc->blocks; b++)
		for (uint32_t o = 0; found == PPA_NONE && o < ftl->slc->sectors; o += SLC_SCAN_SECTORS)
			found = find_piece(ftl, tag, b, o);
	return found;
}

bool slc_sweep(struct ftl_worker *self, uint32_t first, uint32_t last, ppa_t *at)
{
	const struct flash_map *map = self->ftl->map;
	struct slc *slc = self->ftl->slc;
	uint32_t block = ppa_superblock(map, *at), from = ppa_offset(map, *at), end = min_u32(from + SLC_SCAN_SECTORS, slc->sectors);
	struct lt_lock_node node;

	lt_lock_acquire(&slc->lock, &node);
	for (uint32_t o = from; o < end; o++) {
		uint32_t tag = slc->tag[block * slc->sectors + o];

		if (tag >= first && tag <= last)
			sector_invalid(self->ftl, ppa_make(map, block, o));
	}
	lt_lock_release(&slc->lock, &node);
	*at = end < slc->sectors ? ppa_make(map, block, end) : ppa_make(map, block + 1, 0);
	return ppa_superblock(map, *at) < slc->blocks;
}

void slc_move(struct ftl *ftl, ppa_t from, ppa_t to)
{
	struct lt_lock_node node;

	lt_lock_acquire(&ftl->slc->lock, &node);
	*slc_tag_of(ftl, to) = *slc_tag_of(ftl, from);
	*slc_tag_of(ftl, from) = SLC_NONE;
	slc_block_of(ftl, to)->valid++;
	slc_block_of(ftl, from)->valid--;
	slc_appraise(ftl->slc, slc_block_of(ftl, to));
	slc_appraise(ftl->slc, slc_block_of(ftl, from));
	lt_lock_release(&ftl->slc->lock, &node);
}

static bool head_quiet(const struct slc *slc, const struct slc_head *head)
{
	for (uint32_t c = 0; c < slc->planes; c++)
		if (head->lane[c].busy)
			return false;
	return true;
}

bool slc_quiet(struct ftl *ftl)
{
	struct slc *slc = ftl->slc;
	struct lt_lock_node node;
	bool quiet;

	lt_lock_acquire(&slc->lock, &node);
	quiet = !slc->gc.busy && !slc_somebody_waits(slc);
	for (unsigned i = 0; i < SLC_STREAMS; i++)
		quiet = quiet && head_quiet(slc, &slc->head[i]);
	lt_lock_release(&slc->lock, &node);
	return quiet;
}

void slc_pin(struct ftl *ftl, ppa_t ppa) { lt_add(&slc_block_of(ftl, ppa)->pins, 1); }

static void pins_gone(struct lt_event *event)
{
	struct slc_gc *gc = (struct slc_gc *)((char *)event - offsetof(struct slc_gc, event));

	slc_gc_unpinned(gc->worker);
}

void slc_unpin(struct ftl_worker *self, ppa_t ppa)
{
	uint64_t before = lt_add(&slc_block_of(self->ftl, ppa)->pins, (uint64_t)-1);
	struct slc_gc *gc = &self->ftl->slc->gc;

	if (before == SLC_PIN_WAITING + 1)
		lt_post(&gc->worker->thread, &gc->event, pins_gone);
}

/* --- erasing of user data --- */

static bool is_stale(const struct slc_block *block, uint64_t before)
{
	return block->state != SLC_FREE && block->state != SLC_BAD && block->opened <= before;
}

/* A head leaves its superblock if it finds another one. */
static void seal_stale_heads(struct slc *slc, uint64_t before)
{
	for (unsigned i = 0; i < SLC_STREAMS; i++) {
		struct slc_head *head = &slc->head[i];

		if (head->block != SLC_NONE && slc->block[head->block].opened <= before && slc_free_now(slc) > (i == SLC_COLLECT ? 0 : 1))
			head_seal(slc, head);
	}
}

/* The worth lasts until the superblock's next change, and is given to it again. */
static void make_worthless(struct slc *slc, struct slc_block *block)
{
	if (block->state != SLC_SEALED || block->in_flight || (block->stuck && block->valid))
		return;
	slc->worth[block->worth]--;
	block->worth = SLC_EMPTY;
	slc->worth[SLC_EMPTY]++;
}

enum slc_purge slc_purge(struct ftl_worker *self, uint64_t before)
{
	struct slc *slc = self->ftl->slc;
	uint32_t stale = 0, in_flight = 0;
	struct lt_lock_node node;
	bool busy;

	lt_lock_acquire(&slc->lock, &node);
	seal_stale_heads(slc, before);
	for (uint32_t i = 0; i < slc->blocks; i++)
		if (is_stale(&slc->block[i], before)) {
			make_worthless(slc, &slc->block[i]);
			in_flight += slc->block[i].in_flight;
			stale++;
		}
	slc_collect(self);
	busy = slc->gc.busy || in_flight;
	for (uint32_t i = 0; !busy && i < slc->blocks; i++)
		slc_appraise(slc, &slc->block[i]);
	lt_lock_release(&slc->lock, &node);
	if (!stale)
		return SLC_PURGED;
	return busy ? SLC_PURGE_RUNS : SLC_PURGE_FAILED;
}

void slc_resume_head(struct ftl *ftl, uint32_t block, const uint32_t *column_row)
{
	struct slc *slc = ftl->slc;
	uint32_t room = 0, least = slc->rows;
	struct slc_head *head = NULL;

	for (uint32_t c = 0; c < slc->planes; c++) {
		room += slc->rows - column_row[c];
		least = column_row[c] < least ? column_row[c] : least;
	}
	for (unsigned i = 0; i < SLC_STREAMS; i++)
		if (slc->head[i].room < room && (!head || slc->head[i].room < head->room))
			head = &slc->head[i];
	if (!head)
		return;
	head_seal(slc, head);
	head_reset(ftl, head, block);
	memcpy(head->column_row, column_row, slc->planes * sizeof(*column_row));
	head->row = least;
	head->unit = least * slc->planes;
	head->room = room;
	slc->block[block].state = SLC_OPEN;
}

void slc_init(struct ftl *ftl, struct arena *arena)
{
	struct slc *slc = arena_alloc(arena, 1, sizeof(*slc), "SLC log");

	ftl->slc = slc;
	lt_lock_init(&slc->lock, HZ_LC_SLC, 0);
	slc->blocks = ftl->shape.slc_superblocks - ftl->shape.patch_superblocks;
	slc->sectors = ftl->shape.slc_superblock_sectors;
	slc->planes = ftl->shape.planes;
	slc->unit_sectors = ftl->cfg->slc_program_sectors;
	slc->least = hz_slc_log_least(ftl->cfg, &ftl->shape);
	slc->dump_superblocks = hz_dump_superblocks(ftl->cfg, &ftl->shape);
	slc->kept.block = arena_alloc(arena, slc->blocks, sizeof(uint32_t), "kept SLC superblocks");
	slc->kept.column = arena_alloc(arena, slc->planes, sizeof(*slc->kept.column), "kept SLC superblocks");
	lt_preset(&slc->usable, slc->blocks);
	slc->units = slc->sectors / slc->unit_sectors;
	slc->rows = slc->units / slc->planes;
	slc->block = arena_alloc(arena, slc->blocks, sizeof(*slc->block), "SLC superblocks");
	slc->tag = arena_alloc_table(arena, (size_t)slc->blocks * slc->sectors, sizeof(*slc->tag), "SLC reverse map");
	memset(slc->tag, 0xff, (size_t)slc->blocks * slc->sectors * sizeof(*slc->tag));
	for (unsigned i = 0; i < SLC_STREAMS; i++) {
		slc->head[i].block = SLC_NONE;
		slc->head[i].column_row = arena_alloc(arena, slc->planes, sizeof(uint32_t), "SLC head");
		slc->head[i].lane = arena_alloc(arena, slc->planes, sizeof(struct slc_lane), "SLC lanes");
	}
	slc_victim_init(ftl);
	slc_gc_init(ftl, arena);
}
