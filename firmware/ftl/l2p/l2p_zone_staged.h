/* A map of zones, staged sectors: where those of a zone lie, by slots of a write buffer. A zone has a list of them from when something of
 * it is staged until all has come to its place, so there are lists for as many zones as may be active at a time, twice over: full ones may
 * not have come to their place yet. What is in no list is found by the reverse map of the SLC log, which is slow and rare: sectors of a
 * zone that got no list, or that can be written no more and keeps what is staged for good.
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
	uint32_t lists, words;
	ppa_t *place;      /* list * slots of a write buffer + slot; PPA_NONE: not known here */
	uint32_t *of_zone; /* its list, or ZONE_STAGED_NONE */
	lt_word *taken;    /* l2p_bits.h: lists in use */
};

void zone_staged_init(struct ftl *ftl, struct arena *arena);
/* Zone lock held for all of these. The sector lies at ppa. */
void zone_staged_put(struct ftl *ftl, const struct extent *ext, uint32_t offset, ppa_t ppa);
/* Where it lies; L2P_UNMAPPED: it is lost. */
uint32_t zone_staged_at(struct ftl *ftl, const struct extent *ext, uint32_t offset);
/* The zone needs no list any more. */
void zone_staged_give(struct ftl *ftl, const struct extent *ext);
/* Harts idle: NULL, or what is wrong with the zone's list; with zone NULL: with all of them. */
const char *zone_staged_check(const struct ftl *ftl, const struct extent *ext);

#endif
