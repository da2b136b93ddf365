/* The map as a table of zones (the zone mapping table of ZUFS, FAST 2026, 4.1): 8 bytes for each, all of it in RAM, so that no read misses.
 *
 * An entry is where the zone begins on flash, and how many of its sectors are there. The rest of a zone's contents, up to the write pointer,
 * is in SLC or in a write buffer. Such a map has no entries of single sectors, so where staged ones lie is in lists
 * (l2p_zone_staged.h). A zone that moves is read at its old place until all of it is at the new one.
 *
 * Zones lie in one piece: not with patches, nor with conventional zones, whose sectors lie anywhere. An entry is read under its
 * zone's lock; it changes through the zone mapping log (l2p_zone_log.h). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_ZONE_H
#define FTL_L2P_ZONE_H

#include "l2p/l2p.h"

extern const struct l2p_ops l2p_zone;

#endif
