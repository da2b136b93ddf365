/* Staged sectors: the way to the SLC log and back, their addresses by buffer slot, and what the SLC log tells of them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/staged.h"

#include "buffer/buffer_internal.h"
#include "map/l2p.h"
#include "lt/arena.h"
#include "places/places.h"

enum { STAGED_PIECE = 64 /* most copies invalidated under one acquisition of the SLC lock */ };

/* Addresses. */

/* The map learns of copies when all of a stage are there. */
static bool being_staged(const struct zone *zone, uint32_t offset)
{
	return zone->buffer && zone->buffer->stage.pending && offset >= zone->buffer->stage.from;
}

bool staged_has(const struct zone *zone, uint32_t offset)
{
	if (!zone->staged_ppa)
		return offset < zone->staged;
	return offset < zone->staged_before || (zone_staged(zone, offset) != PPA_NONE && !being_staged(zone, offset));
}

static uint32_t slot_after(const struct ftl *ftl, uint32_t slot) { return slot + 1 == ftl->ring_sectors ? 0 : slot + 1; }

uint32_t staged_read(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t *ppa)
{
	uint32_t slot = zone_slot(zone, offset), i;

	for (i = 0; i < count && zone->staged_ppa[slot] != PPA_NONE; i++, slot = slot_after(ftl, slot)) {
		ppa[i] = zone->staged_ppa[slot];
		slc_pin(ftl, ppa[i]);
	}
	return i;
}

void staged_put(struct ftl *ftl, struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa)
{
	uint32_t slot = zone_slot(zone, offset);

	for (uint32_t i = 0; i < count; i++, slot = slot_after(ftl, slot))
		zone->staged_ppa[slot] = ppa + i;
	slc_validate(ftl, ppa, count, (uint32_t)(zone->start + offset));
}

void staged_found(struct zone *zone, uint32_t offset, uint32_t count, const ppa_t *ppa)
{
	uint32_t slot = zone_slot(zone, offset);

	for (uint32_t i = 0; i < count; i++, slot = slot_after(zone->ftl, slot))
		zone->staged_ppa[slot] = ppa[i];
}

/* One change of the map for each run of adjacent copies. */
void staged_map(struct ftl_worker *self, struct zone *zone, uint32_t from, uint32_t to)
{
	uint32_t count;

	for (uint32_t o = from; o < to; o += count) {
		ppa_t ppa = zone_staged(zone, o);

		count = 1;
		if (ppa == PPA_NONE)
			continue;
		while (o + count < to && zone_staged(zone, o + count) == ppa + count)
			count++;
		l2p_stage_run(self, zone, o, count, ppa);
	}
}

void staged_drop(struct ftl_worker *self, struct zone *zone, uint32_t offset, uint32_t count)
{
	uint32_t slot = zone_slot(zone, offset);
	ppa_t gone[STAGED_PIECE];

	while (count && zone->staged_ppa) {
		uint32_t part = count < STAGED_PIECE ? count : STAGED_PIECE, n = 0;

		for (uint32_t i = 0; i < part; i++, slot = slot_after(self->ftl, slot)) {
			if (zone->staged_ppa[slot] != PPA_NONE)
				gone[n++] = zone->staged_ppa[slot];
			zone->staged_ppa[slot] = PPA_NONE;
		}
		if (n)
			slc_invalidate(self, gone, n);
		count -= part;
	}
}

void staged_keep_prefix(struct ftl_worker *self, struct zone *zone)
{
	uint32_t end = zone->placed;

	while (end < zone->landed && staged_has(zone, end))
		end++;
	staged_drop(self, zone, end, zone->landed - end);
	l2p_unstage_run(self, zone, end, zone->landed - end);
	zone->staged_from = zone->placed;
	zone->staged = end;
}

void staged_bind(struct zone *zone, ppa_t *list)
{
	zone->staged_ppa = list;
	zone->staged_before = zone->landed;
}

void staged_unbind(struct zone *zone)
{
	for (uint32_t o = zone->placed; o < zone->landed; o++)
		zone->staged_ppa[zone_slot(zone, o)] = PPA_NONE;
	zone->staged_ppa = NULL;
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
			piece->oob[i].flags = buffer->oob[slot + i].flags;
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
			.oob = &buffer->oob[slot],
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

/* The collector moves them. */

static bool staged_lies_at(struct ftl *ftl, uint32_t lba, ppa_t ppa)
{
	const struct zone *zone = zone_at(ftl, lba);
	uint32_t offset = (uint32_t)(lba - zone->start);

	return offset >= zone->placed && offset < zone->landed && zone_where(zone, offset) == ppa;
}

/* Move the sector's address from `from`, where it is valid. Zone's lock held. */
static void follow(struct ftl_worker *self, struct zone *zone, uint32_t offset, ppa_t from, ppa_t to)
{
	if (zone_staged(zone, offset) == from)
		zone->staged_ppa[zone_slot(zone, offset)] = to;
	if (!being_staged(zone, offset))
		l2p_stage_run(self, zone, offset, 1, to);
	slc_move(self->ftl, from, to);
}

static void staged_moved(struct ftl_worker *self, uint32_t lba, ppa_t from, ppa_t to)
{
	struct zone *zone = zone_at(self->ftl, lba);
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	if (*slc_tag_of(self->ftl, from) == lba) {
		if (zone->condition == ZONE_EMPTIED)
			slc_invalidate(self, &from, 1);
		else
			follow(self, zone, (uint32_t)(lba - zone->start), from, to);
	}
	lt_lock_release(&zone->lock, &node);
}

/* Mount. */

enum { MOUNT_LISTS = 32 };

void staged_lists_init(const struct ftl *ftl, struct arena *arena, struct staged_lists *lists)
{
	lists->count = min_u32(MOUNT_LISTS, ftl->all_zones - ftl->shape.conventional_zones);
	lists->used = 0;
	lists->place = arena_borrow(arena, (size_t)lists->count * ftl->ring_sectors, sizeof(ppa_t), "staged lists");
}

bool staged_list(struct staged_lists *lists, struct zone *zone)
{
	uint32_t slots = zone->ftl->ring_sectors;

	if (zone->staged_ppa || lists->used == lists->count)
		return zone->staged_ppa;
	zone->staged_ppa = memset(&lists->place[(size_t)lists->used++ * slots], 0xff, slots * sizeof(ppa_t));
	return true;
}

void staged_lists_return(struct ftl *ftl, struct staged_lists *lists)
{
	lists->used = 0;
	for (uint32_t i = 0; i < ftl->all_zones; i++)
		ftl->zones[i].staged_ppa = NULL;
}

/* Harts idle. */

ppa_t zone_where(const struct zone *zone, uint32_t offset)
{
	uint32_t found = L2P_UNMAPPED;

	if (offset < zone->placed)
		return zone_place(zone, offset);
	if (offset >= zone->landed || !staged_has(zone, offset))
		return PPA_NONE;
	found = l2p_staged_peek(zone->ftl, zone, offset);
	return found == L2P_UNMAPPED ? PPA_NONE : found;
}

void staged_init(struct ftl *ftl, struct arena *arena)
{
	uint32_t last = (uint32_t)(ftl->all_zones * ftl->shape.zone_size_sectors) - 1;

	(void)arena;
	slc_own(ftl->slc, SLC_OWNS_STAGED,
		(struct slc_owner){ .first = 0, .last = last, .moved = staged_moved, .lies_at = staged_lies_at });
}
