/* Cache of mapping entries. */
#include "l2p_cache.h"

#include <string.h>

#define NONE L2P_CACHE_NONE

/* Multiplicative hashing (Knuth, TAOCP 6.4): the top bits of a product with 2^32 / golden ratio. */
static uint32_t *bucket_of(const struct l2p_cache *cache, uint32_t shard, uint32_t lba, uint8_t level)
{
	uint32_t hash = (lba + ((uint32_t)level << 30)) * 2654435769u;

	return &cache->shard[shard].bucket[(uint64_t)hash >> (32 - cache->bucket_bits)];
}

static uint32_t lookup(const struct l2p_cache *cache, uint32_t shard, uint32_t lba, uint8_t level)
{
	uint32_t index = *bucket_of(cache, shard, lba, level);

	while (index != NONE && (cache->entry[index].lba != lba || cache->entry[index].level != level))
		index = cache->entry[index].chain;
	return index;
}

/* --- eviction order --- */

static void order_remove(struct l2p_cache *cache, struct l2p_cache_shard *shard, uint32_t index)
{
	struct l2p_cached *entry = &cache->entry[index];

	*(entry->older != NONE ? &cache->entry[entry->older].newer : &shard->oldest) = entry->newer;
	*(entry->newer != NONE ? &cache->entry[entry->newer].older : &shard->newest) = entry->older;
}

static void order_newest(struct l2p_cache *cache, struct l2p_cache_shard *shard, uint32_t index, uint64_t now_ns)
{
	struct l2p_cached *entry = &cache->entry[index];

	entry->used_ns = now_ns;
	entry->newer = NONE;
	entry->older = shard->newest;
	*(shard->newest != NONE ? &cache->entry[shard->newest].newer : &shard->oldest) = index;
	shard->newest = index;
}

static void touch(struct l2p_cache *cache, struct l2p_cache_shard *shard, uint32_t index, uint64_t now_ns)
{
	struct l2p_cached *entry = &cache->entry[index];

	if (entry->pinned)
		return;
	entry->hit = true;
	if (cache->clock || shard->newest == index)
		return;
	order_remove(cache, shard, index);
	order_newest(cache, shard, index, now_ns);
}

/* CLOCK: what was hit since the hand came by gets another round. Ends: each turn clears a mark. */
static uint32_t next_victim(struct l2p_cache *cache, struct l2p_cache_shard *shard, uint64_t now_ns)
{
	while (cache->clock && cache->entry[shard->oldest].hit) {
		uint32_t index = shard->oldest;

		cache->entry[index].hit = false;
		order_remove(cache, shard, index);
		order_newest(cache, shard, index, now_ns);
	}
	return shard->oldest;
}

static void publish_oldest(struct l2p_cache *cache, struct l2p_cache_shard *shard)
{
	if (cache->shards > 1)
		lt_store(&shard->oldest_ns, shard->oldest == NONE ? LT_FOREVER : cache->entry[shard->oldest].used_ns);
}

/* --- groups --- */

static void group_add(struct l2p_cache *cache, uint32_t index)
{
	struct l2p_cached *entry = &cache->entry[index];
	uint32_t *first = &cache->group_first[entry->group];

	entry->before = NONE;
	entry->after = *first;
	if (*first != NONE)
		cache->entry[*first].before = index;
	*first = index;
}

static void group_remove(struct l2p_cache *cache, uint32_t index)
{
	struct l2p_cached *entry = &cache->entry[index];

	*(entry->before != NONE ? &cache->entry[entry->before].after : &cache->group_first[entry->group]) = entry->after;
	if (entry->after != NONE)
		cache->entry[entry->after].before = entry->before;
}

/* --- entries --- */

/* Out of every list but the free one, which the caller chooses. */
static void detach(struct l2p_cache *cache, uint32_t number, uint32_t index)
{
	struct l2p_cache_shard *shard = &cache->shard[number];
	struct l2p_cached *entry = &cache->entry[index];
	uint32_t *link = bucket_of(cache, number, entry->lba, entry->level);

	while (*link != index)
		link = &cache->entry[*link].chain;
	*link = entry->chain;
	group_remove(cache, index);
	if (entry->pinned)
		shard->pinned--;
	else
		order_remove(cache, shard, index);
	shard->held--;
	shard->by_level[entry->level]--;
}

static void set_free(struct l2p_cache *cache, struct l2p_cache_shard *shard, uint32_t index)
{
	cache->entry[index].chain = shard->free;
	shard->free = index;
}

