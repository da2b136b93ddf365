/* On capacitors: what is protected in the write buffers comes to flash (selective power-loss protection, Yang et al. 2022, 4.5).
 *
 * Balanced: every sector goes, with its address in its OOB record, to the die that is free first, into SLC superblocks kept for it. Mount
 * finds it there like any staged sector, and the zone is brought to its place as soon as the harts run (extent.program_to). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_KEEP_H
#define FTL_KEEP_H

#include "base/context.h"

struct arena;

/* After buffers and SLC log. */
void keep_init(struct ftl *ftl, struct arena *arena);

#endif
