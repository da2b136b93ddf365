/* The map as a table in RAM that mount rebuilds. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_FLAT_H
#define FTL_L2P_FLAT_H

#include "l2p/l2p.h"

extern const struct l2p_ops l2p_flat;

#endif
