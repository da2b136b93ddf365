/* Mount of the map in flash: which table pages are alive, and how much of them is still true. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_MOUNT_H
#define FTL_L2P_MOUNT_H

#include "base/extent.h"

/* l2p_found, l2p_replay and l2p_mounted of the map in flash. */
void l2p_found_map_page(struct ftl *ftl, const struct hz_oob *oob, ppa_t ppa);
void l2p_drop_old_map_pages(struct ftl *ftl);
void l2p_mount_map_pages(struct ftl *ftl, const struct extent *ext);
/* Zone and shard lock held: the page that mount trusted without a look (map_page.unseen) has been read. Is it all that it was taken for? It
 * is unseen no longer. */
bool l2p_unseen_true(struct ftl *ftl, const struct extent *ext, uint32_t page, const uint32_t *entry);
/* How many entries of a copy's bytes, from its first on, say what the zone says, of at most `placed`. */
uint32_t l2p_true_entries(const struct ftl *ftl, const struct extent *ext, uint32_t first, const uint32_t *entry, uint32_t placed);

#endif
