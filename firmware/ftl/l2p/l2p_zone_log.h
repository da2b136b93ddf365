/* The zone mapping log (ZUFS, FAST 2026, 4.1): changes of the zone mapping table are collected in RAM, written to the SLC log as log pages,
 * and when those are used up the table itself is written, the checkpoint, which makes them obsolete. Mount replays both.
 *
 * What a mount needs it for: after a power cut it reads heads and ends of all superblocks. Where table and log say that all of a zone lay
 * in a superblock, and the superblock's first sector is older than they are, nothing more of it is read: it has not been erased since.
 * So no order between log, erase and move is needed, and a page that is lost, or was never written, costs reads and nothing else.
 *
 * zone_log.lock (class L2P, index: number of map shards + 1): log and pages; entries of the table change under it and their zone's lock,
 * and are read under either. SLC is taken under it. One program at a time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_ZONE_LOG_H
#define FTL_L2P_ZONE_LOG_H

#include "base/extent.h"
#include "lt/lock.h"
#include "slc/slc_write.h"

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

#endif
