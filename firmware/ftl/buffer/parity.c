/* Parity of a zone's rows (rain): the units of a row are combined as they are programmed, and the result is programmed with the last one. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "boundary/boundary.h"
#include "buffer/buffer_internal.h"
#include "lt/arena.h"
#include "lt/bulk.h"

/* Parity of sectors. */

HZ_FROZEN void parity_mix(uint8_t *into, uint16_t *flags, const uint8_t *sector, const struct hz_oob *record)
{
	uint64_t *to = (uint64_t *)into;
	const uint64_t *from = (const uint64_t *)sector;

	boundary_work(WORK_PARITY, 1, 0);
	for (uint32_t i = 0; i < HZ_SECTOR_BYTES / sizeof(*to); i++)
		to[i] ^= from[i];
	*flags ^= record->flags & HZ_OOB_MARKED;
}

HZ_FROZEN void parity_clear(uint8_t *const *memory, struct hz_oob *oob, uint32_t sectors)
{
	for (uint32_t i = 0; i < sectors; i++) {
		bulk_fill(memory[i], 0, HZ_SECTOR_BYTES);
		oob[i].flags = 0;
	}
}

struct hz_oob parity_record(const struct zone *zone, uint32_t offset, uint32_t end, uint16_t flags)
{
	return (struct hz_oob){ .sequence = end,
				.lpa = (uint32_t)(zone->start + offset),
				.generation = zone->generation,
				.kind = HZ_OOB_PARITY,
				.flags = flags };
}

static HZ_FROZEN void clear(const struct ftl *ftl, struct row_parity *row)
{
	row->lost = false;
	parity_clear(row->memory, row->oob, ftl->shape.parity_planes * ftl->unit_sectors);
}

/* Sectors of a unit, from the first on; oob: their records. */
static HZ_FROZEN void mix_unit(const struct ftl *ftl, struct row_parity *row, uint32_t plane, uint8_t *const *memory,
			       const struct hz_oob *oob)
{
	uint32_t to = plane * ftl->unit_sectors;

	for (uint32_t i = 0; i < ftl->unit_sectors; i++)
		parity_mix(row->memory[to + i], &row->oob[to + i].flags, memory[i], &oob[i]);
}

/* The row that a zone is in. */

static struct flash_stripe_at place_of(const struct zone *zone, uint32_t offset)
{
	return flash_stripe_at(zone->ftl->map, zone->superblock, offset);
}

/* noinline, as the next ones: registers are saved while the clock stands. */
static __attribute__((noinline)) void add_part(struct zone *zone, uint32_t offset, uint32_t slot)
{
	struct flash_stripe_at at = place_of(zone, offset);
	struct row_parity *row = &zone->buffer->parity->row[at.row & 1];

	clock_freeze();
	if (at.column == 0)
		clear(zone->ftl, row);
	mix_unit(zone->ftl, row, at.plane, &zone->buffer->memory[slot], &zone->buffer->oob[slot]);
	clock_thaw();
}

void parity_add(struct zone *zone, const struct flush_unit *unit)
{
	uint32_t slot = zone_slot(zone, unit->start), program = zone->ftl->unit_sectors;

	for (uint32_t at = unit->start; at < unit->end; at += program, slot += program)
		add_part(zone, at, slot);
}

bool parity_ends_with(const struct zone *zone, const struct flush_unit *unit)
{
	return unit->data_end < unit->end || unit->end >= zone->capacity || place_of(zone, unit->end).column == 0;
}

/* Program k of the parity of the row that ends, or is left, at this offset: the record says so, and a rebuild takes units up to there. */
static void program_column(struct ftl_worker *self, struct zone *zone, struct buffer_txn *part, uint32_t end, uint32_t k)
{
	struct ftl *ftl = zone->ftl;
	struct flash_stripe_at at = place_of(zone, end - 1);
	struct row_parity *row = &zone->buffer->parity->row[at.row & 1];
	uint32_t unit = ftl->unit_sectors, first = k * unit;

	for (uint32_t i = first; i < first + unit; i++) {
		row->oob[i] = parity_record(zone, at.row * ftl->superpage_sectors + i, end, row->oob[i].flags);
		if (row->lost)
			row->oob[i].kind = HZ_OOB_PAD;
	}
	part->buffer = zone->buffer;
	part->txn = (struct tsu_txn){
		.owner = &self->thread,
		.op = TSU_PROGRAM,
		.cause = HZ_CAUSE_HOST,
		.stream = (uint8_t)zone->index,
		.sectors = (uint16_t)unit,
		.ppa = ppa_make(ftl->map, flash_parity_of(ftl->map, zone->superblock), (at.row * ftl->shape.parity_planes + k) * unit),
		.data = { &row->memory[first], 0, unit * HZ_SECTOR_BYTES },
		.oob = &row->oob[first],
	};
	self->counters.parity_sectors += unit;
}

