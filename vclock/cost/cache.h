/* Caches: which harts hold each 64-byte line, where a line comes from that a hart does not hold, and what must give way for it.
 *
 * A hart may read a line that it holds, and write one that it alone holds. Any other access fetches the line: from a hart of its cluster,
 * from one farther away, or where nobody holds it from the cache that all share, else from memory; a write takes it from all others. With
 * cache_bytes a hart has room for so many bytes, with l2_bytes the shared cache: a line that comes takes an unused way of its set, else
 * the one that the set's hand points at, which then moves on. Lines outside RAM take no room.
 *
 * Used by the token holder only. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_COST_CACHE_H
#define VCLOCK_COST_CACHE_H

#include "base/state.h"

enum { VC_LINE_SHIFT = 6 };

/* Of a line. */
struct vc_copies {
	uint64_t holders; /* the harts that hold it, a bit each */
	bool dirty;       /* its one holder has written it since it came */
};

/* Once the size of RAM is known; false: no memory. */
bool vc_cache_create(void);
/* Of the line of `address`, which is in RAM; NULL where it is not. */
struct vc_copies *vc_cache_in_ram(uint64_t address);
/* The same wherever it is. Valid until the next call. */
struct vc_copies *vc_cache_copies(uint64_t address);
/* What h must fetch comes to it, and is clean then. alone: the others lose it. Returns where from. */
enum vc_source vc_cache_fetch(struct vc_hart *h, uint64_t address, struct vc_copies *copies, bool alone);

/* The hart has it as it must. */
static inline bool vc_cache_hit(const struct vc_hart *h, const struct vc_copies *copies, bool alone)
{
	uint64_t self = 1ull << h->index;

	return alone ? copies->holders == self : (copies->holders & self) != 0;
}

/* What fetching costs, without queueing. */
static inline uint64_t vc_cache_cost(enum vc_source source)
{
	const struct vc_costs *cost = &vc.options.cost;

	switch (source) {
	case VC_CLEAN: return cost->clean ? cost->clean : cost->remote;
	case VC_FAR: return cost->far;
	case VC_L2: return cost->l2;
	case VC_MEMORY: return cost->memory;
	default: return cost->remote;
	}
}

#endif
