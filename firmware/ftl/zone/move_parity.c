/* Parity of a zone that moves (rain): rows get theirs in the new superblock, and their unreadable sectors are rebuilt. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/buffer.h"
#include "lt/arena.h"
#include "lt/bulk.h"
#include "zone/move.h"

/* The row's parity in the new superblock. */

static struct flash_stripe_at stripe_at(const struct relocator *mover, uint32_t superblock, uint32_t i)
{
	return flash_stripe_at(mover->zone->ftl->map, superblock, mover->offset + i);
}

bool move_has_parity(const struct relocator *mover) { return mover->zone->ftl->cfg->rain && !mover->zone->move.patch; }

/* Combine all units of the row, as they are in the superblock. */
static HZ_FROZEN void combine(const struct ftl *ftl, struct relocator *mover, uint32_t superblock)
{
	uint32_t unit = ftl->unit_sectors;

	parity_clear(mover->parity, mover->parity_oob, ftl->shape.parity_planes * unit);
	for (uint32_t i = 0; i < mover->row_sectors; i++) {
		struct flash_stripe_at at = stripe_at(mover, superblock, i);
		uint32_t to = at.plane * unit + at.sector;

		parity_mix(mover->parity[to], &mover->parity_oob[to].flags, mover->memory[i], &mover->oob[i]);
	}
}

/* A row that is not full is the end of a full zone, or goes on in the new superblock: its parity comes later. */
static bool row_ends(const struct relocator *mover) { return mover->row_sectors == mover->most || mover->zone->move.refresh; }

void move_add_parity(struct ftl_worker *self, struct tsu_txn *last)
{
	struct ftl *ftl = self->ftl;
	struct relocator *mover = ftl->relocator;
	uint32_t unit = ftl->unit_sectors, row = stripe_at(mover, mover->target, 0).row;

	if (!row_ends(mover))
		return;
	clock_freeze();
	combine(ftl, mover, mover->target);
	clock_thaw();
	for (uint32_t k = 0; k < ftl->shape.parity_planes; k++, last++) {
		uint32_t first = k * unit;

		for (uint32_t i = first; i < first + unit; i++)
			mover->parity_oob[i] = parity_record(mover->zone, mover->offset + i, mover->offset + mover->row_sectors,
							     mover->parity_oob[i].flags);
		last[1] = *last;
		last[1].sectors = (uint16_t)unit;
		last[1].ppa = ppa_make(ftl->map, flash_parity_of(ftl->map, mover->target), (row * ftl->shape.parity_planes + k) * unit);
		last[1].data = (struct sgl){ &mover->parity[first], 0, unit * HZ_SECTOR_BYTES };
		last[1].oob = &mover->parity_oob[first];
		last[1].next = NULL;
		last->next = &last[1];
		mover->pending++;
		self->counters.parity_sectors += unit;
	}
}

/* Sectors of a row that could not be read are rebuilt from its parity and its others (rain). A stripe can lose one sector of each
 * number, and no more. */

enum { UNREAD = UINT16_MAX }; /* of a sector's record: its flags, until it has been rebuilt */

/* Sector i, lost alone of its stripe: the parity without the others is it. False: another is lost, or there is no parity. */
static HZ_FROZEN bool rebuild(struct ftl *ftl, struct relocator *mover, uint32_t i)
{
	const struct zone *zone = mover->zone;
	struct flash_stripe_at lost = stripe_at(mover, mover->source, i);
	uint32_t from = lost.plane * ftl->unit_sectors + lost.sector;
	const struct hz_oob *parity = &mover->parity_oob[from];
	uint16_t flags = parity->flags & HZ_OOB_MARKED;

	if (parity->kind != HZ_OOB_PARITY || parity->generation != zone->generation ||
	    parity->sequence != mover->offset + mover->row_sectors) /* of units that a power cut has kept from their places, too */
		return false;
	bulk_copy(mover->memory[i], mover->parity[from], HZ_SECTOR_BYTES);
	for (uint32_t o = lost.sector; o < mover->row_sectors; o += ftl->unit_sectors) {
		if (o == i || stripe_at(mover, mover->source, o).plane != lost.plane)
			continue;
		if (mover->oob[o].flags == UNREAD)
			return false;
		parity_mix(mover->memory[i], &flags, mover->memory[o], &mover->oob[o]);
	}
	mover->oob[i] = (struct hz_oob){ .lpa = (uint32_t)(zone->start + mover->base + mover->offset + i),
					 .generation = zone->generation,
					 .kind = mover->offset + i < mover->end ? HZ_OOB_DATA : HZ_OOB_PAD,
					 .flags = flags };
	return true;
}

