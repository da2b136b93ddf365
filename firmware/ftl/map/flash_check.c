/* Check of the map in flash: log, cache and the bytes on flash against the zones. Harts idle. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "map/l2p.h"
#include "map/l2p_internal.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"

static const char *check_copy(struct ftl *ftl, const struct zone *zone, uint32_t index)
{
	const struct map_page *page = map_page_state(&ftl->l2p->table, index);
	uint8_t *image = ftl->l2p->log.item[0].image;
	struct sgl data = { &image, 0, HZ_SECTOR_BYTES };
	struct hz_oob oob;

	if (*slc_tag_of(ftl, page->ppa) != slc_map_tag(index))
		return "an SLC sector does not know the table page that lies there";
	if (page->level == MAP_UNSEEN)
		return NULL; /* it is looked at when it is needed */
	if (tsu_read_now(ftl->tsu, page->ppa, 1, &data, 0, &oob) != NAND_OK)
		return NULL; /* it will be rebuilt when it is needed */
	if (oob.kind != HZ_OOB_MAP || oob.lpa != map_page_lpa(ftl, index) || oob.generation != zone->generation)
		return "a table page's OOB record names another page or generation";
	if (l2p_true_entries(ftl, zone, map_page_first(ftl, index), (const uint32_t *)image, page->merged) != page->merged)
		return "an entry on flash is wrong";
	return !page->merged || l2p_entry_level(*(const uint32_t *)image) == page->level
		       ? NULL
		       : "a table page's level is not that of its first entry";
}

/* A page that could not be written stays marked, since its changes are in the log. */
static bool is_written(const struct ftl *ftl, uint32_t index) { return map_page_state(&ftl->l2p->table, index)->writing && !l2p_lost(ftl); }

/* conv_check compares the entries themselves with the backing zones. */
static const char *check_conventional_page(struct ftl *ftl, uint32_t index)
{
	const struct map_page *page = map_page_state(&ftl->l2p->table, index);

	if (is_written(ftl, index))
		return "a table page is being written though nothing runs";
	if (page->ppa != MAP_NO_COPY && *slc_tag_of(ftl, page->ppa) != slc_map_tag(index))
		return "an SLC sector does not know the table page that lies there";
	return NULL;
}

static const char *check_sequential_page(struct ftl *ftl, const struct zone *zone, uint32_t index)
{
	const struct map_page *page = map_page_state(&ftl->l2p->table, index);
	uint32_t placed = map_page_placed(ftl, zone, index);

	if (page->merged > placed)
		return "a table page holds entries beyond what the zone has placed";
	if ((page->ppa == MAP_NO_COPY) != (!page->merged && !page->staged))
		return "a table page has a copy without entries, or entries without a copy";
	if ((page->merged < placed || page->head || l2p_staged_news(ftl, zone, index)) && !page->dirty && !page->writing)
		return "a table page has news but is not dirty";
	if (is_written(ftl, index))
		return "a table page is being written though nothing runs";
	return page->ppa == MAP_NO_COPY ? NULL : check_copy(ftl, zone, index);
}

static const char *check_places(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, uint32_t place)
{
	for (uint32_t i = 0; i < count; i++)
		if (l2p_conv_peek(ftl, zone->start + offset + i) != place + i)
			return "a cached entry names a wrong place";
	return NULL;
}

static const char *check_entry(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint8_t level, ppa_t ppa, uint32_t group)
{
	struct map_range range;

	if (map_page_index(ftl, zone, offset) != group)
		return "a cached entry is in another table page's list";
	if (l2p_conventional(ftl, zone))
		return check_places(ftl, zone, offset, level == HZ_MAP_PAGE ? 1 : map_page_entries(ftl, group), ppa);
	if (level == HZ_MAP_PAGE && offset >= zone->placed)
		return l2p_cached_staged_peek(ftl, zone, offset) == ppa ? NULL : "a cached entry of a staged sector names a wrong address";
	if (!l2p_range_at(ftl, level, offset, &range) || range.head != offset)
		return "a cached entry does not lead a range";
	if (offset >= zone->placed || l2p_level_at(ftl, zone->placed, offset, &range) < level)
		return "a cached entry stands for more than the zone has placed";
	return ppa == zone_place(zone, offset) ? NULL : "a cached entry names a wrong address";
}

