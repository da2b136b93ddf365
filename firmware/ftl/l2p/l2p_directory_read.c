/* The directory of table pages as it lies on flash: what requests find there, what mount finds, and the check. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_directory_read.h"

#include "l2p/l2p.h"
#include "l2p/l2p_lookup.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"

static const struct l2p_directory *the_directory(const struct ftl *ftl) { return &ftl->l2p->directory; }

static struct map_page *copy_state(const struct ftl *ftl, uint32_t index) { return map_page_state(&ftl->l2p->table, index); }

static uint32_t within(uint32_t number) { return number & (HZ_MAP_PAGE_ENTRIES - 1); }

/* --- looking up --- */

static bool in_cache(struct ftl *ftl, uint32_t shard, uint32_t number, uint64_t now_ns, uint32_t *entry)
{
	return l2p_cache_find_entry(&ftl->l2p->cache, shard, L2P_DIRECTORY_LBA + number, within(number), now_ns, entry);
}

/* The line around it, without what is news. */
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

/* The directory page that the request waited for. */
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
