/* Staged sectors of zones of which the map has no entries for single sectors: of all where it is a map of zones; of backing zones, whose
 * sectors are places and no addresses. They lie where a list says, by slots of a write buffer. A zone has a list from when something of it
 * is staged until all has come to its place, so there are lists for as many zones as may be active at a time, twice over: full ones may
 * not have come to their place yet, and a power cut may leave backing zones that no stream goes on with. What is in no list is found by
 * the reverse map of the SLC log, which is slow and rare: sectors of a zone that got no list, or that can be written no more and keeps what
 * is staged for good.
 *
 * A list is protected by its zone's lock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_ZONE_STAGED_H
#define FTL_L2P_ZONE_STAGED_H

#include "base/extent.h"
#include "lt/arch.h"

struct arena;

#define ZONE_STAGED_NONE UINT32_MAX

struct zone_staged {
	uint32_t first, zones; /* those that may have lists: so many from this one on */
	uint32_t lists, words;
	ppa_t *place;      /* list * slots of a write buffer + slot; PPA_NONE: not known here */
	uint32_t *of_zone; /* by number - first: its list, or ZONE_STAGED_NONE */
	lt_word *taken;    /* l2p_bits.h: lists in use */
};

void zone_staged_init(struct ftl *ftl, struct arena *arena);
/* Zone lock held for all of these. [offset, offset + count) lie from ppa on. */
void zone_staged_put(struct ftl *ftl, const struct extent *ext, uint32_t offset, uint32_t count, ppa_t ppa);
/* Where it lies; L2P_UNMAPPED: it is lost. */
uint32_t zone_staged_at(struct ftl *ftl, const struct extent *ext, uint32_t offset);
/* … of several. */
void zone_staged_read(struct ftl *ftl, const struct extent *ext, uint32_t offset, uint32_t count, uint32_t *ppa);
/* The zone needs no list any more. */
void zone_staged_give(struct ftl *ftl, const struct extent *ext);
/* … if [0, placed), which has come to its place, is all that was staged. */
void zone_staged_placed(struct ftl *ftl, const struct extent *ext, uint32_t placed);
/* l2p_mounted. */
void zone_staged_mounted(struct ftl *ftl, const struct extent *ext);
/* Harts idle: NULL, or what is wrong with the zone's list; with zone NULL: with all of them. */
const char *zone_staged_check(const struct ftl *ftl, const struct extent *ext);

#endif
