/* Changed entries of conventional zones: the part of the L2P log that needs memory, since it does not follow from a zone. One record for
 * each changed LBA, hashed by the LBA, and in a list for its table page, hashed by the page: memory grows with the log, not with the
 * device.
 *
 * Records are protected by the L2P lock of the LBA's zone; free ones are a stack in one shared word. There are more records than the
 * log's limit: data are admitted to a buffer while the log has room, and data landing then may exceed it, by at most the content of the
 * buffers of conventional zones. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MAP_FLASH_CHANGES_H
#define FTL_MAP_FLASH_CHANGES_H

#include "lt/arch.h"
#include "lt/arena.h"
#include "nand/flash_addr.h"

struct ftl;
struct ftl_worker;
struct zone;
struct log_item;

#define CHANGE_NONE 0u /* as in blank memory: records count from 1 */

struct l2p_change {
	uint32_t lba, place; /* L2P_UNMAPPED: deallocated, or the copy on flash has a place with data lost in a power cut */
	uint32_t chain;      /* next in its bucket */
	uint32_t next;       /* next in the list of its table page */
	bool recovered;      /* made at mount: the entry in the copy on flash was never true since, and is not to be invalidated */
	bool again;          /* changed since it was merged: not in the copy yet, even if the place is equal */
	lt_word free; /* free records: distance of the next one from the one behind this: blank memory is a chain of all, in their order */
};

/* The last table page looked up. Harts idle. */
struct l2p_peek {
	uint8_t *image;
	ppa_t ppa;
	uint64_t opened; /* of its SLC superblock */
};

struct l2p_changes {
	uint32_t count, bucket_bits, page_bits;
	struct l2p_change *record; /* [1, count] */
	uint32_t *bucket;          /* by shard << bucket_bits | hash */
	uint32_t *of_page; /* by shard << page_bits | hash of the table page: first record of a list, possibly with other pages' records */
	lt_word free;      /* tag << 32 | index of the first free record */
	struct l2p_peek peek;
	uint32_t *scan; /* mount: place by zone * capacity + offset, of filled table pages; else NULL */
	bool *filled;   /* mount: by table page: it has entries in `scan`; of others nothing was found */
	bool *differs;  /* mount: by table page: an entry may differ from its copy */
	bool trusted;   /* mount: sectors missing in the scan are as in the copies */
};

void l2p_changes_init(struct ftl *ftl, struct arena *arena);
/* Shard lock held: the record of this LBA, or NULL. */
struct l2p_change *l2p_change_of(struct ftl *ftl, uint32_t shard, uint32_t lba);
/* Shard lock held: bit i: lba + i has a record; count: 1 to 64. */
uint64_t l2p_changes_among(struct ftl *ftl, uint32_t shard, uint32_t lba, uint32_t count);
/* [lba, lba + count) of this zone, 1 to L2P_PIECE, are now at the places from `place` on; L2P_UNMAPPED: unmapped. Places in former
 * records are invalidated. Shard lock held. */
void l2p_change(struct ftl *ftl, const struct zone *zone, uint32_t lba, uint32_t count, uint32_t place);

/* Shard lock held, of the log's job: the page's first record, or the next one after `record`; NULL: there is none. */
struct l2p_change *l2p_changes_next(struct ftl *ftl, uint32_t page, const struct l2p_change *record);

/* Any record, or another one after `record`; NULL: that was the last. Harts idle. */
struct l2p_change *l2p_changes_walk(struct ftl *ftl, const struct l2p_change *record);

/* --- for the flush of the log (flash_log.c), no lock held --- */
/* Merge the records of the item's table page into its image; replaced places are invalidated. */
void l2p_changes_merge(struct ftl_worker *self, struct log_item *item);
/* The image is on flash: drop records equal to it. Returns how many. */
uint32_t l2p_changes_drop(struct ftl_worker *self, const struct log_item *item);

/* --- mount --- */
/* Empty tables for the scan of the media. */
void l2p_scan_open(struct ftl *ftl, struct arena *arena);
/* Nothing again. */
void l2p_scan_clear(struct ftl *ftl);
/* All entries of this table page are in `scan` now. */
void l2p_scan_filled(struct ftl *ftl, uint32_t page);
void l2p_scan_preset(struct ftl *ftl, uint64_t lba, uint32_t place);
/* Entries of an LBA not blank by l2p_scan_blank, and of its successors to the end of its table page. */
const uint32_t *l2p_scan_entry(struct ftl *ftl, uint64_t lba);
/* The place; L2P_UNMAPPED: nothing was found. */
uint32_t l2p_scan_peek(struct ftl *ftl, const struct zone *zone, uint32_t offset);
/* Number of unmapped LBAs of the zone from this one on: nothing of their table pages has been found yet; 0: not known. */
uint32_t l2p_scan_blank(struct ftl *ftl, uint64_t lba);
/* NULL, or one sentence why the map cannot be brought up to date. */
const char *l2p_scan_end(struct ftl *ftl);
/* NULL, or the fault in the records; *count = their number. Harts idle. */
const char *l2p_changes_check(struct ftl *ftl, uint64_t *count);

#endif
