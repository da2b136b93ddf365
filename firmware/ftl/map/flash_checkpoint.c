/* Checkpoints of the map of conventional zones, and the list of dirty table pages. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/arena.h"
#include "map/flash_log.h"
#include "map/l2p.h"
#include "tsu/tsu_mount.h"

/* Checkpoints of the map of conventional zones: writing and believing them. */

static uint32_t conventional_map_pages(const struct ftl *ftl) { return ftl->shape.conventional_zones << ftl->l2p->table.zone_shift; }

void l2p_checkpoint_pass(struct ftl *ftl) { ftl->l2p->log.checkpoints.before = lt_load(&ftl->sequence); }

/* How a checkpoint knows a page's copy by its sequence number. */
enum { HAS_COPY = 1 << MAP_VERSION_BITS };
static uint32_t record_of(uint64_t sequence) { return HAS_COPY | (uint32_t)(sequence & (HAS_COPY - 1)); }

static bool stands_for_none(const struct l2p_table *table, uint32_t page)
{
	return (page & ((1u << table->zone_shift) - 1)) >= table->per_zone;
}

/* Of the pages from `first` on: those of one zone, a piece at a time. Returns how many. */
static uint32_t record_some(struct ftl *ftl, uint32_t first, uint32_t most, uint32_t *copy)
{
	enum { PIECE = 64 };
	const struct l2p_table *table = &ftl->l2p->table;
	uint32_t zone_end = ((first >> table->zone_shift) + 1) << table->zone_shift,
		 count = min_u32(min_u32(most, PIECE), zone_end - first);
	struct lt_lock *lock = map_page_lock(ftl, first);
	struct lt_lock_node node;

	lt_lock_acquire(lock, &node);
	for (uint32_t i = 0; i < count; i++) {
		bool has_copy = !stands_for_none(table, first + i) && map_page_state(table, first + i)->ppa != MAP_NO_COPY;

		copy[i] = has_copy ? record_of(map_page_version(table, first + i)) : 0;
	}
	lt_lock_release(lock, &node);
	return count;
}

/* Only the log's job writes copies, so they do not change. */
uint32_t l2p_checkpoint_next(struct ftl *ftl, uint8_t *image)
{
	struct l2p_checkpoints *checkpoints = &ftl->l2p->log.checkpoints;
	struct l2p_checkpoint *checkpoint = (struct l2p_checkpoint *)image;
	uint32_t count = ftl->shape.map_checkpoints, first, end = conventional_map_pages(ftl);

	if (checkpoints->next == count) {
		if (!count || checkpoints->unrecorded < L2P_CHECKPOINT_EVERY * count)
			return UINT32_MAX;
		checkpoints->next = checkpoints->unrecorded = 0;
	}
	first = checkpoints->next * HZ_CHECKPOINT_PAGES;
	checkpoint->before = checkpoints->before;
	memset(checkpoint->copy, 0, sizeof(checkpoint->copy));
	for (uint32_t i = 0; i < HZ_CHECKPOINT_PAGES && first + i < end;)
		i += record_some(ftl, first + i, min_u32(end - first, HZ_CHECKPOINT_PAGES) - i, &checkpoint->copy[i]);
	return ftl->l2p->table.pages + checkpoints->next++;
}

void l2p_checkpoint_now(struct ftl_worker *self)
{
	struct ftl *ftl = self->ftl;

	if (!ftl->shape.map_checkpoints)
		return;
	ftl->l2p->log.checkpoints.unrecorded = L2P_CHECKPOINT_EVERY * ftl->shape.map_checkpoints;
	l2p_log_flush(self);
}

/* A copy is either the checkpoint's, or younger than the checkpoint. Otherwise the checkpoint's copy is lost. */
static bool as_new(const struct l2p_table *table, uint32_t page, uint32_t recorded, uint64_t recorded_at)
{
	uint64_t sequence;

	if (stands_for_none(table, page) || map_page_state(table, page)->ppa == MAP_NO_COPY)
		return !recorded;
	sequence = *map_page_number(table, page);
	return sequence > recorded_at || record_of(sequence) == recorded;
}

uint64_t l2p_checkpoint_before(struct ftl *ftl, uint8_t *image)
{
	const struct l2p_table *table = &ftl->l2p->table;
	const struct l2p_checkpoint *checkpoint = (const struct l2p_checkpoint *)image;
	struct sgl data = { &image, 0, HZ_SECTOR_BYTES };
	uint64_t before = UINT64_MAX;

	for (uint32_t c = 0; c < ftl->shape.map_checkpoints; c++) {
		const struct map_page *copy = map_page_state(table, table->pages + c);
		uint64_t recorded_at = *map_page_number(table, table->pages + c);
		uint32_t first = c * HZ_CHECKPOINT_PAGES, end = conventional_map_pages(ftl);

		if (copy->ppa == MAP_NO_COPY || tsu_read_now(ftl->tsu, copy->ppa, 1, &data, 0, NULL) != NAND_OK)
			return 0;
		for (uint32_t i = 0; i < HZ_CHECKPOINT_PAGES && first + i < end; i++)
			if (!as_new(table, first + i, checkpoint->copy[i], recorded_at))
				return 0;
		before = checkpoint->before < before ? checkpoint->before : before;
	}
	return before == UINT64_MAX ? 0 : before;
}

