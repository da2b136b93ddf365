/* Flush units: programmed in order to their place, staged in SLC when they are not complete, folded back from there. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/buffer_internal.h"
#include "buffer/memory.h"
#include "buffer/staged.h"
#include "map/l2p.h"
#include "places/places.h"
#include "slc/slc.h"

/* The flush units of a superpage buffer: bound, filled, programmed in order. */

void units_note_fill(struct zone *zone)
{
	if (zone->buffer->bank)
		lt_store(&zone->buffer->bank->fill, zone->landed - zone_on_flash(zone));
	if (zone_is_backing(zone))
		lt_store(&zone->places->durable, zone_on_flash(zone));
}

static void unit_open(struct zone *zone, struct flush_unit *unit, uint32_t start)
{
	const struct unit_grid *grid = units_grid(zone);

	unit->state = UNIT_FILLING;
	unit->failed = unit->staged = unit->folded = false;
	unit->not_before_ns = 0;
	unit->start = start;
	unit->end = start + grid->sectors - grid->slot_in_unit[zone_slot(zone, start)];
}

/* Mark staged sectors: of one partial unit after a hand-over, of any unit after a power cut. */
static void bind_staged(struct zone *zone)
{
	uint32_t start = zone->placed;

	while (start < zone->landed) {
		struct flush_unit *unit = unit_of(zone, zone_slot(zone, start));

		unit_open(zone, unit, start);
		start = unit->end;
		unit->staged = true;
		if (unit->end <= zone->landed) {
			unit->state = UNIT_FULL;
			unit->data_end = unit->end;
		}
	}
}

/* Resume the fill position; staged sectors stay in SLC. */
void units_bind(struct zone *zone, struct write_buffer *buffer)
{
	zone->buffer = buffer;
	zone->resident = zone->landed;
	buffer->zone = zone;
	buffer->oldest = buffer->next = units_grid(zone)->slot_unit[zone_slot(zone, zone->placed)];
	buffer->used = 0;
	staged_bind(zone, buffer->staged);
	bind_staged(zone);
	units_note_fill(zone);
}

void units_drop(struct ftl_worker *self, struct zone *zone)
{
	if (self->ftl->space) {
		self->counters.dropped_sectors += zone->landed - zone_on_flash(zone);
		space_give(self, zone, zone->placed, zone->landed);
	}
	zone->guarded = 0;
	staged_unbind(zone);
	for (uint32_t i = 0; i < zone->ftl->buffers->units; i++)
		zone->buffer->unit[i].state = UNIT_EMPTY;
	if (zone->buffer->bank)
		lt_store(&zone->buffer->bank->fill, 0);
	zone->resident = zone->landed;
	zone->buffer = NULL;
}

struct flush_unit *units_fill(struct zone *zone)
{
	struct flush_unit *unit = unit_of(zone, zone->landed_slot);

	if (zone->landed >= zone->body && !zone_in_patch(zone))
		return NULL;
	if (unit->state == UNIT_EMPTY)
		unit_open(zone, unit, zone->landed);
	return unit->state == UNIT_FILLING ? unit : NULL;
}

struct flush_unit *units_partial(const struct zone *zone)
{
	struct flush_unit *unit = unit_of(zone, zone->landed_slot);

	return unit->state == UNIT_FILLING ? unit : NULL;
}

void buffer_restart(struct zone *zone)
{
	struct write_buffer *buffer = zone->buffer;

	if (!buffer)
		return;
	for (uint32_t i = 0; i < units_grid(zone)->units; i++) {
		struct flush_unit *unit = &buffer->unit[i];

		if (unit->state == UNIT_DONE)
			unit->state = UNIT_FULL;
		if (zone->reread && unit->state == UNIT_FULL)
			unit->not_before_ns = clock_now_ns() + zone->ftl->buffers->reread_ns;
	}
	zone->reread = false;
	buffer->next = buffer->oldest;
}

/* --- programming --- */

