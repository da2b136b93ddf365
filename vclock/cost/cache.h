/* Caches: holders of each 64-byte line, the origin of a missing line, and the victim that it
 * replaces.
 *
 * A hart may read a line that it holds, and write one that it alone holds. Any other access fetches
 * the line: from a hart of its cluster, from a hart of another cluster, from the shared cache, or
 * from memory, in this order; a write invalidates it in all other harts. cache_bytes is the
 * capacity of each hart's cache, l2_bytes that of the shared cache: an incoming line takes an
 * unused way of its set, else the way under the set's hand, which then advances. Lines outside RAM
 * take no room. A line's set is its number modulo the number of sets; with the option layout each
 * 512 bytes of RAM are moved by a number of lines that its seed draws, as another image would have
 * them elsewhere.
 *
 * Used by the token holder only. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_COST_CACHE_H
#define VCLOCK_COST_CACHE_H

#include "base/state.h"

enum { VC_LINE_SHIFT = 6 };

/* State of a line. */
struct vc_copies {
	uint64_t holders; /* harts that hold it, one bit each */
	uint32_t line;    /* line.h's number of it; 0: none yet */
	bool dirty;       /* its only holder has written it since the fetch */
};

/* Allocate, once the size of RAM is known; false: out of memory. */
bool vc_cache_create(void);
/* State of each line of RAM. */
extern struct vc_copies *vc_cache_ram;
/* State of the line of `address`; NULL if that is not in RAM. */
static inline struct vc_copies *vc_cache_in_ram(uint64_t address)
{
	return address - HZ_RAM_BASE < vc.ram_bytes ? &vc_cache_ram[(address - HZ_RAM_BASE) >> VC_LINE_SHIFT] : NULL;
}
/* The same for an address outside RAM. Valid until the next call. */
struct vc_copies *vc_cache_outside(uint64_t address);
static inline struct vc_copies *vc_cache_copies(uint64_t address)
{
	struct vc_copies *found = vc_cache_in_ram(address);

	return found ? found : vc_cache_outside(address);
}
/* Fetch a line for h; it is then clean. alone: invalidate it in all other harts. Returns its
 * origin. */
enum vc_source vc_cache_fetch(struct vc_hart *h, uint64_t address, struct vc_copies *copies, bool alone);

/* True if the hart holds the line, and exclusively if `alone`. */
static inline bool vc_cache_hit(const struct vc_hart *h, const struct vc_copies *copies, bool alone)
{
	uint64_t self = 1ull << h->index;

	return alone ? copies->holders == self : (copies->holders & self) != 0;
}

/* Cost of a fetch, without queueing. */
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
