/* The flush units of a zone's buffer: program full ones, stage the partial one, fold staged sectors back. Zone lock held throughout. */
#include "base/context.h"
#include "zone/write.h"

uint32_t slot_at(const struct zone *zone, uint32_t offset)
{
	uint32_t back = zone->landed - offset;

	return zone->landed_slot >= back ? zone->landed_slot - back : zone->landed_slot + zone->ftl->superpage_sectors - back;
}

static void note_fill(struct zone *zone)
{
	lt_store(&zone->buffer->fill, zone->landed - zone_durable(zone));
	if (zone->backing)
		lt_store(&zone->page->durable, zone_durable(zone));
}

/* All units in a buffer are of one kind: the superblock is complete on flash before the first sector of the patch lands. */
static const struct unit_grid *grid_of(const struct zone *zone)
{
	return &zone->ftl->buffers.grid[zone_in_patch(zone)];
}

static struct flush_unit *unit_of(struct zone *zone, uint32_t slot)
{
	return &zone->buffer->unit[grid_of(zone)->slot_unit[slot]];
}

static void unit_open(struct zone *zone, struct flush_unit *unit, uint32_t start)
{
	const struct unit_grid *grid = grid_of(zone);

	unit->state = UNIT_FILLING;
	unit->failed = unit->staged = false;
	unit->not_before_ns = 0;
	unit->start = start;
	unit->end = zone->landed + grid->sectors - grid->slot_in_unit[zone->landed_slot];
}

/* What was staged stays in SLC; only the fill position is taken up again. */
void units_bind(struct zone *zone, struct write_buffer *buffer)
{
	zone->buffer = buffer;
	zone->resident = zone->landed;
	buffer->zone = zone;
	buffer->oldest = grid_of(zone)->slot_unit[zone->landed_slot];
	buffer->wrote = false;
	lt_store(&buffer->draining, 0);
	if (zone->landed > zone->placed) {
		unit_open(zone, &buffer->unit[buffer->oldest], zone->placed);
		buffer->unit[buffer->oldest].staged = true;
	}
	note_fill(zone);
}

void units_drop(struct zone *zone)
{
	for (uint32_t i = 0; i < zone->ftl->buffers.units; i++)
		zone->buffer->unit[i].state = UNIT_EMPTY;
	lt_store(&zone->buffer->fill, 0);
	zone->resident = zone->landed;
	zone->buffer = NULL;
}

struct flush_unit *units_fill(struct zone *zone)
{
	struct flush_unit *unit = unit_of(zone, zone->landed_slot);

	if (zone->landed >= zone->ftl->body_sectors && !zone_in_patch(zone))
		return NULL;
	if (unit->state == UNIT_EMPTY)
		unit_open(zone, unit, zone->landed);
	return unit->state == UNIT_FILLING ? unit : NULL;
}

struct flush_unit *units_partial(struct zone *zone)
{
	struct flush_unit *unit = unit_of(zone, zone->landed_slot);

	return unit->state == UNIT_FILLING ? unit : NULL;
}

void units_restart(struct zone *zone)
{
	for (uint32_t i = 0; zone->buffer && i < grid_of(zone)->units; i++)
		if (zone->buffer->unit[i].state == UNIT_DONE)
			zone->buffer->unit[i].state = UNIT_FULL;
}

/* --- programming --- */

/* In order, so that [0, placed) has no hole, on flash either if power goes now. */
static void retire_units(struct ftl_worker *self, struct zone *zone)
{
	struct write_buffer *buffer = zone->buffer;
	uint32_t units = grid_of(zone)->units;
	struct flush_unit *unit;

	while ((unit = &buffer->unit[buffer->oldest])->state == UNIT_DONE) {
		if (!zone->backing)
			l2p_map_run(self, zone, unit->start, unit->data_end - unit->start, zone_place(zone, unit->start));
		if (unit->staged)
			staged_drop(self, zone, unit->start, unit->data_end - unit->start);
		zone->placed = unit->data_end;
		if (zone->resident < unit->data_end)
			zone->resident = unit->data_end;
		unit->state = UNIT_EMPTY;
		buffer->oldest = buffer->oldest + 1 == units ? 0 : buffer->oldest + 1;
		self->counters.buffer_flushes_full++;
	}
	note_fill(zone);
}

