/* How each state goes wrong, a line each. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrong_states.h"

#include "block/superblock.h"
#include "buffer/sector_pool.h"
#include "buffer/staged.h"
#include "buffer/superpage.h"
#include "cache/cache_transfer.h"
#include "cache/data_cache.h"
#include "conventional/conv_space.h"
#include "l2p/l2p.h"
#include "places/places.h"
#include "places/trims.h"
#include "slc/slc.h"
#include "zone/zone.h"

static struct extent *full(struct ftl *ftl) { return ftl->extent[1]; }
static struct extent *staged(struct ftl *ftl) { return ftl->extent[3]; }
static struct extent *buffered(struct ftl *ftl) { return ftl->extent[4]; }

static struct superblock *superblock_of(struct ftl *ftl, const struct extent *ext)
{
	return &ftl->superblocks->info[ext->superblock - ftl->superblocks->first];
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

#define SPOIL(name, ...) \
	static void name(struct ftl *ftl) { __VA_ARGS__; }

SPOIL(open_count, ftl->budget->open++)
SPOIL(active_count, ftl->budget->active++)
SPOIL(too_many_open, ftl->budget->max_open = ftl->budget->open - 1)
SPOIL(unlinked, ftl->budget->oldest = ftl->budget->oldest->budget.open_next)
SPOIL(no_owner, *slc_unused_tag(ftl) = (uint32_t)full(ftl)->start)
SPOIL(slc_valid, slc_in_use(ftl)->valid++)
SPOIL(slc_free_in_use, slc_in_use(ftl)->state = SLC_FREE)
SPOIL(slc_pins, lt_add(&ftl->slc->block[0].pins, 1))
SPOIL(slc_in_flight, ftl->slc->block[0].in_flight++)
SPOIL(slc_worth, slc_in_use(ftl)->worth = SLC_EMPTY)
SPOIL(slc_worths, ftl->slc->worth[SLC_KEEP]++)
SPOIL(slc_usable, lt_add(&ftl->slc->usable, 1))
SPOIL(slc_free, ftl->slc->free++)
SPOIL(sb_shared, ftl->extent[2]->superblock = full(ftl)->superblock)
SPOIL(sb_none, full(ftl)->superblock = SUPERBLOCK_NONE)
SPOIL(sb_not_used, superblock_of(ftl, full(ftl))->state = SB_DIRTY)
SPOIL(sb_used, unused_superblock(ftl)->state = SB_USED)
SPOIL(sb_count, ftl->superblocks->free.count++)
SPOIL(sb_bad, lt_add(&ftl->superblocks->bad, 1))
SPOIL(sb_moving, ftl->superblocks->moving++)
SPOIL(old_generation, full(ftl)->generation++)
SPOIL(staged_elsewhere, (*staged_first(ftl))++)
SPOIL(staged_tag, *slc_tag_of(ftl, *staged_first(ftl)) = SLC_NONE)
SPOIL(staged_beyond, *staged_candidate(staged(ftl), staged(ftl)->landed) = 0)
SPOIL(landed_low, full(ftl)->landed--)
SPOIL(wp_low, buffered(ftl)->wp--)
SPOIL(turn, zone_of(full(ftl))->turn_taken = true)
SPOIL(parked, zone_of(full(ftl))->parked.head = (struct ftl_request *)ftl)
SPOIL(wp_high, buffered(ftl)->wp++)
SPOIL(resident_high, buffered(ftl)->resident = buffered(ftl)->landed + 1)
SPOIL(not_durable, buffered(ftl)->buffer = NULL)
SPOIL(nowhere, buffered(ftl)->resident = buffered(ftl)->landed)
SPOIL(empty_with_data, zone_of(full(ftl))->state = NVME_ZS_EMPTY)

SPOIL(page_written, page_of(ftl, 1)->writing = 1)
SPOIL(page_beyond, page_of(ftl, 1)->merged++; lt_add(&ftl->l2p->log.used, UINT32_MAX /* as it counts one too many */))
SPOIL(page_without_copy, page_of(ftl, 1)->ppa = MAP_NO_COPY)
SPOIL(page_news, page_of(ftl, 1)->head = 1; lt_add(&ftl->l2p->log.used, 1))
SPOIL(page_level, page_of(ftl, 1)->level = HZ_MAP_PAGE)
SPOIL(page_tag, *slc_tag_of(ftl, page_of(ftl, 1)->ppa) = SLC_NONE)
SPOIL(page_dirty, page_of(ftl, 0)->dirty = 1)
SPOIL(page_read, ftl->l2p->table.fetch[ftl->l2p->shards * MAP_FETCH_LISTS - 1] = ftl->workers[0].fetches->free)
SPOIL(dirty_lists, ftl->l2p->dirty.list[0].count++)
SPOIL(log_used, lt_add(&ftl->l2p->log.used, 1))
SPOIL(log_running, lt_store(&ftl->l2p->log.running, 1))
SPOIL(log_rest, ftl->l2p->log.at_rest.head = (struct ftl_request *)ftl)
SPOIL(log_taken, ftl->l2p->log.taken[0] = ftl->l2p->log.item)
SPOIL(fetch_lost, ftl->workers[0].fetches->free = NULL)
SPOIL(cache_fresh, ftl->l2p->cache.shard[0].fresh = ftl->l2p->cache.shard[0].end + 1)
SPOIL(cache_free, ftl->l2p->cache.shard[0].own++)
SPOIL(cache_lines, ftl->l2p->cache.shard[0].by_level[HZ_MAP_PAGE]++)
SPOIL(cache_held, shard_with_nodes(ftl)->held++)
SPOIL(cache_budget, ftl->l2p->cache.entries++)
SPOIL(cache_void, cached(ftl, false)->valid = 0)
SPOIL(cache_wrong, *cached_place(ftl, false) ^= 1)

