/* Cache of mapping entries: hash buckets, LRU or CLOCK, pinned entries; in shards that lend each other room.
 *
 * An entry says that the sectors of its range, which begins at `lba`, lie one after another from `ppa` on; its level says how long the
 * range is. The budget is a number of entries, pinned ones included, and is never exceeded. Entries of one group (a table page) are linked, so
 * that they can be dropped without a search. Every call names a shard whose lock (class L2P) is held; a group belongs to one
 * shard. O(1) but where it says otherwise; no division. */
#ifndef FTL_L2P_CACHE_H
#define FTL_L2P_CACHE_H

#include "lt/arena.h"
#include "lt/arch.h"
#include "tsu/flash_addr.h"

#ifdef __cplusplus
extern "C" {
#endif

#define L2P_CACHE_NONE UINT32_MAX
enum { L2P_CACHE_SHARDS = 8 /* at most */, L2P_CACHE_SMALLEST_SHARD = 16 /* entries */, L2P_CACHE_LOAN = 64 /* most entries that change shards at a time */ };

struct l2p_cached {
	uint32_t lba;
	ppa_t ppa;
	uint32_t chain;               /* next in its bucket; free: next free one */
	uint32_t older, newer;        /* eviction order; pinned ones are not in it */
	uint32_t group, before, after;/* list of the group */
	uint64_t used_ns;             /* inserted, or moved to the newest end */
	uint8_t level;                /* enum hz_map_level */
	bool pinned;
	bool hit;                     /* CLOCK: since the hand came by */
};

struct l2p_cache_shard {
	uint32_t *bucket;
	uint32_t free, newest, oldest;
	uint32_t own;                 /* entries it may hold */
	uint32_t held, pinned;        /* entries it holds; pinned ones among them */
	uint32_t by_level[HZ_MAP_LEVELS];
	LT_OWN_LINE lt_word oldest_ns;/* used_ns of its oldest entry, or LT_FOREVER; a hint for other shards */
};

struct l2p_cache {
	uint32_t entries, shards, bucket_bits;
	bool clock;                   /* CLOCK, else LRU */
	struct l2p_cached *entry;
	struct l2p_cache_shard *shard;
	uint32_t *group_first;        /* by group */
};

/* What became of an insertion. */
enum l2p_cache_insertion { L2P_CACHE_ADDED, L2P_CACHE_REPLACED /* another entry left */, L2P_CACHE_PRESENT /* was there already */ };
struct l2p_cache_new {
	uint32_t lba;
	ppa_t ppa;
	uint32_t group;
	uint8_t level;
	bool pin;                     /* never evicted; in: wanted, out: granted. A quarter of a shard always stays without pins */
};

/* shards: a power of two; at most one per L2P_CACHE_SMALLEST_SHARD entries. buckets: of each shard; 0 = one per 4 entries. */
void l2p_cache_init(struct l2p_cache *cache, struct arena *arena, uint32_t entries, uint32_t shards, uint32_t buckets, uint32_t groups,
		    bool clock);
/* The entry whose range begins at lba on this level: its address, and it counts as used now; PPA_NONE: it is not there. */
ppa_t l2p_cache_find(struct l2p_cache *cache, uint32_t shard, uint32_t lba, uint8_t level, uint64_t now_ns);
enum l2p_cache_insertion l2p_cache_insert(struct l2p_cache *cache, uint32_t shard, struct l2p_cache_new *entry, uint64_t now_ns);
/* Drop the entries of a group that lie in [first, end) and are of a lower level than `below`; O(entries of the group). */
void l2p_cache_drop(struct l2p_cache *cache, uint32_t shard, uint32_t group, uint32_t first, uint32_t end, uint8_t below);

/* Drop this entry if it is there. */
void l2p_cache_forget(struct l2p_cache *cache, uint32_t shard, uint32_t lba, uint8_t level);

/* Lending, in three steps, each under at most one shard's lock: which shard, to judge by the hints, has the older entries (`shard`
 * itself: none); take room for up to `most` entries away from it while its oldest is older than before_ns (a chain, *count); give it. */
uint32_t l2p_cache_lender(const struct l2p_cache *cache, uint32_t shard, uint32_t candidate);
uint32_t l2p_cache_take(struct l2p_cache *cache, uint32_t shard, uint64_t before_ns, uint32_t most, uint32_t *count);
void l2p_cache_give(struct l2p_cache *cache, uint32_t shard, uint32_t chain, uint32_t count);

/* Harts idle: NULL, or what is wrong with lists, counts or budget. O(entries + groups). */
const char *l2p_cache_check(const struct l2p_cache *cache, uint32_t groups);

#ifdef __cplusplus
}
#endif
#endif
