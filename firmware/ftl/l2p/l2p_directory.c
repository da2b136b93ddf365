/* The directory of table pages: its entries, what is new of them, and how the log's job brings that into its pages. Calls nothing of the
 * table, which calls it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_directory.h"

#include <string.h>

#include "l2p/l2p.h"
#include "lt/arena.h"
#include "slc/slc.h"

enum { SHARD = 0, WORD = L2P_NEWS_WORD /* entries that are merged under one acquisition, too */ };

static struct l2p_directory *directory_of(const struct ftl *ftl) { return &ftl->l2p->directory; }

static struct map_page *directory_state(const struct ftl *ftl, uint32_t index) { return map_page_state(&ftl->l2p->table, index); }

static uint32_t entry_number(const struct ftl *ftl, uint32_t table_page) { return map_page_slot(&ftl->l2p->table, table_page); }

uint32_t l2p_directory_first(const struct ftl *ftl, uint32_t index) { return (index - directory_of(ftl)->first) << L2P_MAP_PAGE_SHIFT; }

bool l2p_directory_has(const struct ftl *ftl, uint32_t index) { return index - directory_of(ftl)->first < directory_of(ftl)->pages; }

uint32_t l2p_directory_page(const struct ftl *ftl, uint32_t table_page)
{
	return directory_of(ftl)->first + (entry_number(ftl, table_page) >> L2P_MAP_PAGE_SHIFT);
}

/* --- what is new --- */

bool l2p_directory_is_news(const struct ftl *ftl, uint32_t number) { return directory_of(ftl)->news[number / WORD] >> number % WORD & 1; }

void l2p_directory_news(const struct ftl *ftl, uint32_t index, uint32_t number)
{
	directory_of(ftl)->news[number / WORD] |= 1ull << number % WORD;
	directory_state(ftl, index)->dirty = 1;
}

static void set_entry(struct ftl *ftl, uint32_t table_page, uint32_t entry)
{
	struct l2p *l2p = ftl->l2p;
	uint32_t number = entry_number(ftl, table_page), index = l2p_directory_page(ftl, table_page);

	l2p->directory.entry[number] = entry;
	l2p_directory_news(ftl, index, number);
	l2p_cache_forget(&l2p->cache, SHARD, L2P_DIRECTORY_LBA + number, number & (HZ_MAP_PAGE_ENTRIES - 1), 1);
}

static uint32_t entry_for(const struct ftl *ftl, uint32_t ppa, uint32_t first_entry)
{
	bool whole = ftl->cfg->l2p_compress && first_entry != UINT32_MAX && l2p_entry_level(first_entry) == HZ_MAP_CHUNK;

	return whole ? first_entry : ppa;
}

void l2p_directory_note(struct ftl *ftl, uint32_t table_page, uint32_t ppa, uint32_t first_entry)
{
	if (directory_of(ftl)->pages)
		set_entry(ftl, table_page, entry_for(ftl, ppa, first_entry));
}

/* An entry that says where the sectors lie does not say where the copy does. */
void l2p_directory_moved(struct ftl *ftl, uint32_t table_page, uint32_t ppa)
{
	const struct l2p_directory *directory = directory_of(ftl);

	if (directory->pages && l2p_entry_level(directory->entry[entry_number(ftl, table_page)]) == HZ_MAP_PAGE)
		set_entry(ftl, table_page, ppa);
}

bool l2p_directory_in_ram(const struct ftl *ftl, uint32_t index, uint32_t number)
{
	const struct map_page *state = directory_state(ftl, index);

	return state->ppa == MAP_NO_COPY || state->writing || l2p_directory_is_news(ftl, number);
}

void l2p_directory_found(struct ftl *ftl, uint32_t table_page, uint32_t ppa, const uint32_t *copy)
{
	if (directory_of(ftl)->pages)
		directory_of(ftl)->entry[entry_number(ftl, table_page)] = ppa == MAP_NO_COPY ? UINT32_MAX : entry_for(ftl, ppa, *copy);
}

/* --- writing --- */

void l2p_directory_pass(struct ftl *ftl) { directory_of(ftl)->next = 0; }

static bool take_if_dirty(struct ftl *ftl, struct log_item *item, uint32_t index)
{
	struct map_page *state = directory_state(ftl, index);
	struct lt_lock *lock = &ftl->l2p->shard[SHARD];
	struct lt_lock_node node;
	bool dirty;

	lt_lock_acquire(lock, &node);
	dirty = state->dirty;
	if (dirty) {
		*item = (struct log_item){
			.txn = item->txn, .image = item->image, .page = index, .directory = true, .reads = state->ppa != MAP_NO_COPY
		};
		state->dirty = 0;
		state->writing = 1;
	}
	if (dirty && item->reads) {
		item->txn.ppa = state->ppa;
		slc_pin(ftl, state->ppa);
	}
	lt_lock_release(lock, &node);
	return dirty;
}

bool l2p_directory_take(struct ftl *ftl, struct log_item *item)
{
	struct l2p_directory *directory = directory_of(ftl);

	while (directory->next < directory->pages)
		if (take_if_dirty(ftl, item, directory->first + directory->next++))
			return true;
	return false;
}

/* Done twice, it adds what has become news meanwhile; then the image has the rest already. */
void l2p_directory_merge(struct ftl *ftl, const struct log_item *item)
{
	struct l2p_directory *directory = directory_of(ftl);
	uint32_t first = l2p_directory_first(ftl, item->page), *image = (uint32_t *)item->image;
	struct lt_lock *lock = &ftl->l2p->shard[SHARD];

	for (uint32_t i = 0; i < HZ_MAP_PAGE_ENTRIES; i += WORD) {
		uint64_t *word = &directory->news[(first + i) / WORD];
		struct lt_lock_node node;

		lt_lock_acquire(lock, &node);
		for (uint32_t bit = 0; bit < WORD; bit++)
			if (!item->reads || *word >> bit & 1)
				image[i + bit] = directory->entry[first + i + bit];
		*word = 0;
		lt_lock_release(lock, &node);
	}
}

/* --- construction --- */

void l2p_directory_init(struct ftl *ftl, struct arena *arena)
{
	struct l2p_directory *directory = directory_of(ftl);
	uint32_t entries = ftl->shape.map_directories << L2P_MAP_PAGE_SHIFT;

	directory->pages = ftl->shape.map_directories;
	directory->first = ftl->l2p->table.pages + ftl->shape.map_checkpoints;
	directory->entry = arena_alloc(arena, entries, sizeof(*directory->entry), "directory of table pages");
	directory->news = arena_alloc(arena, entries / WORD, sizeof(*directory->news), "directory of table pages");
	memset(directory->entry, 0xff, entries * sizeof(*directory->entry));
}
