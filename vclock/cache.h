/* Caches: which harts hold each 64-byte line, where a line comes from that a hart does not hold, and what must give way for it.
 *
 * A hart may read a line that it holds, and write one that it alone holds. Any other access fetches the line: from a hart of its cluster,
 * from one farther away, or from memory where nobody holds it; a write takes it from all others. With cache_bytes a hart has room for
 * so many bytes: a line that comes takes an unused way of its set, else the one that the set's hand points at, which then moves on. Lines
 * outside RAM take no room.
 *
 * Used by the token holder only. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_CACHE_H
#define VC_CACHE_H

#include "state.h"

enum { VC_LINE_SHIFT = 6 };

/* Once the size of RAM is known; false: no memory. */
bool vc_cache_create(void);
/* The harts, a bit each, that hold the line of `address`, which is in RAM; NULL where it is not. */
uint64_t *vc_cache_ram_holders(uint64_t address);
/* The same wherever it is. Valid until the next call. */
uint64_t *vc_cache_holders(uint64_t address);
/* What h must fetch comes to it: holders as above. Returns where from. */
enum vc_source vc_cache_fetch(struct vc_hart *h, uint64_t address, uint64_t *holders, bool write);

static inline bool vc_cache_hit(const struct vc_hart *h, uint64_t holders, bool write)
{
	uint64_t self = 1ull << h->index;

	return write ? holders == self : (holders & self) != 0;
}

/* What fetching costs, without queueing. */
static inline uint64_t vc_cache_cost(enum vc_source source)
{
	const struct vc_costs *cost = &vc.options.cost;

	return source == VC_NEAR ? cost->remote : source == VC_FAR ? cost->far : cost->memory;
}

#endif
