/* The map as a table of zones: its log on flash, and lists of staged sectors. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MAP_ZONE_MAP_H
#define FTL_MAP_ZONE_MAP_H

#include "base/zone.h"
#include "lt/arch.h"
#include "lt/lock.h"
#include "slc/slc.h"

/* The zone mapping log (ZUFS, FAST 2026, 4.1): changes of the zone mapping table are collected in RAM, written to the SLC log as log
 * pages, and when those are used up the table itself is written (the checkpoint), and they are obsolete. Mount replays both.
 *
 * Its use at mount: after a power cut, mount reads heads and ends of all superblocks. If by table and log all of a zone was in a
 * superblock, and the superblock's first sector is older than they are, no more of it is read: it has not been erased since. So no order
 * between log, erase and move is needed, and a lost or never written page only costs reads.
 *
 * zone_log.lock (class L2P, index: number of map shards + 1, or + 4 next to an L2P log): log and pages; entries of the table change under
 * it and their zone's lock, and are read under either. SLC is taken under it. One program at a time. */

struct arena;

/* An entry of the table. */
struct zone_place {
	ppa_t start;     /* of sector 0, PPA_NONE if none is at its place; the others follow it */
	uint32_t length; /* sectors at their place */
};
/* A record of a log page; unused ones are all zero. */
struct zone_change {
	uint64_t sequence; /* everything programmed in the zone has a lower number */
	uint32_t zone, start, length, reserved;
};
HZ_ASSERT_SIZE(struct zone_place, HZ_ZONE_ENTRY_BYTES);
HZ_ASSERT_SIZE(struct zone_change, HZ_ZONE_CHANGE_BYTES);
HZ_STATIC_ASSERT(HZ_ZONE_ENTRIES_PER_PAGE *HZ_ZONE_ENTRY_BYTES == HZ_SECTOR_BYTES &&
			 HZ_ZONE_CHANGES_PER_PAGE * HZ_ZONE_CHANGE_BYTES <= HZ_SECTOR_BYTES,
		 "pages hold what the size of the SLC log counts on");
enum { ZONE_LOG_VERSION = 15 }; /* in the OOB record of a page, with HZ_OOB_MAP: no version of a table page of the map in flash */

struct zone_log {
	struct lt_lock lock;
	struct zone_change *change; /* not in a log page yet */
	uint32_t changes;
	bool overflow;      /* there were more: only a checkpoint has them all */
	bool busy, lost;    /* lost: the SLC log is worn out; nothing is logged any more */
	uint32_t tag;       /* of page 0 in SLC; those of later pages are lower */
	uint32_t tables;    /* pages of the table; log pages follow them */
	uint32_t next;      /* next log page to write */
	uint32_t writing;   /* page under way */
	ppa_t *ppa;         /* by page; PPA_NONE: no valid page */
	uint64_t *sequence; /* mount: the newest copy's */
	uint64_t *since;    /* mount: by zone, of its entry in the table */
	struct slc_write write;
	uint8_t *image;
};

void zone_log_init(struct ftl *ftl, struct arena *arena);
/* The zone's entry of the table has changed. logged: mount needs the change. Zone lock held. */
void zone_log_note(struct ftl_worker *self, const struct zone *zone, struct zone_place place, bool logged);

/* --- mount --- */
/* A sector of kind HZ_OOB_MAP. */
void zone_log_found(struct ftl *ftl, const struct hz_oob *oob, ppa_t ppa);
/* All have been found: the table is as it was written last. */
void zone_log_replay(struct ftl *ftl);
/* True if the zone was complete in this superblock; one of its sectors has that number. Until l2p_mounted. */
bool zone_log_knows(const struct ftl *ftl, const struct zone *zone, uint32_t superblock, uint64_t sequence);

/* Staged sectors of zones without map entries for single sectors: of sequential zones with a map of zones; of backing zones, since their
 * map has places and no addresses. Their addresses are in lists, by slots of a write buffer. A zone has a list from its first staged sector
 * until all are placed, so there are lists for twice as many zones as may be active: full ones may not be placed yet, and a power cut
 * may leave backing zones that no stream resumes. A sector in no list is found by the reverse map of the SLC log, which is slow and
 * rare: sectors of a zone that got no list, or that is unwritable and keeps its staged sectors for good.
 *
 * A list is protected by its zone's lock. */

#define ZONE_STAGED_NONE UINT32_MAX

struct zone_staged {
	uint32_t first, zones; /* zones that may have lists: `zones` from `first` on; backing zones follow sequential ones */
	uint32_t lists, words;
	ppa_t *place;      /* list * slots of a write buffer + slot; PPA_NONE: not known here */
	uint32_t *of_zone; /* by number - first: its list, or ZONE_STAGED_NONE */
	lt_word *taken;    /* l2p_internal.h: lists in use */
};

void zone_staged_init(struct ftl *ftl, struct arena *arena);
/* Zone lock held for all of these. [offset, offset + count) lie from ppa on. */
void zone_staged_put(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa);
/* Address; L2P_UNMAPPED: lost. */
uint32_t zone_staged_at(struct ftl *ftl, const struct zone *zone, uint32_t offset);
/* … of several. */
void zone_staged_read(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, uint32_t *ppa);
/* The zone needs no list any more. */
void zone_staged_give(struct ftl *ftl, const struct zone *zone);
/* … if [0, placed), now placed, were all its staged sectors. */
void zone_staged_placed(struct ftl *ftl, const struct zone *zone, uint32_t placed);
/* l2p_mounted. */
void zone_staged_mounted(struct ftl *ftl, const struct zone *zone);
/* NULL, or the fault in the zone's list; with zone NULL: in all lists. Harts idle. */
const char *zone_staged_check(const struct ftl *ftl, const struct zone *zone);

#endif
