/* Garbage collection of the SLC log: one at a time, all of it on the worker that began it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_SLC_GC_H
#define FTL_SLC_GC_H

#include "lt/event.h"
#include "slc/slc_write.h"

struct arena;
struct ftl;
struct ftl_worker;

enum {
	SLC_BATCH_SECTORS = 64,
	SLC_SCAN_SECTORS = 64, /* that the collector looks at under one acquisition of the lock */
};

struct slc_gc {
	bool busy;             /* SLC lock; all else belongs to the worker that collects */
	struct lt_event event; /* posted to begin, and when the last pin has gone */
	struct ftl_worker *worker;
	uint32_t victim, position; /* next sector of the victim to look at */
	uint32_t count, pending;   /* sectors of the batch; transactions under way */
	uint32_t tries;
	bool failed;
	struct tsu_txn *read; /* by sector of the batch */
	ppa_t *from;
	uint32_t *tag;
	struct hz_oob *oob;
	uint8_t **memory;
	struct slc_write *write;
	struct tsu_txn *erase; /* by plane */
};

void slc_gc_init(struct ftl *ftl, struct arena *arena);
/* SLC lock held: start if space is short and none is under way. */
void slc_collect(struct ftl_worker *self);
/* SLC lock not held, the collector's worker: nobody reads the victim any more. */
void slc_gc_unpinned(struct ftl_worker *self);

#endif
