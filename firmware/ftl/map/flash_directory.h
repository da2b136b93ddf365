/* The directory: addresses of the table pages of conventional zones, on flash like these, as the first level of the map (L1) of a
 * conventional UFS (Kim et al., "Unleashing Zoned UFS", FAST 2026, section 2.2).
 *
 * A directory page is one sector of the SLC log and has an entry for each of 1024 table pages: the address of its copy; all ones, if it
 * has none; or with l2p.compress, if its sectors are consecutive, their first address (map bits: a chunk), so that the table page need
 * not be read. Entries enter the cache a line at a time, and leave it as any others.
 *
 * A request looks up a table page's entry in the cache, then in the directory page, by a flash read; and only then the table page.
 * Entries newer than the copy on flash (*news*) are found in RAM, as are entries being written, since the image is there. The log's job
 * writes directory pages with news when a pass has written all table pages.
 *
 * RAM has all entries, because neither the SLC collector, which moves copies, nor the job, which replaces them, can wait for a directory
 * page. They are no part of the cache's budget, and requests do not ask them. Mount finds copies by their OOB records, and makes news of
 * every difference to the directory: a lost directory page loses no data.
 *
 * The map then has one shard, and its lock protects all of this. Off: no directory pages, and every function does nothing. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MAP_FLASH_DIRECTORY_H
#define FTL_MAP_FLASH_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "nand/flash_addr.h"

struct arena;
struct ftl;
struct log_item;

/* The cache knows entries by LBA: those of the directory lie behind all of them. */
#define L2P_DIRECTORY_LBA (1u << 31)
HZ_STATIC_ASSERT(HZ_PPA_BITS < 31, "no LBA is so high");
enum { L2P_NEWS_WORD = 64 };

struct l2p_directory {
	uint32_t pages;
	uint32_t first;  /* index of the first one (l2p_table.all) */
	uint32_t *entry; /* by number of the table page (map_page_slot), up to the end of the last directory page */
	uint64_t *news;  /* … a bit of each: the copy on flash says otherwise */
	uint32_t next;   /* of the log's job: next index of this pass */
};

void l2p_directory_init(struct ftl *ftl, struct arena *arena);
bool l2p_directory_has(const struct ftl *ftl, uint32_t index); /* is it one of its pages? */
uint32_t l2p_directory_page(const struct ftl *ftl, uint32_t table_page);
uint32_t l2p_directory_first(const struct ftl *ftl, uint32_t index); /* number of its first table page */

/* --- shard lock held --- */
/* The table page's copy lies at ppa now, and this is its first entry: it was written. */
void l2p_directory_note(struct ftl *ftl, uint32_t table_page, uint32_t ppa, uint32_t first_entry);
/* … it was moved. */
void l2p_directory_moved(struct ftl *ftl, uint32_t table_page, uint32_t ppa);
/* The copy on flash, if there is one, says otherwise than this entry. */
void l2p_directory_news(const struct ftl *ftl, uint32_t index, uint32_t number);
bool l2p_directory_is_news(const struct ftl *ftl, uint32_t number);
/* True if requests may use the entry in RAM: it is news, or there is no copy, or a new one is being written. */
bool l2p_directory_in_ram(const struct ftl *ftl, uint32_t index, uint32_t number);

/* --- the log's job, no lock held --- */
void l2p_directory_pass(struct ftl *ftl); /* a pass begins */
/* Take the next directory page with news. False: none left in this pass. */
bool l2p_directory_take(struct ftl *ftl, struct log_item *item);
/* The old copy is in the item's image, if there is a readable one: news replace its entries. */
void l2p_directory_merge(struct ftl *ftl, const struct log_item *item);

/* Mount: the copy of a table page has been found, or none (ppa: MAP_NO_COPY; of `copy` nothing is read then). */
void l2p_directory_found(struct ftl *ftl, uint32_t table_page, uint32_t ppa, const uint32_t *copy);

#endif
