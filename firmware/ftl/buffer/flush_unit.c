/* The flush units of a superpage buffer: bound, filled, programmed in order. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/flush_unit.h"

#include "buffer/fold.h"
#include "buffer/sector_pool.h"
#include "buffer/staged.h"
#include "l2p/l2p.h"
#include "places/places.h"
#include "slc/slc.h"

void units_note_fill(struct extent *ext)
{
	if (ext->buffer->bank)
		lt_store(&ext->buffer->bank->fill, ext->landed - extent_on_flash(ext));
	if (extent_is_backing(ext))
		lt_store(&ext->places->durable, extent_on_flash(ext));
}

static void unit_open(struct extent *ext, struct flush_unit *unit, uint32_t start)
{
	const struct unit_grid *grid = units_grid(ext);

	unit->state = UNIT_FILLING;
	unit->failed = unit->staged = unit->folded = false;
	unit->not_before_ns = 0;
	unit->start = start;
	unit->end = start + grid->sectors - grid->slot_in_unit[extent_slot(ext, start)];
}

/* Its sectors are in SLC: after a buffer changed hands those of one unit that is not complete, after a loss of power those of any. */
static void bind_staged(struct extent *ext)
{
	uint32_t start = ext->placed;

	while (start < ext->landed) {
		struct flush_unit *unit = unit_of(ext, extent_slot(ext, start));

		unit_open(ext, unit, start);
		start = unit->end;
		unit->staged = true;
		if (unit->end <= ext->landed) {
			unit->state = UNIT_FULL;
			unit->data_end = unit->end;
		}
	}
}

/* What was staged stays in SLC; only the fill position is taken up again. */
void units_bind(struct extent *ext, struct write_buffer *buffer)
{
	ext->buffer = buffer;
	ext->resident = ext->landed;
	buffer->ext = ext;
	buffer->oldest = buffer->next = units_grid(ext)->slot_unit[extent_slot(ext, ext->placed)];
	buffer->used = 0;
	staged_bind(ext, buffer->staged);
	bind_staged(ext);
	units_note_fill(ext);
}

void units_drop(struct ftl_worker *self, struct extent *ext)
{
	if (self->ftl->space) {
		self->counters.dropped_sectors += ext->landed - extent_on_flash(ext);
		space_give(self, ext, ext->placed, ext->landed);
	}
	ext->guarded = 0;
	staged_unbind(ext);
	for (uint32_t i = 0; i < ext->ftl->buffers->units; i++)
		ext->buffer->unit[i].state = UNIT_EMPTY;
	if (ext->buffer->bank)
		lt_store(&ext->buffer->bank->fill, 0);
	ext->resident = ext->landed;
	ext->buffer = NULL;
}

struct flush_unit *units_fill(struct extent *ext)
{
	struct flush_unit *unit = unit_of(ext, ext->landed_slot);

	if (ext->landed >= ext->body && !extent_in_patch(ext))
		return NULL;
	if (unit->state == UNIT_EMPTY)
		unit_open(ext, unit, ext->landed);
	return unit->state == UNIT_FILLING ? unit : NULL;
}

struct flush_unit *units_partial(const struct extent *ext)
{
	struct flush_unit *unit = unit_of(ext, ext->landed_slot);

	return unit->state == UNIT_FILLING ? unit : NULL;
}

void units_restart(struct extent *ext)
{
	struct write_buffer *buffer = ext->buffer;

	if (!buffer)
		return;
	for (uint32_t i = 0; i < units_grid(ext)->units; i++) {
		struct flush_unit *unit = &buffer->unit[i];

		if (unit->state == UNIT_DONE)
			unit->state = UNIT_FULL;
		if (ext->reread && unit->state == UNIT_FULL)
			unit->not_before_ns = clock_now_ns() + ext->ftl->buffers->reread_ns;
	}
	ext->reread = false;
	buffer->next = buffer->oldest;
}

/* --- programming --- */

/* In order, so that [0, placed) has no hole, on flash either if power goes now. */
static void retire_units(struct ftl_worker *self, struct extent *ext)
{
	struct write_buffer *buffer = ext->buffer;
	uint32_t units = units_grid(ext)->units;
	struct flush_unit *unit;

	while ((unit = &buffer->unit[buffer->oldest])->state == UNIT_DONE) {
		l2p_map_run(self, ext, unit->start, unit->data_end - unit->start, extent_place(ext, unit->start), unit->staged);
		if (unit->staged)
			staged_drop(self, ext, unit->start, unit->data_end - unit->start);
		if (self->ftl->space)
			space_give(self, ext, unit->start, unit->data_end);
		ext->placed = unit->data_end;
		if (ext->resident < unit->data_end)
			ext->resident = unit->data_end;
		unit->state = UNIT_EMPTY;
		buffer->oldest = buffer->oldest + 1 == units ? 0 : buffer->oldest + 1;
		self->counters.buffer_flushes_full++;
	}
	if (ext->placed >= ext->home)
		extent_came_home(ext);
	units_note_fill(ext);
}

/* The failed unit and all later ones are still in the ring, or in the registers that the ring stands for, and come out of those once there
 * is a bank for them: they will be programmed in a fresh superblock. */
static void unit_done(struct ftl_worker *self, struct extent *ext, struct flush_unit *unit)
{
	ext->buffer->in_flight--;
	if (unit->failed && !ext->buffer->bank)
		ext->reread = true;
	unit->state = UNIT_DONE;
	if (unit->failed) {
		unit->failed = false;
		unit->state = UNIT_FULL;
		ext->relocate = true;
		*(extent_in_patch(ext) ? &ext->bad_patch : &ext->bad_superblock) = true;
	}
	retire_units(self, ext);
	extent_pump(self, ext);
}

