/* FTL: one request interface for the HIL, run by N worker threads that share zone map, mapping table and write buffers under locks. */
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
/* Timers that the FTL may have armed at once on one hart: what lt_harts_init must allow beside the other threads'. */
static inline unsigned ftl_timers(const struct hz_device_config *cfg)
{
	return 2 + (cfg->buffer_idle_ns ? cfg->write_buffers + cfg->conventional_buffers : 0); /* the map's log, coming to rest; buffers */
}
void ftl_damage_found(const struct ftl *ftl, struct ftl_damage *out);
/* What mount has cost, without the time before it began. */
const struct hz_mount_report *ftl_mount_report(const struct ftl *ftl);
/* Before the harts run. Of what mount changed nobody is called. */
void ftl_set_watch(struct ftl *ftl, struct ftl_watch *watch);
/* Of superblocks, normal ones and those for patches. Any hart, no lock. */
void ftl_report_health(const struct ftl *ftl, struct ftl_health *out);
/* Zones that the device has changed to READ ONLY and that have not been taken: how many, and the first LBA of at most `most` of them,
 * ascending. take: they count as told. Any hart, no lock. */
uint32_t ftl_changed_zones(struct ftl *ftl, uint64_t *start, uint32_t most, bool take);
/* Builds everything from the arena and mounts: recovers zones from flash (tsu_read_now). Returns NULL and one sentence in *error
 * if the media cannot be mounted. */
struct ftl *ftl_init(struct arena *arena, const struct hz_device_config *cfg, const struct flash_map *map, struct tsu *tsu,
		     struct link_pair *links, const char **error);
/* HIL hart: hand a request to worker `worker` (0 …), or to the owner of its zone (routing.h). Its LBA is one of the namespace. */
void ftl_submit(struct ftl *ftl, unsigned worker, struct ftl_request *req);
/* Counters for another hart, in two steps: the workers' harts publish theirs (a hart without one does nothing), then whoever was told
 * so by an event reads the sum. */
void ftl_publish(struct ftl *ftl);
void ftl_published(struct ftl *ftl, struct hz_log_ftl *out);
/* Any hart: sectors that are written in place now (zone/update.h). */
uint64_t ftl_in_place_sectors(const struct ftl *ftl);
/* Both at once, with the worker harts idle or stopped. */
void ftl_report(struct ftl *ftl, struct hz_log_ftl *out);
/* Whole-state check with harts idle: NULL or one sentence that names the broken invariant. Tests and end of run. */
const char *ftl_check(struct ftl *ftl);

#ifdef __cplusplus
}
#endif

/* Survey: reads everything that a mounted device holds and says what cannot be read. For the offline check of an image; harts idle. */

#ifdef __cplusplus
extern "C" {
#endif

struct ftl_zone_survey {
	uint8_t state;           /* enum nvme_zone_state; 0 (NOT WRITE POINTER): conventional */
	uint64_t start, written; /* first LBA; sectors that hold something, readable or not */
	uint64_t lost;           /* of these, those that cannot be read */
};
uint32_t ftl_survey_zones(const struct ftl *ftl); /* of the namespace */
/* Calls lost() for each LBA that cannot be read, ascending. */
void ftl_survey_zone(struct ftl *ftl, uint32_t zone, struct ftl_zone_survey *out, void (*lost)(void *ctx, uint64_t lba), void *ctx);

#ifdef __cplusplus
}
#endif

#endif
