/* The map as a table of zones: its log on flash, and lists of staged sectors. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MAP_ZONE_MAP_H
#define FTL_MAP_ZONE_MAP_H

#include "base/extent.h"
#include "lt/arch.h"
#include "lt/lock.h"
#include "slc/slc.h"

/* The zone mapping log (ZUFS, FAST 2026, 4.1): changes of the zone mapping table are collected in RAM, written to the SLC log as log pages,
 * and when those are used up the table itself is written, the checkpoint, which makes them obsolete. Mount replays both.
 *
 * What a mount needs it for: after a power cut it reads heads and ends of all superblocks. Where table and log say that all of a zone lay
 * in a superblock, and the superblock's first sector is older than they are, nothing more of it is read: it has not been erased since.
 * So no order between log, erase and move is needed, and a page that is lost, or was never written, costs reads and nothing else.
 *
 * zone_log.lock (class L2P, index: number of map shards + 1): log and pages; entries of the table change under it and their zone's lock,
 * and are read under either. SLC is taken under it. One program at a time. */

struct arena;

/* An entry of the table. */
struct zone_place {
	ppa_t start;     /* of sector 0, PPA_NONE if none is at its place; the others follow it */
	uint32_t length; /* sectors that are at their place */
};
/* A record of a log page; those that are not used are all zero. */
struct zone_change {
	uint64_t sequence; /* all that was programmed in the zone has a lower number */
	uint32_t zone, start, length, reserved;
};
HZ_ASSERT_SIZE(struct zone_place, HZ_ZONE_ENTRY_BYTES);
HZ_ASSERT_SIZE(struct zone_change, HZ_ZONE_CHANGE_BYTES);
HZ_STATIC_ASSERT(HZ_ZONE_ENTRIES_PER_PAGE *HZ_ZONE_ENTRY_BYTES == HZ_SECTOR_BYTES &&
			 HZ_ZONE_CHANGES_PER_PAGE * HZ_ZONE_CHANGE_BYTES <= HZ_SECTOR_BYTES,
		 "pages hold what the size of the SLC log counts on");
enum { ZONE_LOG_VERSION = 15 }; /* in the OOB record of a page, beside HZ_OOB_MAP: no version of a table page of the map in flash */

struct zone_log {
	struct lt_lock lock;
	struct zone_change *change; /* that are in no log page yet */
	uint32_t changes;
	bool overflow;      /* there were more: only a checkpoint has them all */
	bool busy, lost;    /* lost: the SLC log is worn out; nothing is logged any more */
	uint32_t tables;    /* pages of the table; log pages follow them */
	uint32_t next;      /* log page that is written next */
	uint32_t writing;   /* page under way */
	ppa_t *ppa;         /* by page; PPA_NONE: nothing that counts */
	uint64_t *sequence; /* mount: the newest copy's */
	uint64_t *since;    /* mount: by zone, of what the table says of it */
	struct slc_write write;
	uint8_t *image;
};

void zone_log_init(struct ftl *ftl, struct arena *arena);
/* Zone lock held: its entry of the table is another one now. logged: the change is one that a mount wants to know. */
void zone_log_note(struct ftl_worker *self, const struct extent *ext, struct zone_place place, bool logged);

/* --- mount --- */
/* A sector of kind HZ_OOB_MAP. */
void zone_log_found(struct ftl *ftl, const struct hz_oob *oob, ppa_t ppa);
/* All have been found: the table is as it was written last. */
void zone_log_replay(struct ftl *ftl);
/* Was the zone complete in this superblock, one sector of which has that number? Until l2p_mounted. */
bool zone_log_knows(const struct ftl *ftl, const struct extent *ext, uint32_t superblock, uint64_t sequence);

/* Staged sectors of zones of which the map has no entries for single sectors: of all where it is a map of zones; of backing zones, whose
 * sectors are places and no addresses. They lie where a list says, by slots of a write buffer. A zone has a list from when something of it
 * is staged until all has come to its place, so there are lists for as many zones as may be active at a time, twice over: full ones may
 * not have come to their place yet, and a power cut may leave backing zones that no stream goes on with. What is in no list is found by
 * the reverse map of the SLC log, which is slow and rare: sectors of a zone that got no list, or that can be written no more and keeps what
 * is staged for good.
 *
 * A list is protected by its zone's lock. */

struct arena;

#define ZONE_STAGED_NONE UINT32_MAX

struct zone_staged {
	uint32_t first, zones; /* those that may have lists: so many from this one on */
	uint32_t lists, words;
	ppa_t *place;      /* list * slots of a write buffer + slot; PPA_NONE: not known here */
	uint32_t *of_zone; /* by number - first: its list, or ZONE_STAGED_NONE */
	lt_word *taken;    /* l2p_internal.h: lists in use */
};

void zone_staged_init(struct ftl *ftl, struct arena *arena);
/* Zone lock held for all of these. [offset, offset + count) lie from ppa on. */
void zone_staged_put(struct ftl *ftl, const struct extent *ext, uint32_t offset, uint32_t count, ppa_t ppa);
/* Where it lies; L2P_UNMAPPED: it is lost. */
uint32_t zone_staged_at(struct ftl *ftl, const struct extent *ext, uint32_t offset);
/* … of several. */
void zone_staged_read(struct ftl *ftl, const struct extent *ext, uint32_t offset, uint32_t count, uint32_t *ppa);
/* The zone needs no list any more. */
void zone_staged_give(struct ftl *ftl, const struct extent *ext);
/* … if [0, placed), which has come to its place, is all that was staged. */
void zone_staged_placed(struct ftl *ftl, const struct extent *ext, uint32_t placed);
/* l2p_mounted. */
void zone_staged_mounted(struct ftl *ftl, const struct extent *ext);
/* Harts idle: NULL, or what is wrong with the zone's list; with zone NULL: with all of them. */
const char *zone_staged_check(const struct ftl *ftl, const struct extent *ext);

#endif
