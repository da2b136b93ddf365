/* Flush units of a write buffer: data land in them, and are programmed in order to their place. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/buffer_internal.h"
#include "buffer/memory.h"
#include "buffer/staged.h"
#include "lt/bulk.h"
#include "map/l2p.h"
#include "places/places.h"
#include "request/host_data.h"
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
	buffer->parity_loaded = false;
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
	buffer->parity_loaded = false;
	zone->reread = false;
	buffer->next = buffer->oldest;
}

/* What is in the buffer. */

bool buffer_has_memory(const struct zone *zone) { return zone->buffer->bank; }

bool buffer_wanted(const struct zone *zone) { return zone->buffer->bank && lt_load(&zone->buffer->bank->waiting); }

uint32_t buffer_used(const struct zone *zone) { return zone->buffer->used; }

/* A unit may have been opened for data that were taken back. */
bool buffer_partial(const struct zone *zone)
{
	const struct flush_unit *unit = units_partial(zone);

	return unit && unit->start < zone->landed;
}

bool buffer_quiet(const struct zone *zone)
{
	const struct write_buffer *buffer = zone->buffer;

	return !buffer || (!buffer->in_flight && !buffer->stage.pending && !buffer->fold.pending && !buffer->parity_pending);
}

/* True if all units are in registers, and the staged part of a partial one is in SLC. */
static bool superpage_loaded(const struct zone *zone)
{
	const struct write_buffer *buffer = zone->buffer;
	const struct flush_unit *next = &buffer->unit[buffer->next];

	if (!buffer->bank || buffer->loading || buffer->stage.loading || buffer->fold.pending || next->state == UNIT_FULL)
		return false;
	return !units_partial(zone) || zone->staged >= zone->landed || (buffer->stage.pending && buffer->stage.to == zone->landed);
}

bool buffer_lend(struct ftl_worker *self, struct zone *zone) { return superpage_loaded(zone) && bank_lend(self, zone); }

bool buffer_ready(const struct zone *zone)
{
	const struct write_buffer *buffer = zone->buffer;

	return buffer && !buffer->in_flight && buffer->unit[buffer->oldest].state == UNIT_FULL;
}

void buffer_copy_out(const struct zone *zone, struct ftl_request *req, uint32_t offset, uint32_t sectors)
{
	uint32_t slot = zone_slot(zone, offset);

	for (uint32_t i = 0; i < sectors; i++) {
		if (zone->buffer->oob[slot].flags & HZ_OOB_MARKED)
			answer_marked(req);
		else
			answer_sector(req, io_of(req)->done + i, zone->buffer->memory[slot]);
		slot = slot + 1 == zone->ftl->ring_sectors ? 0 : slot + 1;
	}
}

/* Landing: accepted data come into the buffer at the zone's fill position. */

/* A ring without free places is programmed. Backing zones are not guarded: the map knows their places only once on flash. */
uint32_t buffer_room(struct ftl_worker *self, struct zone *zone, const struct ftl_request *req, uint32_t most)
{
	const struct flush_unit *unit = units_fill(zone);
	uint32_t room;

	if (!unit) {
		zone->program_to = zone->landed;
		return 0;
	}
	room = min_u32(most, min_u32(unit->end, zone->capacity) - zone->landed);
	return self->ftl->space ? space_lend(self, zone, room, (req->flags & FTL_FUA) && !zone_is_backing(zone)) : room;
}

/* noinline: registers are saved while the clock stands. */
static HZ_FROZEN __attribute__((noinline)) void copy_sectors(struct zone *zone, const struct ftl_request *req, uint32_t sectors)
{
	const struct write_buffer *buffer = zone->buffer;
	uint32_t at = io_of((struct ftl_request *)req)->done * HZ_SECTOR_BYTES;

	for (uint32_t i = 0; i < sectors; i++) {
		uint32_t slot = zone->landed_slot + i;

		if (req->op >= FTL_WRITE_ZEROES) /* no data come */
			bulk_fill(buffer->memory[slot], 0, HZ_SECTOR_BYTES);
		else
			sgl_read(&req->sgl, at + i * HZ_SECTOR_BYTES, buffer->memory[slot], HZ_SECTOR_BYTES);
		if (zone->ftl->cfg->protection != HZ_PROTECTION_NONE)
			protect_land(req, at / HZ_SECTOR_BYTES + i, buffer->memory[slot]);
		buffer->oob[slot] = (struct hz_oob){ .lpa = (uint32_t)(zone->start + zone->landed + i),
						     .generation = zone->generation,
						     .kind = HZ_OOB_DATA,
						     .flags = req->op == FTL_WRITE_UNCORRECTABLE ? HZ_OOB_MARKED : 0 };
	}
	if (zone->ftl->dump)
		space_note(zone, sectors);
}

struct hz_oob *buffer_copy_in(struct zone *zone, const struct ftl_request *req, uint32_t sectors)
{
	clock_freeze();
	copy_sectors(zone, req, sectors);
	clock_thaw();
	return &zone->buffer->oob[zone->landed_slot];
}

uint32_t *buffer_origins(const struct zone *zone) { return zone->buffer->origin; }

