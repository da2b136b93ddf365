/* Flush units: programmed in order to their place, staged in SLC when they are not complete, folded back from there. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/buffer_internal.h"
#include "buffer/memory.h"
#include "buffer/staged.h"
#include "map/l2p.h"
#include "places/places.h"
#include "slc/slc.h"

/* The flush units of a superpage buffer: bound, filled, programmed in order. */

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

/* Mark staged sectors: of one partial unit after a hand-over, of any unit after a power cut. */
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

/* Resume the fill position; staged sectors stay in SLC. */
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

void buffer_restart(struct extent *ext)
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

/* Retire in order: [0, placed) must have no hole, also after a power cut. */
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

/* A program failed. This unit and all later ones are still in the ring, or in the registers that the ring stands for, and are read out
 * of those once a bank is available. They are reprogrammed in a fresh superblock. */
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

/* Per plane one program of the zone is in flight, the next row waits: programs submitted by two harts have no order (a worker on the
 * TSU's hart overtakes the others), and mount relies on it (mount_superblocks.c, may_be_torn). */
static uint32_t most_ahead(const struct extent *ext)
{
	return extent_in_patch(ext) ? ext->ftl->shape.planes * ext->ftl->cfg->slc_program_sectors : ext->ftl->superpage_sectors;
}

/* Data stay until a superpage is complete (pool.c), or as long as the shared memory is not short: a zone reset meanwhile is never
 * programmed. */
static bool is_due(const struct extent *ext, const struct flush_unit *unit)
{
	return ext->ftl->flush_at_once || extent_is_backing(ext) || unit->start < ext->flush_to || unit->start < ext->program_to ||
	       unit->start < ext->home || lt_load(&ext->buffer->bank->waiting);
}

static bool needs_fold(const struct extent *ext, const struct flush_unit *unit)
{
	return unit->staged && !unit->folded && ext->resident > unit->start;
}

/* Sectors are folded into the oldest unit only. noinline: units_program saves no registers. */
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
void buffer_program(struct ftl_worker *self, struct extent *ext)
{
	const struct write_buffer *buffer = ext->buffer;

	if (ext->relocate || ext->failed || buffer->stage.pending || !buffer->bank)
		return;
	if (self->ftl->space)
		program_of_shared(self, ext);
	else if (buffer->unit[buffer->next].state == UNIT_FULL)
		program_complete(self, ext);
}

/* Staging: the sectors of a partial unit go to the SLC log, because a request waits for their durability or a zone for the buffer. */

static void stage_ended(struct ftl_worker *self, struct extent *ext)
{
	struct stage *stage = &ext->buffer->stage;

	staged_map(self, ext, stage->from, stage->to);
	if (stage->refused) {
		ext->failed = true;
	} else {
		ext->staged = stage->to;
		self->counters.slc_sectors += stage->to - stage->from;
		units_note_fill(ext);
	}
	extent_pump(self, ext);
}

static void piece_crossed(struct ftl_worker *self, struct slc_write *piece)
{
	struct write_buffer *buffer = piece->context;

	piece->txn.loaded = NULL;
	if (--buffer->stage.loading == 0 && buffer->bank && lt_load(&buffer->bank->waiting))
		extent_pump(self, buffer->ext);
}

static void piece_loaded(struct tsu_txn *txn)
{
	struct slc_write *piece = (struct slc_write *)txn;
	struct extent *ext = ((struct write_buffer *)piece->context)->ext;
	struct lt_lock_node node;

	lt_lock_acquire(&ext->lock, &node);
	piece_crossed(worker_of(txn), piece);
	lt_lock_release(&ext->lock, &node);
}

static void piece_done(struct slc_write *piece)
{
	struct write_buffer *buffer = piece->context;
	struct ftl_worker *self = worker_of(&piece->txn);
	struct extent *ext = buffer->ext;
	struct stage *stage = &buffer->stage;
	uint32_t piece_sectors = ext->ftl->cfg->slc_program_sectors;
	uint32_t at = stage->from + (uint32_t)(piece - stage->piece) * piece_sectors, rest = stage->to - at;
	struct lt_lock_node node;

	lt_lock_acquire(&ext->lock, &node);
	if (piece->txn.loaded)
		piece_crossed(self, piece);
	if (piece->ppa == PPA_NONE)
		stage->refused = true;
	else
		staged_put(ext->ftl, ext, at, rest < piece_sectors ? rest : piece_sectors, piece->ppa);
	if (--stage->pending == 0)
		stage_ended(self, ext);
	lt_lock_release(&ext->lock, &node);
}