static bool may_pin(const struct l2p_cache_shard *shard)
{
	return shard->pinned + 1 + (shard->own + 3) / 4 <= shard->own;
}

/* An entry that is present: pinned from now on, if that is wanted and allowed. */
static void refresh(struct l2p_cache *cache, struct l2p_cache_shard *shard, uint32_t index, struct l2p_cache_new *new_entry, uint64_t now_ns)
{
	struct l2p_cached *entry = &cache->entry[index];

	entry->ppa = new_entry->ppa;
	touch(cache, shard, index, now_ns);
	new_entry->pin = new_entry->pin && (entry->pinned || may_pin(shard));
	if (new_entry->pin && !entry->pinned) {
		order_remove(cache, shard, index);
		entry->pinned = true;
		shard->pinned++;
	}
}

ppa_t l2p_cache_find(struct l2p_cache *cache, uint32_t shard, uint32_t lba, uint8_t level, uint64_t now_ns)
{
	uint32_t index;

	if (!cache->shard[shard].by_level[level])
		return PPA_NONE;
	index = lookup(cache, shard, lba, level);
	if (index == NONE)
		return PPA_NONE;
	touch(cache, &cache->shard[shard], index, now_ns);
	return cache->entry[index].ppa;
}

static void attach(struct l2p_cache *cache, uint32_t number, uint32_t index, const struct l2p_cache_new *new_entry, uint64_t now_ns)
{
	struct l2p_cache_shard *shard = &cache->shard[number];
	uint32_t *bucket = bucket_of(cache, number, new_entry->lba, new_entry->level);
	struct l2p_cached *entry = &cache->entry[index];

	*entry = (struct l2p_cached){ .lba = new_entry->lba, .ppa = new_entry->ppa, .chain = *bucket, .group = new_entry->group,
				      .level = new_entry->level, .pinned = new_entry->pin };
	*bucket = index;
	group_add(cache, index);
	if (entry->pinned)
		shard->pinned++;
	else
		order_newest(cache, shard, index, now_ns);
	shard->held++;
	shard->by_level[entry->level]++;
}

enum l2p_cache_insertion l2p_cache_insert(struct l2p_cache *cache, uint32_t number, struct l2p_cache_new *entry, uint64_t now_ns)
{
	struct l2p_cache_shard *shard = &cache->shard[number];
	enum l2p_cache_insertion insertion = L2P_CACHE_ADDED;
	uint32_t index = lookup(cache, number, entry->lba, entry->level);

	if (index != NONE) {
		refresh(cache, shard, index, entry, now_ns);
		return L2P_CACHE_PRESENT;
	}
	if (shard->free == NONE) {
		uint32_t victim = next_victim(cache, shard, now_ns);

		detach(cache, number, victim);
		set_free(cache, shard, victim);
		insertion = L2P_CACHE_REPLACED;
	}
	index = shard->free;
	shard->free = cache->entry[index].chain;
	entry->pin = entry->pin && may_pin(shard);
	attach(cache, number, index, entry, now_ns);
	if (insertion == L2P_CACHE_REPLACED || shard->held == 1)
		publish_oldest(cache, shard);
	return insertion;
}

void l2p_cache_drop(struct l2p_cache *cache, uint32_t number, uint32_t group, uint32_t first, uint32_t end, uint8_t below)
{
	struct l2p_cache_shard *shard = &cache->shard[number];
	uint32_t index = cache->group_first[group];

	while (index != NONE) {
		const struct l2p_cached *entry = &cache->entry[index];
		uint32_t after = entry->after;

		if (entry->level < below && entry->lba >= first && entry->lba < end) {
			detach(cache, number, index);
			set_free(cache, shard, index);
		}
		index = after;
	}
	publish_oldest(cache, shard);
}

void l2p_cache_forget(struct l2p_cache *cache, uint32_t number, uint32_t lba, uint8_t level)
{
	uint32_t index = cache->shard[number].by_level[level] ? lookup(cache, number, lba, level) : NONE;

	if (index == NONE)
		return;
	detach(cache, number, index);
	set_free(cache, &cache->shard[number], index);
	publish_oldest(cache, &cache->shard[number]);
}

/* --- lending --- */

uint32_t l2p_cache_lender(const struct l2p_cache *cache, uint32_t shard, uint32_t candidate)
{
	return lt_load(&cache->shard[candidate].oldest_ns) < lt_load(&cache->shard[shard].oldest_ns) ? candidate : shard;
}

/* Neither down to nothing nor to nothing but pins. */
static bool can_lend(const struct l2p_cache_shard *shard)
{
	return shard->own > L2P_CACHE_SMALLEST_SHARD / 2 && 4 * shard->pinned <= 3 * (shard->own - 1);
}