/* Retire in order: [0, placed) must have no hole, also after a power cut. */
static void retire_units(struct ftl_worker *self, struct zone *zone)
{
	struct write_buffer *buffer = zone->buffer;
	uint32_t units = units_grid(zone)->units;
	struct flush_unit *unit;

	while ((unit = &buffer->unit[buffer->oldest])->state == UNIT_DONE) {
		l2p_map_run(self, zone, unit->start, unit->data_end - unit->start, zone_place(zone, unit->start), unit->staged);
		if (unit->staged)
			staged_drop(self, zone, unit->start, unit->data_end - unit->start);
		if (self->ftl->space)
			space_give(self, zone, unit->start, unit->data_end);
		zone->placed = unit->data_end;
		if (zone->resident < unit->data_end)
			zone->resident = unit->data_end;
		unit->state = UNIT_EMPTY;
		buffer->oldest = buffer->oldest + 1 == units ? 0 : buffer->oldest + 1;
		self->counters.buffer_flushes_full++;
	}
	if (zone->placed >= zone->home)
		zone_came_home(zone);
	units_note_fill(zone);
}

/* A program failed. This unit and all later ones are still in the ring, or in the registers that the ring stands for, and are read out
 * of those once a bank is available. They are reprogrammed in a fresh superblock. */
static void unit_done(struct ftl_worker *self, struct zone *zone, struct flush_unit *unit)
{
	zone->buffer->in_flight--;
	if (unit->failed && !zone->buffer->bank)
		zone->reread = true;
	unit->state = UNIT_DONE;
	if (unit->failed) {
		unit->failed = false;
		unit->state = UNIT_FULL;
		if (!zone_failed(zone))
			zone_become(zone, ZONE_BROKEN);
		*(zone_in_patch(zone) ? &zone->bad_patch : &zone->bad_superblock) = true;
	}
	retire_units(self, zone);
	zone_pump(self, zone);
}

/* The buffer's memory may be wanted by another zone already. */
static void part_loaded(struct ftl_worker *self, struct buffer_txn *part)
{
	struct write_buffer *buffer = part->buffer;

	part->txn.loaded = NULL;
	if (--part->unit->loading == 0 && --buffer->loading == 0 && buffer->bank && lt_load(&buffer->bank->waiting))
		zone_pump(self, buffer->zone);
}

static void unit_loaded(struct tsu_txn *txn)
{
	struct buffer_txn *part = (struct buffer_txn *)txn;
	struct zone *zone = part->buffer->zone;
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	part_loaded(worker_of(txn), part);
	lt_lock_release(&zone->lock, &node);
}

static void unit_programmed(struct tsu_txn *txn)
{
	struct buffer_txn *part = (struct buffer_txn *)txn;
	struct ftl_worker *self = worker_of(txn);
	struct zone *zone = part->buffer->zone;
	struct lt_lock_node node;

	if (txn->status == NAND_POWER_OFF)
		return;
	lt_lock_acquire(&zone->lock, &node);
	part->unit->failed |= txn->status != NAND_OK;
	if (txn->loaded)
		part_loaded(self, part);
	if (--part->unit->pending == 0)
		unit_done(self, zone, part->unit);
	lt_lock_release(&zone->lock, &node);
}

