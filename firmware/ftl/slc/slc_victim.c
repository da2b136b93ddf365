/* Which SLC superblock the collector takes next: what each one is worth, kept up to date at every change, and the policies that choose.
 *
 * The collector is asked after every program; it looks at the superblocks only when one of them qualifies. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "slc/slc_victim.h"

/* Short of space: somebody waits, or the last superblock but the reserve is running out. */
static bool urgent(const struct slc *slc)
{
	return slc->waiting[SLC_STAGE].head || slc->waiting[SLC_MAP].head || slc->waiting[SLC_COLLECT].head ||
	       (slc->free <= 1 + slc->keep && slc->head[SLC_STAGE].room < slc->units / 4);
}

/* A collection must gain a program unit at least: its copies lie packed. */
uint8_t slc_worth_of(const struct slc *slc, const struct slc_block *block)
{
	if (block->state != SLC_SEALED || block->in_flight || (block->stuck && block->valid))
		return SLC_KEEP;
	if (block->doomed || !block->valid)
		return SLC_EMPTY;
	if (block->valid > slc->sectors - slc->unit_sectors)
		return SLC_KEEP;
	return block->valid <= slc->cheap_valid ? SLC_CHEAP : SLC_GAINS;
}

void slc_appraise(struct slc *slc, struct slc_block *block)
{
	slc->worth[block->worth]--;
	block->worth = slc_worth_of(slc, block);
	slc->worth[block->worth]++;
}

/* Greedy leaves superblocks alone that are more than a quarter full as long as there is no hurry; the other policies have reasons
 * of their own to take them. */
void slc_victim_init(struct ftl *ftl)
{
	struct slc *slc = ftl->slc;

	slc->better = gc_policies[ftl->cfg->slc_gc];
	slc->gc_low = (ftl->cfg->slc_gc_low ? ftl->cfg->slc_gc_low : 2) + slc->keep;
	slc->cheap_valid = ftl->cfg->slc_gc == HZ_GC_GREEDY ? slc->sectors / 4 : slc->sectors - slc->unit_sectors;
	slc->worth[SLC_KEEP] = slc->blocks;
}

/* Sectors that a collection of the superblock may use. A doomed one gives nothing back, so it must leave the reserve alone. */
static uint32_t room_for(const struct slc *slc, const struct slc_block *block)
{
	uint32_t now = slc_free_now(slc), free = now - (block->doomed && now);

	return (slc->head[SLC_COLLECT].room + free * slc->units) * slc->unit_sectors;
}

static struct gc_candidate slc_candidate(const struct slc *slc, uint32_t index)
{
	const struct slc_block *block = &slc->block[index];

	return (struct gc_candidate){ .valid = block->valid, .filled = block->opened, .youngest = block->youngest, .order = index };
}

static uint32_t slc_best_of(struct ftl *ftl, uint8_t least)
{
	const struct slc *slc = ftl->slc;
	struct gc_view view = { .now = lt_load(&ftl->sequence), .capacity = slc->sectors };
	struct gc_candidate best = { 0 };
	uint32_t found = SLC_NONE;

	for (uint32_t i = 0; i < slc->blocks; i++) {
		const struct slc_block *block = &slc->block[i];
		struct gc_candidate candidate = slc_candidate(slc, i);

		if (block->worth < least || block->valid > room_for(slc, block))
			continue;
		if (found == SLC_NONE || slc->better(&view, &candidate, &best)) {
			best = candidate;
			found = i;
		}
	}
	return found;
}

uint32_t slc_victim(struct ftl *ftl)
{
	const struct slc *slc = ftl->slc;
	uint32_t victim = SLC_NONE;

	if (slc->worth[SLC_EMPTY])
		victim = slc_best_of(ftl, SLC_EMPTY);
	if (victim == SLC_NONE && slc->worth[SLC_CHEAP] && slc->free <= slc->gc_low)
		victim = slc_best_of(ftl, SLC_CHEAP);
	if (victim == SLC_NONE && slc->worth[SLC_CHEAP] + slc->worth[SLC_GAINS] && urgent(slc))
		victim = slc_best_of(ftl, SLC_GAINS);
	return victim;
}
