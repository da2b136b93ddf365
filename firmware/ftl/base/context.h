/* The FTL's one context, first argument everywhere: the parts, each owned by its own file, and the workers that run them. */
#ifndef FTL_CONTEXT_H
#define FTL_CONTEXT_H

#include <string.h>

#include "ftl.h"
#include "request/io.h"
#include "l2p/l2p.h"
#include "lt/lock.h"
#include "conventional/page_space.h"
#include "zone/read.h"
#include "zone/relocate.h"
#include "rest.h"
#include "slc/slc.h"
#include "slc/staged.h"
#include "block/superblock.h"
#include "buffer/write_buffer.h"
#include "zone/zone.h"
#include "zone/zone_changes.h"
#include "zone/zone_table.h"

struct ftl_worker {
	struct lt_thread thread;      /* first: a transaction's owner leads back to its worker */
	struct ftl *ftl;
	struct read_pool reads;
	struct map_fetch_pool fetches;
	uint32_t cache_candidate;     /* map shard to borrow from next */
	struct flush_plan *flush_plans; /* free ones */
	struct io_queue flush_waiting;  /* flushes that wait for one */
	uint32_t over;                /* lives of the controller up to this one have ended; its own hart */
	struct hz_log_ftl counters;   /* written on this worker's hart only */
	struct hz_log_ftl published;  /* of the last ftl_publish */
};

struct ftl {
	const struct hz_device_config *cfg;
	const struct flash_map *map;
	struct hz_shape shape;
	struct tsu *tsu;
	struct link_pair *links;
	uint32_t page_sectors, unit_sectors, superpage_sectors;
	uint32_t body_sectors;        /* of a superblock: where a patched zone goes on in its patch */
	uint32_t flush_sectors;       /* a flush unit: flush_unit_planes program units */
	uint64_t zone_multiplier;     /* floor(2^64 / zone_size_sectors) + 1; 0: size 1 */
	lt_word sequence;             /* next OOB sequence number */
	lt_word losses;               /* zones that failed with accepted data and of which no Flush has told yet */
	uint64_t mount_sequence;      /* highest one found at mount */
	struct ftl_damage damage;     /* found at mount */
	char text[256];               /* why mount failed */
	uint8_t *zero_page;

	uint32_t zone_count;          /* the namespace's */
	uint32_t all_zones;           /* with the backing zones, which follow them */
	struct zone *zones;
	struct zone_budget budget;
	struct zone_changes changes;
	struct zone_table table;
	struct write_pool buffers;
	struct l2p l2p;
	struct slc slc;
	struct superblocks superblocks, patches;
	struct relocator relocator;
	struct page_space page;
	struct rest rest;
	uint32_t worker_count;
	struct ftl_worker *workers;
};

/* Caller's worker: the FTL hart context of this handler. Transactions come back to it. */
static inline struct ftl_worker *worker_of(struct tsu_txn *txn) { return (struct ftl_worker *)txn->owner; }

/* lba must be inside the namespace. Reciprocal multiplication: exact below 2^32. */
static inline struct zone *zone_at(struct ftl *ftl, uint64_t lba)
{
	return &ftl->zones[ftl->zone_multiplier ? (uint64_t)(((unsigned __int128)lba * ftl->zone_multiplier) >> 64) : lba];
}

/* Zone lock held. Has the zone filled its superblock, so that what follows goes to its patch? A patch is begun only when everything before
 * is placed: at any time either the superblock or the patch is being programmed. */
static inline bool zone_in_patch(const struct zone *zone)
{
	return zone->placed >= zone->ftl->body_sectors && zone->ftl->shape.patch_sectors;
}

/* Where a sector of the zone belongs. */
static inline ppa_t zone_place(const struct zone *zone, uint32_t offset)
{
	uint32_t body = zone->ftl->body_sectors;

	return offset < body ? ppa_make(zone->ftl->map, zone->superblock, offset) : ppa_make(zone->ftl->map, zone->patch, offset - body);
}

/* Where it is on flash, at its place or staged; PPA_NONE: nowhere. Zone lock held, or harts idle. */
static inline ppa_t zone_where(const struct zone *zone, uint32_t offset)
{
	if (offset < zone->placed)
		return zone_place(zone, offset);
	return offset < zone->landed ? staged_at(zone, offset) : PPA_NONE;
}

/* n numbers in program order; returns the first. */
static inline uint64_t sequence_take(struct ftl *ftl, uint32_t n) { return lt_add(&ftl->sequence, n); }

#endif
