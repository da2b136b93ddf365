/* Scenes and changes for the lines of wrong_states.def. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrong_states.h"

#include "block/superblock.h"
#include "buffer/memory.h"
#include "buffer/staged.h"
#include "buffer/buffer_internal.h"
#include "cache/data_cache.h"
#include "conventional/conventional.h"
#include "map/l2p.h"
#include "places/places.h"
#include "places/trims.h"
#include "slc/slc.h"
#include "zone/zone.h"

static struct zone *full(struct ftl *ftl) { return &ftl->zones[1]; }
static struct zone *staged(struct ftl *ftl) { return &ftl->zones[3]; }
static struct zone *buffered(struct ftl *ftl) { return &ftl->zones[4]; }

static struct superblock *superblock_of(struct ftl *ftl, const struct zone *zone)
{
	return &ftl->superblocks->info[zone->superblock - ftl->superblocks->first];
}

static struct superblock *unused_superblock(struct ftl *ftl)
{
	struct superblock *info = ftl->superblocks->info;

	while (info->state != SB_FREE)
		info++;
	return info;
}

static struct slc_block *slc_in_use(struct ftl *ftl)
{
	struct slc_block *block = ftl->slc->block;

	while (!block->valid)
		block++;
	return block;
}

static uint32_t *slc_unused_tag(struct ftl *ftl)
{
	uint32_t *tag = ftl->slc->tag;

	while (*tag != SLC_NONE)
		tag++;
	return tag;
}

static ppa_t *staged_first(struct ftl *ftl) { return staged_candidate(staged(ftl), 0); }
static struct map_page *page_of(struct ftl *ftl, uint32_t zone)
{
	return map_page_state(&ftl->l2p->table, zone << ftl->l2p->table.zone_shift);
}

static struct l2p_cached *cached(struct ftl *ftl, bool of_directory)
{
	struct l2p_cache *cache = &ftl->l2p->cache;

	for (uint32_t s = 0; s < cache->shards; s++)
		for (uint32_t list = 0; list < 1u << cache->group_bits; list++)
			for (uint32_t e = cache->shard[s].group[list]; e != L2P_CACHE_NONE; e = cache->node[e].after)
				if ((cache->node[e].group >= ftl->l2p->table.pages) == of_directory)
					return &cache->node[e];
	lt_fail("the scene has nothing in the map's cache");
}

static struct l2p_cache_shard *shard_with_nodes(struct ftl *ftl)
{
	struct l2p_cache_shard *shard = ftl->l2p->cache.shard;

	while (!shard->held)
		shard++;
	return shard;
}

static uint32_t *cached_place(struct ftl *ftl, bool of_directory)
{
	struct l2p_cached *node = cached(ftl, of_directory);

	return node->level == HZ_MAP_PAGE ? &ftl->l2p->cache.place[node->slot + __builtin_ctzll(node->valid)] : &node->ppa;
}

static void move_lists(struct ftl *ftl)
{
	struct l2p_changes *changes = &ftl->l2p->changes;

	for (uint32_t list = 0; list < ftl->l2p->shards << changes->page_bits; list += 2) {
		uint32_t first = changes->of_page[list];

		changes->of_page[list] = changes->of_page[list + 1];
		changes->of_page[list + 1] = first;
	}
}

static struct l2p_change *change(struct ftl *ftl) { return l2p_changes_walk(ftl, NULL); }
static uint32_t change_index(struct ftl *ftl) { return (uint32_t)(change(ftl) - ftl->l2p->changes.record); }

static struct backing *backing_in(struct ftl *ftl, uint64_t state)
{
	struct backing *info = ftl->conventional->backing;

	while (lt_load(&info->state) != state)
		info++;
	return info;
}

static struct zone *zone_behind(struct ftl *ftl, const struct backing *info)
{
	return backing_zone(ftl, (uint32_t)(info - ftl->conventional->backing));
}

static struct cache_line *line(struct ftl *ftl, bool dirty)
{
	struct cache_line *line = ftl->data_cache->shard[0].line;

	while (line->number == LINE_NONE || !line->dirty == dirty)
		line++;
	return line;
}

static struct bank *bank(struct ftl *ftl, bool owned)
{
	struct bank *bank = ftl->buffers->bank;

	while (!bank->owner == owned)
		bank++;
	return bank;
}

static struct update *update(struct ftl *ftl) { return &ftl->updates->update[full(ftl)->updates.first]; }

#define BUSY " though nothing runs"
#define WRONG(scene, name, report, ...) \
	static void name(struct ftl *ftl) { __VA_ARGS__; }
#include "wrong_states.def"
#undef WRONG

const struct wrong_state wrong_states[] = {
#define WRONG(scene, name, report, ...) {SCENE_##scene, name, report},
#include "wrong_states.def"
#undef WRONG
	{SCENES, NULL, NULL},
};
