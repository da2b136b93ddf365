/* Cache of mapping entries. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "map/flash_cache.h"

#include <string.h>

#include "lt/bits.h"

#define NONE L2P_CACHE_NONE
enum { ADDRESS_MASK = (1u << HZ_PPA_BITS) - 1 };

static uint32_t line_of(const struct l2p_cache *cache) { return l2p_cache_line(cache); }

/* A node's share of the budget, in entries. */
static uint32_t size_of(const struct l2p_cache *cache, uint8_t level) { return level == HZ_MAP_PAGE ? line_of(cache) : 1; }

/* Bits [first, first + count) of a line; count > 0. */
static uint64_t line_bits(uint32_t first, uint32_t count) { return UINT64_MAX >> (64 - count) << first; }

/* Multiplicative hashing (Knuth, TAOCP 6.4): the top bits of a product with 2^32 / golden ratio. */
static uint32_t *cache_bucket(const struct l2p_cache *cache, uint32_t shard, uint32_t lba, uint8_t level)
{
	uint32_t hash = (lba + ((uint32_t)level << 30)) * 2654435769u;

	return &cache->shard[shard].bucket[(uint64_t)hash >> (32 - cache->bucket_bits)];
}

static uint32_t lookup(const struct l2p_cache *cache, uint32_t shard, uint32_t lba, uint8_t level)
{
	uint32_t index = *cache_bucket(cache, shard, lba, level);

	while (index != NONE && (cache->node[index].lba != lba || cache->node[index].level != level))
		index = cache->node[index].chain;
	return index;
}

/* --- eviction order --- */

static void order_remove(struct l2p_cache *cache, struct l2p_cache_shard *shard, uint32_t index)
{
	struct l2p_cached *node = &cache->node[index];

	*(node->older != NONE ? &cache->node[node->older].newer : &shard->oldest) = node->newer;
	*(node->newer != NONE ? &cache->node[node->newer].older : &shard->newest) = node->older;
}

static void order_newest(struct l2p_cache *cache, struct l2p_cache_shard *shard, uint32_t index, uint64_t now_ns)
{
	struct l2p_cached *node = &cache->node[index];

	node->used_ns = now_ns;
	node->newer = NONE;
	node->older = shard->newest;
	*(shard->newest != NONE ? &cache->node[shard->newest].newer : &shard->oldest) = index;
	shard->newest = index;
}

static void touch(struct l2p_cache *cache, struct l2p_cache_shard *shard, uint32_t index, uint64_t now_ns)
{
	struct l2p_cached *node = &cache->node[index];

	if (node->pinned)
		return;
	node->hit = true;
	if (cache->clock || shard->newest == index)
		return;
	order_remove(cache, shard, index);
	order_newest(cache, shard, index, now_ns);
}

/* CLOCK: entries hit since the hand passed get another round. Terminates: each turn clears a mark. */
static uint32_t next_victim(struct l2p_cache *cache, struct l2p_cache_shard *shard, uint64_t now_ns)
{
	while (cache->clock && cache->node[shard->oldest].hit) {
		uint32_t index = shard->oldest;

		cache->node[index].hit = false;
		order_remove(cache, shard, index);
		order_newest(cache, shard, index, now_ns);
	}
	return shard->oldest;
}

static void publish_oldest(struct l2p_cache *cache, struct l2p_cache_shard *shard)
{
	if (cache->shards > 1)
		lt_store(&shard->oldest_ns, shard->oldest == NONE ? LT_FOREVER : cache->node[shard->oldest].used_ns);
}

/* --- groups --- */

static void group_add(struct l2p_cache *cache, uint32_t number, uint32_t index)
{
	struct l2p_cached *node = &cache->node[index];
	uint32_t *first = l2p_cache_group_list(cache, number, node->group);

	node->before = NONE;
	node->after = *first;
	if (*first != NONE)
		cache->node[*first].before = index;
	*first = index;
}

