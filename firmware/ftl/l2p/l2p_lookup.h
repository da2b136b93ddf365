/* A look-up in the map on flash: the steps that sequential (l2p_cached.c) and conventional zones (l2p_conv.c) have in common. Page entries
 * are found in the cache, or taken from a table page that was fetched. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_LOOKUP_H
#define FTL_L2P_LOOKUP_H

#include "l2p/l2p.h"

/* Consecutive sectors of one zone. */
struct l2p_lookup {
	struct ftl_worker *self;
	struct ftl_request *req;
	const struct extent *ext;
	uint32_t offset, end;                     /* in the zone, still to find */
	uint32_t *place;                          /* where the next one goes */
	uint32_t no_zone_before, no_chunk_before; /* sequential: offsets below have been looked for on that level in vain */
	/* of begin */
	uint32_t shard;
	uint64_t now_ns;
	bool replaced; /* an insertion made other entries leave */
};

/* The lock of its shard is held, until the end. */
void l2p_lookup_begin(struct l2p_lookup *at);
/* No lock is held afterwards: `node` is what it was taken with; room may have come over from another shard. */
void l2p_lookup_end(struct l2p_lookup *at, struct lt_lock_node *node);

/* The next `count` are these, one after another from ppa on. */
void l2p_lookup_found(struct l2p_lookup *at, ppa_t ppa, uint32_t count);
/* Page entries that are in the cache; false: the next one is not. */
bool l2p_lookup_entries(struct l2p_lookup *at);
/* A range that was read enters the cache. */
void l2p_lookup_insert(struct l2p_lookup *at, uint8_t level, uint32_t page, uint32_t head, ppa_t ppa);
/* Page entries that were read enter the cache. */
void l2p_lookup_fill(struct l2p_lookup *at, struct l2p_cache_entries *entries);
/* The fetched page, of which the next sector's entry is current, serves it and those behind it. They enter the cache, the first time with
 * the prefetch window. `changes`: the page may have changed entries, which stay out of the cache; the next sector's is none. */
void l2p_lookup_take(struct l2p_lookup *at, const struct map_fetch *fetch, bool first_time, bool changes);

/* The same for one sector, which is staged; nothing else of the page is taken. */
void l2p_lookup_take_one(struct l2p_lookup *at, const struct map_fetch *fetch);

#endif
