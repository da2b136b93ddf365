/* FTL: one request interface for the HIL, run by N worker threads with a shared zone map, mapping table and write buffers, under locks. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_FTL_H
#define FTL_FTL_H

#include "base/health.h"
#include "device_config.h"
#include "ftl/base/health.h"
#include "ftl/request/ftl_request.h"
#include "link.h"
#include "logs.h"
#include "lt/event.h"

#ifdef __cplusplus
extern "C" {
#endif

struct arena;
struct flash_map;
struct ftl;
struct tsu;
/* Timers that the FTL may have armed at once on one hart: an addend of the limit for lt_harts_init. */
static inline unsigned ftl_timers(const struct hz_device_config *cfg)
{
	return 2 + (cfg->buffer_idle_ns ? cfg->write_buffers + cfg->conventional_buffers : 0); /* the map's log, coming to rest; buffers */
}
void ftl_damage_found(const struct ftl *ftl, struct ftl_damage *out);
/* Cost of mount, from its beginning. */
const struct hz_mount_report *ftl_mount_report(const struct ftl *ftl);
/* Before the harts run. Changes by mount are not notified. */
void ftl_set_watch(struct ftl *ftl, struct ftl_watch *watch);
/* Of superblocks, normal ones and those for patches. Any hart, no lock. */
void ftl_report_health(const struct ftl *ftl, struct ftl_health *out);
/* Zones changed by the device to READ ONLY and not yet taken: returns how many, and the first LBA of at most `most` of them, ascending.
 * take: mark them reported. Any hart, no lock. */
uint32_t ftl_changed_zones(struct ftl *ftl, uint64_t *start, uint32_t most, bool take);
/* Builds everything from the arena and mounts: recovers zones from flash (tsu_read_now). Returns NULL and one sentence in *error
 * if the media cannot be mounted. */
struct ftl *ftl_init(struct arena *arena, const struct hz_device_config *cfg, const struct flash_map *map, struct tsu *tsu,
		     struct link_pair *links, const char **error);
/* HIL hart: hand a request to worker `worker` (0 …), or to the owner of its zone (base/context.h). Its LBA is one of the namespace. */
void ftl_submit(struct ftl *ftl, unsigned worker, struct ftl_request *req);
/* Counters for another hart, in two steps: the workers' harts publish theirs (a hart without a worker does nothing), then the receiver
 * of their events reads the sum. */
void ftl_publish(struct ftl *ftl);
void ftl_published(struct ftl *ftl, struct hz_log_ftl *out);
/* Sectors being written in place now (zone/update.h). Any hart. */
uint64_t ftl_in_place_sectors(const struct ftl *ftl);
/* Both at once, with the worker harts idle or stopped. */
void ftl_report(struct ftl *ftl, struct hz_log_ftl *out);
/* Whole-state check: NULL or one sentence about the broken invariant. Harts idle; tests and end of run. */
const char *ftl_check(struct ftl *ftl);

#ifdef __cplusplus
}
#endif

/* Survey: reads all data of a mounted device and reports unreadable sectors. For the offline check of an image; harts idle. */

#ifdef __cplusplus
extern "C" {
#endif

struct ftl_zone_survey {
	uint8_t state;           /* enum nvme_zone_state; 0 (NOT WRITE POINTER): conventional */
	uint64_t start, written; /* first LBA; sectors with data, readable or not */
	uint64_t lost;           /* … unreadable */
};
uint32_t ftl_survey_zones(const struct ftl *ftl); /* of the namespace */
/* Calls lost() for each unreadable LBA, ascending. */
void ftl_survey_zone(struct ftl *ftl, uint32_t zone, struct ftl_zone_survey *out, void (*lost)(void *ctx, uint64_t lba), void *ctx);

#ifdef __cplusplus
}
#endif

#endif
