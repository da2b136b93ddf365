/* What the device reports of its own state: spare blocks and wear, damage found at mount, and the watch that is posted on a change. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_BASE_HEALTH_H
#define FTL_BASE_HEALTH_H

#include <stdint.h>

#include "lt/arch.h"
#include "lt/event.h"

/* How much of the flash is left to live on. */

/* Of the superblocks that zones take (normal ones, and those for patches) and of the SLC log's the scarcest; of the former the more worn. */
struct ftl_health {
	uint8_t spare_percent; /* of those beyond what is needed, how many have not been retired */
	uint8_t used_percent;  /* mean erases of what a block endures; at most 255; 0 if it endures any number */
};

/* Of `spare` units beyond those that are needed, how many have not been lost, in percent. Nothing to spare: 100 until one is. */
static inline uint8_t health_spare_percent(uint64_t spare, uint64_t lost)
{
	if (!lost)
		return 100;
	return lost >= spare ? 0 : (uint8_t)((spare - lost) * 100 / spare);
}

/* What mount found lost. */

/* What lies at the place of a lost sector is not looked at: who reads it is told. */
struct ftl_damage {
	uint64_t lost_sectors;    /* accepted sectors that are nowhere: reads of them end with NVME_UNRECOVERED_READ */
	uint64_t first_lba;       /* the first of them, and of zones of `records` */
	uint32_t read_only_zones; /* that became READ ONLY for it, or for their record */
	uint64_t unknown_sectors; /* lost with their records, so that it is not known which: older data, or none, may be read for them */
	uint32_t table_copies;    /* lost ones of zone table pages of which the other copy is there; they are written again */
	uint32_t records;         /* of zones, that could not be true: these zones are READ ONLY or OFFLINE */
};

/* Who is told of zones that the device itself changes, and of superblocks that it retires. Owned by who gives it. */

struct ftl;

struct ftl_watch {
	struct lt_event event;
	const struct lt_thread *thread;
	void (*changed)(struct ftl_watch *watch); /* runs on thread's hart after changes, one call for any number of them */
	lt_word posted;                           /* 1: event is posted */
};

/* Something has changed that the watch is told of. Any hart, any lock. */
void watch_tell(struct ftl *ftl);

#endif
