/* Namespaces: construction, functions over all of them, and the lock classes of a device. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORT_FTL_NAMESPACES_H
#define PORT_FTL_NAMESPACES_H

#include "device_config.h"
#include "lt/arena.h"
#include "nand/flash_addr.h"
#include "port/ftl_port.h"

/* The namespaces of a device: an FTL for each, on an exclusive window of the flash. They share harts, TSU and link. */

#ifdef __cplusplus
extern "C" {
#endif

struct ftl_namespace {
	struct tsu *tsu; /* its view */
	const struct hz_device_config *cfg;
	const struct flash_map *map;
	/* Behind the two pointers above, unless the window is the whole device. */
	struct hz_device_config window_cfg;
	struct flash_map window_map;
};

struct ftl_namespaces {
	uint32_t count;
	struct ftl *ftl[HZ_MAX_NAMESPACES]; /* by number: NSID - 1 */
	struct ftl_namespace *at;           /* [count], likewise */
};

/* Builds and mounts all, one after another; cfg, map and tsu are the device's. NULL, or one sentence. */
const char *ftl_namespaces_init(struct ftl_namespaces *all, struct arena *arena, const struct hz_device_config *cfg,
				const struct flash_map *map, struct tsu *tsu, struct link_pair *links);
/* Timers that they may have armed at once on one hart. */
static inline unsigned ftl_namespaces_timers(const struct hz_device_config *cfg) { return cfg->namespaces * ftl_timers(cfg); }
/* Of all: sums, the worst health, the first damage. */
void ftl_namespaces_damage(const struct ftl_namespaces *all, struct ftl_damage *out);
void ftl_namespaces_health(const struct ftl_namespaces *all, struct ftl_health *out);
void ftl_namespaces_mount_report(const struct ftl_namespaces *all, struct hz_mount_report *out);
/* As ftl_check. */
const char *ftl_namespaces_check(const struct ftl_namespaces *all);

#ifdef __cplusplus
}
#endif

/* Registration of the lock classes of protocol/lock_classes.def with libthread. */

#ifdef __cplusplus
extern "C" {
#endif

/* Set each class's kind and granularity from the config. Before the harts run, and before ftl_init. NULL, or one sentence. */
const char *ftl_lock_classes_init(struct arena *arena, const struct hz_device_config *cfg);

#ifdef __cplusplus
}
#endif

#endif