/* The failed unit and all later ones are still in the ring: they will be programmed in a fresh superblock. */
static void unit_done(struct ftl_worker *self, struct zone *zone, struct flush_unit *unit)
{
	zone->buffer->in_flight--;
	unit->state = UNIT_DONE;
	if (unit->failed) {
		unit->failed = false;
		unit->state = UNIT_FULL;
		zone->relocate = true;
		*(zone_in_patch(zone) ? &zone->bad_patch : &zone->bad_superblock) = true;
	}
	retire_units(self, zone);
	zone_pump(self, zone);
}

static void program_done(struct tsu_txn *txn)
{
	struct buffer_txn *part = (struct buffer_txn *)txn;
	struct ftl_worker *self = worker_of(txn);
	struct zone *zone = part->buffer->zone;
	struct lt_lock_node node;

	if (txn->status == NAND_POWER_OFF)
		return;
	lt_lock_acquire(&zone->lock, &node);
	part->unit->failed |= txn->status != NAND_OK;
	if (--part->unit->pending == 0)
		unit_done(self, zone, part->unit);
	lt_lock_release(&zone->lock, &node);
}

static void unit_program(struct ftl_worker *self, struct zone *zone, struct flush_unit *unit)
{
	struct ftl *ftl = zone->ftl;
	struct write_buffer *buffer = zone->buffer;
	uint64_t sequence = sequence_take(ftl, unit->end - unit->start);
	uint32_t slot = slot_at(zone, unit->start), program = zone_in_patch(zone) ? ftl->cfg->slc_program_sectors : ftl->unit_sectors;
	struct buffer_txn *part = unit->txn;

	unit->state = UNIT_PROGRAMMING;
	unit->pending = 0;
	buffer->in_flight++;
	for (uint32_t at = unit->start; at < unit->end; at += program, slot += program, part++) {
		for (uint32_t i = 0; i < program && !zone->backing; i++) /* those have theirs since they landed */
			buffer->oob[slot + i].sequence = sequence++;
		part->buffer = buffer;
		part->unit = unit;
		part->txn = (struct tsu_txn){
			.owner = &self->thread, .done = program_done, .op = TSU_PROGRAM, .cause = zone_cause(zone, HZ_CAUSE_HOST),
			.stream = (uint8_t)zone->index, .sectors = (uint16_t)program, .ppa = zone_place(zone, at),
			.data = { &buffer->page[slot], 0, program * HZ_SECTOR_BYTES }, .oob = &buffer->oob[slot],
			.not_before_ns = unit->not_before_ns,
			.next = at + program < unit->end ? &part[1].txn : NULL,
		};
		unit->pending++;
	}
	tsu_submit_list(ftl->tsu, &unit->txn->txn);
}

/* --- folding --- */

static void fold_read(struct ftl_worker *self, struct zone *zone);