SPOIL(change_clean, page_of(ftl, 0)->dirty = 0)
SPOIL(change_unfound, change(ftl)->lba ^= 1)
SPOIL(change_lost, lt_store(&ftl->l2p->changes.free, 0))
SPOIL(changes_moved, move_lists(ftl))
SPOIL(changes_endless, change(ftl)->next = change_index(ftl))
SPOIL(conv_page_written, page_of(ftl, 0)->writing = 1)
SPOIL(conv_page_tag, *slc_tag_of(ftl, page_of(ftl, 0)->ppa) = SLC_NONE)
SPOIL(conv_free, lt_add(&ftl->conventional->free, 1))
SPOIL(conv_losing, lt_add(&ftl->conventional->losing, 1))
SPOIL(conv_waiting, ftl->conventional->waiting.head = (struct ftl_request *)ftl)
SPOIL(conv_busy, lt_store(&ftl->conventional->gc.busy, 1))
SPOIL(conv_trimmed, lt_store(&ftl->trims->used, 1); lt_or(&ftl->trims->bits[0], 1u << 12))
SPOIL(backing_frontier, lt_store(&backing_in(ftl, BACKING_ERASED)->frontier, 0))
SPOIL(backing_state, zone_behind(ftl, backing_in(ftl, BACKING_ERASED))->state = NVME_ZS_FULL)
SPOIL(backing_collecting, lt_store(&backing_in(ftl, BACKING_OPEN)->state, BACKING_COLLECTING))

SPOIL(directory_none, ftl->l2p->directory.entry[ftl->l2p->table.per_zone] = UINT32_MAX)
SPOIL(directory_other, ftl->l2p->directory.entry[ftl->l2p->table.per_zone] ^= 1)
SPOIL(directory_tag, *slc_tag_of(ftl, map_page_state(&ftl->l2p->table, ftl->l2p->directory.first)->ppa) = SLC_NONE)
SPOIL(directory_written, map_page_state(&ftl->l2p->table, ftl->l2p->directory.first)->writing = 1)
SPOIL(directory_cached, *cached_place(ftl, true) ^= 1)

SPOIL(line_waits, line(ftl, true)->waiting.head = (struct ftl_request *)ftl)
SPOIL(line_void, line(ftl, true)->valid = 0)
SPOIL(line_renamed, line(ftl, true)->number++)
SPOIL(line_unlisted, line(ftl, true)->listed = false)
SPOIL(line_refused, line(ftl, true)->refused = true)
SPOIL(list_broken, ftl->data_cache->shard[0].idle.newest->link[BY_USE].older = NULL)
SPOIL(list_ends, ftl->data_cache->shard[0].idle.newest = NULL)
SPOIL(list_order, ftl->data_cache->shard[0].dirty.oldest->since = UINT64_MAX)
SPOIL(list_short, ftl->data_cache->shard[0].dirty = (struct line_list){0})
SPOIL(dirty_count, ftl->data_cache->shard[0].dirty_lines++)
SPOIL(shard_waits, ftl->data_cache->shard[0].waiting.head = (struct ftl_request *)ftl)
SPOIL(refused_count, lt_add(&ftl->data_cache->refused, 1))
SPOIL(transfer_lost, ftl->workers[0].transfers->free = NULL)

