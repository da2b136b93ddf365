/* Power-loss dump: protected sectors of the write buffers are programmed on capacitor power. One hart; the workers may still run, but no
 * data land. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/buffer.h"
#include "buffer/buffer_internal.h"
#include "buffer/memory.h"
#include "lt/arena.h"
#include "slc/slc.h"
#include "tsu/tsu_dump.h"

/* Memory of one program: the larger of both regions' units. */
struct dump {
	uint8_t **memory;
	struct hz_oob *oob;
};

/* Gather sectors [at, at + count) of the zone; those from `end` on are filler. */
static void dump_gather(struct ftl *ftl, const struct zone *zone, uint32_t at, uint32_t count, uint32_t end)
{
	const struct dump *dump = ftl->dump;
	uint64_t sequence = sequence_take(ftl, count);

	for (uint32_t i = 0; i < count; i++) {
		bool data = at + i < end;

		dump->memory[i] = data ? zone->buffer->memory[zone_slot(zone, at + i)] : ftl->zero_sector;
		dump->oob[i] = (struct hz_oob){ .sequence = sequence + i, .kind = data ? HZ_OOB_DATA : HZ_OOB_PAD };
		if (data) {
			dump->oob[i].lpa = (uint32_t)(zone->start + at + i);
			dump->oob[i].generation = zone->generation;
			dump->oob[i].flags = zone->buffer->oob[zone_slot(zone, at + i)].flags;
		}
	}
}

static enum nand_status dump_program(struct ftl *ftl, ppa_t ppa, uint32_t count)
{
	struct sgl data = { ftl->dump->memory, 0, count * HZ_SECTOR_BYTES };

	return tsu_dump_program(ftl->tsu, ppa, count, &data, ftl->dump->oob);
}

/* False: neither place nor energy is left. */
static bool dump_elsewhere(struct ftl *ftl, uint32_t count)
{
	enum nand_status status;

	do {
		ppa_t ppa = slc_dump_place(ftl);

		if (ppa == PPA_NONE)
			return false;
		status = dump_program(ftl, ppa, count);
		if (status == NAND_PROGRAM_FAILED)
			slc_dump_failed(ftl, ppa);
	} while (status == NAND_PROGRAM_FAILED);
	return status == NAND_OK;
}

/* Program whole units from `placed` on until a program fails; returns the offset of the rest, to be dumped to SLC. Some may be at their
 * place already, with their completion not yet delivered. */
static uint32_t dump_in_place(struct ftl *ftl, const struct zone *zone)
{
	uint32_t at = zone->placed, unit = ftl->unit_sectors;

	if (zone->superblock == SUPERBLOCK_NONE || zone->condition == ZONE_BROKEN)
		return at;
	while (at + unit <= zone->guarded && tsu_dump_is_next(ftl->tsu, zone_place(zone, at))) {
		dump_gather(ftl, zone, at, unit, at + unit);
		if (dump_program(ftl, zone_place(zone, at), unit) != NAND_OK)
			break;
		at += unit;
	}
	return at;
}

/* Sectors outside the ring are staged: [0, resident) is on flash. */
static bool dump_zone(struct ftl *ftl, const struct zone *zone)
{
	uint32_t flash = zone_on_flash(zone), from = flash > zone->resident ? flash : zone->resident;
	uint32_t at = from, unit = ftl->cfg->slc_program_sectors;
	bool kept = true;

	if (!zone->buffer || at >= zone->guarded || zone_failed(zone))
		return true;
	if (ftl->cfg->plp_flush == HZ_PLP_IN_PLACE && zone->resident <= zone->placed)
		at = dump_in_place(ftl, zone);
	tsu_dump_count(ftl->tsu, zone->guarded - from, at > from ? (at - from) / ftl->unit_sectors : 0);
	for (; kept && at < zone->guarded; at += unit) {
		dump_gather(ftl, zone, at, unit, zone->guarded);
		kept = dump_elsewhere(ftl, unit);
	}
	return kept;
}

static void dump_run(void *ctx)
{
	struct ftl *ftl = ctx;
	bool kept = true;

	space_close(ftl);
	slc_dump_begin(ftl);
	for (uint32_t z = 0; kept && z < ftl->zone_count; z++) {
		struct zone *zone = &ftl->zones[z];
		struct lt_lock_node node;

		lt_lock_acquire(&zone->lock, &node);
		kept = dump_zone(ftl, zone);
		lt_lock_release(&zone->lock, &node);
	}
}

static void belated_gather(struct ftl *ftl, const struct zone *zone, uint32_t at, uint32_t count, const uint32_t *place)
{
	const struct dump *dump = ftl->dump;
	struct nand *media = tsu_dump_media(ftl->tsu);

	for (uint32_t i = 0; i < ftl->slc->unit_sectors; i++) {
		struct hz_oob kept = { .flags = 0 };

		dump->memory[i] = i < count ? media->ops->kept(media, place[i], &kept) : ftl->zero_sector;
		dump->oob[i] = (struct hz_oob){ .sequence = ++ftl->mount_sequence, .kind = i < count ? HZ_OOB_DATA : HZ_OOB_PAD };
		if (i < count) {
			dump->oob[i].lpa = (uint32_t)(zone->start + at + i);
			dump->oob[i].generation = zone->generation;
			dump->oob[i].flags = kept.flags;
		}
	}
}

ppa_t dump_belated(struct ftl *ftl, const struct zone *zone, uint32_t at, uint32_t count, const uint32_t *place)
{
	uint32_t unit = ftl->slc->unit_sectors;
	struct sgl data = { ftl->dump->memory, 0, unit * HZ_SECTOR_BYTES };
	enum nand_status status = NAND_PROGRAM_FAILED;
	ppa_t ppa = PPA_NONE;

	belated_gather(ftl, zone, at, count, place);
	while (status == NAND_PROGRAM_FAILED && (ppa = slc_belated_place(ftl)) != PPA_NONE)
		status = tsu_dump_belated(ftl->tsu, ppa, unit, &data, ftl->dump->oob);
	return status == NAND_OK ? ppa : PPA_NONE;
}

void dump_init(struct ftl *ftl, struct arena *arena)
{
	uint32_t unit = ftl->unit_sectors > ftl->cfg->slc_program_sectors ? ftl->unit_sectors : ftl->cfg->slc_program_sectors;

	if (!ftl->cfg->plp_bytes)
		return;
	ftl->dump = arena_alloc(arena, 1, sizeof(*ftl->dump), "dump");
	ftl->dump->memory = arena_alloc(arena, unit, sizeof(uint8_t *), "dump");
	ftl->dump->oob = arena_alloc(arena, unit, sizeof(struct hz_oob), "dump");
	tsu_set_dump(ftl->tsu, dump_run, ftl);
}