/* Dirty table pages: lists of their zones, and the way of a pass through them. */

void map_page_dirty(struct ftl *ftl, uint32_t shard, uint32_t page)
{
	struct l2p *l2p = ftl->l2p;
	struct l2p_dirty *dirty = &l2p->dirty;
	struct l2p_dirty_list *list = &dirty->list[shard];
	struct map_page *state = map_page_state(&l2p->table, page);
	uint32_t zone = page >> l2p->table.zone_shift;

	if (state->dirty)
		return;
	state->dirty = 1;
	if (dirty->next[zone] != L2P_NOT_LISTED)
		return;
	if (list->count++)
		dirty->next[list->last] = zone;
	else
		list->first = zone;
	list->last = dirty->next[zone] = zone;
}

/* The zone longest in the list leaves it; its pages stay dirty. */
static uint32_t listed_first(struct l2p_dirty *dirty)
{
	struct l2p_dirty_list *list = &dirty->list[dirty->shard];
	uint32_t zone = list->first;

	list->count--;
	list->first = dirty->next[zone];
	dirty->next[zone] = L2P_NOT_LISTED;
	return zone;
}

void l2p_dirty_begin(struct ftl *ftl)
{
	struct l2p_dirty *dirty = &ftl->l2p->dirty;

	dirty->shard = dirty->at = dirty->end = 0;
	dirty->left = UINT32_MAX;
}

/* False: the pass has gone through all. */
static bool next_zone(struct ftl *ftl)
{
	struct l2p_dirty *dirty = &ftl->l2p->dirty;
	const struct l2p_table *table = &ftl->l2p->table;
	bool found = false;

	while (!found && dirty->shard < ftl->l2p->shards) {
		struct lt_lock *lock = &ftl->l2p->shard[dirty->shard];
		struct lt_lock_node node;

		lt_lock_acquire(lock, &node);
		dirty->left = min_u32(dirty->left, dirty->list[dirty->shard].count);
		found = dirty->left;
		if (found) {
			dirty->at = listed_first(dirty) << table->zone_shift;
			dirty->end = dirty->at + table->per_zone;
			dirty->left--;
		}
		lt_lock_release(lock, &node);
		if (!found) {
			dirty->shard++;
			dirty->left = UINT32_MAX;
		}
	}
	return found;
}

/* A piece of the present zone; UINT32_MAX: there is none in it. */
static uint32_t next_in_piece(struct ftl *ftl)
{
	enum { PIECE = 64 /* pages looked at under one acquisition */ };
	struct l2p_dirty *dirty = &ftl->l2p->dirty;
	uint32_t at = dirty->at, end = min_u32(dirty->end, at + PIECE);
	const struct map_page *page = map_page_state(&ftl->l2p->table, at);
	struct lt_lock *lock = &ftl->l2p->shard[dirty->shard];
	struct lt_lock_node node;

	lt_lock_acquire(lock, &node);
	for (; at < end && !page->dirty; page++)
		at++;
	lt_lock_release(lock, &node);
	dirty->at = at + (at < end);
	return at < end ? at : UINT32_MAX;
}

uint32_t l2p_dirty_next(struct ftl *ftl)
{
	const struct l2p_dirty *dirty = &ftl->l2p->dirty;
	uint32_t page = UINT32_MAX;

	while (page == UINT32_MAX && (dirty->at < dirty->end || next_zone(ftl)))
		page = next_in_piece(ftl);
	return page;
}

void l2p_dirty_init(struct ftl *ftl, struct arena *arena)
{
	struct l2p_dirty *dirty = &ftl->l2p->dirty;

	dirty->list = arena_alloc(arena, ftl->l2p->shards, sizeof(*dirty->list), "zones with dirty table pages");
	dirty->next = arena_alloc(arena, ftl->l2p->zones, sizeof(*dirty->next), "zones with dirty table pages");
	memset(dirty->next, 0xff, ftl->l2p->zones * sizeof(*dirty->next));
}

/* A pass that ended early, since table pages cannot be written any more, leaves zones in no list. */
const char *l2p_dirty_check(const struct ftl *ftl)
{
	const struct l2p_table *table = &ftl->l2p->table;
	const struct l2p_dirty *dirty = &ftl->l2p->dirty;
	uint32_t in_lists = 0, listed = 0;

	for (uint32_t s = 0; s < ftl->l2p->shards; s++)
		in_lists += dirty->list[s].count;
	for (uint32_t z = 0; z < ftl->l2p->zones; z++)
		listed += dirty->next[z] != L2P_NOT_LISTED;
	if (in_lists != listed)
		return "the lists of zones with dirty table pages are wrong";
	for (uint32_t z = 0; z < ftl->l2p->zones; z++)
		for (uint32_t i = 0; i < table->per_zone && dirty->next[z] == L2P_NOT_LISTED && !l2p_lost(ftl); i++)
			if (table->page[z * table->per_zone + i].dirty)
				return "a zone with dirty table pages is not in the list of those";
	return NULL;
}