static const char *check_cached(struct ftl *ftl, const struct zone *zone, const struct l2p_cached *node, uint32_t group)
{
	const struct l2p_cache *cache = &ftl->l2p->cache;
	uint32_t offset = node->lba - (uint32_t)zone->start;
	const char *error = NULL;

	if (node->level != HZ_MAP_PAGE)
		return check_entry(ftl, zone, offset, node->level, node->ppa, group);
	for (uint32_t i = 0; !error && i < l2p_cache_line(cache); i++)
		if (node->valid >> i & 1)
			error = check_entry(ftl, zone, offset + i, HZ_MAP_PAGE, cache->place[node->slot + i] & L2P_ADDRESS_MASK, group);
	return error;
}

static const char *check_zone_map(struct ftl *ftl, const struct zone *zone)
{
	const struct l2p_table *table = &ftl->l2p->table;
	const struct l2p_cache *cache = &ftl->l2p->cache;
	bool conventional = l2p_conventional(ftl, zone);
	const char *error = NULL;

	for (uint32_t i = 0; !error && i < table->per_zone; i++) {
		uint32_t index = (zone->index << table->zone_shift) + i;

		error = conventional ? check_conventional_page(ftl, index) : check_sequential_page(ftl, zone, index);
		for (uint32_t e = *l2p_cache_group_list(cache, zone->map_shard, index); !error && e != L2P_CACHE_NONE;
		     e = cache->node[e].after)
			if (cache->node[e].group == index)
				error = check_cached(ftl, zone, &cache->node[e], index);
	}
	return error;
}

/* Log entries without memory: those of a zone that is not conventional. */
static uint64_t logged(struct ftl *ftl, const struct zone *zone)
{
	const struct l2p_table *table = &ftl->l2p->table;
	uint64_t used = 0;

	for (uint32_t i = 0; i < table->per_zone; i++) {
		uint32_t index = (zone->index << table->zone_shift) + i;
		const struct map_page *page = map_page_state(table, index);

		used += map_page_placed(ftl, zone, index) - page->merged + page->head + page->lost;
	}
	return used;
}

static const char *check_log(struct ftl *ftl)
{
	uint64_t used = 0, staged = 0;
	const char *error = l2p_changes_check(ftl, &used);

	if (!error)
		error = l2p_runs_check(ftl, &staged);
	if (!error)
		error = l2p_dirty_check(ftl);
	used += staged;
	if (error)
		return error;
	for (uint32_t z = ftl->shape.conventional_zones; z < ftl->l2p->zones; z++)
		used += logged(ftl, &ftl->zones[z]);
	if (used != lt_load(&ftl->l2p->log.used))
		return "the L2P log's count of entries is wrong";
	for (uint32_t i = 0; i < ftl->l2p->shards && !l2p_lost(ftl); i++)
		if (ftl->l2p->log.taken[i])
			return "the L2P log has taken a table page and not written it though nothing runs";
	if (ftl->l2p->log.for_pass.head || ftl->l2p->log.waiting.head || ftl->l2p->log.for_quiet.head || lt_load(&ftl->l2p->log.running))
		return "somebody waits for the L2P log though nothing runs";
	return NULL;
}

static const char *check_fetches(struct ftl *ftl)
{
	for (uint32_t w = 0; w < ftl->worker_count; w++) {
		uint32_t free = 0;

		for (struct map_fetch *fetch = ftl->workers[w].fetches->free; fetch; fetch = fetch->next)
			free++;
		if (free != L2P_FETCHES_PER_WORKER || ftl->workers[w].fetches->waiting.head)
			return "a fetch of a table page was not given back";
	}
	for (uint32_t i = 0; i < ftl->l2p->shards * MAP_FETCH_LISTS; i++)
		if (ftl->l2p->table.fetch[i])
			return "a table page is being read though nothing runs";
	return NULL;
}

const char *l2p_cached_check(struct ftl *ftl, const struct zone *zone)
{
	const char *error;

	if (zone)
		return check_zone_map(ftl, zone);
	error = l2p_cache_check(&ftl->l2p->cache);
	if (!error)
		error = l2p_directory_check(ftl);
	if (!error)
		error = check_log(ftl);
	return error ? error : check_fetches(ftl);
}
