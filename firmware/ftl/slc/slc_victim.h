/* Which SLC superblock the collector takes next, and what each is worth to it. SLC lock held. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_SLC_VICTIM_H
#define FTL_SLC_VICTIM_H

#include "slc/slc.h"

void slc_victim_init(struct ftl *ftl);
/* After every change of a superblock's state, validity, programs in flight or flags: O(1). */
void slc_appraise(struct slc *slc, struct slc_block *block);
uint8_t slc_worth_of(const struct slc *slc, const struct slc_block *block);
uint32_t slc_victim(struct ftl *ftl); /* SLC_NONE: nothing need or can be collected */

#endif