static struct bank *bank(struct ftl *ftl, bool owned)
{
	struct bank *bank = ftl->buffers->bank;

	while (!bank->owner == owned)
		bank++;
	return bank;
}

SPOIL(bank_owner, bank(ftl, true)->owner->buffer->bank = NULL)
SPOIL(bank_left, bank(ftl, true)->owner = NULL)
SPOIL(bank_bare, bank(ftl, false)->at_hand = NULL)
SPOIL(bank_waiting, lt_store(&bank(ftl, true)->waiting, 1))
SPOIL(buffer_lost, ftl->buffers->buffers++)
SPOIL(slots_lent, lt_add(&ftl->space->space[SPACE_VOLATILE].lent, 1))
SPOIL(slots_lost, ftl->space->total++)

SPOIL(flat_place, ftl->l2p->entry[full(ftl)->capacity + 5]++)

SPOIL(zone_length, ftl->l2p->zone[1].length--)
SPOIL(zone_start, ftl->l2p->zone[1].start++)
SPOIL(zone_list_lost, lt_or(&ftl->l2p->zone_staged.taken[0], 1ull << (ftl->l2p->zone_staged.lists - 1)))
SPOIL(zone_list_moved, ftl->l2p->zone_staged.of_zone[1] = ftl->l2p->zone_staged.of_zone[3];
      ftl->l2p->zone_staged.of_zone[3] = ZONE_STAGED_NONE)
SPOIL(zone_list_failed, staged(ftl)->failed = true)

static struct update *update(struct ftl *ftl) { return &ftl->updates->update[zone_of(full(ftl))->updates.first]; }

SPOIL(update_pending, update(ftl)->pending = 1)
SPOIL(update_beyond, update(ftl)->lba = (uint32_t)ftl->extent[5]->start)
SPOIL(update_tag, *slc_tag_of(ftl, update(ftl)->ppa) = SLC_NONE)
SPOIL(update_record, update(ftl)->sequence++)
SPOIL(update_folds, zone_of(full(ftl))->updates.folding = true)
SPOIL(update_count, zone_of(full(ftl))->updates.listed++)
SPOIL(update_budget, lt_add(&ftl->updates->used, 1))