static void fold_end(struct ftl_worker *self, struct zone *zone)
{
	struct write_buffer *buffer = zone->buffer;
	struct flush_unit *unit = &buffer->unit[buffer->oldest];

	unit->state = UNIT_FULL;
	if (!buffer->fold.failed) {
		self->counters.fold_sectors += zone->resident - unit->start;
		zone->resident = unit->start;
	} else if (++buffer->fold.tries < SLC_READ_TRIES) {
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

/* [unit start, resident) from SLC into the ring. */
static void fold_read(struct ftl_worker *self, struct zone *zone)
{
	struct ftl *ftl = zone->ftl;
	struct write_buffer *buffer = zone->buffer;
	struct flush_unit *unit = &buffer->unit[buffer->oldest];
	struct fold *fold = &buffer->fold;
	uint32_t count = zone->resident - unit->start, slot = slot_at(zone, unit->start);

	unit->state = UNIT_FOLDING;
	fold->failed = false;
	fold->pending = count;
	staged_read(ftl, zone, unit->start, count, fold->ppa);
	for (uint32_t i = 0; i < count; i++, slot++) {
		struct buffer_txn *part = &fold->txn[i];

		buffer->oob[slot] = (struct hz_oob){ .lpa = (uint32_t)(zone->start + unit->start + i),
						     .generation = zone->generation, .kind = HZ_OOB_DATA };
		part->buffer = buffer;
		part->txn = (struct tsu_txn){
			.owner = &self->thread, .done = fold_done, .op = TSU_READ, .cause = HZ_CAUSE_FOLD, .sectors = 1,
			.ppa = fold->ppa[i], .data = { &buffer->page[slot], 0, HZ_SECTOR_BYTES },
			.oob = zone->backing ? &buffer->oob[slot] : NULL,
			.next = i + 1 < count ? &part[1].txn : NULL,
		};
	}
	tsu_submit_list(ftl->tsu, &fold->txn->txn);
}

void units_program(struct ftl_worker *self, struct zone *zone)
{
	struct write_buffer *buffer = zone->buffer;
	uint32_t index, units = grid_of(zone)->units;
	/* A plane of the patch has one program under way, the next row waits: programs that two harts submit have no order (a worker on the TSU's
	 * hart overtakes the others). A superpage has a row only. */
	uint32_t ahead = zone_in_patch(zone) ? zone->ftl->shape.planes * zone->ftl->cfg->slc_program_sectors : UINT32_MAX;

	if (!buffer || zone->relocate || zone->failed || buffer->stage.pending)
		return;
	index = buffer->oldest;
	for (uint32_t i = 0; i < units; i++) {
		struct flush_unit *unit = &buffer->unit[index];

		if (unit->end - zone->placed > ahead)
			return;
		if (unit->state == UNIT_EMPTY || unit->state == UNIT_FILLING || unit->state == UNIT_FOLDING)
			return;
		if (unit->state == UNIT_FULL && zone->resident > unit->start && index == buffer->oldest) {
			buffer->fold.tries = 0;
			fold_read(self, zone);
			return;
		}
		if (unit->state == UNIT_FULL && !zone->backing && !l2p_room(self, zone))
			return;
		if (unit->state == UNIT_FULL)
			unit_program(self, zone, unit);
		index = index + 1 == units ? 0 : index + 1;
	}
}

/* --- staging --- */

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
	staged_put(zone->ftl, zone, at, rest < piece_sectors ? rest : piece_sectors, piece->ppa);
	if (--stage->pending == 0) {
		zone->staged = stage->to;
		self->counters.slc_sectors += stage->to - stage->from;
		note_fill(zone);
		zone_pump(self, zone);
	}
	lt_lock_release(&zone->lock, &node);
}

static void piece_write(struct ftl_worker *self, struct zone *zone, struct slc_write *piece, uint32_t at)
{
	struct ftl *ftl = zone->ftl;
	struct write_buffer *buffer = zone->buffer;
	uint32_t count = ftl->cfg->slc_program_sectors, slot = slot_at(zone, at);
	uint64_t sequence = sequence_take(ftl, count);

	for (uint32_t i = 0; i < count; i++) {
		bool data = at + i < buffer->stage.to;

		piece->page[i] = data ? buffer->page[slot + i] : ftl->zero_page;
		piece->oob[i] = (struct hz_oob){ .sequence = sequence + i, .kind = data ? HZ_OOB_DATA : HZ_OOB_PAD };
		if (data && zone->backing) {
			piece->oob[i] = buffer->oob[slot + i];
		} else if (data) {
			piece->oob[i].lpa = (uint32_t)(zone->start + at + i);
			piece->oob[i].generation = zone->generation;
		}
	}
	piece->txn.owner = &self->thread;
	piece->txn.not_before_ns = unit_of(zone, slot)->not_before_ns;
	piece->stream = SLC_STAGE;
	piece->cause = zone_cause(zone, HZ_CAUSE_SLC);
	piece->context = buffer;
	piece->done = piece_done;
	slc_write(self, piece);
}

void units_stage(struct ftl_worker *self, struct zone *zone)
{
	struct write_buffer *buffer = zone->buffer;
	bool gives_way = zone_gives_way(zone);
	struct flush_unit *unit;
	uint32_t from, pieces = 0;

	if (!buffer || buffer->stage.pending || zone->failed)
		return;
	unit = units_partial(zone);
	if (!unit)
		return;
	from = zone->staged > unit->start ? zone->staged : unit->start;
	if (from >= zone->landed || (!gives_way && zone->flush_to <= from))
		return;
	self->counters.buffer_flushes_host += !gives_way && !zone->idle_flush;
	self->counters.buffer_flushes_idle += !gives_way && zone->idle_flush;
	self->counters.buffer_flushes_conflict += gives_way;
	zone->staged_from = unit->start;
	unit->staged = true;
	buffer->stage.from = from;
	buffer->stage.to = zone->landed;
	for (uint32_t at = from; at < zone->landed; at += zone->ftl->cfg->slc_program_sectors)
		pieces++;
	buffer->stage.pending = pieces;
	for (uint32_t i = 0; i < pieces; i++)
		piece_write(self, zone, &buffer->stage.piece[i], from + i * zone->ftl->cfg->slc_program_sectors);
}