static void group_remove(struct l2p_cache *cache, uint32_t number, uint32_t index)
{
	struct l2p_cached *node = &cache->node[index];

	*(node->before != NONE ? &cache->node[node->before].after : l2p_cache_group_list(cache, number, node->group)) = node->after;
	if (node->after != NONE)
		cache->node[node->after].before = node->before;
}

/* --- nodes --- */

static void set_free(struct l2p_cache *cache, struct l2p_cache_shard *shard, uint32_t index)
{
	cache->node[index].chain = shard->free;
	shard->free = index;
}

static void set_slot_free(struct l2p_cache *cache, struct l2p_cache_shard *shard, uint32_t slot)
{
	cache->place[slot] = shard->free_slot;
	shard->free_slot = slot;
}

static uint32_t node_take_free(const struct l2p_cache *cache, struct l2p_cache_shard *shard)
{
	uint32_t index = shard->free;

	if (index == NONE)
		return shard->fresh++;
	shard->free = cache->node[index].chain;
	return index;
}

static uint32_t take_free_slot(const struct l2p_cache *cache, struct l2p_cache_shard *shard)
{
	uint32_t slot = shard->free_slot;

	if (slot == NONE) {
		slot = shard->fresh_slot;
		shard->fresh_slot += line_of(cache);
		return slot;
	}
	shard->free_slot = cache->place[slot];
	return slot;
}

/* Out of every list, and free. */
static void remove_node(struct l2p_cache *cache, uint32_t number, uint32_t index)
{
	struct l2p_cache_shard *shard = &cache->shard[number];
	struct l2p_cached *node = &cache->node[index];
	uint32_t *link = cache_bucket(cache, number, node->lba, node->level);

	while (*link != index)
		link = &cache->node[*link].chain;
	*link = node->chain;
	group_remove(cache, number, index);
	if (node->pinned)
		shard->pinned--;
	else
		order_remove(cache, shard, index);
	if (node->level == HZ_MAP_PAGE)
		set_slot_free(cache, shard, node->slot);
	shard->held--;
	shard->used -= size_of(cache, node->level);
	shard->by_level[node->level]--;
	set_free(cache, shard, index);
}

/* Into every list but that of eviction. The shard has room for it. */
static uint32_t add_node(struct l2p_cache *cache, uint32_t number, uint32_t lba, uint32_t group, uint8_t level)
{
	struct l2p_cache_shard *shard = &cache->shard[number];
	uint32_t *bucket = cache_bucket(cache, number, lba, level), index = node_take_free(cache, shard);
	struct l2p_cached *node = &cache->node[index];

	node->lba = lba;
	node->valid = 0;
	node->chain = *bucket;
	node->group = group;
	node->level = level;
	node->pinned = node->hit = false;
	*bucket = index;
	group_add(cache, number, index);
	shard->held++;
	shard->used += size_of(cache, level);
	shard->by_level[level]++;
	return index;
}

/* Room for a node of that level; returns how many entries were evicted. Terminates: pins leave a quarter of the shard, a line is at most
 * an eighth. */
static uint32_t cache_make_room(struct l2p_cache *cache, uint32_t number, uint8_t level, uint64_t now_ns)
{
	struct l2p_cache_shard *shard = &cache->shard[number];
	uint32_t left = 0;

	while (shard->own - shard->used < size_of(cache, level)) {
		uint32_t victim = next_victim(cache, shard, now_ns);

		left += lt_count_bits(cache->node[victim].valid);
		remove_node(cache, number, victim);
	}
	return left;
}

/* --- ranges --- */

static bool may_pin(const struct l2p_cache_shard *shard) { return shard->pinned + 1 + (shard->own + 3) / 4 <= shard->own; }

