/* The directory of table pages: its entries in RAM, its pages on flash, and reads of these. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "map/flash_directory.h"

#include <string.h>

#include "lt/arena.h"
#include "map/l2p.h"
#include "map/l2p_internal.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"

/* The directory of table pages: its entries, the news, and the merge into its pages by the log's job. Calls nothing of the table, its
 * caller. */

enum { SHARD = 0, WORD = L2P_NEWS_WORD /* also: most entries merged under one acquisition */ };

static struct l2p_directory *directory_of(const struct ftl *ftl) { return &ftl->l2p->directory; }

static struct map_page *directory_state(const struct ftl *ftl, uint32_t index) { return map_page_state(&ftl->l2p->table, index); }

static uint32_t entry_number(const struct ftl *ftl, uint32_t table_page) { return map_page_slot(&ftl->l2p->table, table_page); }

uint32_t l2p_directory_first(const struct ftl *ftl, uint32_t index) { return (index - directory_of(ftl)->first) << L2P_MAP_PAGE_SHIFT; }

bool l2p_directory_has(const struct ftl *ftl, uint32_t index) { return index - directory_of(ftl)->first < directory_of(ftl)->pages; }

uint32_t l2p_directory_page(const struct ftl *ftl, uint32_t table_page)
{
	return directory_of(ftl)->first + (entry_number(ftl, table_page) >> L2P_MAP_PAGE_SHIFT);
}

/* --- news --- */

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

/* An entry with the address of the sectors has no address of the copy. */
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

/* A second call adds news since the first; the image has the rest already. */
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

/* The directory of table pages on flash: look-up for requests, mount, and check. */

static const struct l2p_directory *the_directory(const struct ftl *ftl) { return &ftl->l2p->directory; }

static struct map_page *copy_state(const struct ftl *ftl, uint32_t index) { return map_page_state(&ftl->l2p->table, index); }

static uint32_t within(uint32_t number) { return number & (HZ_MAP_PAGE_ENTRIES - 1); }

/* --- looking up --- */

static bool in_cache(struct ftl *ftl, uint32_t shard, uint32_t number, uint64_t now_ns, uint32_t *entry)
{
	return l2p_cache_find_entry(&ftl->l2p->cache, shard, L2P_DIRECTORY_LBA + number, within(number), now_ns, entry);
}

/* The line around it, without news. */
static void enter_line(struct l2p_lookup *at, const struct map_fetch *fetch, uint32_t number)
{
	const struct ftl *ftl = at->self->ftl;
	uint32_t line = l2p_cache_line(&ftl->l2p->cache), first = number & ~(line - 1);
	uint64_t news = the_directory(ftl)->news[first / L2P_NEWS_WORD] >> first % L2P_NEWS_WORD;
	struct l2p_cache_entries entries = {
		.lba = L2P_DIRECTORY_LBA + first,
		.group = fetch->page,
		.count = line,
		.entry = (const uint32_t *)fetch->image + within(first),
		.valid = UINT64_MAX >> (64 - line) & ~news,
	};

	l2p_lookup_fill(at, &entries);
}

/* The directory page fetched for the request. */
static bool from_directory_page(struct l2p_lookup *at, uint32_t index, uint32_t number, uint32_t *entry)
{
	struct ftl_io *io = io_of(at->req);
	const struct map_fetch *fetch = io->fetch;
	bool here = fetch && fetch->page == index && !fetch->stale;

	if (here) {
		*entry = ((const uint32_t *)fetch->image)[within(number)];
		enter_line(at, fetch, number);
		at->self->counters.l2p_directory_misses += io->missed;
		io->missed = 0;
	}
	if (fetch)
		l2p_fetch_leave(at->self, at->req);
	return here;
}

enum directory_found l2p_directory_find(struct l2p_lookup *at, uint32_t table_page, uint32_t *entry)
{
	struct ftl *ftl = at->self->ftl;
	uint32_t number = map_page_slot(&ftl->l2p->table, table_page), index = l2p_directory_page(ftl, table_page);

	if (l2p_directory_in_ram(ftl, index, number)) {
		*entry = the_directory(ftl)->entry[number];
		return DIRECTORY_AT_HAND;
	}
	if (in_cache(ftl, at->shard, number, at->now_ns, entry)) {
		at->self->counters.l2p_directory_hits++;
		return DIRECTORY_AT_HAND;
	}
	return from_directory_page(at, index, number, entry) ? DIRECTORY_WAS_READ : DIRECTORY_IS_WANTED;
}

uint32_t l2p_directory_hint(struct ftl *ftl, uint32_t table_page)
{
	uint32_t number = map_page_slot(&ftl->l2p->table, table_page), index = l2p_directory_page(ftl, table_page), entry = UINT32_MAX;

	if (l2p_directory_in_ram(ftl, index, number))
		return the_directory(ftl)->entry[number];
	in_cache(ftl, map_page_shard(ftl, index), number, l2p_cache_now(ftl->l2p), &entry);
	return entry;
}

