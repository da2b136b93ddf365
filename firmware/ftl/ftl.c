/* The FTL as the HIL sees it: construction, and what is asked of it as a whole. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "ftl.h"

#include "block/superblock.h"
#include "buffer/buffer.h"
#include "buffer/keep.h"
#include "buffer/staged.h"
#include "cache/data_cache.h"
#include "check.h"
#include "conventional/conventional.h"
#include "geometry.h"
#include "l2p/l2p.h"
#include "lt/arena.h"
#include "mount/mount.h"
#include "places/places.h"
#include "places/trims.h"
#include "request/io.h"
#include "rest.h"
#include "routing.h"
#include "slc/slc.h"
#include "worker.h"
#include "zone/pump.h"
#include "zone/trim_save.h"
#include "zone/updates.h"
#include "zone/zone_changes.h"

static void facts_init(struct ftl *ftl)
{
	uint64_t size;

	hz_shape_of(ftl->cfg, &ftl->shape);
	size = ftl->shape.zone_size_sectors;
	ftl->capacity = (uint32_t)ftl->shape.zone_capacity_sectors;
	ftl->backing_capacity = ftl->shape.backing_sectors;
	ftl->page_sectors = ftl->shape.page_sectors;
	ftl->unit_sectors = ftl->shape.unit_sectors;
	ftl->superpage_sectors = ftl->shape.superpage_sectors;
	ftl->ring_sectors = ftl->shape.ring_sectors;
	ftl->flush_sectors = ftl->cfg->flush_unit_planes * ftl->unit_sectors;
	ftl->flush_at_once = ftl->cfg->buffer_flush == HZ_BUFFER_FLUSH_UNIT ||
			     (ftl->cfg->buffer_flush == HZ_BUFFER_FLUSH_SHORT && !ftl->cfg->buffer_pool_bytes);
	ftl->register_read_ns = (uint32_t)hz_channel_ns(ftl->cfg, 1);
	ftl->zone_multiplier = size > 1 ? UINT64_MAX / size + 1 : 0;
	ftl->conventional_end = ftl->shape.conventional_zones * size;
	ftl->zone_count = ftl->shape.zones;
	ftl->all_zones = ftl->shape.zones + ftl->shape.backing_zones;
}

static void zones_of_ftl(struct ftl *ftl, struct arena *arena) { zones_init(ftl, arena, &zone_owner); }

/* clang-format off */
static const struct {
	const char *name; /* in the ledger of memory */
	void (*init)(struct ftl *ftl, struct arena *arena);
} modules[] = {
	{ "zones", zones_of_ftl },
	{ "superblocks", superblocks_init },
	{ "SLC log", slc_init },
	{ "SLC log", staged_init },
	{ "places", places_init },
	{ "places", trims_init },
	{ "map", l2p_init },
	{ "write buffers", buffers_init },
	{ "write buffers", keep_init },
	{ "zones", budget_init },
	{ "zones", zone_changes_init },
	{ "zones", zone_table_init },
	{ "places", trim_saver_init },
	{ "zones", updates_init },
	{ "zones", relocator_init },
	{ "zones", refresh_init },
	{ "conventional zones", conv_init },
	{ "data cache", data_cache_init },
	{ "workers", rest_init },
	{ "workers", workers_init },
	{ "workers", routing_init },
};
/* clang-format on */

/* From the lowest module up: each finds those that it uses. */
static void modules_init(struct ftl *ftl, struct arena *arena)
{
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		arena->owner = modules[i].name;
		modules[i].init(ftl, arena);
	}
}

struct ftl *ftl_init(struct arena *arena, const struct hz_device_config *cfg, const struct flash_map *map, struct tsu *tsu,
		     struct link_pair *links, const char **error)
{
	struct ftl *ftl;

	arena->owner = "FTL";
	ftl = arena_alloc(arena, 1, sizeof(*ftl), "FTL");
	ftl->cfg = cfg;
	ftl->map = map;
	ftl->tsu = tsu;
	ftl->links = links;
	facts_init(ftl);
	ftl->zero_sector = arena_alloc_data(arena, 1, HZ_SECTOR_BYTES, "sector of zeros");
	modules_init(ftl, arena);
	arena->owner = "mount";
	*error = mount_run(ftl, arena);
	return *error ? NULL : ftl;
}

void ftl_submit(struct ftl *ftl, unsigned worker, struct ftl_request *req)
{
	io_submit_cached(&ftl->workers[ftl->owner ? routing_owner(ftl, worker, req) : worker], req);
}

const struct hz_mount_report *ftl_mount_report(const struct ftl *ftl) { return &ftl->mount_report; }

void ftl_damage_found(const struct ftl *ftl, struct ftl_damage *out) { *out = ftl->damage; }

void ftl_set_watch(struct ftl *ftl, struct ftl_watch *watch) { ftl->watch = watch; }

uint32_t ftl_changed_zones(struct ftl *ftl, uint64_t *start, uint32_t most, bool take) { return zone_changes_take(ftl, start, most, take); }

void ftl_report_health(const struct ftl *ftl, struct ftl_health *out)
{
	superblocks_health(ftl, out);
	slc_health(ftl, out);
}

void ftl_publish(struct ftl *ftl)
{
	for (uint32_t w = 0; w < ftl->worker_count; w++)
		if (ftl->workers[w].thread.hart == lt_hart_id())
			ftl->workers[w].published = ftl->workers[w].counters;
}

void ftl_published(struct ftl *ftl, struct hz_log_ftl *out)
{
	uint64_t *sum = &out->host_read_sectors;

	memset(out, 0, sizeof(*out));
	for (uint32_t w = 0; w < ftl->worker_count; w++) {
		const uint64_t *part = &ftl->workers[w].published.host_read_sectors;

		for (size_t i = 0; i < (sizeof(*out) - offsetof(struct hz_log_ftl, host_read_sectors)) / sizeof(uint64_t); i++)
			sum[i] += part[i];
	}
	out->version = 1;
}

uint64_t ftl_in_place_sectors(const struct ftl *ftl) { return lt_load(&ftl->updates->used); }

void ftl_report(struct ftl *ftl, struct hz_log_ftl *out)
{
	for (uint32_t w = 0; w < ftl->worker_count; w++)
		ftl->workers[w].published = ftl->workers[w].counters;
	ftl_published(ftl, out);
}

const char *ftl_check(struct ftl *ftl) { return whole_check(ftl); }