/* A present range: pinned from now on, if wanted and allowed. */
static void node_refresh(struct l2p_cache *cache, struct l2p_cache_shard *shard, uint32_t index, struct l2p_cache_new *range,
			 uint64_t now_ns)
{
	struct l2p_cached *node = &cache->node[index];

	node->ppa = range->ppa;
	touch(cache, shard, index, now_ns);
	range->pin = range->pin && (node->pinned || may_pin(shard));
	if (range->pin && !node->pinned) {
		order_remove(cache, shard, index);
		node->pinned = true;
		shard->pinned++;
	}
}

ppa_t l2p_cache_find(struct l2p_cache *cache, uint32_t shard, uint32_t lba, uint8_t level, uint64_t now_ns)
{
	uint32_t index = lookup(cache, shard, lba, level);

	if (index == NONE)
		return PPA_NONE;
	touch(cache, &cache->shard[shard], index, now_ns);
	return cache->node[index].ppa;
}

uint32_t l2p_cache_insert(struct l2p_cache *cache, uint32_t number, struct l2p_cache_new *range, uint64_t now_ns)
{
	struct l2p_cache_shard *shard = &cache->shard[number];
	uint32_t index = lookup(cache, number, range->lba, range->level), left;

	if (index != NONE) {
		node_refresh(cache, shard, index, range, now_ns);
		return 0;
	}
	left = cache_make_room(cache, number, range->level, now_ns);
	index = add_node(cache, number, range->lba, range->group, range->level);
	cache->node[index].ppa = range->ppa;
	cache->node[index].valid = 1;
	range->pin = range->pin && may_pin(shard);
	cache->node[index].pinned = range->pin;
	if (range->pin)
		shard->pinned++;
	else
		order_newest(cache, shard, index, now_ns);
	if (left || shard->held == 1)
		publish_oldest(cache, shard);
	return left;
}

/* --- page entries --- */

uint32_t l2p_cache_room(const struct l2p_cache *cache, uint32_t number)
{
	const struct l2p_cache_shard *shard = &cache->shard[number];

	return shard->own - shard->pinned - 2 * (line_of(cache) - 1); /* the first and the last line may be cut */
}

uint32_t l2p_cache_find_entries(struct l2p_cache *cache, uint32_t shard, uint32_t lba, uint32_t index, uint32_t count, uint64_t now_ns,
				ppa_t *ppa)
{
	uint32_t from = index & (line_of(cache) - 1), found = lookup(cache, shard, lba - from, HZ_MAP_PAGE), run;
	const uint32_t *place;
	uint64_t missing;

	if (found == NONE)
		return 0;
	missing = ~(cache->node[found].valid >> from);
	run = missing ? lt_lowest_bit(missing) : L2P_CACHE_LONGEST_LINE;
	if (!run)
		return 0;
	if (count > run)
		count = run;
	touch(cache, &cache->shard[shard], found, now_ns);
	place = &cache->place[cache->node[found].slot + from];
	for (uint32_t i = 0; i < count; i++)
		ppa[i] = place[i] & ADDRESS_MASK;
	return count;
}

bool l2p_cache_find_entry(struct l2p_cache *cache, uint32_t shard, uint32_t lba, uint32_t index, uint64_t now_ns, uint32_t *entry)
{
	uint32_t at = index & (line_of(cache) - 1), found = lookup(cache, shard, lba - at, HZ_MAP_PAGE);

	if (found == NONE || !(cache->node[found].valid >> at & 1))
		return false;
	touch(cache, &cache->shard[shard], found, now_ns);
	*entry = cache->place[cache->node[found].slot + at];
	return true;
}

