/* Choice of the backing zone that is collected. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "conventional/conv_victim.h"

#include "block/superblock.h"
#include "gc/victim.h"

/* Copies that the collector's stream can take without a zone being erased first. */
static uint64_t room_for_copies(struct ftl *ftl)
{
	struct conventional *conv = ftl->conventional;
	uint32_t frontier = frontier_first(ftl->cfg, STREAM_COLLECT);
	uint64_t current = lt_load(&conv->current[frontier]), left = 0;
	struct lt_lock_node node;

	if (current) {
		struct extent *ext = &backing_zone(ftl, (uint32_t)current - 1)->ext;

		lt_lock_acquire(&ext->lock, &node);
		if (lt_load(&backing_of(ext)->frontier) == frontier)
			left = ftl->backing_capacity - ext->wp;
		lt_lock_release(&ext->lock, &node);
	}
	return left + lt_load(&conv->free) * ftl->backing_capacity;
}

/* Of equals the older one: where a map reports late what is dead, all may seem full, and each must have its turn. */
static struct gc_candidate conv_candidate(const struct ftl *ftl, uint32_t number)
{
	const struct backing *info = &ftl->conventional->backing[number];
	uint64_t filled = lt_load(&info->filled);

	return (struct gc_candidate){ .valid = lt_load(&ftl->places->zone[number].valid),
				      .filled = filled,
				      .youngest = filled,
				      .erases = lt_load(&info->erases),
				      .order = filled };
}

struct zone *conv_victim(struct ftl *ftl, bool urgent, bool *hope)
{
	gc_better_fn *better = gc_policies[ftl->cfg->conventional_gc];
	struct gc_view view = { .now = lt_load(&ftl->sequence), .capacity = ftl->backing_capacity };
	uint64_t most = room_for_copies(ftl);
	struct gc_candidate best = { 0 };
	struct zone *victim = NULL;

	*hope = false;
	superblocks_wear(ftl, ftl->cfg->conventional_region == HZ_REGION_SLC, &view.wear_total, &view.wear_count);
	for (uint32_t i = 0; i < ftl->shape.backing_zones; i++) {
		const struct backing *info = &ftl->conventional->backing[i];
		uint64_t state = lt_load(&info->state);
		struct gc_candidate candidate;

		*hope |= state == BACKING_OPEN && lt_load(&info->frontier) == FRONTIER_NONE;
		if (state != BACKING_SEALED)
			continue;
		candidate = conv_candidate(ftl, i);
		if (candidate.valid <= most && (!victim || better(&view, &candidate, &best))) {
			best = candidate;
			victim = backing_zone(ftl, i);
		}
	}
	return urgent || best.valid <= ftl->backing_capacity - ftl->backing_capacity / 8 ? victim : NULL;
}
