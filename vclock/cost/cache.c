/* Line holders, the ways of each hart's cache, and those of the shared cache. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache.h"

#include <stdlib.h>

#include "base/table.h"

enum { CHUNK_SHIFT = 3 }; /* 8 lines: what the option layout moves together */

struct outside {
	uint64_t tag; /* line number plus 1 */
	struct vc_copies copies;
};

/* Ways of one cache, or of several of equal size. */
struct ways {
	uint64_t *line;  /* by set and way: line number of RAM plus 1; 0: empty */
	uint32_t *hand;  /* by set: next victim way */
	uint64_t sets;   /* of each cache; 0: unlimited, or no cache */
	unsigned in_set; /* ways */
};

struct vc_copies *vc_cache_ram;
static struct vc_table outside = { .entry_bytes = sizeof(struct outside) };
static struct ways own, shared;

static bool create_ways(struct ways *ways, uint64_t caches, uint64_t bytes, unsigned in_set)
{
	*ways = (struct ways){ .in_set = in_set };
	if (!bytes)
		return true;
	ways->sets = bytes / ((uint64_t)in_set << VC_LINE_SHIFT);
	ways->line = calloc(caches * ways->sets * in_set, sizeof(*ways->line));
	ways->hand = calloc(caches * ways->sets, sizeof(*ways->hand));
	return ways->line && ways->hand;
}

bool vc_cache_create(void)
{
	vc_cache_ram = calloc(vc.ram_bytes >> VC_LINE_SHIFT, sizeof(*vc_cache_ram));
	return vc_cache_ram && create_ways(&own, vc.harts, vc.options.cache_bytes, vc.options.cache_ways) &&
	       create_ways(&shared, 1, vc.options.l2_bytes, vc.options.l2_ways);
}

struct vc_copies *vc_cache_outside(uint64_t address)
{
	return &((struct outside *)vc_table_at(&outside, (address >> VC_LINE_SHIFT) + 1))->copies;
}

/* False if the way is empty or its line has left the hart. h NULL: the shared cache, whose lines
 * stay. */
static bool is_used(const struct vc_hart *h, uint64_t way) { return way && (!h || vc_cache_ram[way - 1].holders >> h->index & 1); }

static uint64_t *way_of(const struct ways *ways, uint64_t set, uint64_t line)
{
	uint64_t *first = &ways->line[set * ways->in_set];

	for (unsigned i = 0; i < ways->in_set; i++)
		if (first[i] == line + 1)
			return &first[i];
	return NULL;
}

/* The way to fill on a miss. */
static uint64_t *victim(const struct ways *ways, const struct vc_hart *h, uint64_t set)
{
	uint64_t *first = &ways->line[set * ways->in_set];
	uint32_t *hand = &ways->hand[set], way = *hand;

	for (unsigned i = 0; i < ways->in_set; i++)
		if (!is_used(h, first[i]))
			return &first[i];
	*hand = (way + 1) % ways->in_set;
	return &first[way];
}

/* Set of a line of RAM in one cache. */
static uint64_t set_of(const struct ways *ways, uint64_t line)
{
	uint64_t z = vc.options.layout + (line >> CHUNK_SHIFT) * 0x9e3779b97f4a7c15ull;

	if (vc.options.layout) { /* the output of splitmix64 (Steele, Lea and Flood, OOPSLA 2014) */
		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
		z = (z ^ z >> 27) * 0x94d049bb133111ebull;
		line += z ^ z >> 31;
	}
	return line & (ways->sets - 1);
}

static void make_room(const struct vc_hart *h, uint64_t line)
{
	uint64_t set = h->index * own.sets + set_of(&own, line), *way = way_of(&own, set, line);

	if (way)
		return;
	way = victim(&own, h, set);
	if (is_used(h, *way))
		vc_cache_ram[*way - 1].holders &= ~(1ull << h->index);
	*way = line + 1;
}

/* True if the shared cache has the line; else fill it. */
static bool shared_has(uint64_t line)
{
	uint64_t set = set_of(&shared, line);

	if (way_of(&shared, set, line))
		return true;
	*victim(&shared, NULL, set) = line + 1;
	return false;
}

static enum vc_source source_of(const struct vc_hart *h, uint64_t address, const struct vc_copies *copies, bool alone)
{
	uint64_t others = copies->holders & ~(1ull << h->index);
	uint32_t size = vc.options.cluster;
	uint64_t cluster = size && size < VC_MAX_HARTS ? ((1ull << size) - 1) << h->index / size * size : ~0ull;

	if (!others)
		return shared.sets && vc_cache_in_ram(address) && shared_has((address - HZ_RAM_BASE) >> VC_LINE_SHIFT) ? VC_L2 : VC_MEMORY;
	if (alone ? others & ~cluster : !(others & cluster))
		return VC_FAR;
	return copies->dirty ? VC_NEAR : VC_CLEAN;
}

enum vc_source vc_cache_fetch(struct vc_hart *h, uint64_t address, struct vc_copies *copies, bool alone)
{
	uint64_t self = 1ull << h->index;
	enum vc_source source = source_of(h, address, copies, alone);
	bool comes = !(copies->holders & self);

	if (comes && own.sets && vc_cache_in_ram(address))
		make_room(h, (address - HZ_RAM_BASE) >> VC_LINE_SHIFT);
	copies->holders = alone ? self : copies->holders | self;
	copies->dirty = false;
	return source;
}