uint32_t l2p_cache_fill(struct l2p_cache *cache, uint32_t number, struct l2p_cache_entries *entries, uint64_t now_ns)
{
	struct l2p_cache_shard *shard = &cache->shard[number];
	uint32_t index = lookup(cache, number, entries->lba, HZ_MAP_PAGE), left = 0;
	struct l2p_cached *node;

	if (index != NONE) {
		touch(cache, shard, index, now_ns);
	} else {
		left = cache_make_room(cache, number, HZ_MAP_PAGE, now_ns);
		index = add_node(cache, number, entries->lba, entries->group, HZ_MAP_PAGE);
		cache->node[index].slot = take_free_slot(cache, shard);
		order_newest(cache, shard, index, now_ns);
		if (left || shard->held == 1)
			publish_oldest(cache, shard);
	}
	node = &cache->node[index];
	entries->added = lt_count_bits(entries->valid & ~node->valid);
	node->valid |= entries->valid;
	if (entries->count == 1)
		cache->place[node->slot + entries->from] = *entries->entry;
	else
		memcpy(&cache->place[node->slot + entries->from], entries->entry, entries->count * sizeof(uint32_t));
	return left;
}

/* Without these of its entries; a line without any leaves. */
static void shorten(struct l2p_cache *cache, uint32_t number, uint32_t index, uint64_t without)
{
	cache->node[index].valid &= ~without;
	if (!cache->node[index].valid)
		remove_node(cache, number, index);
}

void l2p_cache_forget(struct l2p_cache *cache, uint32_t number, uint32_t lba, uint32_t index, uint32_t count)
{
	uint32_t line = line_of(cache), part;

	if (!cache->shard[number].by_level[HZ_MAP_PAGE])
		return;
	for (; count; lba += part, index += part, count -= part) {
		uint32_t from = index & (line - 1), node = lookup(cache, number, lba - from, HZ_MAP_PAGE);

		part = line - from < count ? line - from : count;
		if (node != NONE)
			shorten(cache, number, node, line_bits(from, part));
	}
	publish_oldest(cache, &cache->shard[number]);
}

void l2p_cache_forget_range(struct l2p_cache *cache, uint32_t number, uint32_t lba, uint8_t level)
{
	uint32_t index = lookup(cache, number, lba, level);

	if (index == NONE)
		return;
	remove_node(cache, number, index);
	publish_oldest(cache, &cache->shard[number]);
}

/* Mask of the node's entries in [first, end). */
static uint64_t bits_within(const struct l2p_cache *cache, const struct l2p_cached *node, uint32_t first, uint32_t end)
{
	uint32_t from = first > node->lba ? first - node->lba : 0, size = size_of(cache, node->level);
	uint32_t to = end < node->lba ? 0 : end - node->lba;

	if (to > size)
		to = size;
	return from < to ? line_bits(from, to - from) : 0;
}

void l2p_cache_drop(struct l2p_cache *cache, uint32_t number, uint32_t group, uint32_t first, uint32_t end, uint8_t below)
{
	uint32_t index = *l2p_cache_group_list(cache, number, group);

	while (index != NONE) {
		const struct l2p_cached *node = &cache->node[index];
		uint32_t after = node->after;

		if (node->group == group && node->level < below)
			shorten(cache, number, index, bits_within(cache, node, first, end));
		index = after;
	}
	publish_oldest(cache, &cache->shard[number]);
}

/* --- lending --- */

uint32_t l2p_cache_lender(const struct l2p_cache *cache, uint32_t shard, uint32_t candidate)
{
	return lt_load(&cache->shard[candidate].oldest_ns) < lt_load(&cache->shard[shard].oldest_ns) ? candidate : shard;
}

/* Neither down to a few lines nor to nothing but pins. */
static bool can_lend(const struct l2p_cache *cache, const struct l2p_cache_shard *shard)
{
	uint32_t least = L2P_CACHE_SMALLEST_SHARD / 2 * line_of(cache);

	return shard->own >= least + line_of(cache) && 4 * shard->pinned <= 3 * (shard->own - line_of(cache));
}