static void piece_write(struct ftl_worker *self, struct extent *ext, struct slc_write *piece, uint32_t at)
{
	struct ftl *ftl = ext->ftl;
	struct write_buffer *buffer = ext->buffer;
	uint32_t count = ftl->cfg->slc_program_sectors, slot = extent_slot(ext, at);
	uint64_t sequence = sequence_take(ftl, count);

	for (uint32_t i = 0; i < count; i++) {
		bool data = at + i < buffer->stage.to;

		piece->memory[i] = data ? buffer->memory[slot + i] : ftl->zero_sector;
		piece->oob[i] = (struct hz_oob){ .sequence = sequence + i, .kind = data ? HZ_OOB_DATA : HZ_OOB_PAD };
		if (data && extent_is_backing(ext)) {
			piece->oob[i] = buffer->oob[slot + i];
		} else if (data) {
			piece->oob[i].lpa = (uint32_t)(ext->start + at + i);
			piece->oob[i].generation = ext->generation;
		}
	}
	piece->txn.owner = &self->thread;
	piece->txn.loaded = banks_are_lent(ftl) ? piece_loaded : NULL;
	piece->txn.not_before_ns = unit_of(ext, slot)->not_before_ns;
	piece->stream = SLC_STAGE;
	piece->cause = place_cause(ext, HZ_CAUSE_SLC);
	piece->context = buffer;
	piece->done = piece_done;
	slc_write(self, piece);
}

void units_stage(struct ftl_worker *self, struct extent *ext, bool gives_way)
{
	struct write_buffer *buffer = ext->buffer;
	struct flush_unit *unit;
	uint32_t from, pieces = 0;

	if (buffer->stage.pending || ext->failed || !buffer->bank)
		return;
	unit = units_partial(ext);
	if (!unit)
		return;
	from = ext->staged > unit->start ? ext->staged : unit->start;
	if (from >= ext->landed || (!gives_way && ext->flush_to <= from))
		return;
	if (!extent_is_backing(ext) && !l2p_room(self, ext))
		return;
	self->counters.buffer_flushes_host += !gives_way && !ext->idle_flush;
	self->counters.buffer_flushes_idle += !gives_way && ext->idle_flush;
	self->counters.buffer_flushes_conflict += gives_way;
	ext->staged_from = unit->start;
	unit->staged = true;
	buffer->stage.refused = false;
	buffer->stage.from = from;
	buffer->stage.to = ext->landed;
	for (uint32_t at = from; at < ext->landed; at += ext->ftl->cfg->slc_program_sectors)
		pieces++;
	buffer->stage.pending = pieces;
	buffer->stage.loading = banks_are_lent(ext->ftl) ? pieces : 0;
	for (uint32_t i = 0; i < pieces; i++)
		piece_write(self, ext, &buffer->stage.piece[i], from + i * ext->ftl->cfg->slc_program_sectors);
}

/* Folding: staged sectors of a complete unit come back from SLC into the buffer before it is programmed. */

enum { FOLD_LOOKUP = 32 /* sectors per look-up */ };

static void fold_read(struct ftl_worker *self, struct extent *ext);

/* [unit start, this) is not in the ring. */
static uint32_t fold_end_of(const struct extent *ext, const struct flush_unit *unit)
{
	return min_u32(ext->resident, min_u32(unit->end, ext->landed));
}

static void fold_end(struct ftl_worker *self, struct extent *ext)
{
	struct write_buffer *buffer = ext->buffer;
	struct flush_unit *unit = &buffer->unit[buffer->oldest];

	unit->state = UNIT_FULL;
	if (!buffer->fold.failed) {
		self->counters.fold_sectors += fold_end_of(ext, unit) - unit->start;
		unit->folded = true;
		if (ext->resident <= unit->end)
			ext->resident = unit->start;
	} else if (++buffer->fold.tries < SLC_READ_TRIES) {
		unit->state = UNIT_FOLDING;
		fold_read(self, ext);
		return;
	} else {
		extent_fail(self, ext);
	}
	extent_pump(self, ext);
}

