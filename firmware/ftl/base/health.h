/* The device's health: spare blocks and wear, damage found at mount, and the watch, an event posted on a change. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_BASE_HEALTH_H
#define FTL_BASE_HEALTH_H

#include <stdint.h>

#include "lt/arch.h"
#include "lt/event.h"

/* How much of the flash is left to live on. */

/* spare_percent: the scarcest of the superblock pools (normal, patches) and the SLC log. used_percent: the more worn of the two pools. */
struct ftl_health {
	uint8_t spare_percent; /* spare blocks not yet retired */
	uint8_t used_percent;  /* mean erases relative to the endurance; at most 255; 0 if endurance is unlimited */
};

/* Percentage of `spare` units not yet lost. With no spare units 100 until one is lost. */
static inline uint8_t health_spare_percent(uint64_t spare, uint64_t lost)
{
	if (!lost)
		return 100;
	return lost >= spare ? 0 : (uint8_t)((spare - lost) * 100 / spare);
}

/* Losses found by mount. */

/* Mount does not read the place of a lost sector: a read of it fails. */
struct ftl_damage {
	uint64_t lost_sectors;    /* acknowledged sectors without a copy: reads of them end with NVME_UNRECOVERED_READ */
	uint64_t first_lba;       /* the first of them, and of zones of `records` */
	uint32_t read_only_zones; /* zones READ ONLY because of it, or of their record */
	uint64_t unknown_sectors; /* lost with their records, LBAs unknown: older data, or none, may be read for them */
	uint32_t table_copies;    /* zone table pages with one copy lost and the other readable; they are written again */
	uint32_t records;         /* impossible zone records: these zones are READ ONLY or OFFLINE */
};

/* Event posted when the device changes a zone itself or retires a superblock. Memory of the caller of ftl_set_watch. */

struct ftl;

struct ftl_watch {
	struct lt_event event;
	const struct lt_thread *thread;
	void (*changed)(struct ftl_watch *watch); /* runs on thread's hart after changes, one call for any number of them */
	lt_word posted;                           /* 1: event is posted */
};

/* Post the watch after such a change. Any hart, any lock. */
void watch_tell(struct ftl *ftl);

#endif
