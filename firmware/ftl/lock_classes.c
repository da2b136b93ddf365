/* The lock classes of a device, as libthread shall know them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lock_classes.h"

#include "lt/lock.h"

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
