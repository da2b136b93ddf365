/* Collector of the page space: picks a full backing zone, copies its valid sectors in batches to the collector's stream, waits until
 * everything that replaced its sectors is durable, and resets it.
 *
 * One collection at a time; its worker runs every step. `busy` says that one is under way, `wanted` that somebody asked meanwhile. */
#ifndef FTL_PAGE_GC_H
#define FTL_PAGE_GC_H

#include "ftl.h"
#include "tsu/tsu.h"

struct ftl_worker;
struct zone;
struct page_space;
struct arena;

enum { PAGE_GC_BATCH = 64, PAGE_GC_READ_TRIES = 4 };

struct page_gc {
	lt_word busy, wanted;
	struct ftl_worker *worker;
	struct lt_event start;        /* posted by whoever set `busy` */
	struct zone *victim;
	uint32_t position;            /* next sector of the victim to look at */
	uint32_t count;               /* sectors of the batch */
	uint32_t pending, tries;      /* reads under way */
	bool failed;
	uint64_t losses;              /* page_space.losses when the collection began */
	uint32_t *offset, *lba;       /* by sector of the batch */
	uint8_t **page;
	struct tsu_txn *read;
	uint64_t wear_total, wear_count; /* erases of all normal superblocks, and how many superblocks */
	struct ftl_request request;   /* the batch's write, then flush, then reset */
};

void page_gc_init(struct ftl *ftl, struct arena *arena);
/* Any lock: collect if erased backing zones are short. */
void page_gc_kick(struct ftl_worker *self);

#endif
