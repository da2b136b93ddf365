/* Shared by the implementations of the map: look-ups, staged sectors, block map, mount and check of the map on flash. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MAP_L2P_INTERNAL_H
#define FTL_MAP_L2P_INTERNAL_H

#include <stdint.h>

#include "base/zone.h"
#include "lt/arch.h"
#include "map/l2p.h"

/* A pool of numbers: those in use are bits of shared words. Any hart, no lock. */

enum { L2P_WORD_BITS = 64 };
#define L2P_NO_BIT UINT32_MAX

/* Take a free number: bit i of word w is 64 w + i; L2P_NO_BIT: none is free. */
uint32_t l2p_take_bit(lt_word *taken, uint32_t words);
void l2p_give_bit(lt_word *taken, uint32_t number);

/* The map as a table in RAM, rebuilt by mount. */

extern const struct l2p_ops l2p_flat;
extern const struct l2p_staged_ops l2p_flat_staged;
extern const struct l2p_conv_ops l2p_flat_conv;

/* The map as table pages in flash, behind a log of changes and a cache. */

extern const struct l2p_ops l2p_cached;
extern const struct l2p_staged_ops l2p_cached_staged;
extern const struct l2p_conv_ops l2p_cached_conv;

/* The map as a table of zones (the zone mapping table of ZUFS, FAST 2026, 4.1): 8 bytes for each, all of it in RAM, so that no read
 * misses.
 *
 * An entry is the zone's first address on flash, and the number of its sectors there. The rest of the zone, up to the write pointer, is
 * in SLC or in a write buffer. Such a map has no entries of single sectors, so addresses of staged ones are in lists (zone_map.h). A
 * moving zone is read at its old place until all of it is at the new one.
 *
 * Zones must be in one piece, without patches. An entry is read under its zone's lock; it changes through the zone mapping log
 * (zone_map.h). Sectors of conventional zones are anywhere, so these zones have a map of sectors next to it (l2p.sectors). */

extern const struct l2p_ops l2p_zone, l2p_both;
/* l2p_ops.knows of a map whose mount uses no sequence numbers. */
bool l2p_knows_nothing(const struct ftl *ftl, const struct zone *zone, uint32_t superblock, uint64_t sequence);

/* Look-up in the map on flash: the common steps of sequential (flash_map.c) and conventional zones (flash_block_map.c). Page entries
 * come from the cache, or from a fetched table page. */

/* Consecutive sectors of one zone. */
struct l2p_lookup {
	struct ftl_worker *self;
	struct ftl_request *req;
	const struct zone *zone;
	uint32_t offset, end;                     /* in the zone, still to find */
	uint32_t *place;                          /* output: next element */
	uint32_t no_zone_before, no_chunk_before; /* sequential: no entry of that level exists for offsets below */
	/* of begin */
	uint32_t shard;
	uint64_t now_ns;
	bool replaced; /* an insertion made other entries leave */
};

/* The lock of its shard is held, until the end. */
void l2p_lookup_begin(struct l2p_lookup *at);
/* Ends with no lock held: `node` is of its acquisition; room may have come over from another shard. */
void l2p_lookup_end(struct l2p_lookup *at, struct lt_lock_node *node);

/* The next `count` are these, one after another from ppa on. */
void l2p_lookup_found(struct l2p_lookup *at, ppa_t ppa, uint32_t count);
/* Serve page entries from the cache; false: the next one is missing. */
bool l2p_lookup_entries(struct l2p_lookup *at);
/* Insert a range that was read. */
void l2p_lookup_insert(struct l2p_lookup *at, uint8_t level, uint32_t page, uint32_t head, ppa_t ppa);
/* Insert page entries that were read. */
void l2p_lookup_fill(struct l2p_lookup *at, struct l2p_cache_entries *entries);
/* Serve the next sector and its successors from the fetched page; its entry there is current. They enter the cache, the first time with
 * the prefetch window. `changes`: the page may have changed entries, which stay out of the cache; the next sector's is unchanged. */
void l2p_lookup_take(struct l2p_lookup *at, const struct map_fetch *fetch, bool first_time, bool changes);

/* The same for one staged sector; nothing else of the page is taken. */
void l2p_lookup_take_one(struct l2p_lookup *at, const struct map_fetch *fetch);

/* Staged sectors in the map on flash: look-up in the cache, then among the runs (flash_runs.h), then in the fetched table page. Their
 * functions of l2p.h, and interfaces for log and mount. */

uint32_t l2p_cached_staged_read(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset, uint32_t count,
				ppa_t *ppa);
