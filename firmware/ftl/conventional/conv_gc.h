/* Collector of conventional zones: picks a full backing zone, copies its valid sectors in batches to the collector's stream, waits until
 * everything that replaced its sectors is durable, and resets it.
 *
 * One collection at a time; its worker runs every step. `busy` says that one is under way, `wanted` that somebody asked meanwhile. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CONV_GC_H
#define FTL_CONV_GC_H

#include "base/context.h"
#include "request/ftl_request.h"

struct arena;
struct zone;

enum { CONV_GC_BATCH = 64, CONV_GC_READ_TRIES = 4 };

struct conv_gc {
	lt_word busy, wanted;
	struct ftl_worker *worker;
	struct lt_event start; /* posted by whoever set `busy` */
	struct zone *victim;
	uint32_t position;       /* next sector of the victim to look at */
	uint32_t count;          /* sectors of the batch */
	uint32_t pending, tries; /* reads under way */
	bool failed;
	uint32_t *offset, *lba; /* by sector of the batch */
	uint32_t *origin;       /* by buffer slot of a copy that is not durable: the place of its original */
	uint8_t **memory;
	struct tsu_txn *read;
	struct ftl_request request; /* the batch's write, then flush, then reset */
};

void conv_gc_init(struct ftl *ftl, struct arena *arena);
/* Any lock: collect if erased backing zones are short. */
void conv_gc_kick(struct ftl_worker *self);

#endif
