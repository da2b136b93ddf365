/* Mount as a table of named steps. Its sources, in this order of authority: the newest zone table page has each zone's current
 * generation, whether it is finished, and its size when recorded. After a clean shutdown there is no other. After a power cut the
 * superblock with the longest prefix of units of the zone's generation holds the zone. SLC copies continue the prefix sector by sector. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "mount/mount.h"

#include "block/superblock.h"
#include "conventional/conventional.h"
#include "lt/arena.h"
#include "map/l2p.h"
#include "mount/mount_internal.h"
#include "slc/slc.h"
#include "tsu/tsu_dump.h"
#include "tsu/tsu_mount.h"
#include "tsu/tsu_image.h"
#include "zone/tables.h"
#include "zone/zone.h"

/* --- superblocks --- */

static void mark_used(struct superblocks *sbs, uint32_t number)
{
	if (number != SUPERBLOCK_NONE)
		sbs->info[number - sbs->first].state = SB_USED;
}

static const char *sort_superblocks(struct mount *mount)
{
	struct ftl *ftl = mount->ftl;

	for (uint32_t z = 0; z < ftl->all_zones; z++) {
		mark_used(ftl->superblocks, ftl->zones[z].superblock);
		mark_used(ftl->patches, ftl->zones[z].patch);
	}
	superblocks_sort(ftl);
	return NULL;
}

/* --- the rest --- */

/* The map's pages were brought up to date before the device was shut down, and they are all there. */
static bool map_complete(const struct mount *mount, uint64_t since)
{
	const struct ftl *ftl = mount->ftl;
	bool complete = mount->clean;

	for (uint32_t z = ftl->zone_count; z < ftl->all_zones; z++)
		complete = complete && since >= ftl->table->record[z].data_before;
	return complete;
}

static const char *find_places(struct mount *mount)
{
	uint64_t since;

	if (!mount->ftl->shape.backing_zones)
		return NULL;
	trims_mount(mount->ftl);
	since = l2p_conv_scan_begin(mount->ftl, mount->arena);
	conv_mount(mount->ftl, mount->oob, since, map_complete(mount, since));
	return l2p_conv_scan_end(mount->ftl);
}

/* No program may follow an unfinished one: a unit with a successor is taken for whole. */
static void close_torn(struct mount *mount)
{
	for (uint32_t c = 0; c < mount->planes; c++)
		if (mount->done[c] < mount->rows[c])
			mount->rows[c] = mount->ftl->slc->rows;
}

/* Partly written SLC superblocks are resumed at their planes' next rows; the rest wait for the collector. */
static const char *open_slc(struct mount *mount)
{
	struct slc *slc = mount->ftl->slc;

	for (uint32_t b = 0; b < slc->blocks; b++) {
		struct slc_block *block = &slc->block[b];

		mount_look_at_blocks(mount, b, slc->unit_sectors);
		block->doomed = mount->bad;
		if (mount->bad)
			slc_lose_block(mount->ftl);
		block->state = SLC_SEALED;
		if (mount->bad && !block->valid) {
			block->state = SLC_BAD;
		} else if (!mount->used && !mount->erasing) {
			block->state = SLC_FREE;
			slc_add_free(slc);
		} else if (!mount->bad && !mount->erasing) {
			close_torn(mount);
			slc_resume_head(mount->ftl, b, mount->rows);
		}
	}
	for (uint32_t b = 0; b < slc->blocks; b++)
		slc_appraise(slc, &slc->block[b]);
	return NULL;
}

static const char *mend_table(struct mount *mount)
{
	zone_table_mend(mount->ftl);
	return NULL;
}

/* Data kept by capacitors are on flash. */
static const char *mount_place_dump(struct mount *mount)
{
	struct nand *media = tsu_dump_media(mount->ftl->tsu);

	clock_freeze();
	media->ops->keep_nothing(media);
	clock_thaw();
	zones_place_dump(mount->ftl, mount->arena);
	return NULL;
}

static const char *replay_map(struct mount *mount)
{
	l2p_replay(mount->ftl);
	return NULL;
}