/* --- mount --- */

/* The bytes of the copy, or NULL. */
static const uint32_t *read_copy(struct ftl *ftl, uint32_t index)
{
	uint8_t *image = ftl->l2p->log.item[0].image;
	struct sgl data = { &image, 0, HZ_SECTOR_BYTES };

	if (tsu_read_now(ftl->tsu, copy_state(ftl, index)->ppa, 1, &data, 0, NULL) != NAND_OK)
		return NULL;
	return (const uint32_t *)image;
}

static void compare(struct ftl *ftl, uint32_t index)
{
	const struct l2p_directory *directory = the_directory(ftl);
	uint32_t first = l2p_directory_first(ftl, index);
	const uint32_t *copy = read_copy(ftl, index);

	if (!copy) {
		map_page_lost(&ftl->workers[0], index);
		return;
	}
	for (uint32_t i = 0; i < HZ_MAP_PAGE_ENTRIES; i++)
		if (copy[i] != directory->entry[first + i])
			l2p_directory_news(ftl, index, first + i);
}

void l2p_directory_mounted(struct ftl *ftl)
{
	const struct l2p_directory *directory = the_directory(ftl);

	for (uint32_t index = directory->first; index < directory->first + directory->pages; index++)
		if (copy_state(ftl, index)->ppa == MAP_NO_COPY)
			copy_state(ftl, index)->dirty = 1;
		else
			compare(ftl, index);
}

/* --- check --- */

static const char *check_entries(const struct ftl *ftl)
{
	const struct l2p_table *table = &ftl->l2p->table;

	for (uint32_t number = 0; number < ftl->shape.conventional_zones * table->per_zone; number++) {
		uint32_t entry = the_directory(ftl)->entry[number], ppa = table->page[number].ppa;

		if (entry == UINT32_MAX ? ppa != MAP_NO_COPY : ppa == MAP_NO_COPY)
			return "the directory has an entry for a table page without a copy, or none for one that has";
		if (entry != UINT32_MAX && l2p_entry_level(entry) == HZ_MAP_PAGE && entry != ppa)
			return "the directory names another place than the table page's";
	}
	return NULL;
}

static const char *check_directory_line(const struct ftl *ftl, const struct l2p_cached *node, uint32_t index)
{
	const struct l2p_cache *cache = &ftl->l2p->cache;
	uint32_t number = node->lba - L2P_DIRECTORY_LBA;

	for (uint32_t i = 0; i < l2p_cache_line(cache); i++)
		if (node->valid >> i & 1 && cache->place[node->slot + i] != the_directory(ftl)->entry[number + i])
			return "a cached entry of the directory is wrong";
	return l2p_directory_has(ftl, index) && number - l2p_directory_first(ftl, index) < HZ_MAP_PAGE_ENTRIES
		       ? NULL
		       : "a cached entry of the directory is in another page's list";
}

static const char *check_directory_lines(const struct ftl *ftl, uint32_t index)
{
	const struct l2p_cache *cache = &ftl->l2p->cache;
	const char *error = NULL;

	for (uint32_t e = *l2p_cache_group_list(cache, map_page_shard(ftl, index), index); !error && e != L2P_CACHE_NONE;
	     e = cache->node[e].after)
		if (cache->node[e].group == index)
			error = check_directory_line(ftl, &cache->node[e], index);
	return error;
}

static const char *check_directory_copy(struct ftl *ftl, uint32_t index)
{
	const struct map_page *state = copy_state(ftl, index);
	const uint32_t *copy = read_copy(ftl, index);
	uint32_t first = l2p_directory_first(ftl, index);

	if (*slc_tag_of(ftl, state->ppa) != slc_map_tag(index))
		return "an SLC sector does not know the directory page that lies there";
	for (uint32_t i = 0; copy && i < HZ_MAP_PAGE_ENTRIES; i++)
		if (!l2p_directory_is_news(ftl, first + i) && copy[i] != the_directory(ftl)->entry[first + i])
			return "a directory page on flash is wrong";
		else if (l2p_directory_is_news(ftl, first + i) && !state->dirty)
			return "a directory page has news but is not dirty";
	return NULL;
}

static const char *check_directory_page(struct ftl *ftl, uint32_t index)
{
	const struct map_page *state = copy_state(ftl, index);
	const char *error = check_directory_lines(ftl, index);

	if (error || (state->writing && l2p_lost(ftl)))
		return error;
	if (state->writing)
		return "a directory page is being written though nothing runs";
	return state->ppa == MAP_NO_COPY ? NULL : check_directory_copy(ftl, index);
}

const char *l2p_directory_check(struct ftl *ftl)
{
	const struct l2p_directory *directory = the_directory(ftl);
	const char *error = directory->pages ? check_entries(ftl) : NULL;

	for (uint32_t i = 0; !error && i < directory->pages; i++)
		error = check_directory_page(ftl, directory->first + i);
	return error;
}
