/* What makes zones conventional. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "conventional/conventional.h"

#include "conventional/conv_land.h"
#include "conventional/conv_read.h"
#include "conventional/conv_space.h"
#include "lt/arena.h"

static const struct zone_kind host_kind = { .read = conv_read };
static const struct zone_kind backing_kind = {
	.land = conv_land, .landed = conv_landed, .sealed = conv_sealed, .lost = conv_lost, .dropped = conv_dropped
};

void conv_init(struct ftl *ftl, struct arena *arena)
{
	struct conventional *conv = arena_alloc(arena, 1, sizeof(*conv), "conventional zones");

	ftl->conventional = conv;
	conv->hot_age = ftl->shape.conventional_zones * ftl->shape.zone_capacity_sectors / 2;
	lt_preset(&conv->clock, conv->hot_age);
	if (!ftl->shape.backing_zones)
		return;
	lt_lock_init(&conv->lock, HZ_LC_BLOCK, 2);
	conv->backing = arena_alloc(arena, ftl->shape.backing_zones, sizeof(*conv->backing), "backing zones");
	conv->erased = arena_alloc(arena, ftl->shape.backing_zones, sizeof(*conv->erased), "erased backing zones");
	for (uint32_t i = 0; i < ftl->shape.conventional_zones; i++)
		ftl->zones[i].kind = &host_kind;
	for (uint32_t i = 0; i < ftl->shape.backing_zones; i++) {
		lt_preset(&conv->backing[i].frontier, FRONTIER_NONE);
		backing_zone(ftl, i)->kind = &backing_kind;
	}
	conv_gc_init(ftl, arena);
}