uint32_t l2p_cached_staged_peek(struct ftl *ftl, const struct zone *zone, uint32_t offset);
void l2p_cached_stage_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa);
void l2p_cached_unstage_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count);

/* Mount: staged sectors that differ from the page's image become news. True: some agree with it. image NULL: there is none. */
bool l2p_staged_mounted(struct ftl *ftl, const struct zone *zone, uint32_t page, const uint32_t *image);

/* --- shard lock held --- */
/* The staged entries of the page's copy are not to be trusted: the next pass of the log rebuilds it. */
void l2p_staged_lost(struct ftl *ftl, const struct zone *zone, uint32_t page);
/* Has the page news of staged sectors? */
bool l2p_staged_news(const struct ftl *ftl, const struct zone *zone, uint32_t page);
/* The written image has them: drop its runs. */
void l2p_staged_drop(struct ftl *ftl, const struct zone *zone, const struct log_item *item);

/* --- for the pass of the log, no lock held --- */
/* Merge sectors in SLC into the item's image. */
void l2p_staged_merge(struct ftl_worker *self, struct log_item *item);

/* Conventional zones' side of the map on flash: their functions of l2p.h, and interfaces for the rest of it. */

uint32_t l2p_cached_conv_read(struct ftl_worker *self, struct ftl_request *req, uint64_t lba, uint32_t count, uint32_t *place);
void l2p_cached_conv_map(struct ftl_worker *self, uint64_t lba, uint32_t count, uint32_t to, struct hz_oob *oob);
bool l2p_cached_conv_move(struct ftl_worker *self, uint64_t lba, uint32_t from, uint32_t to, struct hz_oob *oob);
uint32_t l2p_cached_conv_unmap(struct ftl_worker *self, uint64_t lba, uint32_t count);
uint32_t l2p_cached_conv_hint(struct ftl *ftl, uint64_t lba);
uint32_t l2p_cached_conv_peek(struct ftl *ftl, uint64_t lba);
uint32_t l2p_cached_conv_mapped(struct ftl *ftl, const struct zone *zone, uint32_t *offset, struct l2p_sector *sector);
uint64_t l2p_cached_conv_stale(struct ftl *ftl);

/* Mount: reads the copies of all conventional table pages in their order on flash: a page of the SLC log at a time, on all dies and
 * planes in parallel. */

struct arena;
struct ftl;

/* Before the media are scanned: every sector of a backing zone below this number is known to the copies; their entries are then in
 * l2p_changes.scan. 0: not known, since a copy cannot be read or there is no checkpoint. */
uint64_t l2p_copies_scan(struct ftl *ftl, struct arena *arena);

/* The directory of table pages (flash_directory.h) on flash: for requests, mount, and the check. */

struct l2p_lookup;

/* --- shard lock held --- */
/* The entry of this table page, not yet fetched by the request. */
enum directory_found { DIRECTORY_AT_HAND, DIRECTORY_WAS_READ, DIRECTORY_IS_WANTED /* its page must be fetched */ };
enum directory_found l2p_directory_find(struct l2p_lookup *at, uint32_t table_page, uint32_t *entry);
/* The entry, if known without a flash read, else all ones. */
uint32_t l2p_directory_hint(struct ftl *ftl, uint32_t table_page);

/* Mount: the copies of all table pages have been found: differences to the directory are news. */
void l2p_directory_mounted(struct ftl *ftl);
/* NULL, or the fault. Harts idle. */
const char *l2p_directory_check(struct ftl *ftl);

/* Mount of the map in flash: current copies of table pages, and the true part of each. */

/* l2p_found, l2p_replay and l2p_mounted of the map in flash. */
void l2p_found_map_page(struct ftl *ftl, const struct hz_oob *oob, ppa_t ppa);
void l2p_drop_old_map_pages(struct ftl *ftl);
void l2p_mount_map_pages(struct ftl *ftl, const struct zone *zone);
/* The page trusted unread at mount (map_page.unseen) has been read. True if it is complete, as mount took it for. It is unseen no
 * longer. Zone and shard lock held. */
bool l2p_unseen_true(struct ftl *ftl, const struct zone *zone, uint32_t page, const uint32_t *entry);
/* Number of leading entries of a copy that agree with the zone, at most `placed`. */
uint32_t l2p_true_entries(const struct ftl *ftl, const struct zone *zone, uint32_t first, const uint32_t *entry, uint32_t placed);

/* Check of the map in flash. */

/* l2p_check of the map in flash. */
const char *l2p_cached_check(struct ftl *ftl, const struct zone *zone);

#endif