static bool rebuild_all(struct ftl_worker *self)
{
	struct relocator *mover = self->ftl->relocator;
	bool good = true;

	clock_freeze();
	for (uint32_t i = 0; i < mover->row_sectors && good; i++) {
		if (mover->oob[i].flags != UNREAD)
			continue;
		good = rebuild(self->ftl, mover, i);
		self->counters.rebuilt_moves += good;
	}
	clock_thaw();
	return good;
}

static void parity_was_read(struct tsu_txn *txn)
{
	struct ftl_worker *self = worker_of(txn);
	struct relocator *mover = self->ftl->relocator;

	if (txn->status == NAND_POWER_OFF)
		return;
	mover->failed |= txn->status != NAND_OK;
	if (--mover->pending)
		return;
	relocate_mended(self, !mover->failed && rebuild_all(self));
}

void move_read_parity(struct ftl_worker *self)
{
	struct ftl *ftl = self->ftl;
	struct relocator *mover = ftl->relocator;
	uint32_t planes = ftl->shape.parity_planes, page = mover->read_sectors, reads = planes * ftl->unit_sectors / page;
	uint32_t row = stripe_at(mover, mover->source, 0).row;

	mover->failed = false;
	mover->pending = reads;
	self->counters.parity_read_sectors += planes * ftl->unit_sectors;
	for (uint32_t i = 0; i < reads; i++)
		mover->parity_read[i] = (struct tsu_txn){
			.next = i + 1 < reads ? &mover->parity_read[i + 1] : NULL,
			.owner = &self->thread,
			.done = parity_was_read,
			.op = TSU_READ,
			.cause = relocate_cause(mover),
			.sectors = (uint16_t)page,
			.ppa = ppa_make(ftl->map, flash_parity_of(ftl->map, mover->source), row * planes * ftl->unit_sectors + i * page),
			.data = { &mover->parity[i * page], 0, page * HZ_SECTOR_BYTES },
			.oob = &mover->parity_oob[i * page],
		};
	tsu_submit_list(ftl->tsu, mover->parity_read);
}

void move_read_failed(struct relocator *mover, const struct tsu_txn *txn)
{
	mover->failed = true;
	for (uint32_t i = 0; i < txn->sectors && move_has_parity(mover); i++)
		if (txn->oob[i].kind == HZ_OOB_ERASED || txn->oob[i].flags & HZ_OOB_LOST)
			txn->oob[i].flags = UNREAD;
}

/* Construction. */

void move_parity_init(struct ftl *ftl, struct arena *arena)
{
	struct relocator *mover = ftl->relocator;
	uint32_t sectors = ftl->shape.parity_planes * ftl->unit_sectors;
	uint8_t *data = arena_alloc_data(arena, sectors, HZ_SECTOR_BYTES, "relocator parity");

	mover->parity = arena_alloc(arena, sectors, sizeof(*mover->parity), "relocator parity");
	mover->parity_oob = arena_alloc(arena, sectors, sizeof(*mover->parity_oob), "relocator parity");
	mover->parity_read = arena_alloc(arena, sectors / ftl->page_sectors, sizeof(*mover->parity_read), "relocator parity");
	for (uint32_t i = 0; i < sectors; i++)
		mover->parity[i] = data + (size_t)i * HZ_SECTOR_BYTES;
}
