/* Staged sectors in the map on flash: an entry is looked up in the cache, then among the runs (l2p_runs.h), then fetched with its table
 * page. The functions of l2p.h for them, and what log and mount need. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_STAGED_H
#define FTL_L2P_STAGED_H

#include "l2p/l2p.h"

uint32_t l2p_cached_staged_read(struct ftl_worker *self, struct ftl_request *req, const struct extent *ext, uint32_t offset, uint32_t count,
				ppa_t *ppa);
uint32_t l2p_cached_staged_peek(struct ftl *ftl, const struct extent *ext, uint32_t offset);
void l2p_cached_stage_run(struct ftl_worker *self, const struct extent *ext, uint32_t offset, uint32_t count, ppa_t ppa);
void l2p_cached_unstage_run(struct ftl_worker *self, const struct extent *ext, uint32_t offset, uint32_t count);

/* Mount: what of the staged sectors does not lie where the page's image says becomes news. True: some do lie there. image NULL: there is
 * none. */
bool l2p_staged_mounted(struct ftl *ftl, const struct extent *ext, uint32_t page, const uint32_t *image);

/* --- shard lock held --- */
/* What the page's copy says of staged sectors is not to be believed: the next pass of the log rebuilds it. */
void l2p_staged_lost(struct ftl *ftl, const struct extent *ext, uint32_t page);
/* Has the page news of staged sectors? */
bool l2p_staged_news(const struct ftl *ftl, const struct extent *ext, uint32_t page);
/* The image that was written says so: its runs go. */
void l2p_staged_drop(struct ftl *ftl, const struct extent *ext, const struct log_item *item);

/* --- for the pass of the log, no lock held --- */
/* Bring what lies in SLC into the item's image. */
void l2p_staged_merge(struct ftl_worker *self, struct log_item *item);

#endif