#define BUSY " though nothing runs"
const struct wrong_state wrong_states[] = {
	{SCENE_ZONES, open_count, "the counts of open or active zones are wrong"},
	{SCENE_ZONES, active_count, "the counts of open or active zones are wrong"},
	{SCENE_ZONES, too_many_open, "more zones are open or active than allowed"},
	{SCENE_ZONES, unlinked, "the list of implicitly opened zones is wrong"},
	{SCENE_ZONES, no_owner, "an SLC sector counts as valid but nothing is mapped to it"},
	{SCENE_ZONES, slc_valid, "an SLC superblock's count of valid sectors is wrong"},
	{SCENE_ZONES, slc_free_in_use, "a free SLC superblock holds valid sectors"},
	{SCENE_ZONES, slc_pins, "an SLC superblock is pinned or busy" BUSY},
	{SCENE_ZONES, slc_in_flight, "an SLC superblock is pinned or busy" BUSY},
	{SCENE_ZONES, slc_worth, "an SLC superblock's worth to the collector is out of date"},
	{SCENE_ZONES, slc_worths, "the counts of SLC superblocks by worth are wrong"},
	{SCENE_ZONES, slc_usable, "the count of SLC superblocks that have not failed is wrong"},
	{SCENE_ZONES, slc_free, "the count of free SLC superblocks is wrong"},
	{SCENE_ZONES, sb_shared, "two zones share a superblock"},
	{SCENE_ZONES, sb_none, "a zone has placed data but no superblock"},
	{SCENE_ZONES, sb_not_used, "a zone's superblock is not marked as used"},
	{SCENE_ZONES, sb_used, "a superblock is marked as used but no zone has it"},
	{SCENE_ZONES, sb_count, "the counts of free, dirty or bad superblocks are wrong"},
	{SCENE_ZONES, sb_bad, "the counts of free, dirty or bad superblocks are wrong"},
	{SCENE_ZONES, sb_moving, "a relocation promised a superblock and did not give it back"},
	{SCENE_ZONES, old_generation, "a mapped sector's OOB record names another LBA or generation"},
	{SCENE_ZONES, staged_elsewhere, "the map says that a staged sector lies elsewhere"},
	{SCENE_ZONES, staged_tag, "an SLC sector does not know the LBA that is staged there"},
	{SCENE_ZONES, staged_beyond, "a zone's staged list names sectors outside of [placed, landed)"},
	{SCENE_ZONES, landed_low, "a zone's placed, landed and write pointer are out of order"},
	{SCENE_ZONES, wp_low, "a zone's placed, landed and write pointer are out of order"},
	{SCENE_ZONES, turn, "a request waits at a zone" BUSY},
	{SCENE_ZONES, parked, "a request waits at a zone" BUSY},
	{SCENE_ZONES, wp_high, "an idle zone has a write pointer beyond its data"},
	{SCENE_ZONES, resident_high, "a zone without a buffer has data that are not durable"},
	{SCENE_ZONES, not_durable, "a zone without a buffer has data that are not durable"},
	{SCENE_ZONES, nowhere, "a written sector is neither placed, staged nor buffered"},
	{SCENE_ZONES, empty_with_data, "an EMPTY zone holds data"},

	{SCENE_MAP, page_written, "a table page is being written" BUSY},
	{SCENE_MAP, page_beyond, "a table page holds entries beyond what the zone has placed"},
	{SCENE_MAP, page_without_copy, "a table page has a copy without entries, or entries without a copy"},
	{SCENE_MAP, page_news, "a table page has news but is not dirty"},
	{SCENE_MAP, page_level, "a table page's level is not that of its first entry"},
	{SCENE_MAP, page_tag, "an SLC sector does not know the table page that lies there"},
	{SCENE_MAP, page_dirty, "a zone with dirty table pages is not in the list of those"},
	{SCENE_MAP, page_read, "a table page is being read" BUSY},
	{SCENE_MAP, dirty_lists, "the lists of zones with dirty table pages are wrong"},
	{SCENE_MAP, log_used, "the L2P log's count of entries is wrong"},
	{SCENE_MAP, log_running, "somebody waits for the L2P log" BUSY},
	{SCENE_MAP, log_rest, "somebody waits for the L2P log" BUSY},
	{SCENE_MAP, log_taken, "the L2P log has taken a table page and not written it" BUSY},
	{SCENE_MAP, fetch_lost, "a fetch of a table page was not given back"},
	{SCENE_MAP, cache_fresh, "a mapping cache shard has taken more than its own"},
	{SCENE_MAP, cache_free, "a mapping cache shard has another number of nodes than its own"},
	{SCENE_MAP, cache_lines, "a mapping cache shard has another number of lines than its own"},
	{SCENE_MAP, cache_held, "a mapping cache shard's lists do not hold what it counts"},
	{SCENE_MAP, cache_budget, "the mapping cache's shards do not add up to its budget"},
	{SCENE_MAP, cache_void, "a node of the mapping cache has no entry"},
	{SCENE_MAP, cache_wrong, "a cached entry names a wrong address"},

	{SCENE_CONVENTIONAL, change_clean, "a table page with changed entries is not dirty"},
	{SCENE_CONVENTIONAL, change_unfound, "a changed entry is not found by its LBA"},
	{SCENE_CONVENTIONAL, change_lost, "a changed entry was lost"},
	{SCENE_CONVENTIONAL, changes_moved, "a changed entry is in another table page's list"},
	{SCENE_CONVENTIONAL, changes_endless, "a list of changed entries has no end"},
	{SCENE_CONVENTIONAL, conv_page_written, "a table page is being written" BUSY},
	{SCENE_CONVENTIONAL, conv_page_tag, "an SLC sector does not know the table page that lies there"},
	{SCENE_CONVENTIONAL, conv_free, "the list of erased backing zones is wrong"},
	{SCENE_CONVENTIONAL, conv_losing, "a backing zone that failed has not settled what it lost" BUSY},
	{SCENE_CONVENTIONAL, conv_waiting, "a write waits for an erased backing zone" BUSY},
	{SCENE_CONVENTIONAL, conv_busy, "the conventional collector is busy" BUSY},
	{SCENE_CONVENTIONAL, conv_trimmed, "a deallocated sector is mapped"},
	{SCENE_CONVENTIONAL, backing_frontier, "an erased backing zone holds valid sectors or has a write frontier"},
	{SCENE_CONVENTIONAL, backing_state, "an erased backing zone is not EMPTY, or an EMPTY one not in the list"},
	{SCENE_CONVENTIONAL, backing_collecting, "a backing zone is being collected" BUSY},

	{SCENE_DIRECTORY, directory_none, "the directory has an entry for a table page without a copy, or none for one that has"},
	{SCENE_DIRECTORY, directory_other, "the directory names another place than the table page's"},
	{SCENE_DIRECTORY, directory_tag, "an SLC sector does not know the directory page that lies there"},
	{SCENE_DIRECTORY, directory_written, "a directory page is being written" BUSY},
	{SCENE_DIRECTORY, directory_cached, "a cached entry of the directory is wrong"},
	{SCENE_DIRECTORY, cache_wrong, "a cached entry names a wrong place"},

	{SCENE_CACHE, line_waits, "a line of the data cache is busy" BUSY},
	{SCENE_CACHE, line_void, "a line of the data cache is dirty where it is not valid"},
	{SCENE_CACHE, line_renamed, "a line of the data cache is not found by its number"},
	{SCENE_CACHE, line_unlisted, "a line of the data cache is not where its state says"},
	{SCENE_CACHE, list_broken, "a list of the data cache is broken"},
	{SCENE_CACHE, list_ends, "a list of the data cache ends elsewhere"},
	{SCENE_CACHE, list_order, "the dirty lines of the data cache are out of order"},
	{SCENE_CACHE, list_short, "the lists of the data cache have too few or too many lines"},
	{SCENE_CACHE, dirty_count, "the count of dirty lines of the data cache is wrong"},
	{SCENE_CACHE, shard_waits, "a request waits for a line of the data cache" BUSY},
	{SCENE_CACHE, line_refused, "the counts of the data cache's refused lines or deallocations are wrong"},
	{SCENE_CACHE, refused_count, "the counts of the data cache's refused lines or deallocations are wrong"},
	{SCENE_CACHE, transfer_lost, "a transfer of the data cache is under way" BUSY},

	{SCENE_ZONES, bank_owner, "a zone is bound to a buffer that it does not own"},
	{SCENE_ZONES, bank_left, "a zone is bound to a buffer that it does not own"},
	{SCENE_IN_PLACE, bank_bare, "a buffer that nobody owns has nothing for its next owner"},
	{SCENE_ZONES, bank_waiting, "a zone waits for a buffer" BUSY},
	{SCENE_ZONES, buffer_lost, "write buffers are lost"},
	{SCENE_SLOTS, slots_lent, "the buffers hold another number of slots than was lent"},
	{SCENE_SLOTS, slots_lost, "slots of the buffers are lost"},

	{SCENE_ZONES, flat_place, "a placed sector is not at its reserved place"},

	{SCENE_ZONE_MAP, zone_length, "the zone mapping table knows another number of sectors at their place"},
	{SCENE_ZONE_MAP, zone_start, "a zone is not where the zone mapping table says"},
	{SCENE_ZONE_MAP, zone_list_lost, "a list of staged sectors was lost"},
	{SCENE_ZONE_MAP, zone_list_moved, "a zone without staged sectors has a list of them"},
	{SCENE_ZONE_MAP, zone_list_failed, "a zone that can be written no more has a list of staged sectors"},

	{SCENE_IN_PLACE, update_pending, "a sector is being written in place" BUSY},
	{SCENE_IN_PLACE, update_beyond, "a sector was written in place where its zone has none"},
	{SCENE_IN_PLACE, update_tag, "an SLC sector does not know the LBA that was written in place there"},
	{SCENE_IN_PLACE, update_record, "the OOB record of a sector written in place names another one"},
	{SCENE_IN_PLACE, update_folds, "a zone folds what was written in place" BUSY},
	{SCENE_IN_PLACE, update_count, "a zone's count of sectors written in place is wrong"},
	{SCENE_IN_PLACE, update_budget, "the budget of sectors written in place is wrong"},
	{SCENES, NULL, NULL},
};