/* Padding of a backing zone has no generation: sequence numbers tell its sectors from data. noinline: landing_landed saves no registers. */
__attribute__((noinline)) void buffer_pad(struct ftl_worker *self, struct zone *zone)
{
	struct flush_unit *unit = units_partial(zone);
	uint32_t slot = zone->landed_slot, program = zone_program_sectors(zone);
	bool backing = zone_is_backing(zone);
	uint64_t sequence;

	unit->state = UNIT_FULL;
	unit->data_end = zone->landed;
	unit->end = unit->start;
	while (unit->end < zone->landed)
		unit->end += program;
	sequence = backing ? sequence_take(zone->ftl, unit->end - zone->landed) : 0;
	clock_freeze();
	for (uint32_t at = zone->landed; at < unit->end; at++, slot++) {
		if (zone->ftl->space)
			zone->buffer->memory[slot] = zone->ftl->zero_sector;
		else
			bulk_fill(zone->buffer->memory[slot], 0, HZ_SECTOR_BYTES);
		zone->buffer->oob[slot] = (struct hz_oob){ .sequence = sequence++,
							   .lpa = (uint32_t)(zone->start + at),
							   .generation = backing ? UINT32_MAX : zone->generation,
							   .kind = HZ_OOB_PAD };
	}
	clock_thaw();
	self->counters.buffer_flushes_finish++;
}

/* The zone's last superpage need not be whole. */
static void no_more_lands(struct zone *zone)
{
	if (zone->ftl->cfg->buffer_flush == HZ_BUFFER_FLUSH_SUPERPAGE)
		zone->program_to = zone->landed;
}

void buffer_landed(struct ftl_worker *self, struct zone *zone, uint32_t sectors, uint64_t landed_ns)
{
	struct flush_unit *unit = unit_of(zone, zone->landed_slot);
	struct ftl *ftl = zone->ftl;

	unit->not_before_ns = landed_ns > unit->not_before_ns ? landed_ns : unit->not_before_ns;
	zone->landed += sectors;
	zone->landed_slot += sectors;
	if (ftl->space)
		space_landed(zone);
	if (zone->landed == unit->end) {
		unit->state = UNIT_FULL;
		unit->data_end = unit->end;
		if (unit->ends_superpage)
			zone->program_to = zone->landed;
	} else if (zone->landed == zone->capacity) {
		buffer_pad(self, zone);
	}
	if (zone->landed == zone->capacity)
		no_more_lands(zone);
	if (zone->landed_slot == ftl->ring_sectors)
		zone->landed_slot = 0;
	zone->buffer->used += sectors;
	if (ftl->cfg->buffer_idle_ns)
		idle_touch(self, zone);
	lt_store(&zone->buffer->bank->fill, zone->landed - zone_on_flash(zone));
}

/* Program: complete units go to their place, in order. */

static void unit_loaded(struct tsu_txn *txn);
static void unit_programmed(struct tsu_txn *txn);

/* noinline: without rain it costs nothing. */
static __attribute__((noinline)) void add_parity(struct ftl_worker *self, struct zone *zone, struct flush_unit *unit)
{
	parity_add(zone, unit);
	if (parity_ends_with(zone, unit))
		unit->pending += parity_program(self, zone, unit, &unit->txn[unit->pending]);
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
	if (ftl->cfg->rain)
		add_parity(self, zone, unit);
	tsu_submit_list(ftl->tsu, &unit->txn->txn);
}

/* Per plane one program of the zone is in flight, the next row waits: programs submitted by two harts have no order (a worker on the
 * TSU's hart overtakes the others), and mount relies on it (mount_superblocks.c, may_be_torn). */
static uint32_t most_ahead(const struct zone *zone)
{
	return zone_in_patch(zone) ? zone->ftl->shape.planes * zone->ftl->cfg->slc_program_sectors : zone->ftl->superpage_sectors;
}

/* Data stay until a superpage is complete (buffer_landed), or as long as the shared memory is not short: a zone reset meanwhile is never
 * programmed. */
static bool is_due(const struct zone *zone, const struct flush_unit *unit)
{
	return zone->ftl->flush_at_once || zone_is_backing(zone) || unit->start < zone->flush_to || unit->start < zone->program_to ||
	       unit->start < zone->dumped || lt_load(&zone->buffer->bank->waiting);
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
		if (zone->ftl->cfg->rain && !parity_ready(self, zone))
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

static bool is_written_out_whole(const struct zone *zone) { return zone->ftl->cfg->buffer_release == HZ_RELEASE_WHOLE; }

/* Most writes complete no unit. */
void buffer_program(struct ftl_worker *self, struct zone *zone)
{
	const struct write_buffer *buffer = zone->buffer;

	if (zone->condition != ZONE_SOUND || buffer->stage.pending || !buffer->bank)
		return;
	if (self->ftl->space)
		program_of_shared(self, zone);
	else if (buffer->unit[buffer->next].state == UNIT_FULL && !(buffer->in_flight && is_written_out_whole(zone)))
		program_complete(self, zone);
}

/* Place: programmed units become [0, placed), in order. */

/* In order: [0, placed) must have no hole, also after a power cut. */
static void place_units(struct ftl_worker *self, struct zone *zone)
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
	if (zone->placed >= zone->dumped)
		zone_dump_is_placed(zone);
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
	if (!zone->buffer->in_flight || !is_written_out_whole(zone))
		place_units(self, zone);
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
