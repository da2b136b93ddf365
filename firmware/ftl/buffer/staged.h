/* Staged sectors: where those of a zone lie that are in SLC and not yet in its superblock.
 *
 * The map says it (l2p.h), like of any sector. Beside it extent.staged_ppa has, by slot of the write buffer and as long as the zone has
 * one, the addresses that are at hand: of sectors that were staged since, or have been looked up to be folded; PPA_NONE elsewhere. Those
 * that were staged before, [placed, staged_before), are looked up when they are wanted.
 *
 * All of it is protected by the zone's lock. A reader pins the SLC superblock before it lets that go, and the collector moves a sector
 * under it, so a pinned address stays readable. What the reverse map (slc.tag) says of a zone's sectors is exact under its lock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_STAGED_H
#define FTL_STAGED_H

#include "base/extent.h"
#include "slc/slc.h"

struct arena;

/* Once the SLC log and all extents are there. */
void staged_init(struct ftl *ftl, struct arena *arena);
/* All with the zone's lock held unless said otherwise; offsets in sectors, in [placed, landed). */

/* Does the sector, if it is not in the ring, lie in SLC, where the map finds it? Else it is in a register, or lost. */
bool staged_has(const struct extent *ext, uint32_t offset);
/* Addresses of [offset, offset + count), up to the first that is not at hand; returns how many. Each is pinned (slc_unpin each of them
 * later). */
uint32_t staged_read(struct ftl *ftl, const struct extent *ext, uint32_t offset, uint32_t count, ppa_t *ppa);
/* The copies [offset, offset + count) at consecutive addresses from ppa on are on flash: they become valid. */
void staged_put(struct ftl *ftl, struct extent *ext, uint32_t offset, uint32_t count, ppa_t ppa);
/* … and these were looked up. */
void staged_found(struct extent *ext, uint32_t offset, uint32_t count, const ppa_t *ppa);
/* The map learns those of [from, to) that are at hand. */
void staged_map(struct ftl_worker *self, struct extent *ext, uint32_t from, uint32_t to);
/* Forget the copies of [offset, offset + count) that are at hand; they become invalid. */
void staged_drop(struct ftl_worker *self, struct extent *ext, uint32_t offset, uint32_t count);
/* The zone has failed and nothing is under way: keep the copies that continue [0, placed), which stay readable. */
void staged_keep_prefix(struct ftl_worker *self, struct extent *ext);
/* The zone gets a buffer, with a list of its own; gives it back. */
void staged_bind(struct extent *ext, ppa_t *list);
void staged_unbind(struct extent *ext);

/* Mount: lists of candidates for the sectors in [placed, placed + slots of a buffer), for some zones at a time. */
struct staged_lists {
	uint32_t count, used;
	ppa_t *place;
};
void staged_lists_init(const struct ftl *ftl, struct arena *arena, struct staged_lists *lists);
/* Has the zone a list, by which it is at hand where its sectors lie, or can it have one? */
bool staged_list(struct staged_lists *lists, struct extent *ext);
/* The candidate for a sector of a zone with a list; PPA_NONE: there is none. */
static inline ppa_t *staged_candidate(struct extent *ext, uint32_t offset) { return &ext->staged_ppa[offset % ext->ftl->ring_sectors]; }
/* All zones lose theirs. */
void staged_lists_return(struct ftl *ftl, struct staged_lists *lists);

/* Harts idle: where a sector is on flash, at its place or staged; PPA_NONE: nowhere. */
ppa_t extent_where(const struct extent *ext, uint32_t offset);

#endif
