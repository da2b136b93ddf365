/* Trims on flash: who flushes has the bits of deallocated LBAs (places/trims.h) saved too.
 *
 * A page's image has its number first, then its bits; and it is programmed only when all that had landed by then is durable. A bit that
 * is not set any more was cleared by a write: until that is durable the page before it must count, or a power cut in between would
 * bring back what was deallocated. Nor may a backing zone be erased before the trims of its sectors are saved: older sectors of the same
 * LBAs may lie elsewhere (the collector flushes before each erase).
 *
 * saver.lock is of class L2P (index: number of map shards + 2): SLC is taken under it. One pass at a time; who comes later waits for the
 * next one. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_TRIM_SAVE_H
#define FTL_TRIM_SAVE_H

#include "lt/lock.h"
#include "request/io.h"
#include "slc/slc_write.h"

struct arena;

enum { TRIM_VERSION = 1 };

struct trim_saver {
	struct lt_lock lock;
	bool running;
	struct io_queue joined;  /* for the next pass */
	struct io_queue waiting; /* for this one */
	/* of the worker that runs the pass */
	struct ftl_worker *worker;
	uint32_t cursor; /* next page to look at */
	uint32_t count;  /* pages of the round */
	bool failed;
	bool refused;            /* by an SLC log that is worn out */
	struct flush_plan *plan; /* of its flush: the others may all be held by flushes that wait for the map's log */
	uint32_t *page;          /* by sector of the program */
	struct ftl_request request;
	struct slc_write write;
};

void trim_saver_init(struct ftl *ftl, struct arena *arena);
/* No lock held: true: there are trims to be saved; the request waits for that and is dispatched again, with step FLUSH_SAVED, or
 * FLUSH_FAILED if they could not be. */
bool trims_wait_saved(struct ftl_worker *self, struct ftl_request *req);

/* Mount: a sector of kind HZ_OOB_TRIM; when all have been found. */
void trims_found(struct ftl *ftl, const struct hz_oob *oob, ppa_t ppa);
void trims_mount(struct ftl *ftl);

#endif
