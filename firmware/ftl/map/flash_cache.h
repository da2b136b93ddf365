/* The cache of map entries: hash buckets, LRU or CLOCK eviction, pinned entries, in shards with mutual loans of room.
 *
 * Entries enter and leave in *nodes*, of two sorts:
 *   a range   one entry for a chunk or a zone: its sectors, from `lba` on, are consecutive on flash from `ppa` on
 *   a line    2^line_shift page entries, neighbours in one table page, each valid or not
 * Without prefetching a line has one entry. With it, neighbours come together, are read together and leave together, so they share a
 * hash bucket, a place in the order of eviction and a list link.
 *
 * The budget counts entries, pinned ones included, and all entries of a line, valid or not. It is never exceeded. The nodes of a group
 * (a table page) are in one list, with few others, for a drop without a search; a group belongs to one shard.
 *
 * Every call takes a shard with its lock (class L2P) held. O(1) unless stated otherwise; no division. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MAP_FLASH_CACHE_H
#define FTL_MAP_FLASH_CACHE_H

#include "lt/arch.h"
#include "lt/arena.h"
#include "nand/flash_addr.h"

#ifdef __cplusplus
extern "C" {
#endif

#define L2P_CACHE_NONE UINT32_MAX
enum {
	L2P_CACHE_SMALLEST_SHARD = 16, /* entries */
	L2P_CACHE_USUAL_SHARD = 1024,  /* entries of a shard, unless the config has a count of shards */
	L2P_CACHE_FEW_SHARDS = 8,      /* minimum of shards, also of a smaller cache */
	L2P_CACHE_LONGEST_LINE = 64,   /* entries: bits of a word */
	L2P_CACHE_LOAN = 64,           /* most entries of one loan between shards */
};

struct l2p_cached {
	uint32_t lba; /* first of the range or line */
	union {
		ppa_t ppa;
		uint32_t slot;
	};                             /* of the range; of a line: index of its first entry in l2p_cache.place */
	uint64_t valid;                /* line: bit i: the entry of lba + i is here. Never 0. Range: 1 */
	uint32_t chain;                /* next in its bucket; free: next free one */
	uint32_t older, newer;         /* eviction order; pinned ones are not in it */
	uint32_t group, before, after; /* list of the group */
	uint64_t used_ns;              /* inserted, or moved to the newest end */
	uint8_t level;                 /* enum hz_map_level; a line: HZ_MAP_PAGE */
	bool pinned;
	bool hit; /* CLOCK: since the hand came by */
};

struct l2p_cache_shard {
	uint32_t *bucket;
	uint32_t *group; /* by hash of the group: the first node of a list */
	uint32_t free, newest, oldest;
	uint32_t free_slot;              /* of a line; the slot's first word names the next one */
	uint32_t fresh, fresh_slot, end; /* own nodes and slots, up to `end`, never taken yet */
	uint32_t own;                    /* entries it may hold */
	uint32_t used, pinned;           /* entries it holds, lines counted whole; pinned ones among them */
	uint32_t held;                   /* nodes */
	uint32_t by_level[HZ_MAP_LEVELS];
	LT_OWN_LINE lt_word oldest_ns; /* used_ns of its oldest node, or LT_FOREVER; a hint for other shards */
};

struct l2p_cache {
	uint32_t entries, shards, bucket_bits, group_bits;
	uint32_t line_shift;
	bool clock; /* CLOCK, else LRU */
	struct l2p_cached *node;
	uint32_t *place; /* entries of lines, as in their table page */
	struct l2p_cache_shard *shard;
};

struct l2p_cache_choice {
	uint32_t entries; /* budget */
	uint32_t shards;  /* a power of two; at most one per L2P_CACHE_SMALLEST_SHARD entries */
	uint32_t buckets; /* of each shard; 0 = one per 4 entries of the budget, at most two per entry of the shard */
	uint32_t window;  /* prefetch window: page entries fetched together */
	bool clock;
};
void l2p_cache_init(struct l2p_cache *cache, struct arena *arena, const struct l2p_cache_choice *choice);
static inline uint32_t l2p_cache_line(const struct l2p_cache *cache) { return 1u << cache->line_shift; }
/* Most neighbouring page entries that fit into a shard together; at least 1. */
uint32_t l2p_cache_room(const struct l2p_cache *cache, uint32_t shard);

