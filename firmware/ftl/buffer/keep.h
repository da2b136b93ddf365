/* On capacitors: what is protected in the write buffers comes to flash (selective power-loss protection, Yang et al. 2022, 4.5).
 *
 * Balanced: every sector goes, with its address in its OOB record, to the die that is free first, into SLC superblocks kept for it. Mount
 * finds it there like any staged sector, and the zone is brought to its place as soon as the harts run (extent.program_to). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_KEEP_H
#define FTL_KEEP_H

#include "base/context.h"

struct arena;
struct extent;

/* After buffers and SLC log. */
void keep_init(struct ftl *ftl, struct arena *arena);
/* Mount, after a run that was killed: sectors [at, at + count) of the zone, no more than a program of the SLC log, lie at these places of
 * the memory that capacitors keep alive (nand.h, kept), and are programmed now as they would have been then, in no time. Where they are;
 * PPA_NONE: there is no room. */
ppa_t keep_belated(struct ftl *ftl, const struct extent *ext, uint32_t at, uint32_t count, const uint32_t *place);

#endif
