/* Which shard of the map an extent belongs to. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_shard.h"

#include "l2p/l2p.h"

static bool by_zone(const struct l2p *l2p, uint32_t zones) { return l2p->shards == zones; }

/* Knuth, TAOCP 3, 6.4: multiplying by 2^32 times the golden ratio spreads zones that lie regularly apart, as those of different host
 * threads do; the highest bits of the product are the best. */
static uint32_t spread(uint32_t zone, uint32_t shards) { return (uint32_t)((uint64_t)(zone * 0x9e3779b1u) * shards >> 32); }

/* One shard per zone, or a few. */
uint32_t l2p_shard_of(const struct ftl *ftl, const struct extent *ext)
{
	return by_zone(ftl->l2p, ftl->zone_count) ? ext->index : spread(ext->index, ftl->l2p->shards);
}

struct lt_lock *l2p_lock_of(struct ftl *ftl, const struct extent *ext) { return &ftl->l2p->shard[l2p_shard_of(ftl, ext)]; }
