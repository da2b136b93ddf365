/* Check of the map in flash. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_CHECK_H
#define FTL_L2P_CHECK_H

#include "base/extent.h"

/* l2p_check of the map in flash. */
const char *l2p_cached_check(struct ftl *ftl, const struct extent *ext);

#endif
