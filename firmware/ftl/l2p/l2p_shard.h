/* Shards of the map: each has a lock (class L2P), under which only class SLC may be taken. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_SHARD_H
#define FTL_L2P_SHARD_H

#include "base/extent.h"

uint32_t l2p_shard_of(const struct ftl *ftl, const struct extent *ext);
struct lt_lock *l2p_lock_of(struct ftl *ftl, const struct extent *ext);

#endif
