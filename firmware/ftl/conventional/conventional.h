/* Conventional zones, and the whole of a block namespace: sectors that are mapped one by one to places (places/places.h) in backing zones.
 *
 * * Backing zones are zones (zone/zone.h) beyond the namespace: written by appending through the zone write path, erased by the zone reset
 * path, but outside the budget, the report and the host's reach. Three streams fill them: host writes that look hot, host writes that look
 * cold, and the collector's copies. Those of the host have several write frontiers, in a zone each, if writes shall not meet at one zone's
 * lock (conv_space.h). Writing: conv_write.c; landing: conv_land.c; reading: conv_read.c; collecting: conv_gc.c; mount: conv_mount.c. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CONVENTIONAL_H
#define FTL_CONVENTIONAL_H

#include "base/context.h"

struct arena;

/* At construction, once zones and places are there. */
void conv_init(struct ftl *ftl, struct arena *arena);

#endif