static void unit_program(struct ftl_worker *self, struct zone *zone, struct flush_unit *unit)
{
	struct ftl *ftl = zone->ftl;
	struct write_buffer *buffer = zone->buffer;
	uint64_t sequence = sequence_take(ftl, unit->end - unit->start);
	uint32_t slot = zone_slot(zone, unit->start), program = zone_program_sectors(zone);
	struct buffer_txn *part = unit->txn;
	bool lent = banks_are_lent(ftl);

	unit->state = UNIT_PROGRAMMING;
	unit->pending = unit->loading = 0;
	buffer->in_flight++;
	buffer->loading += lent;
	for (uint32_t at = unit->start; at < unit->end; at += program, slot += program, part++) {
		for (uint32_t i = 0; i < program && !zone_is_backing(zone); i++) /* those have theirs since they landed */
			buffer->oob[slot + i].sequence = sequence++;
		part->buffer = buffer;
		part->unit = unit;
		part->txn = (struct tsu_txn){
			.owner = &self->thread,
			.done = unit_programmed,
			.loaded = lent ? unit_loaded : NULL,
			.op = TSU_PROGRAM,
			.cause = place_cause(zone, HZ_CAUSE_HOST),
			.stream = (uint8_t)zone->index,
			.sectors = (uint16_t)program,
			.ppa = zone_place(zone, at),
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
static uint32_t most_ahead(const struct zone *zone)
{
	return zone_in_patch(zone) ? zone->ftl->shape.planes * zone->ftl->cfg->slc_program_sectors : zone->ftl->superpage_sectors;
}

/* Data stay until a superpage is complete (pool.c), or as long as the shared memory is not short: a zone reset meanwhile is never
 * programmed. */
static bool is_due(const struct zone *zone, const struct flush_unit *unit)
{
	return zone->ftl->flush_at_once || zone_is_backing(zone) || unit->start < zone->flush_to || unit->start < zone->program_to ||
	       unit->start < zone->home || lt_load(&zone->buffer->bank->waiting);
}

static bool needs_fold(const struct zone *zone, const struct flush_unit *unit)
{
	return unit->staged && !unit->folded && zone->resident > unit->start;
}

/* Sectors are folded into the oldest unit only. noinline: units_program saves no registers. */
static __attribute__((noinline)) void program_complete(struct ftl_worker *self, struct zone *zone)
{
	struct write_buffer *buffer = zone->buffer;
	struct flush_unit *unit;

	while ((unit = &buffer->unit[buffer->next])->state == UNIT_FULL && unit->end - zone->placed <= most_ahead(zone)) {
		if (!is_due(zone, unit))
			return;
		if (needs_fold(zone, unit)) {
			if (buffer->next == buffer->oldest)
				fold_start(self, zone);
			return;
		}
		if (!zone_is_backing(zone) && !l2p_room(self, zone))
			return;
		unit_program(self, zone, unit);
		buffer->next = buffer->next + 1 == units_grid(zone)->units ? 0 : buffer->next + 1;
	}
}

/* The buffers share their memory. */
static __attribute__((noinline)) void program_of_shared(struct ftl_worker *self, struct zone *zone)
{
	if (space_pressed(zone))
		zone->program_to = zone->landed;
	program_complete(self, zone);
}

/* Most writes complete no unit. */
void buffer_program(struct ftl_worker *self, struct zone *zone)
{
	const struct write_buffer *buffer = zone->buffer;

	if (zone->condition != ZONE_SOUND || buffer->stage.pending || !buffer->bank)
		return;
	if (self->ftl->space)
		program_of_shared(self, zone);
	else if (buffer->unit[buffer->next].state == UNIT_FULL)
		program_complete(self, zone);
}

/* Staging: the sectors of a partial unit go to the SLC log, because a request waits for their durability or a zone for the buffer. */

static void stage_ended(struct ftl_worker *self, struct zone *zone)
{
	struct stage *stage = &zone->buffer->stage;

	staged_map(self, zone, stage->from, stage->to);
	if (stage->refused) {
		zone_become(zone, ZONE_FAILED);
	} else {
		zone->staged = stage->to;
		self->counters.slc_sectors += stage->to - stage->from;
		units_note_fill(zone);
	}
	zone_pump(self, zone);
}

static void piece_crossed(struct ftl_worker *self, struct slc_write *piece)
{
	struct write_buffer *buffer = piece->context;

	piece->txn.loaded = NULL;
	if (--buffer->stage.loading == 0 && buffer->bank && lt_load(&buffer->bank->waiting))
		zone_pump(self, buffer->zone);
}

static void piece_loaded(struct tsu_txn *txn)
{
	struct slc_write *piece = (struct slc_write *)txn;
	struct zone *zone = ((struct write_buffer *)piece->context)->zone;
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	piece_crossed(worker_of(txn), piece);
	lt_lock_release(&zone->lock, &node);
}

static void piece_done(struct slc_write *piece)
{
	struct write_buffer *buffer = piece->context;
	struct ftl_worker *self = worker_of(&piece->txn);
	struct zone *zone = buffer->zone;
	struct stage *stage = &buffer->stage;
	uint32_t piece_sectors = zone->ftl->cfg->slc_program_sectors;
	uint32_t at = stage->from + (uint32_t)(piece - stage->piece) * piece_sectors, rest = stage->to - at;
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	if (piece->txn.loaded)
		piece_crossed(self, piece);
	if (piece->ppa == PPA_NONE)
		stage->refused = true;
	else
		staged_put(zone->ftl, zone, at, rest < piece_sectors ? rest : piece_sectors, piece->ppa);
	if (--stage->pending == 0)
		stage_ended(self, zone);
	lt_lock_release(&zone->lock, &node);
}

static void piece_write(struct ftl_worker *self, struct zone *zone, struct slc_write *piece, uint32_t at)
{
	struct ftl *ftl = zone->ftl;
	struct write_buffer *buffer = zone->buffer;
	uint32_t count = ftl->cfg->slc_program_sectors, slot = zone_slot(zone, at);
	uint64_t sequence = sequence_take(ftl, count);

	for (uint32_t i = 0; i < count; i++) {
		bool data = at + i < buffer->stage.to;

		piece->memory[i] = data ? buffer->memory[slot + i] : ftl->zero_sector;
		piece->oob[i] = (struct hz_oob){ .sequence = sequence + i, .kind = data ? HZ_OOB_DATA : HZ_OOB_PAD };
		if (data && zone_is_backing(zone)) {
			piece->oob[i] = buffer->oob[slot + i];
		} else if (data) {
			piece->oob[i].lpa = (uint32_t)(zone->start + at + i);
			piece->oob[i].generation = zone->generation;
		}
	}
	piece->txn.owner = &self->thread;
	piece->txn.loaded = banks_are_lent(ftl) ? piece_loaded : NULL;
	piece->txn.not_before_ns = unit_of(zone, slot)->not_before_ns;
	piece->stream = SLC_STAGE;
	piece->cause = place_cause(zone, HZ_CAUSE_SLC);
	piece->context = buffer;
	piece->done = piece_done;
	slc_write(self, piece);
}

void units_stage(struct ftl_worker *self, struct zone *zone, bool gives_way)
{
	struct write_buffer *buffer = zone->buffer;
	struct flush_unit *unit;
	uint32_t from, pieces = 0;

	if (buffer->stage.pending || zone_failed(zone) || !buffer->bank)
		return;
	unit = units_partial(zone);
	if (!unit)
		return;
	from = zone->staged > unit->start ? zone->staged : unit->start;
	if (from >= zone->landed || (!gives_way && zone->flush_to <= from))
		return;
	if (!zone_is_backing(zone) && !l2p_room(self, zone))
		return;
	self->counters.buffer_flushes_host += !gives_way && !zone->idle_flush;
	self->counters.buffer_flushes_idle += !gives_way && zone->idle_flush;
	self->counters.buffer_flushes_conflict += gives_way;
	zone->staged_from = unit->start;
	unit->staged = true;
	buffer->stage.refused = false;
	buffer->stage.from = from;
	buffer->stage.to = zone->landed;
	for (uint32_t at = from; at < zone->landed; at += zone->ftl->cfg->slc_program_sectors)
		pieces++;
	buffer->stage.pending = pieces;
	buffer->stage.loading = banks_are_lent(zone->ftl) ? pieces : 0;
	for (uint32_t i = 0; i < pieces; i++)
		piece_write(self, zone, &buffer->stage.piece[i], from + i * zone->ftl->cfg->slc_program_sectors);
}

/* Folding: staged sectors of a complete unit come back from SLC into the buffer before it is programmed. */

enum { FOLD_LOOKUP = 32 /* sectors per look-up */ };

static void fold_read(struct ftl_worker *self, struct zone *zone);

/* [unit start, this) is not in the ring. */
static uint32_t fold_end_of(const struct zone *zone, const struct flush_unit *unit)
{
	return min_u32(zone->resident, min_u32(unit->end, zone->landed));
}

static void fold_end(struct ftl_worker *self, struct zone *zone)
{
	struct write_buffer *buffer = zone->buffer;
	struct flush_unit *unit = &buffer->unit[buffer->oldest];

	unit->state = UNIT_FULL;
	if (!buffer->fold.failed) {
		self->counters.fold_sectors += fold_end_of(zone, unit) - unit->start;
		unit->folded = true;
		if (zone->resident <= unit->end)
			zone->resident = unit->start;
	} else if (++buffer->fold.tries < SLC_READ_TRIES) {
		unit->state = UNIT_FOLDING;
		fold_read(self, zone);
		return;
	} else {
		zone_fail(self, zone);
	}
	zone_pump(self, zone);
}

static void fold_done(struct tsu_txn *txn)
{
	struct buffer_txn *part = (struct buffer_txn *)txn;
	struct ftl_worker *self = worker_of(txn);
	struct zone *zone = part->buffer->zone;
	struct fold *fold = &part->buffer->fold;
	struct lt_lock_node node;

	if (txn->status == NAND_POWER_OFF)
		return;
	slc_unpin(self, txn->ppa);
	lt_lock_acquire(&zone->lock, &node);
	fold->failed |= txn->status != NAND_OK;
	if (--fold->pending == 0)
		fold_end(self, zone);
	lt_lock_release(&zone->lock, &node);
}

/* Sectors outside the ring are read from SLC. Their addresses are known. */
static void fold_read(struct ftl_worker *self, struct zone *zone)
{
	struct ftl *ftl = zone->ftl;
	struct write_buffer *buffer = zone->buffer;
	struct flush_unit *unit = &buffer->unit[buffer->oldest];
	struct fold *fold = &buffer->fold;
	uint32_t count = fold_end_of(zone, unit) - unit->start, slot = zone_slot(zone, unit->start);

	fold->failed = false;
	fold->pending = count;
	staged_read(ftl, zone, unit->start, count, fold->ppa);
	for (uint32_t i = 0; i < count; i++, slot++) {
		struct buffer_txn *part = &fold->txn[i];

		buffer->oob[slot] = (struct hz_oob){ .lpa = (uint32_t)(zone->start + unit->start + i),
						     .generation = zone->generation,
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
			.oob = zone_is_backing(zone) ? &buffer->oob[slot] : NULL,
			.next = i + 1 < count ? &part[1].txn : NULL,
		};
	}
	tsu_submit_list(ftl->tsu, &fold->txn->txn);
}

/* Sectors without a known address from `offset` on. */
static uint32_t unknown_run(const struct zone *zone, uint32_t offset, uint32_t end)
{
	uint32_t count = 0;

	while (offset + count < end && count < FOLD_LOOKUP && zone_staged(zone, offset + count) == PPA_NONE)
		count++;
	return count;
}

/* Look up sectors staged before the zone got this buffer. */
static void fold_locate(struct ftl_worker *self, struct zone *zone)
{
	struct write_buffer *buffer = zone->buffer;
	const struct flush_unit *unit = &buffer->unit[buffer->oldest];
	uint32_t end = min_u32(fold_end_of(zone, unit), zone->staged_before), found;
	ppa_t ppa[FOLD_LOOKUP];

	io_of(&buffer->fold.request)->worker = self;
	for (uint32_t o = unit->start; o < end; o += found) {
		uint32_t count = unknown_run(zone, o, end);

		found = count ? l2p_staged_read(self, &buffer->fold.request, zone, o, count, ppa) : 1;
		if (!found)
			return; /* the request waits, and comes back to fold_run */
		if (count)
			staged_found(zone, o, found, ppa);
	}
	l2p_leave(self, &buffer->fold.request);
	fold_read(self, zone);
}

void fold_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct zone *zone = ((struct write_buffer *)((char *)req - offsetof(struct write_buffer, fold.request)))->zone;
	bool woken = io_of(req)->woken;
	struct lt_lock_node node;

	io_of(req)->woken = 0;
	lt_lock_acquire(&zone->lock, &node);
	fold_locate(self, zone);
	lt_lock_release(&zone->lock, &node);
	if (woken)
		l2p_fetches_wake(self);
}

void fold_start(struct ftl_worker *self, struct zone *zone)
{
	struct write_buffer *buffer = zone->buffer;
	struct fold *fold = &buffer->fold;

	buffer->unit[buffer->oldest].state = UNIT_FOLDING;
	fold->tries = 0;
	fold->pending = 1;
	memset(fold->request.work, 0, sizeof(struct ftl_io));
	fold->request.op = FTL_FOLD;
	fold_locate(self, zone);
}