/* Room for one line is free, or is freed by evicting nodes unused since before_ns. */
static bool free_line(struct l2p_cache *cache, uint32_t number, uint64_t before_ns)
{
	struct l2p_cache_shard *shard = &cache->shard[number];

	while (shard->own - shard->used < line_of(cache)) {
		if (shard->oldest == NONE || cache->node[shard->oldest].used_ns >= before_ns)
			return false;
		remove_node(cache, number, shard->oldest);
	}
	return true;
}

/* A line's worth of room goes with a slot and as many nodes as could be in it. */
struct l2p_cache_loan l2p_cache_take(struct l2p_cache *cache, uint32_t number, uint64_t before_ns, uint32_t most)
{
	struct l2p_cache_shard *shard = &cache->shard[number];
	struct l2p_cache_loan loan = { NONE, NONE, 0 };

	while (loan.count + line_of(cache) <= most && can_lend(cache, shard) && free_line(cache, number, before_ns)) {
		uint32_t slot = take_free_slot(cache, shard);

		cache->place[slot] = loan.slots;
		loan.slots = slot;
		for (uint32_t i = 0; i < line_of(cache); i++) {
			uint32_t index = node_take_free(cache, shard);

			cache->node[index].chain = loan.nodes;
			loan.nodes = index;
		}
		loan.count += line_of(cache);
		shard->own -= line_of(cache);
	}
	publish_oldest(cache, shard);
	return loan;
}

void l2p_cache_give(struct l2p_cache *cache, uint32_t number, struct l2p_cache_loan loan)
{
	struct l2p_cache_shard *shard = &cache->shard[number];

	shard->own += loan.count;
	while (loan.nodes != NONE) {
		uint32_t next = cache->node[loan.nodes].chain;

		set_free(cache, shard, loan.nodes);
		loan.nodes = next;
	}
	while (loan.slots != NONE) {
		uint32_t next = cache->place[loan.slots];

		set_slot_free(cache, shard, loan.slots);
		loan.slots = next;
	}
}

/* --- construction and check --- */

/* Its share of the budget: the entries [first, first + count). */
static void shard_init(struct l2p_cache *cache, struct arena *arena, uint32_t number, uint32_t first, uint32_t count)
{
	struct l2p_cache_shard *shard = &cache->shard[number];
	size_t bytes = sizeof(*shard->bucket) << cache->bucket_bits, group_bytes = sizeof(*shard->group) << cache->group_bits;

	shard->bucket = arena_alloc(arena, 1, bytes, "mapping cache buckets");
	memset(shard->bucket, 0xff, bytes);
	shard->group = arena_alloc(arena, 1, group_bytes, "mapping cache groups");
	memset(shard->group, 0xff, group_bytes);
	shard->free = shard->free_slot = shard->newest = shard->oldest = NONE;
	shard->own = count;
	shard->fresh = shard->fresh_slot = first;
	shard->end = first + count;
	lt_preset(&shard->oldest_ns, LT_FOREVER);
}

/* A line of at most a sixteenth of the window wastes little at the window's ends; a line of a sixteenth of a shard leaves a meaningful
 * order of eviction. */
static uint32_t line_shift_for(const struct l2p_cache_choice *choice)
{
	uint32_t shift = 0;

	while ((2u << shift) <= L2P_CACHE_LONGEST_LINE && (32u << shift) <= choice->window &&
	       (choice->shards * 32) << shift <= choice->entries)
		shift++;
	return shift;
}

/* Whole lines, as even as possible; the last shard also has the remainder. */
static uint32_t share_of(const struct l2p_cache *cache, uint32_t shard)
{
	uint32_t lines = cache->entries >> cache->line_shift, share = lines / cache->shards + (shard < lines % cache->shards);

	return (share << cache->line_shift) + (shard + 1 == cache->shards ? cache->entries & (line_of(cache) - 1) : 0);
}

/* One shard may come to hold most of the budget, but of many shards no one does. */
static uint32_t usual_buckets(const struct l2p_cache_choice *choice)
{
	uint32_t of_budget = (choice->entries + 3) / 4, of_shard = 2 * choice->entries / choice->shards;

	return of_budget < of_shard ? of_budget : of_shard;
}

