/* Namespaces: construction, functions over all of them, and the lock classes of a device. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/ftl_namespaces.h"

#include <string.h>

#include "lt/arena.h"
#include "lt/lock.h"
#include "mount_report.h"
#include "namespaces.h"
#include "tsu/tsu.h"

/* Construction, and functions over all namespaces. */

static bool is_whole(const struct hz_device_config *cfg, const struct hz_device_config *window)
{
	return cfg->channels == window->channels && cfg->chips_per_channel == window->chips_per_channel &&
	       cfg->dies_per_chip == window->dies_per_chip && cfg->planes_per_die == window->planes_per_die &&
	       cfg->blocks_per_plane == window->blocks_per_plane;
}

static void find_window(struct ftl_namespace *space, uint32_t number, struct arena *arena, const struct hz_device_config *cfg,
			const struct flash_map *map, struct tsu *tsu)
{
	struct hz_window window;

	hz_namespace_config(cfg, number, &space->window_cfg);
	if (is_whole(cfg, &space->window_cfg)) {
		*space = (struct ftl_namespace){ .tsu = tsu, .cfg = cfg, .map = map };
		return;
	}
	hz_window_of(cfg, number, &window);
	arena->owner = "TSU";
	flash_map_init_window(&space->window_map, arena, &space->window_cfg, cfg, &window);
	space->cfg = &space->window_cfg;
	space->map = &space->window_map;
	space->tsu = tsu_view(arena, tsu, space->map, number);
}

const char *ftl_namespaces_init(struct ftl_namespaces *all, struct arena *arena, const struct hz_device_config *cfg,
				const struct flash_map *map, struct tsu *tsu, struct link_pair *links)
{
	const char *error = NULL;

	arena->owner = "FTL";
	all->count = cfg->namespaces;
	all->at = arena_alloc(arena, all->count, sizeof(*all->at), "namespaces");
	for (uint32_t i = 0; i < all->count && !error; i++) {
		struct ftl_namespace *space = &all->at[i];

		if (i > 0)
			lt_locks_apart();
		find_window(space, i, arena, cfg, map, tsu);
		all->ftl[i] = ftl_init(arena, space->cfg, space->map, space->tsu, links, &error);
	}
	return error;
}

void ftl_namespaces_damage(const struct ftl_namespaces *all, struct ftl_damage *out)
{
	struct ftl_damage part;

	ftl_damage_found(all->ftl[0], out);
	for (uint32_t i = 1; i < all->count; i++) {
		ftl_damage_found(all->ftl[i], &part);
		if (!out->lost_sectors && !out->records)
			out->first_lba = part.first_lba;
		out->lost_sectors += part.lost_sectors;
		out->read_only_zones += part.read_only_zones;
		out->records += part.records;
		out->unknown_sectors += part.unknown_sectors;
		out->table_copies += part.table_copies;
	}
}

void ftl_namespaces_health(const struct ftl_namespaces *all, struct ftl_health *out)
{
	struct ftl_health part;

	ftl_report_health(all->ftl[0], out);
	for (uint32_t i = 1; i < all->count; i++) {
		ftl_report_health(all->ftl[i], &part);
		if (part.spare_percent < out->spare_percent)
			out->spare_percent = part.spare_percent;
		if (part.used_percent > out->used_percent)
			out->used_percent = part.used_percent;
	}
}

static void add_words(uint64_t *sum, const uint64_t *part, size_t words)
{
	for (size_t i = 0; i < words; i++)
		sum[i] += part[i];
}

void ftl_namespaces_mount_report(const struct ftl_namespaces *all, struct hz_mount_report *out)
{
	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < all->count; i++)
		add_words((uint64_t *)out, (const uint64_t *)ftl_mount_report(all->ftl[i]), sizeof(*out) / sizeof(uint64_t));
}

const char *ftl_namespaces_check(const struct ftl_namespaces *all)
{
	const char *broken = NULL;

	for (uint32_t i = 0; i < all->count && !broken; i++)
		broken = ftl_check(all->ftl[i]);
	return broken;
}

/* The lock classes of a device, as libthread shall know them. */

HZ_STATIC_ASSERT((int)HZ_LOCK_CLASSES <= (int)HZ_MAX_LOCK_CLASSES, "statistics have room for every class");
HZ_STATIC_ASSERT((int)HZ_STATS_OFF == (int)LT_STATS_OFF && (int)HZ_STATS_CONTENDED == (int)LT_STATS_CONTENDED &&
			 (int)HZ_STATS_ALL == (int)LT_STATS_ALL,
		 "the config's levels are libthread's");

HZ_STATIC_ASSERT((int)HZ_MAX_LOCK_SHARDS == (int)LT_MAX_LOCK_SHARDS && HZ_LOCKS_FINE == 0, "a granularity is libthread's number of shards");

/* Of all classes or of none (config_check.c). */
static bool is_global(const struct hz_device_config *cfg) { return cfg->lock_granularity[HZ_LC_ZONE] == HZ_LOCKS_GLOBAL; }

const char *ftl_lock_classes_init(struct arena *arena, const struct hz_device_config *cfg)
{
	struct lt_lock_class classes[] = {
#define HZ_LOCK_CLASS(constant, name_, level_, ...) { .name = #name_, .level = level_ },
#include "lock_classes.def"
	};

	for (unsigned c = 0; c < HZ_LOCK_CLASSES; c++) {
		classes[c].shards = is_global(cfg) ? 0 : cfg->lock_granularity[c];
		classes[c].kind = cfg->lock_kind[c];
		if (classes[c].kind >= LT_LOCK_KINDS)
			return "lock_kind has a number that is no kind of lock in this firmware.";
	}
	lt_locks_init(arena, classes, HZ_LOCK_CLASSES, (enum lt_stats_level)cfg->lock_stats, cfg->harts);
	lt_locks_cluster(cfg->lock_cluster);
	if (is_global(cfg))
		lt_locks_share_one(HZ_LC_GLOBAL);
	return NULL;
}
