/* Zone random write areas (ZRWA, ZNS command set 1.1 with TP 4076): windows at write pointers in which writes have no order. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_ZONE_ZRWA_H
#define FTL_ZONE_ZRWA_H

#include <stdbool.h>

#include "nand/flash_addr.h"
#include "request/io.h"

/* A window is the `zrwa.size` sectors from a zone's write pointer on, for `zrwa.count` zones at a time. A write in it goes to the SLC log,
 * as a write in place does (zone/update.h), and is durable when it ends: its copies are of kind HZ_OOB_WINDOW. Every copy in use lies in
 * its zone's window, so the table of updates has count * size entries, and no write in a window is refused for want of one.
 *
 * A commit moves the write pointer over the first sectors of the window: it excludes other writes and commands as a zone command does,
 * waits for writes under way, reads the sectors, writes them at the write pointer, and drops the copies when those are durable. Sectors
 * never written become zeros. A power cut in between leaves a write pointer inside the old range, and copies of everything from there on:
 * mount takes copies from the write pointer on, and older ones are dead.
 *
 * A write that ends behind the window first writes what lies in the window, then commits as much as the rest needs, in units of
 * `zrwa.flush_granularity`, and is admitted again with that rest. A zone keeps its window until it is EMPTY, FULL or OFFLINE; a READ ONLY
 * one keeps it so that its copies can be read. */

struct arena;
struct ftl;
struct ftl_worker;
struct zone;
struct zrwa;

/* Windows without a zone (updates.lock), and the divisor of commits. */
struct zrwa_pool {
	struct zrwa *free;
	struct reciprocal by_unit;
};

void zrwas_init(struct ftl *ftl, struct arena *arena);
/* Give the zone a window. False: all are taken. Zone lock held, or mount. */
bool zrwa_take(struct zone *zone);
/* The zone, without copies, gives it back; without one, no effect. Zone lock held. */
void zrwa_release(struct zone *zone);
/* Mount: zones know their copies. Zones with copies get their windows. False: there are more of them than windows. */
bool zrwas_mounted(struct ftl *ftl);

/* A write to a zone that had a window when looked at, or the rest of one; also after parking. No lock held. */
void zrwa_write_run(struct ftl_worker *self, struct ftl_request *req);

/* --- zone lock held --- */
/* Where the window begins: the write pointer, before a commit under way, or one that failed. The zone has a window. */
uint32_t zrwa_begin(const struct zone *zone);
/* Status of a commit up to and with sector `last` of the zone. */
uint16_t zrwa_commit_status(const struct zone *zone, uint64_t last);
/* Move the write pointer by `count` sectors of the window. req: completed at the end; NULL: the device's own work. The zone runs no other
 * command. */
void zrwa_commit(struct ftl_worker *self, struct zone *zone, uint32_t count, struct ftl_request *req);
/* … over all sectors with copies. False: there are none. */
bool zrwa_commit_all(struct ftl_worker *self, struct zone *zone);
/* Called by the pump while a commit is the zone's command. */
void zrwa_commit_advance(struct ftl_worker *self, struct zone *zone);

#endif