static const char *(*const steps[HZ_MOUNT_STEPS])(struct mount *mount) = {
	[HZ_MOUNT_SLC_LOG] = mount_find_tables, [HZ_MOUNT_ZONE_RECORDS] = mount_load_records,
	[HZ_MOUNT_MAP_LOG] = replay_map,        [HZ_MOUNT_HEADS] = mount_look_at_superblocks,
	[HZ_MOUNT_REACH] = mount_find_reach,    [HZ_MOUNT_CLEAN] = mount_take_superblocks,
	[HZ_MOUNT_SORT] = sort_superblocks,     [HZ_MOUNT_STAGED] = mount_find_staged,
	[HZ_MOUNT_MAP] = mount_settle_zones,    [HZ_MOUNT_CONVENTIONAL] = find_places,
	[HZ_MOUNT_SLC_HEADS] = open_slc,        [HZ_MOUNT_MEND] = mend_table,
	[HZ_MOUNT_AGE] = mount_note_due,        [HZ_MOUNT_PLACE_DUMP] = mount_place_dump,
};

/* A step's reads depend on earlier findings, so it ends with its last read. */
static const char *run_step(struct mount *mount, enum hz_mount_step number)
{
	struct tsu *tsu = mount->ftl->tsu;
	struct hz_mount_cost *cost = &mount->ftl->mount_report.step[number];
	struct tsu_mount_reads before = tsu_mount_reads(tsu), reads;
	uint64_t begin_ns = clock_now_ns();
	const char *error = steps[number](mount);

	tsu_await_reads(tsu);
	reads = tsu_mount_reads(tsu);
	*cost = (struct hz_mount_cost){ clock_now_ns() - begin_ns, reads.senses - before.senses, reads.pages - before.pages,
					reads.bytes - before.bytes };
	return error;
}

const char *mount_run(struct ftl *ftl, struct arena *arena)
{
	uint32_t unit = ftl->unit_sectors > ftl->cfg->slc_program_sectors ? ftl->unit_sectors : ftl->cfg->slc_program_sectors;
	uint32_t records = ftl->shape.backing_zones && ftl->superpage_sectors > unit ? ftl->superpage_sectors : unit;
	struct mount mount = {
		.ftl = ftl,
		.arena = arena,
		.clean = tsu_clean_mark(ftl->tsu).clean,
		.oob = arena_borrow(arena, records, sizeof(struct hz_oob), "mount OOB"),
		.rows = arena_borrow(arena, ftl->shape.planes, sizeof(uint32_t), "mount rows"),
		.done = arena_borrow(arena, ftl->shape.planes, sizeof(uint32_t), "mount rows"),
		.table = arena_borrow(arena, ftl->table->pages, sizeof(struct table_found), "mount table"),
		.again = arena_borrow(arena, (size_t)ftl->slc->blocks * ftl->slc->planes * ftl->shape.slc_pages_per_block, sizeof(bool),
				      "mount SLC pages"),
		.claim = arena_borrow(arena, ftl->shape.slc_superblocks + ftl->shape.normal_superblocks, sizeof(struct claim),
				      "mount superblocks"),
		.doubted = arena_borrow(arena, ftl->all_zones, sizeof(bool), "mount zones"),
		.beyond = arena_borrow(arena, ftl->all_zones, sizeof(uint32_t), "mount zones"),
		.lost = arena_borrow(arena, ftl->all_zones, sizeof(uint32_t), "mount zones"),
		.hole = arena_borrow(arena, ftl->all_zones, sizeof(bool), "mount zones"),
		.first = arena_borrow(arena, ftl->all_zones, sizeof(uint64_t), "mount zones"),
		.padded = arena_borrow(arena, ftl->all_zones, sizeof(bool), "mount zones"),
		.settled = arena_borrow(arena, ftl->all_zones, sizeof(bool), "mount zones"),
	};

	staged_lists_init(ftl, arena, &mount.lists);

	for (unsigned i = HZ_MOUNT_MAKE + 1; i < HZ_MOUNT_STEPS; i++) {
		const char *error = run_step(&mount, (enum hz_mount_step)i);

		if (error)
			return error;
	}
	tsu_mounted(ftl->tsu);
	arena_return_all(arena);
	return NULL;
}
