/* Dirty table pages: lists of their zones, and the way of a pass through them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_dirty.h"

#include "l2p/l2p.h"
#include "lt/arena.h"

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

/* The zone that has been in the list for longest leaves it; its pages stay dirty. */
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
	dirty->next = arena_alloc(arena, ftl->zone_count, sizeof(*dirty->next), "zones with dirty table pages");
	memset(dirty->next, 0xff, ftl->zone_count * sizeof(*dirty->next));
}

/* Of a pass that ended early, since table pages cannot be written any more, zones are left that are in no list. */
const char *l2p_dirty_check(const struct ftl *ftl)
{
	const struct l2p_table *table = &ftl->l2p->table;
	const struct l2p_dirty *dirty = &ftl->l2p->dirty;
	uint32_t in_lists = 0, listed = 0;

	for (uint32_t s = 0; s < ftl->l2p->shards; s++)
		in_lists += dirty->list[s].count;
	for (uint32_t z = 0; z < ftl->zone_count; z++)
		listed += dirty->next[z] != L2P_NOT_LISTED;
	if (in_lists != listed)
		return "the lists of zones with dirty table pages are wrong";
	for (uint32_t z = 0; z < ftl->zone_count; z++)
		for (uint32_t i = 0; i < table->per_zone && dirty->next[z] == L2P_NOT_LISTED && !l2p_lost(ftl); i++)
			if (table->page[z * table->per_zone + i].dirty)
				return "a zone with dirty table pages is not in the list of those";
	return NULL;
}