static void fold_done(struct tsu_txn *txn)
{
	struct buffer_txn *part = (struct buffer_txn *)txn;
	struct ftl_worker *self = worker_of(txn);
	struct extent *ext = part->buffer->ext;
	struct fold *fold = &part->buffer->fold;
	struct lt_lock_node node;

	if (txn->status == NAND_POWER_OFF)
		return;
	slc_unpin(self, txn->ppa);
	lt_lock_acquire(&ext->lock, &node);
	fold->failed |= txn->status != NAND_OK;
	if (--fold->pending == 0)
		fold_end(self, ext);
	lt_lock_release(&ext->lock, &node);
}

/* Sectors outside the ring are read from SLC. Their addresses are known. */
static void fold_read(struct ftl_worker *self, struct extent *ext)
{
	struct ftl *ftl = ext->ftl;
	struct write_buffer *buffer = ext->buffer;
	struct flush_unit *unit = &buffer->unit[buffer->oldest];
	struct fold *fold = &buffer->fold;
	uint32_t count = fold_end_of(ext, unit) - unit->start, slot = extent_slot(ext, unit->start);

	fold->failed = false;
	fold->pending = count;
	staged_read(ftl, ext, unit->start, count, fold->ppa);
	for (uint32_t i = 0; i < count; i++, slot++) {
		struct buffer_txn *part = &fold->txn[i];

		buffer->oob[slot] = (struct hz_oob){ .lpa = (uint32_t)(ext->start + unit->start + i),
						     .generation = ext->generation,
						     .kind = HZ_OOB_DATA };
		part->buffer = buffer;
		if (fold->memory)
			buffer->memory[slot] = fold->memory[i];
		part->txn = (struct tsu_txn){
			.owner = &self->thread,
			.done = fold_done,
			.op = TSU_READ,
			.cause = HZ_CAUSE_FOLD,
			.sectors = 1,
			.ppa = fold->ppa[i],
			.data = { &buffer->memory[slot], 0, HZ_SECTOR_BYTES },
			.oob = extent_is_backing(ext) ? &buffer->oob[slot] : NULL,
			.next = i + 1 < count ? &part[1].txn : NULL,
		};
	}
	tsu_submit_list(ftl->tsu, &fold->txn->txn);
}

/* Sectors without a known address from `offset` on. */
static uint32_t unknown_run(const struct extent *ext, uint32_t offset, uint32_t end)
{
	uint32_t count = 0;

	while (offset + count < end && count < FOLD_LOOKUP && extent_staged(ext, offset + count) == PPA_NONE)
		count++;
	return count;
}

/* Look up sectors staged before the zone got this buffer. */
static void fold_locate(struct ftl_worker *self, struct extent *ext)
{
	struct write_buffer *buffer = ext->buffer;
	const struct flush_unit *unit = &buffer->unit[buffer->oldest];
	uint32_t end = min_u32(fold_end_of(ext, unit), ext->staged_before), found;
	ppa_t ppa[FOLD_LOOKUP];

	io_of(&buffer->fold.request)->worker = self;
	for (uint32_t o = unit->start; o < end; o += found) {
		uint32_t count = unknown_run(ext, o, end);

		found = count ? l2p_staged_read(self, &buffer->fold.request, ext, o, count, ppa) : 1;
		if (!found)
			return; /* the request waits, and comes back to fold_run */
		if (count)
			staged_found(ext, o, found, ppa);
	}
	l2p_leave(self, &buffer->fold.request);
	fold_read(self, ext);
}

void fold_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct extent *ext = ((struct write_buffer *)((char *)req - offsetof(struct write_buffer, fold.request)))->ext;
	bool woken = io_of(req)->woken;
	struct lt_lock_node node;

	io_of(req)->woken = 0;
	lt_lock_acquire(&ext->lock, &node);
	fold_locate(self, ext);
	lt_lock_release(&ext->lock, &node);
	if (woken)
		l2p_fetches_wake(self);
}

void fold_start(struct ftl_worker *self, struct extent *ext)
{
	struct write_buffer *buffer = ext->buffer;
	struct fold *fold = &buffer->fold;

	buffer->unit[buffer->oldest].state = UNIT_FOLDING;
	fold->tries = 0;
	fold->pending = 1;
	memset(fold->request.work, 0, sizeof(struct ftl_io));
	fold->request.op = FTL_FOLD;
	fold_locate(self, ext);
}