/* True if the shard has entries of that level. */
static inline bool l2p_cache_has(const struct l2p_cache *cache, uint32_t shard, uint8_t level)
{
	return cache->shard[shard].by_level[level];
}

/* --- ranges --- */
struct l2p_cache_new {
	uint32_t lba;
	ppa_t ppa;
	uint32_t group;
	uint8_t level; /* above HZ_MAP_PAGE */
	bool pin;      /* never evicted; in: wanted, out: granted. A quarter of a shard always stays without pins */
};
/* Address of the range beginning at lba on this level, now marked as used; PPA_NONE: not cached. */
ppa_t l2p_cache_find(struct l2p_cache *cache, uint32_t shard, uint32_t lba, uint8_t level, uint64_t now_ns);
/* Returns how many entries had to leave. */
uint32_t l2p_cache_insert(struct l2p_cache *cache, uint32_t shard, struct l2p_cache_new *range, uint64_t now_ns);

/* --- page entries; `index` is the entry of lba in its table page, to which lines are aligned --- */
/* Addresses of [lba, lba + count) into ppa[], at most to the end of the line: how many from the front are here. They count as used. */
uint32_t l2p_cache_find_entries(struct l2p_cache *cache, uint32_t shard, uint32_t lba, uint32_t index, uint32_t count, uint64_t now_ns,
				ppa_t *ppa);
/* One entry, with its map bits: false: it is not here. */
bool l2p_cache_find_entry(struct l2p_cache *cache, uint32_t shard, uint32_t lba, uint32_t index, uint64_t now_ns, uint32_t *entry);
/* Entries [from, from + count) of one line; those in `valid` enter. Others already cached are updated from `entry`. */
struct l2p_cache_entries {
	uint32_t lba, group; /* of the line's first entry */
	uint32_t from, count;
	const uint32_t *entry; /* the first of them in its table page, with its map bits */
	uint64_t valid;        /* bit i: entry `i` of the line; not 0 */
	uint32_t added;        /* out: how many were not there before */
};
/* Returns how many entries had to leave. O(count), a copy. */
uint32_t l2p_cache_fill(struct l2p_cache *cache, uint32_t shard, struct l2p_cache_entries *entries, uint64_t now_ns);
/* Drop cached entries of [lba, lba + count), not beyond the end of the table page. O(lines). */
void l2p_cache_forget(struct l2p_cache *cache, uint32_t shard, uint32_t lba, uint32_t index, uint32_t count);
/* Drop the entry of the range beginning there, if cached. */
void l2p_cache_forget_range(struct l2p_cache *cache, uint32_t shard, uint32_t lba, uint8_t level);

/* Drop the entries of a group in [first, end) of a level below `below`; O(nodes of its list). */
void l2p_cache_drop(struct l2p_cache *cache, uint32_t shard, uint32_t group, uint32_t first, uint32_t end, uint8_t below);

/* Lending, in three steps, each under at most one shard's lock: find the shard with the older nodes, by hints (`shard` itself: none);
 * take room for up to `most` entries from it while its oldest is older than before_ns; give it. O(most). */
struct l2p_cache_loan {
	uint32_t nodes, slots, count;
}; /* chains of free ones; entries */
uint32_t l2p_cache_lender(const struct l2p_cache *cache, uint32_t shard, uint32_t candidate);
struct l2p_cache_loan l2p_cache_take(struct l2p_cache *cache, uint32_t shard, uint64_t before_ns, uint32_t most);
void l2p_cache_give(struct l2p_cache *cache, uint32_t shard, struct l2p_cache_loan loan);

/* NULL, or the fault in lists, counts or budget. O(entries). Harts idle. */
const char *l2p_cache_check(const struct l2p_cache *cache);
/* The list with the nodes of this group, linked by `after`: the first one, or L2P_CACHE_NONE. Hashed as a bucket. */
static inline uint32_t *l2p_cache_group_list(const struct l2p_cache *cache, uint32_t shard, uint32_t group)
{
	return &cache->shard[shard].group[(uint64_t)(group * 2654435769u) >> (32 - cache->group_bits)];
}

#ifdef __cplusplus
}
#endif

#endif
