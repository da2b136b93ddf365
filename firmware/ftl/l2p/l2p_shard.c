/* Which shard of the map an extent belongs to. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_shard.h"

#include "l2p/l2p.h"

/* Knuth, TAOCP 3, 6.4: multiplying by 2^32 times the golden ratio spreads zones that lie regularly apart, as those of different host
 * threads do; the highest bits of the product are the best. */
static uint32_t spread(uint32_t zone, uint32_t shards) { return (uint32_t)((uint64_t)(zone * 0x9e3779b1u) * shards >> 32); }

/* One shard per zone, or a few. */
void l2p_shards_deal(struct ftl *ftl, uint32_t shards)
{
	for (uint32_t z = 0; z < ftl->all_zones; z++)
		ftl->extent[z]->map_shard = shards == ftl->zone_count ? z : spread(z, shards);
}
