/* A look-up in the map on flash: what both kinds of zones have in common. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_lookup.h"

#include "l2p/l2p.h"

static struct l2p_cache *cache_of(const struct l2p_lookup *at) { return &at->self->ftl->l2p->cache; }

void l2p_lookup_begin(struct l2p_lookup *at)
{
	at->shard = at->ext->map_shard;
	at->now_ns = l2p_cache_now(at->self->ftl->l2p);
	at->replaced = false;
}

/* Room goes to where it is needed: a shard that evicts takes some from a neighbour whose entries have not been used for longer. Not
 * inlined, so that look-ups without evictions need not save its registers. */
static __attribute__((noinline)) void borrow(struct ftl_worker *self, uint32_t shard)
{
	struct l2p *l2p = self->ftl->l2p;
	uint32_t candidate = ++self->cache_candidate & (l2p->shards - 1);
	uint64_t before_ns = lt_load(&l2p->cache.shard[shard].oldest_ns);
	struct l2p_cache_loan loan;
	struct lt_lock_node node;

	if (candidate == shard || l2p_cache_lender(&l2p->cache, shard, candidate) == shard)
		return;
	lt_lock_acquire(&l2p->shard[candidate], &node);
	loan = l2p_cache_take(&l2p->cache, candidate, before_ns, L2P_CACHE_LOAN);
	lt_lock_release(&l2p->shard[candidate], &node);
	lt_lock_acquire(&l2p->shard[shard], &node);
	l2p_cache_give(&l2p->cache, shard, loan);
	lt_lock_release(&l2p->shard[shard], &node);
}

void l2p_lookup_end(struct l2p_lookup *at, struct lt_lock_node *node)
{
	struct l2p *l2p = at->self->ftl->l2p;

	lt_lock_release(&l2p->shard[at->shard], node);
	if (at->replaced && l2p->shards > 1)
		borrow(at->self, at->shard);
}

void l2p_lookup_found(struct l2p_lookup *at, ppa_t ppa, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		*at->place++ = ppa + i;
	at->offset += count;
}

bool l2p_lookup_entries(struct l2p_lookup *at)
{
	uint32_t found = l2p_cache_find_entries(cache_of(at), at->shard, (uint32_t)at->ext->start + at->offset,
						at->offset & (HZ_MAP_PAGE_ENTRIES - 1), at->end - at->offset, at->now_ns, at->place);

	at->self->counters.l2p_hits[HZ_MAP_PAGE] += found;
	at->offset += found;
	at->place += found;
	return found;
}

static void left(struct l2p_lookup *at, uint32_t entries)
{
	at->self->counters.l2p_evictions += entries;
	at->replaced |= entries > 0;
}

void l2p_lookup_insert(struct l2p_lookup *at, uint8_t level, uint32_t page, uint32_t head, ppa_t ppa)
{
	struct l2p_cache_new range = { .lba = (uint32_t)at->ext->start + head, .ppa = ppa, .group = page, .level = level };

	left(at, l2p_cache_insert(cache_of(at), at->shard, &range, at->now_ns));
}

void l2p_lookup_fill(struct l2p_lookup *at, struct l2p_cache_entries *entries)
{
	left(at, l2p_cache_fill(cache_of(at), at->shard, entries, at->now_ns));
}

/* Entries [index, index + count) of the page, line by line; returns how many were not in the cache before. */
static uint32_t enter(struct l2p_lookup *at, const struct map_fetch *fetch, uint32_t index, uint32_t count, bool changes)
{
	struct ftl *ftl = at->self->ftl;
	uint32_t line = l2p_cache_line(cache_of(at)), first = (uint32_t)at->ext->start + map_page_first(ftl, fetch->page), added = 0;
	struct l2p_cache_entries entries = { .group = fetch->page };

	for (; count; index += entries.count, count -= entries.count) {
		entries.from = index & (line - 1);
		entries.count = min_u32(line - entries.from, count);
		entries.lba = first + index - entries.from;
		entries.entry = (const uint32_t *)fetch->image + index;
		entries.valid = UINT64_MAX >> (64 - entries.count);
		if (changes)
			entries.valid &= ~l2p_changes_among(ftl, at->shard, first + index, entries.count);
		entries.valid <<= entries.from;
		if (!entries.valid)
			continue;
		l2p_lookup_fill(at, &entries);
		added += entries.added;
	}
	return added;
}

void l2p_lookup_take(struct l2p_lookup *at, const struct map_fetch *fetch, bool first_time, bool changes)
{
	const uint32_t *entry = (const uint32_t *)fetch->image;
	uint32_t index = at->offset & (HZ_MAP_PAGE_ENTRIES - 1), current = fetch->merged - index;
	uint32_t wanted = changes ? 1 : min_u32(at->end - at->offset, current), room = l2p_cache_room(cache_of(at), at->shard),
		 count = wanted;

	if (first_time && count < 1 + at->self->ftl->cfg->l2p_prefetch)
		count = min_u32(1 + at->self->ftl->cfg->l2p_prefetch, current);
	enter(at, fetch, index, min_u32(wanted, room), changes);
	if (count > wanted && room > wanted)
		at->self->counters.l2p_prefetched += enter(at, fetch, index + wanted, min_u32(count, room) - wanted, changes);
	for (uint32_t i = 0; i < wanted; i++)
		*at->place++ = entry[index + i] & L2P_ADDRESS_MASK;
	at->offset += wanted;
}

void l2p_lookup_take_one(struct l2p_lookup *at, const struct map_fetch *fetch)
{
	uint32_t index = at->offset & (HZ_MAP_PAGE_ENTRIES - 1), place = ((const uint32_t *)fetch->image)[index] & L2P_ADDRESS_MASK;

	if (place != L2P_UNMAPPED)
		enter(at, fetch, index, 1, false);
	l2p_lookup_found(at, place, 1);
}
