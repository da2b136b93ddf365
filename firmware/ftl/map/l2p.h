/* The map from logical to physical addresses, L2P: one entry of 4 bytes for each LBA. 30 bits are the sector's address on flash, two are
 * map bits: the length of the consecutive range at it (enum hz_map_level).
 *
 * The map has the sectors on flash: of a zone, [0, placed) at their place, and behind them the sectors staged in SLC (buffer/staged.h).
 * Sectors in a write buffer have no entry yet. A staged sector is looked up only while it is staged.
 *
 * The config chooses between three implementations. zone_map.c has an entry for each zone, not each sector. flat_map.c is a table in
 * RAM, rebuilt by mount. flash_map.c keeps the table on flash, in table pages (flash_table.h). An entry is then looked for in three
 * places, in this order: among the changes not yet in a table page (flash_log.h), in the cache (flash_cache.h), and in the table page,
 * by a flash read. The address of the table page is in RAM, or itself on flash (flash_directory.h).
 *
 * A device has one of them, or two: a map of zones for sequential zones, and one of the others for conventional zones. The latter then
 * has no memory for sequential zones (l2p.zones).
 *
 * Locks of class L2P protect the flat map and the map on flash, each a shard of the zones; look-ups in the flat map may do without
 * (`l2p.lookups`, kind `seq`). Under one of these locks only class SLC may be taken. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MAP_L2P_H
#define FTL_MAP_L2P_H

#include "base/zone.h"
#include "map/flash_cache.h"
#include "map/flash_changes.h"
#include "map/flash_directory.h"
#include "map/flash_log.h"
#include "map/flash_runs.h"
#include "map/flash_table.h"
#include "map/zone_map.h"
#include "request/io.h"

/* Shards of the map: each has a lock (class L2P). Under it only class SLC may be taken. */

/* Sets each zone's shard (zone.map_shard), of that many; after l2p.zones. */
void l2p_shards_deal(struct ftl *ftl, uint32_t shards);

enum {
	L2P_UNMAPPED = (1u << HZ_PPA_BITS) - 1,
	L2P_ADDRESS_MASK = (1u << HZ_PPA_BITS) - 1,
	L2P_PIECE = 64, /* most entries changed under one acquisition */
};

struct arena;

/* A conventional sector, and its place. */
struct l2p_sector {
	uint32_t lba, place;
};

/* A map consists of three interfaces, each without an empty member; the functions of the same names below pass calls on.
 *
 * Places of sequential zones: the zone map, the flat map and the map on flash. */
struct l2p_ops {
	void (*init)(struct ftl *ftl, struct arena *arena);
	uint32_t (*read)(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset, uint32_t count,
			 ppa_t *ppa);
	void (*map_run)(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa, bool staged);
	void (*remap_run)(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa);
	void (*moved)(struct ftl_worker *self, const struct zone *zone);
	void (*unmap)(struct ftl_worker *self, const struct zone *zone, uint32_t count);
	bool (*room)(struct ftl_worker *self, struct zone *zone);
	bool (*settled)(struct ftl_worker *self, struct ftl_request *req);
	void (*found)(struct ftl *ftl, const struct hz_oob *oob, ppa_t ppa);
	void (*replay)(struct ftl *ftl);
	bool (*knows)(const struct ftl *ftl, const struct zone *zone, uint32_t superblock, uint64_t sequence);
	void (*mounted)(struct ftl *ftl, const struct zone *zone);
	const char *(*check)(struct ftl *ftl, const struct zone *zone);
};

/* Staged sectors, in maps with entries for sectors: the flat map and the map on flash. Those of backing zones, and all sectors under the
 * zone map, are in lists (zone_map.h). */
struct l2p_staged_ops {
	uint32_t (*read)(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset, uint32_t count,
			 ppa_t *ppa);
	uint32_t (*peek)(struct ftl *ftl, const struct zone *zone, uint32_t offset);
	void (*stage_run)(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa);
	void (*unstage_run)(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count);
};

/* Conventional zones: the flat map and the map on flash. */
struct l2p_conv_ops {
	void (*map)(struct ftl_worker *self, uint64_t lba, uint32_t count, uint32_t to, struct hz_oob *oob);
	bool (*move)(struct ftl_worker *self, uint64_t lba, uint32_t from, uint32_t to, struct hz_oob *oob);
	bool (*admits)(struct ftl_worker *self, struct ftl_request *req);
	uint32_t (*unmap)(struct ftl_worker *self, uint64_t lba, uint32_t count);
	uint32_t (*read)(struct ftl_worker *self, struct ftl_request *req, uint64_t lba, uint32_t count, uint32_t *place);
	uint32_t (*hint)(struct ftl *ftl, uint64_t lba);
	uint32_t (*peek)(struct ftl *ftl, uint64_t lba);
	uint32_t (*mapped)(struct ftl *ftl, const struct zone *zone, uint32_t *offset, struct l2p_sector *sector);
	void (*preset)(struct ftl *ftl, uint64_t lba, uint32_t place);
	const uint32_t *(*entry)(struct ftl *ftl, uint64_t lba); /* while mount scans; those of its table page follow */
	uint32_t (*blank)(struct ftl *ftl, uint64_t lba);        /* number of unmapped LBAs from there on, if known without entries */
	uint64_t (*scan_begin)(struct ftl *ftl, struct arena *arena);
	const char *(*scan_end)(struct ftl *ftl);
	uint64_t (*stale)(struct ftl *ftl);
};