uint32_t l2p_cache_take(struct l2p_cache *cache, uint32_t number, uint64_t before_ns, uint32_t most, uint32_t *count)
{
	struct l2p_cache_shard *shard = &cache->shard[number];
	uint32_t chain = NONE;

	for (*count = 0; *count < most && can_lend(shard); ++*count) {
		uint32_t index = shard->free;

		if (index != NONE) {
			shard->free = cache->entry[index].chain;
		} else {
			if (shard->oldest == NONE || cache->entry[shard->oldest].used_ns >= before_ns)
				break;
			index = shard->oldest;
			detach(cache, number, index);
		}
		cache->entry[index].chain = chain;
		chain = index;
		shard->own--;
	}
	publish_oldest(cache, shard);
	return chain;
}

void l2p_cache_give(struct l2p_cache *cache, uint32_t number, uint32_t chain, uint32_t count)
{
	struct l2p_cache_shard *shard = &cache->shard[number];

	shard->own += count;
	while (chain != NONE) {
		uint32_t next = cache->entry[chain].chain;

		set_free(cache, shard, chain);
		chain = next;
	}
}

/* --- construction and check --- */

static void shard_init(struct l2p_cache *cache, struct arena *arena, uint32_t number, uint32_t first, uint32_t count)
{
	struct l2p_cache_shard *shard = &cache->shard[number];
	size_t bytes = sizeof(*shard->bucket) << cache->bucket_bits;

	shard->bucket = arena_alloc(arena, 1, bytes, "mapping cache buckets");
	memset(shard->bucket, 0xff, bytes);
	shard->free = shard->newest = shard->oldest = NONE;
	shard->own = count;
	for (uint32_t i = 0; i < count; i++)
		set_free(cache, shard, first + i);
	lt_preset(&shard->oldest_ns, LT_FOREVER);
}

void l2p_cache_init(struct l2p_cache *cache, struct arena *arena, uint32_t entries, uint32_t shards, uint32_t buckets, uint32_t groups,
		    bool clock)
{
	uint32_t first = 0;

	cache->entries = entries;
	cache->shards = shards;
	cache->clock = clock;
	if (!buckets)
		buckets = (entries + 3) / 4;
	while (1u << cache->bucket_bits < buckets)
		cache->bucket_bits++;
	cache->entry = arena_alloc(arena, entries, sizeof(*cache->entry), "mapping cache");
	cache->shard = arena_alloc(arena, shards, sizeof(*cache->shard), "mapping cache shards");
	cache->group_first = arena_alloc(arena, groups, sizeof(*cache->group_first), "mapping cache groups");
	memset(cache->group_first, 0xff, groups * sizeof(*cache->group_first));
	for (uint32_t i = 0; i < shards; i++) {
		uint32_t count = entries / shards + (i < entries % shards);

		shard_init(cache, arena, i, first, count);
		first += count;
	}
}

static const char *check_shard(const struct l2p_cache *cache, const struct l2p_cache_shard *shard)
{
	uint32_t free = 0, ordered = 0, hashed = 0;

	for (uint32_t i = shard->free; i != NONE; i = cache->entry[i].chain)
		free++;
	for (uint32_t i = shard->oldest; i != NONE; i = cache->entry[i].newer)
		ordered++;
	for (uint32_t b = 0; b < 1u << cache->bucket_bits; b++)
		for (uint32_t i = shard->bucket[b]; i != NONE; i = cache->entry[i].chain)
			hashed++;
	if (hashed != shard->held || ordered + shard->pinned != shard->held)
		return "a mapping cache shard's lists do not hold what it counts";
	return free + shard->held == shard->own ? NULL : "a mapping cache shard has another number of entries than its own";
}

const char *l2p_cache_check(const struct l2p_cache *cache, uint32_t groups)
{
	uint32_t own = 0, held = 0, grouped = 0;

	for (uint32_t s = 0; s < cache->shards; s++) {
		const char *error = check_shard(cache, &cache->shard[s]);

		if (error)
			return error;
		own += cache->shard[s].own;
		held += cache->shard[s].held;
	}
	for (uint32_t g = 0; g < groups; g++)
		for (uint32_t i = cache->group_first[g]; i != NONE; i = cache->entry[i].after)
			grouped++;
	if (own != cache->entries)
		return "the mapping cache's shards do not add up to its budget";
	return grouped == held ? NULL : "the mapping cache's groups do not hold its entries";
}
