/* The map as table pages in flash, behind a log of changes and a cache. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_CACHED_H
#define FTL_L2P_CACHED_H

#include "l2p/l2p.h"

extern const struct l2p_ops l2p_cached;

#endif
