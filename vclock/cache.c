/* Holders of lines, and the ways of each hart's cache. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache.h"

#include <stdlib.h>

#include "memory.h"
#include "table.h"

struct outside {
	uint64_t tag; /* line number plus 1 */
	uint64_t holders;
};

static uint64_t *ram_holders; /* by line */
static struct vc_table outside = { .entry_bytes = sizeof(struct outside) };
/* By hart, set and way: line number of RAM plus 1, 0: unused. A way whose line another hart has taken is unused too. */
static uint64_t *ways;
static uint32_t *hand; /* by hart and set: the way that gives way next */
static uint64_t sets;

bool vc_cache_create(void)
{
	ram_holders = calloc(vc.ram_bytes >> VC_LINE_SHIFT, sizeof(*ram_holders));
	if (!vc.options.cache_bytes)
		return ram_holders;
	sets = vc.options.cache_bytes / ((uint64_t)vc.options.cache_ways << VC_LINE_SHIFT);
	ways = calloc(vc.harts * sets * vc.options.cache_ways, sizeof(*ways));
	hand = calloc(vc.harts * sets, sizeof(*hand));
	return ram_holders && ways && hand;
}

uint64_t *vc_cache_ram_holders(uint64_t address)
{
	return address - HZ_RAM_BASE < vc.ram_bytes ? &ram_holders[(address - HZ_RAM_BASE) >> VC_LINE_SHIFT] : NULL;
}

uint64_t *vc_cache_holders(uint64_t address)
{
	uint64_t *in_ram = vc_cache_ram_holders(address);

	return in_ram ? in_ram : &((struct outside *)vc_table_at(&outside, (address >> VC_LINE_SHIFT) + 1))->holders;
}

static enum vc_source source_of(const struct vc_hart *h, uint64_t others, bool write)
{
	uint32_t size = vc.options.cluster;
	uint64_t cluster = size && size < VC_MAX_HARTS ? ((1ull << size) - 1) << h->index / size * size : ~0ull;

	if (!others)
		return VC_MEMORY;
	return (write ? !(others & ~cluster) : (others & cluster) != 0) ? VC_NEAR : VC_FAR;
}

static bool is_used(const struct vc_hart *h, uint64_t way) { return way && ram_holders[way - 1] >> h->index & 1; }

/* The way for a new line of the set. */
static uint64_t *victim(const struct vc_hart *h, uint64_t set, uint64_t line)
{
	uint64_t *first = &ways[(h->index * sets + set) * vc.options.cache_ways];
	uint32_t *turn = &hand[h->index * sets + set];

	for (unsigned i = 0; i < vc.options.cache_ways; i++)
		if (first[i] == line + 1)
			return &first[i];
	for (unsigned i = 0; i < vc.options.cache_ways; i++)
		if (!is_used(h, first[i]))
			return &first[i];
	*turn = (*turn + 1) % vc.options.cache_ways;
	return &first[(*turn + vc.options.cache_ways - 1) % vc.options.cache_ways];
}

static void make_room(const struct vc_hart *h, uint64_t line)
{
	uint64_t *way = victim(h, line & (sets - 1), line);

	if (is_used(h, *way))
		ram_holders[*way - 1] &= ~(1ull << h->index);
	*way = line + 1;
}

enum vc_source vc_cache_fetch(struct vc_hart *h, uint64_t address, uint64_t *holders, bool write)
{
	uint64_t self = 1ull << h->index;
	enum vc_source source = source_of(h, *holders & ~self, write);
	bool comes = !(*holders & self);

	if (comes && sets && vc_cache_ram_holders(address))
		make_room(h, (address - HZ_RAM_BASE) >> VC_LINE_SHIFT);
	*holders = write ? self : *holders | self;
	return source;
}
