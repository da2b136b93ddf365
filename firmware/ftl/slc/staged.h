/* Staged list: where the sectors of a zone lie that are in SLC and not yet in its superblock.
 *
 * One SLC address per slot of a write buffer, by slot of the sector, so at most a superpage from `placed` on; PPA_NONE elsewhere. In RAM,
 * rebuilt at mount, protected by the zone's lock; the map (l2p.h) knows nothing of SLC. A reader pins the SLC superblock before it
 * lets the zone's lock go, and the collector moves a sector under that lock, so a pinned address stays readable. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_STAGED_H
#define FTL_STAGED_H

#include "base/extent.h"
#include "slc/slc.h"

struct arena;

/* Once the SLC log and all extents are there. */
void staged_init(struct ftl *ftl, struct arena *arena);
/* All with the zone's lock held unless said otherwise; offsets in sectors, in [placed, landed). */

/* Address of the sector's copy, or PPA_NONE. */
ppa_t staged_at(const struct extent *ext, uint32_t offset);
/* Addresses of [offset, offset + count), up to the first sector that has no copy; returns how many. Each is pinned (slc_unpin each of
 * them later). */
uint32_t staged_read(struct ftl *ftl, const struct extent *ext, uint32_t offset, uint32_t count, ppa_t *ppa);
/* The copies [offset, offset + count) at consecutive addresses from ppa on are on flash: they become valid. */
void staged_put(struct ftl *ftl, struct extent *ext, uint32_t offset, uint32_t count, ppa_t ppa);
/* Forget the copies of [offset, offset + count), as many as there are; they become invalid. */
void staged_drop(struct ftl_worker *self, struct extent *ext, uint32_t offset, uint32_t count);
/* The zone has failed and nothing is under way: keep the copies that continue [0, placed), which stay readable. */
void staged_keep_prefix(struct ftl_worker *self, struct extent *ext);
/* Mount: the candidate for a sector in [placed, placed + superpage); PPA_NONE clears it. */
ppa_t *staged_candidate(struct extent *ext, uint32_t offset);

/* Where a sector is on flash, at its place or staged; PPA_NONE: nowhere. Lock held, or harts idle. */
static inline ppa_t extent_where(const struct extent *ext, uint32_t offset)
{
	if (offset < ext->placed)
		return extent_place(ext, offset);
	return offset < ext->landed ? staged_at(ext, offset) : PPA_NONE;
}

#endif
