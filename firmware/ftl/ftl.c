/* The FTL's interface for the HIL: construction, routing of commands to workers, zone report, and functions over all of it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "ftl.h"

#include "block/superblock.h"
#include "buffer/buffer.h"
#include "buffer/staged.h"
#include "cache/data_cache.h"
#include "check.h"
#include "conventional/conventional.h"
#include "ftl_internal.h"
#include "geometry.h"
#include "lt/arena.h"
#include "map/l2p.h"
#include "mount/mount.h"
#include "places/places.h"
#include "places/trims.h"
#include "request/io.h"
#include "slc/slc.h"
#include "zone/tables.h"
#include "zone/update.h"
#include "zone/zrwa.h"
#include "zone/zone.h"

/* Construction, and functions over the whole FTL. */

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

static void zones_of_ftl(struct ftl *ftl, struct arena *arena) { zones_init(ftl, arena); }

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
	{ "write buffers", dump_init },
	{ "zones", budget_init },
	{ "zones", zone_changes_init },
	{ "zones", zone_table_init },
	{ "places", trim_saver_init },
	{ "zones", updates_init },
	{ "zones", zrwas_init },
	{ "zones", relocator_init },
	{ "zones", refresh_init },
	{ "conventional zones", conv_init },
	{ "data cache", data_cache_init },
	{ "workers", clean_mark_init },
	{ "workers", workers_init },
	{ "workers", routing_init },
};
/* clang-format on */

/* From the lowest module up: each uses earlier ones. */
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

/* Owners of zones. */

/* Zones at regular distances, as of several host threads, get different owners (the hash of l2p.c). */
static uint32_t spread_zone(uint32_t zone, uint32_t workers) { return (uint32_t)((uint64_t)(zone * 0x9e3779b1u) * workers >> 32); }

void routing_init(struct ftl *ftl, struct arena *arena)
{
	uint32_t workers = ftl->cfg->worker_count;
	bool shared = ftl->l2p->shards >= workers && ftl->l2p->shards < ftl->l2p->zones; /* shards, by several zones */

	if (ftl->cfg->routing != HZ_ROUTE_OWNER)
		return;
	ftl->owner = arena_alloc(arena, ftl->zone_count, sizeof(*ftl->owner), "owners of zones");
	for (uint32_t z = 0; z < ftl->zone_count; z++)
		ftl->owner[z] = (uint8_t)(shared ? ftl->zones[z].map_shard % workers : spread_zone(z, workers));
}

/* Commands without a zone, or with several, stay with their queue. */
static bool names_zone(const struct ftl_request *req)
{
	switch (req->op) {
	case FTL_READ:
	case FTL_VERIFY:
	case FTL_COMPARE:
	case FTL_WRITE:
	case FTL_APPEND:
	case FTL_UPDATE:
	case FTL_WRITE_ZEROES:
	case FTL_WRITE_UNCORRECTABLE:
	case FTL_COPY:
	case FTL_COPY_APPEND:
	case FTL_ZONE_OPEN:
	case FTL_ZONE_CLOSE:
	case FTL_ZONE_FINISH:
	case FTL_ZONE_RESET:
	case FTL_ZONE_COMMIT:
	case FTL_ZONE_OFFLINE: return !(req->flags & FTL_ALL_ZONES);
	default: return false;
	}
}

unsigned routing_owner(const struct ftl *ftl, unsigned worker, const struct ftl_request *req)
{
	return names_zone(req) ? ftl->owner[zone_number(ftl, req->lba)] : worker;
}

/* Zone report. */

/* A conventional zone's type and state are those of ZBC (1h CONVENTIONAL, 0h NOT WRITE POINTER), reserved in ZNS 1.1: only a report of
 * all zones lists it. ZRASF: 0 all, 1 EMPTY … 5 FULL, 6 READ ONLY, 7 OFFLINE, 9 with an attribute (never) (ZNS 1.1, Zone Management
 * Receive). */
static bool matches(uint8_t filter, uint8_t state)
{
	static const uint8_t wanted[] = { 0,
					  NVME_ZS_EMPTY,
					  NVME_ZS_IMPLICIT_OPEN,
					  NVME_ZS_EXPLICIT_OPEN,
					  NVME_ZS_CLOSED,
					  NVME_ZS_FULL,
					  NVME_ZS_READ_ONLY,
					  NVME_ZS_OFFLINE };

	return filter == 0 || (filter < sizeof(wanted) && wanted[filter] == state);
}

static void describe(struct zone *zone, struct nvme_zone_descriptor *out)
{
	struct lt_lock_node node;
	uint8_t state;

	if (is_conventional(zone->ftl, zone->start)) {
		*out = (struct nvme_zone_descriptor){
			.type = 1, .capacity = zone->ftl->capacity, .start = zone->start, .write_pointer = UINT64_MAX
		};
		return;
	}
	lt_lock_acquire(&zone->lock, &node);
	state = zone->state;
	*out = (struct nvme_zone_descriptor){
		.type = 2,
		.state = (uint8_t)(state << 4),
		.capacity = zone->ftl->capacity,
		.start = zone->start,
		.attributes = zone->zrwa && zone_is_active(state) ? NVME_ZA_ZRWA_VALID : 0,
		.write_pointer = zone->start + zone->wp,
	};
	if (state == NVME_ZS_FULL || state == NVME_ZS_READ_ONLY || state == NVME_ZS_OFFLINE)
		out->write_pointer = UINT64_MAX;
	lt_lock_release(&zone->lock, &node);
}

void zone_report_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->ftl;
	struct nvme_zone_report head = { .zones = 0 };
	uint64_t end = namespace_end(ftl, req);
	uint32_t at = sizeof(head);

	for (struct zone *zone = zone_at(ftl, req->lba); zone < ftl->zones + ftl->zone_count && zone->start < end; zone++) {
		struct nvme_zone_descriptor descriptor;
		bool fits = at + sizeof(descriptor) <= req->sgl.bytes;

		if (!fits && (req->flags & FTL_PARTIAL_REPORT))
			break;
		describe(zone, &descriptor);
		if (!matches(req->report_filter, descriptor.state >> 4))
			continue;
		head.zones++;
		if (fits) {
			sgl_write(&req->sgl, at, &descriptor, sizeof(descriptor));
			at += sizeof(descriptor);
		}
	}
	sgl_write(&req->sgl, 0, &head, req->sgl.bytes < sizeof(head) ? req->sgl.bytes : (uint32_t)sizeof(head));
	req->ready_ns = link_transfer(&ftl->links->to_host, clock_now_ns(), at < req->sgl.bytes ? at : req->sgl.bytes);
	io_complete(req, NVME_SUCCESS);
}
