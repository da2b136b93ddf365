/* Shards of the map: each has a lock (class L2P), under which only class SLC may be taken. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_SHARD_H
#define FTL_L2P_SHARD_H

#include "base/extent.h"

/* So many: each extent learns its own (extent.map_shard). */
void l2p_shards_deal(struct ftl *ftl, uint32_t shards);

#endif
