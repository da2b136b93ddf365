/* Changed zones: which zones of the namespace the device itself has changed (to READ ONLY), until the host has been told. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_ZONE_CHANGES_H
#define FTL_ZONE_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "lt/arch.h"

struct arena;
struct ftl;
struct zone;

struct zone_changes {
	lt_word *map; /* bit = zone of the namespace */
};

void zone_changes_init(struct ftl *ftl, struct arena *arena);
/* The device has changed the zone's state. Any hart, any lock. Backing zones are no host's: no effect. */
void zone_changed(struct zone *zone);
/* ftl_changed_zones. Any hart, no lock. */
uint32_t zone_changes_take(struct ftl *ftl, uint64_t *start, uint32_t most, bool take);

#endif
