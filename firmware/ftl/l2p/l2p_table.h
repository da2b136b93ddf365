/* Copies of table pages (l2p_pages.h) on flash: they come, become void, are lost; and reads of them, with all who wait for those.
 *
 * Protected by the L2P lock of the zone. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_TABLE_H
#define FTL_L2P_TABLE_H

#include "l2p/l2p_pages.h"
#include "request/io.h"

struct arena;

enum {
	L2P_FETCHES_PER_WORKER = 8,
	L2P_TABLE_VERSION = 1, /* OOB stream of a table page */
};

/* A read of a table page. From the first miss until everybody who waited has been served, so nobody has to come again. */
struct map_fetch {
	struct tsu_txn txn; /* first */
	struct lt_event released;
	struct ftl_worker *owner;
	struct map_fetch *next;  /* in its list, or the owner's free one */
	struct map_fetch **list; /* of l2p_table.fetch */
	uint32_t page;
	uint32_t merged; /* entries [0, merged) of the bytes are current */
	uint32_t refs;   /* requests that wait or have not been served yet */
	uint8_t tries;
	bool ready;    /* the bytes are here, if they could be read */
	bool outdated; /* there is another copy now, or none: nobody joins */
	bool stale;    /* all that was read has become void */
	struct io_queue waiting;
	uint8_t *image;
};
struct map_fetch_pool {
	struct map_fetch *free;
	struct io_queue waiting;
}; /* of a worker; its hart only */

enum { MAP_FETCH_LISTS = 8 /* of each shard */ };

void l2p_table_init(struct ftl *ftl, struct arena *arena);
/* Of every worker; with the map in RAM it has none. */
void l2p_fetches_init(struct ftl_worker *worker, struct arena *arena);

/* --- shard lock held from here on --- */
/* The copy on flash becomes void, and so does what has been read of it. */
void map_page_drop_copy(struct ftl_worker *self, uint32_t page);
/* Of a sequential zone's page, the copy cannot be read or believed. What it held can be told from the zone's record, so it is in the log
 * again. */
void map_page_doubt(struct ftl_worker *self, uint32_t page);
/* The copy cannot be read, also of the directory: a conventional zone's is rebuilt by the next pass of the log, and who waits asks again. */
void map_page_lost(struct ftl_worker *self, uint32_t page);
/* A new copy is on flash. Who waits for a read of an older one is served by that, unless its bytes become void too. */
void map_page_set_copy(struct ftl_worker *self, uint32_t page, ppa_t ppa);
/* Everything that was read of it so far becomes void. */
void map_page_void_reads(struct ftl *ftl, uint32_t page);

/* Of a conventional zone's page, in which all entries are merged: low bits of its copy's sequence number, by which a checkpoint knows that
 * copy from older ones. */
enum { MAP_VERSION_BITS = 29 };
uint32_t map_page_version(const struct l2p_table *table, uint32_t page);
void map_page_set_version(struct l2p_table *table, uint32_t page, uint64_t sequence);

/* The page, which has a copy, for this request: true: req.fetch is ready now; false: the request waits and will be dispatched again. */
bool l2p_fetch(struct ftl_worker *self, struct ftl_request *req, uint32_t shard, uint32_t page);
/* Own worker, no lock: if a fetch is free and a request waits for one, that goes on. Who was woken so (io.woken) calls it once more when it
 * has run, since it may have needed none. */
void l2p_fetches_wake(struct ftl_worker *self);
/* The request has been served, or wants it no more. */
void l2p_fetch_leave(struct ftl_worker *self, struct ftl_request *req);

#endif
