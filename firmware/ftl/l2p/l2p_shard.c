/* Which shard of the map an extent belongs to. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_shard.h"

#include "l2p/l2p.h"

static bool by_zone(const struct l2p *l2p, uint32_t zones) { return l2p->shards == zones; }

/* One shard per zone, or a power of two. */
uint32_t l2p_shard_of(const struct ftl *ftl, const struct extent *ext)
{
	return by_zone(ftl->l2p, ftl->zone_count) ? ext->index : ext->index & (ftl->l2p->shards - 1);
}

struct lt_lock *l2p_lock_of(struct ftl *ftl, const struct extent *ext) { return &ftl->l2p->shard[l2p_shard_of(ftl, ext)]; }