uint32_t parity_program(struct ftl_worker *self, struct zone *zone, struct flush_unit *unit, struct buffer_txn *part)
{
	uint32_t planes = zone->ftl->shape.parity_planes;

	for (uint32_t k = 0; k < planes; k++, part++) {
		program_column(self, zone, part, unit->end, k);
		part->unit = unit;
		part->txn.done = part[-1].txn.done;
		part->txn.not_before_ns = unit->not_before_ns;
		part[-1].txn.next = &part->txn;
	}
	return planes;
}

/* After a hand-over, a move or a mount the row's units are read back, one after another. */

static void read_next(struct ftl_worker *self, struct zone *zone);

static void unit_was_read(struct ftl_worker *self, struct zone *zone)
{
	struct ftl *ftl = zone->ftl;
	struct parity *parity = zone->buffer->parity;
	struct flash_stripe_at at = place_of(zone, parity->at);
	struct row_parity *row = &parity->row[at.row & 1];

	row->lost |= parity->failed;
	clock_freeze();
	mix_unit(ftl, row, at.plane, parity->read.memory, parity->read.oob);
	clock_thaw();
	parity->at += ftl->unit_sectors;
	if (parity->at < parity->end) {
		read_next(self, zone);
		return;
	}
	zone->buffer->parity_loaded = true;
	zone_pump(self, zone);
}

/* A read of a unit that is missing in the row, or a program of the parity of a row that ends early. */
static void part_ended(struct tsu_txn *txn)
{
	struct write_buffer *buffer = ((struct buffer_txn *)txn)->buffer;
	struct zone *zone = buffer->zone;
	bool reads = txn->op == TSU_READ;
	struct lt_lock_node node;

	if (txn->status == NAND_POWER_OFF)
		return;
	lt_lock_acquire(&zone->lock, &node);
	buffer->parity->failed |= reads && txn->status != NAND_OK;
	zone->bad_superblock |= !reads && txn->status != NAND_OK;
	if (--buffer->parity_pending == 0 && reads)
		unit_was_read(worker_of(txn), zone);
	else if (buffer->parity_pending == 0)
		zone_pump(worker_of(txn), zone);
	lt_lock_release(&zone->lock, &node);
}

static void read_next(struct ftl_worker *self, struct zone *zone)
{
	struct ftl *ftl = zone->ftl;
	struct parity *parity = zone->buffer->parity;
	uint32_t page = ftl->page_sectors, reads = ftl->cfg->program_pages;

	parity->failed = false;
	zone->buffer->parity_pending = reads;
	self->counters.parity_read_sectors += ftl->unit_sectors;
	for (uint32_t i = 0; i < reads; i++) {
		struct buffer_txn *part = &parity->txn[i];

		part->buffer = zone->buffer;
		part->txn = (struct tsu_txn){
			.owner = &self->thread,
			.done = part_ended,
			.op = TSU_READ,
			.cause = HZ_CAUSE_FOLD,
			.sectors = (uint16_t)page,
			.ppa = zone_place(zone, parity->at + i * page),
			.data = { &parity->read.memory[i * page], 0, page * HZ_SECTOR_BYTES },
			.oob = &parity->read.oob[i * page],
			.next = i + 1 < reads ? &part[1].txn : NULL,
		};
	}
	tsu_submit_list(ftl->tsu, &parity->txn->txn);
}

bool parity_ready(struct ftl_worker *self, struct zone *zone)
{
	struct parity *parity = zone->buffer->parity;
	struct flash_stripe_at at;

	if (zone->buffer->parity_loaded || zone->buffer->parity_pending)
		return zone->buffer->parity_loaded;
	at = place_of(zone, zone->placed);
	zone->buffer->parity_loaded = at.column == 0;
	if (zone->buffer->parity_loaded)
		return true;
	parity->at = at.row * zone->ftl->superpage_sectors;
	parity->end = zone->placed;
	clock_freeze();
	clear(zone->ftl, &parity->row[at.row & 1]);
	clock_thaw();
	read_next(self, zone);
	return false;
}

/* The parity of a row under way, for reads. */

static HZ_FROZEN void mix_sectors(uint8_t *const *memory, uint16_t *flags, uint8_t *const *from, const struct hz_oob *oob, uint32_t sectors)
{
	for (uint32_t i = 0; i < sectors; i++)
		parity_mix(memory[i], &flags[i], from[i], &oob[i]);
}

