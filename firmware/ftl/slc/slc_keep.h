/* SLC superblocks that are kept erased for a loss of power, and their places, which are handed out on capacitors: whichever die is free
 * first is next. Nothing of the log is running any more then. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_SLC_KEEP_H
#define FTL_SLC_KEEP_H

#include "slc/slc.h"

/* Are they there? Any hart, no lock. After a loss of power not before the log's collector has made room again. */
bool slc_keeps(const struct ftl *ftl);

/* On capacitors: before the first place. */
void slc_keep_begin(struct ftl *ftl);
/* The next one, or PPA_NONE: there is none left. */
ppa_t slc_keep_place(struct ftl *ftl);
/* A start that ends what a killed run had to do on its capacitors: places that take no erased superblock as long as others have room, and
 * the end of it. The block table says what is programmed. */
void slc_belated_begin(struct ftl *ftl);
ppa_t slc_belated_place(struct ftl *ftl);
void slc_belated_end(struct ftl *ftl);
/* A program there failed: its block is used no more. */
void slc_keep_failed(struct ftl *ftl, ppa_t ppa);

#endif