struct l2p {
	const struct l2p_ops *ops;
	const struct l2p_ops *sectors;       /* with a map of zones: of conventional zones; else NULL */
	const struct l2p_staged_ops *staged; /* NULL: all staged sectors are in lists */
	const struct l2p_conv_ops *conv;     /* NULL: the device has no conventional zones */
	struct lt_lock *shard;
	uint32_t zones;  /* with an entry for each sector, from the first one on: all; with a map of zones the conventional ones */
	uint32_t shards; /* zone: none; flat: `zones`; cached: a power of two */
	struct zone_staged zone_staged;
	/* zone */
	struct zone_place *zone;
	struct zone_log zone_log;
	/* flat */
	uint32_t *entry;         /* zone index * zone capacity + offset */
	struct flat_zone *found; /* by zone */
	uint64_t *unmade;        /* zone index * words + word: bits of table pages (flat_map.c) */
	/* cached */
	struct l2p_table table;
	struct l2p_dirty dirty;
	struct l2p_directory directory;
	struct l2p_cache cache;
	struct l2p_log log;
	struct l2p_changes changes;
	struct l2p_runs runs;
};

static inline struct lt_lock *l2p_lock_of(struct ftl *ftl, const struct zone *zone) { return &ftl->l2p->shard[zone->map_shard]; }

void l2p_init(struct ftl *ftl, struct arena *arena);
/* Zone lock held for all of these but settled; its lock or reader count keeps the addresses readable. */

/* Addresses of [offset, offset + count), all placed, into ppa[]: returns how many from the front are known now; 0: the request waits for a
 * table page and will be dispatched again. Flat: always count. */
static inline uint32_t l2p_read(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset, uint32_t count,
				ppa_t *ppa)
{
	return self->ftl->l2p->ops->read(self, req, zone, offset, count, ppa);
}
/* The request needs nothing more for now: release a table page held for it by the map on flash (io.fetch), if any. */
void l2p_cached_leave(struct ftl_worker *self, struct ftl_request *req);
static inline void l2p_leave(struct ftl_worker *self, struct ftl_request *req)
{
	if (io_of(req)->fetch)
		l2p_cached_leave(self, req);
}
/* Map [offset, offset + count) to consecutive addresses from ppa on, their final places. staged: some of them were staged. */
void l2p_map_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa, bool staged);
/* Like l2p_read, of staged sectors. L2P_UNMAPPED: the sector is lost. With req NULL only addresses known in RAM. */
uint32_t l2p_staged_read(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset, uint32_t count,
			 ppa_t *ppa);
/* Harts idle: of one. */
uint32_t l2p_staged_peek(struct ftl *ftl, const struct zone *zone, uint32_t offset);
/* [offset, offset + count) lie in SLC from ppa on: they have been staged, or the SLC collector has moved them. */
void l2p_stage_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa);
/* [offset, offset + count) are staged no more, and have no place. */
void l2p_unstage_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count);
/* The same for mapped sectors: a zone is moving to another superblock, or back. */
void l2p_remap_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa);
/* zone->superblock is another one now. */
void l2p_moved(struct ftl_worker *self, const struct zone *zone);
/* Forget [0, count) of the zone, all its placed and staged sectors. */
void l2p_unmap(struct ftl_worker *self, const struct zone *zone, uint32_t count);
/* May another unit be programmed or staged, or must its entries wait for room in the log? Then the zone is kicked later. */
bool l2p_room(struct ftl_worker *self, struct zone *zone);
/* True if no change is left in RAM only. Else the request is dispatched again when that is so. No lock held. */
bool l2p_settled(struct ftl_worker *self, struct ftl_request *req);

/* --- conventional zones: an entry is a place in a backing zone (conventional.h), L2P_UNMAPPED if never written --- */
/* Maps [lba, lba + count), all of one zone and at most L2P_PIECE, to the places from `to` on. Under the map's lock it gives oob[0 …
 * count) their sequence numbers, ascending, so that for every LBA the order of sequence numbers is the order of mapping. Replaced places
 * go to place_invalidate, now or when the map learns of them. Lock of the backing zone held. */
