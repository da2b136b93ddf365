/* Staged sectors: sectors of a zone in SLC and not yet in its superblock.
 *
 * The map has their addresses (l2p.h), as of any sector. While the zone has a write buffer, zone.staged_ppa also has the known
 * addresses by slot: of sectors staged since, or looked up for a fold; PPA_NONE elsewhere. Addresses of sectors staged before, [placed,
 * staged_before), are looked up when needed.
 *
 * All of it is protected by the zone's lock. A reader pins the SLC superblock before it lets that go, and the collector moves a sector
 * under it, so a pinned address stays readable. The reverse map (slc.tag) of a zone's sectors is exact under the zone's lock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_STAGED_H
#define FTL_STAGED_H

#include "base/zone.h"
#include "slc/slc.h"

struct arena;

/* Once the SLC log and all zones are there. */
void staged_init(struct ftl *ftl, struct arena *arena);
/* All with the zone's lock held unless said otherwise; offsets in sectors, in [placed, landed). */

/* True if a sector outside the ring is in SLC, with its address in the map. Else it is in a register, or lost. */
bool staged_has(const struct zone *zone, uint32_t offset);
/* Addresses of [offset, offset + count), up to the first unknown one; returns how many. Each is pinned (slc_unpin each of them later). */
uint32_t staged_read(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t *ppa);
/* The copies [offset, offset + count) at consecutive addresses from ppa on are on flash: they become valid. */
void staged_put(struct ftl *ftl, struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa);
/* … and these were looked up. */
void staged_found(struct zone *zone, uint32_t offset, uint32_t count, const ppa_t *ppa);
/* Enter the known addresses of [from, to) into the map. */
void staged_map(struct ftl_worker *self, struct zone *zone, uint32_t from, uint32_t to);
/* Forget the known copies of [offset, offset + count) and invalidate them. */
void staged_drop(struct ftl_worker *self, struct zone *zone, uint32_t offset, uint32_t count);
/* The zone has failed and is quiet: keep the copies that continue [0, placed) readable. */
void staged_keep_prefix(struct ftl_worker *self, struct zone *zone);
/* The zone gets a buffer, with a list of its own; gives it back. */
void staged_bind(struct zone *zone, ppa_t *list);
void staged_unbind(struct zone *zone);

/* Mount: lists of candidates for the sectors in [placed, placed + slots of a buffer), for some zones at a time. */
struct staged_lists {
	uint32_t count, used;
	ppa_t *place;
};
void staged_lists_init(const struct ftl *ftl, struct arena *arena, struct staged_lists *lists);
/* True if the zone has, or gets, a list of addresses by slot. */
bool staged_list(struct staged_lists *lists, struct zone *zone);
/* The candidate for a sector of a zone with a list; PPA_NONE: there is none. */
static inline ppa_t *staged_candidate(struct zone *zone, uint32_t offset) { return &zone->staged_ppa[offset % zone->ftl->ring_sectors]; }
/* All zones lose theirs. */
void staged_lists_return(struct ftl *ftl, struct staged_lists *lists);

/* Flash address of a sector, final or staged; PPA_NONE: none. Harts idle. */
ppa_t zone_where(const struct zone *zone, uint32_t offset);

#endif
