/* Power-fail dump: protected sectors of the write buffers are programmed on capacitor power. One hart; the workers may still run, but no
 * data land. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/buffer.h"
#include "buffer/buffer_internal.h"
#include "buffer/memory.h"
#include "lt/arena.h"
#include "slc/slc.h"
#include "tsu/tsu_keep.h"

/* Memory of one program: the larger of both regions' units. */
struct keeper {
	uint8_t **memory;
	struct hz_oob *oob;
};

/* Gather sectors [at, at + count) of the zone; those from `end` on are filler. */
static void keep_gather(struct ftl *ftl, const struct zone *zone, uint32_t at, uint32_t count, uint32_t end)
{
	const struct keeper *keeper = ftl->keeper;
	uint64_t sequence = sequence_take(ftl, count);

	for (uint32_t i = 0; i < count; i++) {
		bool data = at + i < end;

		keeper->memory[i] = data ? zone->buffer->memory[zone_slot(zone, at + i)] : ftl->zero_sector;
		keeper->oob[i] = (struct hz_oob){ .sequence = sequence + i, .kind = data ? HZ_OOB_DATA : HZ_OOB_PAD };
		if (data) {
			keeper->oob[i].lpa = (uint32_t)(zone->start + at + i);
			keeper->oob[i].generation = zone->generation;
			keeper->oob[i].flags = zone->buffer->oob[zone_slot(zone, at + i)].flags;
		}
	}
}

static enum nand_status keep_program(struct ftl *ftl, ppa_t ppa, uint32_t count)
{
	struct sgl data = { ftl->keeper->memory, 0, count * HZ_SECTOR_BYTES };

	return tsu_keep_program(ftl->tsu, ppa, count, &data, ftl->keeper->oob);
}

/* False: neither place nor energy is left. */
static bool keep_elsewhere(struct ftl *ftl, uint32_t count)
{
	enum nand_status status;

	do {
		ppa_t ppa = slc_keep_place(ftl);

		if (ppa == PPA_NONE)
			return false;
		status = keep_program(ftl, ppa, count);
		if (status == NAND_PROGRAM_FAILED)
			slc_keep_failed(ftl, ppa);
	} while (status == NAND_PROGRAM_FAILED);
	return status == NAND_OK;
}

/* Program whole units from `placed` on until a program fails; returns the offset of the rest, to be dumped to SLC. Some may be at their
 * place already, with their completion not yet delivered. */
static uint32_t keep_in_place(struct ftl *ftl, const struct zone *zone)
{
	uint32_t at = zone->placed, unit = ftl->unit_sectors;

	if (zone->superblock == SUPERBLOCK_NONE || zone->condition == ZONE_BROKEN)
		return at;
	while (at + unit <= zone->guarded && tsu_keep_is_next(ftl->tsu, zone_place(zone, at))) {
		keep_gather(ftl, zone, at, unit, at + unit);
		if (keep_program(ftl, zone_place(zone, at), unit) != NAND_OK)
			break;
		at += unit;
	}
	return at;
}

/* Sectors outside the ring are staged: [0, resident) is on flash. */
static bool keep_zone(struct ftl *ftl, const struct zone *zone)
{
	uint32_t flash = zone_on_flash(zone), from = flash > zone->resident ? flash : zone->resident;
	uint32_t at = from, unit = ftl->cfg->slc_program_sectors;
	bool kept = true;

	if (!zone->buffer || at >= zone->guarded || zone_failed(zone))
		return true;
	if (ftl->cfg->plp_flush == HZ_PLP_IN_PLACE && zone->resident <= zone->placed)
		at = keep_in_place(ftl, zone);
	tsu_keep_count(ftl->tsu, zone->guarded - from, at > from ? (at - from) / ftl->unit_sectors : 0);
	for (; kept && at < zone->guarded; at += unit) {
		keep_gather(ftl, zone, at, unit, zone->guarded);
		kept = keep_elsewhere(ftl, unit);
	}
	return kept;
}

static void keep_run(void *ctx)
{
	struct ftl *ftl = ctx;
	bool kept = true;

	space_close(ftl);
	slc_keep_begin(ftl);
	for (uint32_t z = 0; kept && z < ftl->zone_count; z++) {
		struct zone *zone = &ftl->zones[z];
		struct lt_lock_node node;

		lt_lock_acquire(&zone->lock, &node);
		kept = keep_zone(ftl, zone);
		lt_lock_release(&zone->lock, &node);
	}
}

static void belated_gather(struct ftl *ftl, const struct zone *zone, uint32_t at, uint32_t count, const uint32_t *place)
{
	const struct keeper *keeper = ftl->keeper;
	struct nand *media = tsu_keep_media(ftl->tsu);

	for (uint32_t i = 0; i < ftl->slc->unit_sectors; i++) {
		struct hz_oob kept = { .flags = 0 };

		keeper->memory[i] = i < count ? media->ops->kept(media, place[i], &kept) : ftl->zero_sector;
		keeper->oob[i] = (struct hz_oob){ .sequence = ++ftl->mount_sequence, .kind = i < count ? HZ_OOB_DATA : HZ_OOB_PAD };
		if (i < count) {
			keeper->oob[i].lpa = (uint32_t)(zone->start + at + i);
			keeper->oob[i].generation = zone->generation;
			keeper->oob[i].flags = kept.flags;
		}
	}
}

ppa_t keep_belated(struct ftl *ftl, const struct zone *zone, uint32_t at, uint32_t count, const uint32_t *place)
{
	uint32_t unit = ftl->slc->unit_sectors;
	struct sgl data = { ftl->keeper->memory, 0, unit * HZ_SECTOR_BYTES };
	enum nand_status status = NAND_PROGRAM_FAILED;
	ppa_t ppa = PPA_NONE;

	belated_gather(ftl, zone, at, count, place);
	while (status == NAND_PROGRAM_FAILED && (ppa = slc_belated_place(ftl)) != PPA_NONE)
		status = tsu_keep_belated(ftl->tsu, ppa, unit, &data, ftl->keeper->oob);
	return status == NAND_OK ? ppa : PPA_NONE;
}

void keep_init(struct ftl *ftl, struct arena *arena)
{
	uint32_t unit = ftl->unit_sectors > ftl->cfg->slc_program_sectors ? ftl->unit_sectors : ftl->cfg->slc_program_sectors;

	if (!ftl->cfg->plp_bytes)
		return;
	ftl->keeper = arena_alloc(arena, 1, sizeof(*ftl->keeper), "keeper");
	ftl->keeper->memory = arena_alloc(arena, unit, sizeof(uint8_t *), "keeper");
	ftl->keeper->oob = arena_alloc(arena, unit, sizeof(struct hz_oob), "keeper");
	tsu_set_keeper(ftl->tsu, keep_run, ftl);
}