/* The buffer's memory may be wanted by another zone already. */
static void part_loaded(struct ftl_worker *self, struct buffer_txn *part)
{
	struct write_buffer *buffer = part->buffer;

	part->txn.loaded = NULL;
	if (--part->unit->loading == 0 && --buffer->loading == 0 && buffer->bank && lt_load(&buffer->bank->waiting))
		extent_pump(self, buffer->ext);
}

static void unit_loaded(struct tsu_txn *txn)
{
	struct buffer_txn *part = (struct buffer_txn *)txn;
	struct extent *ext = part->buffer->ext;
	struct lt_lock_node node;

	lt_lock_acquire(&ext->lock, &node);
	part_loaded(worker_of(txn), part);
	lt_lock_release(&ext->lock, &node);
}

static void unit_programmed(struct tsu_txn *txn)
{
	struct buffer_txn *part = (struct buffer_txn *)txn;
	struct ftl_worker *self = worker_of(txn);
	struct extent *ext = part->buffer->ext;
	struct lt_lock_node node;

	if (txn->status == NAND_POWER_OFF)
		return;
	lt_lock_acquire(&ext->lock, &node);
	part->unit->failed |= txn->status != NAND_OK;
	if (txn->loaded)
		part_loaded(self, part);
	if (--part->unit->pending == 0)
		unit_done(self, ext, part->unit);
	lt_lock_release(&ext->lock, &node);
}

static void unit_program(struct ftl_worker *self, struct extent *ext, struct flush_unit *unit)
{
	struct ftl *ftl = ext->ftl;
	struct write_buffer *buffer = ext->buffer;
	uint64_t sequence = sequence_take(ftl, unit->end - unit->start);
	uint32_t slot = extent_slot(ext, unit->start), program = extent_program_sectors(ext);
	struct buffer_txn *part = unit->txn;
	bool lent = banks_are_lent(ftl);

	unit->state = UNIT_PROGRAMMING;
	unit->pending = unit->loading = 0;
	buffer->in_flight++;
	buffer->loading += lent;
	for (uint32_t at = unit->start; at < unit->end; at += program, slot += program, part++) {
		for (uint32_t i = 0; i < program && !extent_is_backing(ext); i++) /* those have theirs since they landed */
			buffer->oob[slot + i].sequence = sequence++;
		part->buffer = buffer;
		part->unit = unit;
		part->txn = (struct tsu_txn){
			.owner = &self->thread,
			.done = unit_programmed,
			.loaded = lent ? unit_loaded : NULL,
			.op = TSU_PROGRAM,
			.cause = place_cause(ext, HZ_CAUSE_HOST),
			.stream = (uint8_t)ext->index,
			.sectors = (uint16_t)program,
			.ppa = extent_place(ext, at),
			.data = { &buffer->memory[slot], 0, program * HZ_SECTOR_BYTES },
			.oob = &buffer->oob[slot],
			.not_before_ns = unit->not_before_ns,
			.next = at + program < unit->end ? &part[1].txn : NULL,
		};
		unit->pending++;
		unit->loading += lent;
	}
	tsu_submit_list(ftl->tsu, &unit->txn->txn);
}

/* A plane has one program of the zone under way, the next row waits: programs that two harts submit have no order (a worker on the TSU's
 * hart overtakes the others), and mount counts on it (mount_superblocks.c, may_be_torn). */
static uint32_t most_ahead(const struct extent *ext)
{
	return extent_in_patch(ext) ? ext->ftl->shape.planes * ext->ftl->cfg->slc_program_sectors : ext->ftl->superpage_sectors;
}

/* Data stay until a superpage is complete (landing.c), or as long as there is enough of the memory that buffers share: a zone that is reset
 * meanwhile is never programmed. */
static bool is_due(const struct extent *ext, const struct flush_unit *unit)
{
	return ext->ftl->flush_at_once || extent_is_backing(ext) || unit->start < ext->flush_to || unit->start < ext->program_to ||
	       unit->start < ext->home || lt_load(&ext->buffer->bank->waiting);
}

static bool needs_fold(const struct extent *ext, const struct flush_unit *unit)
{
	return unit->staged && !unit->folded && ext->resident > unit->start;
}

/* Sectors are folded into the oldest unit only. A call, so that units_program need not save its registers. */
static __attribute__((noinline)) void program_complete(struct ftl_worker *self, struct extent *ext)
{
	struct write_buffer *buffer = ext->buffer;
	struct flush_unit *unit;

	while ((unit = &buffer->unit[buffer->next])->state == UNIT_FULL && unit->end - ext->placed <= most_ahead(ext)) {
		if (!is_due(ext, unit))
			return;
		if (needs_fold(ext, unit)) {
			if (buffer->next == buffer->oldest)
				fold_start(self, ext);
			return;
		}
		if (!extent_is_backing(ext) && !l2p_room(self, ext))
			return;
		unit_program(self, ext, unit);
		buffer->next = buffer->next + 1 == units_grid(ext)->units ? 0 : buffer->next + 1;
	}
}

/* The buffers share their memory. */
static __attribute__((noinline)) void program_of_shared(struct ftl_worker *self, struct extent *ext)
{
	if (space_pressed(ext))
		ext->program_to = ext->landed;
	program_complete(self, ext);
}

/* Most writes complete no unit. */
void units_program(struct ftl_worker *self, struct extent *ext)
{
	const struct write_buffer *buffer = ext->buffer;

	if (ext->relocate || ext->failed || buffer->stage.pending || !buffer->bank)
		return;
	if (self->ftl->space)
		program_of_shared(self, ext);
	else if (buffer->unit[buffer->next].state == UNIT_FULL)
		program_complete(self, ext);
}