void l2p_cache_init(struct l2p_cache *cache, struct arena *arena, const struct l2p_cache_choice *choice)
{
	uint32_t buckets = choice->buckets ? choice->buckets : usual_buckets(choice), first = 0;

	cache->entries = choice->entries;
	cache->shards = choice->shards;
	cache->clock = choice->clock;
	cache->line_shift = line_shift_for(choice);
	while (1u << cache->bucket_bits < buckets)
		cache->bucket_bits++;
	cache->group_bits = 1;
	while (choice->shards << cache->group_bits < choice->entries / 4)
		cache->group_bits++;
	cache->node = arena_alloc(arena, choice->entries, sizeof(*cache->node), "mapping cache");
	cache->place = arena_alloc(arena, choice->entries, sizeof(*cache->place), "mapping cache");
	cache->shard = arena_alloc(arena, choice->shards, sizeof(*cache->shard), "mapping cache shards");
	for (uint32_t i = 0; i < choice->shards; i++) {
		shard_init(cache, arena, i, first, share_of(cache, i));
		first += share_of(cache, i);
	}
}

static const char *check_free(const struct l2p_cache *cache, const struct l2p_cache_shard *shard)
{
	uint32_t free = shard->end - shard->fresh, slots = (shard->end - shard->fresh_slot) >> cache->line_shift;

	if (shard->fresh > shard->end || shard->fresh_slot > shard->end)
		return "a mapping cache shard has taken more than its own";
	for (uint32_t i = shard->free; i != NONE; i = cache->node[i].chain)
		free++;
	for (uint32_t i = shard->free_slot; i != NONE; i = cache->place[i])
		slots++;
	if (free + shard->held != shard->own)
		return "a mapping cache shard has another number of nodes than its own";
	if (slots + shard->by_level[HZ_MAP_PAGE] != shard->own >> cache->line_shift)
		return "a mapping cache shard has another number of lines than its own";
	return shard->used <= shard->own ? NULL : "a mapping cache shard exceeds its budget";
}

static const char *check_shard(const struct l2p_cache *cache, const struct l2p_cache_shard *shard)
{
	uint32_t ordered = 0, hashed = 0, used = 0;

	for (uint32_t i = shard->oldest; i != NONE; i = cache->node[i].newer)
		ordered++;
	for (uint32_t b = 0; b < 1u << cache->bucket_bits; b++)
		for (uint32_t i = shard->bucket[b]; i != NONE; i = cache->node[i].chain) {
			if (!cache->node[i].valid)
				return "a node of the mapping cache has no entry";
			used += size_of(cache, cache->node[i].level);
			hashed++;
		}
	if (hashed != shard->held || used != shard->used || ordered + shard->pinned != shard->held)
		return "a mapping cache shard's lists do not hold what it counts";
	return check_free(cache, shard);
}

static uint32_t grouped_in(const struct l2p_cache *cache, uint32_t number)
{
	uint32_t grouped = 0;

	for (uint32_t g = 0; g < 1u << cache->group_bits; g++)
		for (uint32_t i = cache->shard[number].group[g]; i != NONE; i = cache->node[i].after)
			grouped++;
	return grouped;
}

const char *l2p_cache_check(const struct l2p_cache *cache)
{
	uint32_t own = 0, held = 0, grouped = 0;

	for (uint32_t s = 0; s < cache->shards; s++) {
		const char *error = check_shard(cache, &cache->shard[s]);

		if (error)
			return error;
		own += cache->shard[s].own;
		held += cache->shard[s].held;
		grouped += grouped_in(cache, s);
	}
	if (own != cache->entries)
		return "the mapping cache's shards do not add up to its budget";
	return grouped == held ? NULL : "the mapping cache's groups do not hold its nodes";
}