/* Units of the stripe that are being programmed are taken out again: they are in the ring. */
static void without_unplaced(const struct zone *zone, const struct flash_stripe_at *at, uint32_t sectors, uint8_t *const *memory,
			     uint16_t *flags)
{
	const struct ftl *ftl = zone->ftl;
	const struct write_buffer *buffer = zone->buffer;

	for (uint32_t i = 0; i < units_grid(zone)->units; i++) {
		const struct flush_unit *unit = &buffer->unit[i];
		bool counts = unit->state == UNIT_PROGRAMMING || unit->state == UNIT_DONE;

		for (uint32_t offset = unit->start; counts && offset < unit->end; offset += ftl->unit_sectors) {
			struct flash_stripe_at other = place_of(zone, offset);
			uint32_t slot = zone_slot(zone, offset) + at->sector;

			if (other.row == at->row && other.plane == at->plane)
				mix_sectors(memory, flags, &buffer->memory[slot], &buffer->oob[slot], sectors);
		}
	}
}

bool parity_in_memory(const struct zone *zone, const struct flash_stripe_at *at, uint32_t sectors, uint8_t *const *memory, uint16_t *flags)
{
	const struct write_buffer *buffer = zone->buffer;
	uint32_t from = at->plane * zone->ftl->unit_sectors + at->sector;
	const struct row_parity *row;

	if (!buffer || zone->condition != ZONE_SOUND || !buffer->parity_loaded || zone->row_closed || zone->placed >= zone->capacity ||
	    place_of(zone, zone->placed).row != at->row)
		return false;
	row = &buffer->parity->row[at->row & 1];
	if (row->lost)
		return false;
	clock_freeze();
	mix_sectors(memory, flags, &row->memory[from], &row->oob[from], sectors);
	without_unplaced(zone, at, sectors, memory, flags);
	clock_thaw();
	return true;
}

/* A row that ends early. */

static void row_close(struct ftl_worker *self, struct zone *zone)
{
	struct ftl *ftl = zone->ftl;
	struct parity *parity = zone->buffer->parity;
	uint32_t planes = ftl->shape.parity_planes;

	zone->row_closed = true;
	zone->buffer->parity_pending = planes;
	for (uint32_t k = 0; k < planes; k++) {
		program_column(self, zone, &parity->txn[k], zone->placed, k);
		parity->txn[k].txn.done = part_ended;
		parity->txn[k].txn.next = k + 1 < planes ? &parity->txn[k + 1].txn : NULL;
	}
	tsu_submit_list(ftl->tsu, &parity->txn->txn);
}

/* A last unit with padding has brought the parity along; and a zone that cannot be programmed gets none. */
bool parity_closed(struct ftl_worker *self, struct zone *zone)
{
	struct flash_stripe_at at;

	if (zone->row_closed)
		return !zone->buffer || !zone->buffer->parity_pending;
	if (zone->condition != ZONE_SOUND || zone->superblock == SUPERBLOCK_NONE || zone->placed >= zone->capacity)
		return true;
	at = place_of(zone, zone->placed);
	if (at.sector || !at.column)
		return true;
	if (buffer_take(self, zone) && parity_ready(self, zone))
		row_close(self, zone);
	return false;
}

/* Construction. */

static void row_init(struct arena *arena, struct row_parity *row, uint32_t sectors)
{
	uint8_t *data = arena_alloc_data(arena, sectors, HZ_SECTOR_BYTES, "parity data");

	row->memory = arena_alloc(arena, sectors, sizeof(*row->memory), "parity sectors");
	row->oob = arena_alloc(arena, sectors, sizeof(*row->oob), "parity OOB");
	for (uint32_t i = 0; i < sectors; i++)
		row->memory[i] = data + (size_t)i * HZ_SECTOR_BYTES;
}

void parity_init(struct ftl *ftl, struct arena *arena, struct write_buffer *buffer)
{
	struct parity *parity = arena_alloc(arena, 1, sizeof(*parity), "parity");
	uint32_t planes = ftl->shape.parity_planes, reads = ftl->cfg->program_pages;

	buffer->parity = parity;
	for (unsigned i = 0; i < 2; i++)
		row_init(arena, &parity->row[i], planes * ftl->unit_sectors);
	row_init(arena, &parity->read, ftl->unit_sectors);
	parity->txn = arena_alloc(arena, reads > planes ? reads : planes, sizeof(*parity->txn), "parity transactions");
}