void l2p_conv_map(struct ftl_worker *self, uint64_t lba, uint32_t count, uint32_t to, struct hz_oob *oob);
/* The same for one sector if the LBA still lies at `from`; false: it does not, nothing has changed. */
bool l2p_conv_move(struct ftl_worker *self, uint64_t lba, uint32_t from, uint32_t to, struct hz_oob *oob);
/* No lock held: may entries be unmapped now? Else the request is dispatched again when they may. */
bool l2p_conv_admits(struct ftl_worker *self, struct ftl_request *req);
/* Deallocates [lba, lba + count), all of one zone and at most L2P_PIECE: unmapped, with their trims (places/trims.h) set. Returns how
 * many were not deallocated before. No lock held. */
uint32_t l2p_conv_unmap(struct ftl_worker *self, uint64_t lba, uint32_t count);
/* Places of [lba, lba + count), all of one zone: returns how many from the front are known; 0: the request waits for a table page and
 * will be dispatched again. No lock held. Nothing is pinned: under the backing zone's lock the reverse map tells whether a place is
 * still the LBA's (conv_io.c). */
uint32_t l2p_conv_read(struct ftl_worker *self, struct ftl_request *req, uint64_t lba, uint32_t count, uint32_t *place);
/* The place, if known without a flash read, else L2P_UNMAPPED. No lock held. */
uint32_t l2p_conv_hint(struct ftl *ftl, uint64_t lba);
uint32_t l2p_conv_peek(struct ftl *ftl, uint64_t lba);
/* The mapped LBAs of the zone's first table page with any, from *offset on, a multiple of HZ_MAP_PAGE_ENTRIES, in any order, into
 * sector[HZ_MAP_PAGE_ENTRIES]. Returns their number and sets *offset behind that page; 0: no more in the zone. Harts idle, not while
 * mount scans. */
uint32_t l2p_conv_mapped(struct ftl *ftl, const struct zone *zone, uint32_t *offset, struct l2p_sector *sector);
void l2p_conv_preset(struct ftl *ftl, uint64_t lba, uint32_t place);
/* Mount, as long as it scans: the place of an LBA, and how many from there on, `most` at most, lie one after another, all of one table page;
 * or, all of one zone, nowhere. */
uint32_t l2p_conv_run(struct ftl *ftl, uint64_t lba, uint32_t most, uint32_t *place);
/* Harts idle: how many places have lost their LBA without having been reported to place_invalidate yet. */
uint64_t l2p_conv_stale(struct ftl *ftl);
/* Mount: begin and end of the scan that presets conventional sectors; its memory from the arena is free afterwards. Begin returns the
 * sequence number from which on sectors must be scanned, earlier ones being known; 0: none is known, all are unmapped. End: NULL, or one
 * sentence why the map cannot be brought up to date. */
uint64_t l2p_conv_scan_begin(struct ftl *ftl, struct arena *arena);
const char *l2p_conv_scan_end(struct ftl *ftl);

/* Mount: a sector of kind HZ_OOB_MAP, HZ_OOB_CHECKPOINT or HZ_OOB_DIRECTORY; when all have been found, and zone records are loaded. */
void l2p_found(struct ftl *ftl, const struct hz_oob *oob, ppa_t ppa);
void l2p_replay(struct ftl *ftl);
/* … then: true if all of the zone is known to have been in this superblock (one of its sectors has that sequence number), and still to
 * be there. */
bool l2p_knows(const struct ftl *ftl, const struct zone *zone, uint32_t superblock, uint64_t sequence);
/* Mount: the zone's placed and staged sectors are settled; staged addresses as in zone_staged. */
void l2p_mounted(struct ftl *ftl, const struct zone *zone);
/* NULL, or the fault in this zone's part of the map; with zone NULL: in the rest. Harts idle. */
const char *l2p_check(struct ftl *ftl, const struct zone *zone);

/* Table pages cannot be written any more (flash_log.h). Any hart, no lock. */
static inline bool l2p_lost(const struct ftl *ftl) { return lt_load(&ftl->l2p->log.lost); }

/* Between the implementations. */
/* Time for the cache's eviction order: shards compare theirs, one alone needs none. */
static inline uint64_t l2p_cache_now(const struct l2p *l2p) { return l2p->shards > 1 ? clock_now_ns() : 0; }

/* The range of that level around an offset; false: none by the config or the zone's shape. */
static inline bool l2p_range_at(const struct ftl *ftl, uint8_t level, uint32_t offset, struct map_range *range)
{
	const struct l2p_table *table = &ftl->l2p->table;

	if (level == HZ_MAP_PAGE) {
		*range = (struct map_range){ offset, offset + 1 };
		return true;
	}
	if (level > ftl->cfg->l2p_levels)
		return false;
	if (level == HZ_MAP_ZONE) {
		*range = (struct map_range){ 0, table->split };
		return offset < table->split;
	}
	range->head = offset & ~(ftl->cfg->l2p_chunk_sectors - 1);
	range->end = range->head + ftl->cfg->l2p_chunk_sectors;
	if (range->end > ftl->capacity)
		range->end = ftl->capacity;
	return range->end <= table->split || range->head >= table->split;
}

#endif
