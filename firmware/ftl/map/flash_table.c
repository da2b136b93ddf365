/* Table pages of the map: numbers, ranges, copies on flash, and fetches. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "map/flash_table.h"

#include "lt/arena.h"
#include "map/l2p.h"
#include "map/l2p_internal.h"
#include "slc/slc.h"

/* Table pages: numbers, zones, sectors, ranges. */

static bool complete(const struct ftl *ftl, uint8_t level, const struct map_range *range, uint32_t placed)
{
	return placed >= (level == HZ_MAP_ZONE ? ftl->capacity : range->end);
}

uint8_t l2p_level_at(const struct ftl *ftl, uint32_t placed, uint32_t offset, struct map_range *range)
{
	uint8_t level = HZ_MAP_ZONE;

	while (level > HZ_MAP_PAGE && !(l2p_range_at(ftl, level, offset, range) && complete(ftl, level, range, placed)))
		level--;
	if (level == HZ_MAP_PAGE)
		l2p_range_at(ftl, level, offset, range);
	return level;
}

uint32_t map_page_index(const struct ftl *ftl, const struct zone *zone, uint32_t offset)
{
	return zone->index << ftl->l2p->table.zone_shift | offset >> L2P_MAP_PAGE_SHIFT;
}

bool map_page_conventional(const struct ftl *ftl, uint32_t page)
{
	return page >> ftl->l2p->table.zone_shift < ftl->shape.conventional_zones;
}

bool l2p_conventional(const struct ftl *ftl, const struct zone *zone) { return zone->index < ftl->shape.conventional_zones; }

struct zone *map_page_zone(struct ftl *ftl, uint32_t page) { return &ftl->zones[page >> ftl->l2p->table.zone_shift]; }

uint32_t map_page_first(const struct ftl *ftl, uint32_t page)
{
	return (page & ((1u << ftl->l2p->table.zone_shift) - 1)) << L2P_MAP_PAGE_SHIFT;
}

uint32_t map_page_shard(const struct ftl *ftl, uint32_t page)
{
	const struct l2p_table *table = &ftl->l2p->table;

	return page < table->pages ? ftl->zones[page >> table->zone_shift].map_shard : 0;
}

struct lt_lock *map_page_lock(struct ftl *ftl, uint32_t page) { return &ftl->l2p->shard[map_page_shard(ftl, page)]; }

uint32_t map_page_lpa(const struct ftl *ftl, uint32_t page)
{
	const struct l2p_table *table = &ftl->l2p->table;
	uint32_t zone = page >> table->zone_shift;

	return zone * table->per_zone + (page - (zone << table->zone_shift));
}

uint32_t map_page_entries(const struct ftl *ftl, uint32_t page)
{
	uint32_t rest = ftl->capacity - map_page_first(ftl, page);

	return rest < HZ_MAP_PAGE_ENTRIES ? rest : HZ_MAP_PAGE_ENTRIES;
}

uint32_t map_page_placed(const struct ftl *ftl, const struct zone *zone, uint32_t page)
{
	uint32_t first = map_page_first(ftl, page);

	if (zone->placed <= first)
		return 0;
	return zone->placed - first < HZ_MAP_PAGE_ENTRIES ? zone->placed - first : HZ_MAP_PAGE_ENTRIES;
}

/* Copies of table pages, and fetches with their waiters. */

/* --- copies on flash --- */

enum { VERSION_LEVEL = 11, VERSION_HIGH = 13 /* first bits of these parts of a version; the low part is in `merged` */ };

uint32_t map_page_version(const struct l2p_table *table, uint32_t page)
{
	const struct map_page *state = map_page_state(table, page);

	return (uint32_t)table->version[map_page_slot(table, page)] << VERSION_HIGH | (uint32_t)state->level << VERSION_LEVEL |
	       state->merged;
}

void map_page_set_version(struct l2p_table *table, uint32_t page, uint64_t sequence)
{
	struct map_page *state = map_page_state(table, page);

	state->merged = sequence & 0x7ff;
	state->level = sequence >> VERSION_LEVEL & 3;
	table->version[map_page_slot(table, page)] = (uint16_t)(sequence >> VERSION_HIGH);
}

static struct map_fetch **fetch_list(const struct ftl *ftl, uint32_t shard, uint32_t page)
{
	return &ftl->l2p->table.fetch[shard * MAP_FETCH_LISTS + page % MAP_FETCH_LISTS];
}

static void fetches_part(const struct ftl *ftl, uint32_t page, bool stale)
{
	for (struct map_fetch *fetch = *fetch_list(ftl, map_page_shard(ftl, page), page); fetch; fetch = fetch->next)
		if (fetch->page == page) {
			fetch->outdated = true;
			fetch->stale |= stale;
		}
}

void map_page_void_reads(struct ftl *ftl, uint32_t page) { fetches_part(ftl, page, true); }

void map_page_drop_copy(struct ftl_worker *self, uint32_t index)
{
	struct map_page *page = map_page_state(&self->ftl->l2p->table, index);
	ppa_t old = page->ppa;

	page->ppa = MAP_NO_COPY;
	page->merged = 0;
	page->staged = 0;
	page->level = HZ_MAP_PAGE;
	map_page_void_reads(self->ftl, index);
	if (old != MAP_NO_COPY)
		slc_invalidate(self, &old, 1);
}

void map_page_doubt(struct ftl_worker *self, uint32_t index)
{
	const struct map_page *page = map_page_state(&self->ftl->l2p->table, index);

	self->counters.l2p_rebuilt++;
	l2p_log_add(self->ftl, page->merged);
	if (page->staged)
		l2p_staged_lost(self->ftl, map_page_zone(self->ftl, index), index);
	map_page_drop_copy(self, index);
}

void map_page_set_copy(struct ftl_worker *self, uint32_t index, ppa_t ppa)
{
	struct map_page *page = map_page_state(&self->ftl->l2p->table, index);
	ppa_t old = page->ppa;

	page->ppa = ppa & MAP_NO_COPY;
	fetches_part(self->ftl, index, false);
	slc_validate(self->ftl, ppa, 1, slc_map_tag(index));
	if (old != MAP_NO_COPY)
		slc_invalidate(self, &old, 1);
}

static bool map_page_lies_at(struct ftl *ftl, uint32_t tag, ppa_t ppa)
{
	return map_page_state(&ftl->l2p->table, SLC_MAP_TAG - tag)->ppa == ppa;
}

static void map_page_moved(struct ftl_worker *self, uint32_t tag, ppa_t from, ppa_t to)
{
	struct ftl *ftl = self->ftl;
	uint32_t index = SLC_MAP_TAG - tag;
	struct lt_lock *lock = map_page_lock(ftl, index);
	struct lt_lock_node node;

	lt_lock_acquire(lock, &node);
	if (map_page_lies_at(ftl, tag, from)) {
		map_page_state(&ftl->l2p->table, index)->ppa = to & MAP_NO_COPY;
		slc_move(ftl, from, to);
		if (map_page_conventional(ftl, index))
			l2p_directory_moved(ftl, index, to & MAP_NO_COPY);
	}
	lt_lock_release(lock, &node);
}

/* --- fetches --- */

void l2p_fetches_wake(struct ftl_worker *self)
{
	struct ftl_request *next = self->fetches->free ? io_pop(&self->fetches->waiting) : NULL;

	if (!next)
		return;
	io_of(next)->woken = 1;
	io_resume(next);
}

static void fetch_free(struct map_fetch *fetch)
{
	struct map_fetch_pool *pool = fetch->owner->fetches;

	fetch->next = pool->free;
	pool->free = fetch;
	l2p_fetches_wake(fetch->owner);
}

static void released(struct lt_event *event) { fetch_free((struct map_fetch *)((char *)event - offsetof(struct map_fetch, released))); }

static void fetch_unlist(struct map_fetch *fetch)
{
	struct map_fetch **link = fetch->list;

	while (*link != fetch)
		link = &(*link)->next;
	*link = fetch->next;
}

void l2p_fetch_leave(struct ftl_worker *self, struct ftl_request *req)
{
	struct map_fetch *fetch = io_of(req)->fetch;

	io_of(req)->fetch = NULL;
	if (--fetch->refs)
		return;
	fetch_unlist(fetch);
	if (fetch->owner == self)
		fetch_free(fetch);
	else
		lt_post(&fetch->owner->thread, &fetch->released, released);
}

/* Read from the copy's present address; it stays there until the read has ended. Shard lock held. */
static void fetch_read(struct ftl_worker *self, struct map_fetch *fetch)
{
	fetch->txn.ppa = map_page_state(&self->ftl->l2p->table, fetch->page)->ppa;
	slc_pin(self->ftl, fetch->txn.ppa);
	self->counters.l2p_fetches++;
	tsu_submit(self->ftl->tsu, &fetch->txn);
}

void map_page_lost(struct ftl_worker *self, uint32_t index)
{
	struct ftl *ftl = self->ftl;

	if (l2p_directory_has(ftl, index)) {
		self->counters.l2p_rebuilt++;
		map_page_state(&ftl->l2p->table, index)->dirty = 1;
		map_page_drop_copy(self, index);
		return;
	}
	if (map_page_conventional(ftl, index)) {
		map_page_state(&ftl->l2p->table, index)->lost = 1;
		map_page_void_reads(ftl, index);
	} else {
		map_page_doubt(self, index);
	}
	map_page_dirty(ftl, map_page_shard(ftl, index), index);
}

/* noinline: keeps freeze and thaw paired on one exit. */
static __attribute__((noinline)) void tell_waiting(const struct io_queue *waiting, const struct tsu_txn *txn)
{
	for (const struct ftl_request *req = waiting->head; req; req = io_of((struct ftl_request *)req)->next)
		lt_tell_flash_read(req, txn->start_ns, txn->cells_end_ns, txn->end_ns);
}

static void fetched(struct tsu_txn *txn)
{
	struct map_fetch *fetch = (struct map_fetch *)txn;
	struct ftl_worker *self = worker_of(txn);
	struct lt_lock *lock = map_page_lock(self->ftl, fetch->page);
	struct io_queue waiting = { NULL, NULL };
	struct lt_lock_node node;
	bool failed;

	if (txn->status == NAND_POWER_OFF)
		return;
	slc_unpin(self, txn->ppa);
	lt_lock_acquire(lock, &node);
	failed = txn->status != NAND_OK && !fetch->stale;
	if (failed && ++fetch->tries < SLC_READ_TRIES) {
		fetch_read(self, fetch);
	} else {
		if (failed)
			map_page_lost(self, fetch->page);
		fetch->ready = true;
		waiting = fetch->waiting;
	}
	lt_lock_release(lock, &node);
	clock_freeze();
	tell_waiting(&waiting, txn);
	clock_thaw();
	if (failed && fetch->ready && map_page_conventional(self->ftl, fetch->page))
		l2p_log_flush(self);
	io_resume_all(&waiting);
}

static struct map_fetch *fetch_start(struct ftl_worker *self, uint32_t index, struct map_fetch **list)
{
	struct ftl *ftl = self->ftl;
	struct map_fetch *fetch = self->fetches->free;

	self->fetches->free = fetch->next;
	lt_tell_had(HZ_LOGICAL_FETCHES);
	fetch->page = index;
	fetch->merged = map_page_conventional(ftl, index) ? map_page_entries(ftl, index) : map_page_state(&ftl->l2p->table, index)->merged;
	fetch->refs = 0;
	fetch->tries = 0;
	fetch->ready = fetch->outdated = fetch->stale = false;
	fetch->waiting = (struct io_queue){ NULL, NULL };
	fetch->list = list;
	fetch->next = *list;
	*list = fetch;
	fetch_read(self, fetch);
	return fetch;
}

bool l2p_fetch(struct ftl_worker *self, struct ftl_request *req, uint32_t shard, uint32_t index)
{
	struct map_fetch **list = fetch_list(self->ftl, shard, index), *fetch = *list;
	bool joins;

	while (fetch && (fetch->page != index || fetch->outdated))
		fetch = fetch->next;
	joins = fetch;
	if (!fetch && !self->fetches->free) {
		io_wait(&self->fetches->waiting, req, HZ_LOGICAL_FETCHES, (uint32_t)(self - self->ftl->workers));
		return false;
	}
	if (joins)
		self->counters.l2p_joined++;
	else
		fetch = fetch_start(self, index, list);
	if (joins && !fetch->ready)
		lt_logical_wait(HZ_LOGICAL_FETCH, index, req);
	lt_tell_had(HZ_LOGICAL_FETCH);
	fetch->refs++;
	io_of(req)->fetch = fetch;
	io_of(req)->missed = 1;
	if (!fetch->ready)
		io_push(&fetch->waiting, req);
	return fetch->ready;
}

/* --- construction --- */

static void map_fetch_init(struct ftl_worker *worker, struct arena *arena, struct map_fetch *fetch)
{
	fetch->owner = worker;
	fetch->image = arena_alloc_data(arena, 1, HZ_SECTOR_BYTES, "data of table page fetches");
	fetch->txn = (struct tsu_txn){ .owner = &worker->thread,
				       .done = fetched,
				       .op = TSU_READ,
				       .cause = HZ_CAUSE_MAP,
				       .sectors = 1,
				       .data = { &fetch->image, 0, HZ_SECTOR_BYTES } };
	fetch->next = worker->fetches->free;
	worker->fetches->free = fetch;
}

void l2p_fetches_init(struct ftl_worker *worker, struct arena *arena)
{
	uint32_t count = worker->ftl->cfg->l2p_cache_bytes ? L2P_FETCHES_PER_WORKER : 0;
	struct map_fetch *fetch = arena_alloc(arena, count, sizeof(*fetch), "table page fetches");

	worker->fetches = arena_alloc(arena, 1, sizeof(*worker->fetches), "table page fetches");
	for (uint32_t i = 0; i < count; i++)
		map_fetch_init(worker, arena, &fetch[i]);
}

void l2p_table_init(struct ftl *ftl, struct arena *arena)
{
	struct l2p_table *table = &ftl->l2p->table;
	uint32_t slots;

	table->per_zone = ftl->shape.map_pages_per_zone;
	while (1u << table->zone_shift < table->per_zone)
		table->zone_shift++;
	table->split = min_u32(ftl->capacity, ftl->shape.superblock_sectors);
	table->unused = (1u << table->zone_shift) - table->per_zone;
	table->pages = ftl->l2p->zones << table->zone_shift;
	table->page_count = ftl->l2p->zones * table->per_zone;
	table->all = table->pages + ftl->shape.map_checkpoints + ftl->shape.map_directories;
	slots = table->page_count + (table->all - table->pages);
	table->page = arena_alloc(arena, slots, sizeof(*table->page), "table pages");
	table->version = arena_alloc(arena, (size_t)ftl->shape.conventional_zones * table->per_zone, sizeof(*table->version),
				     "versions of table pages");
	table->fetch = arena_alloc(arena, (size_t)ftl->l2p->shards * MAP_FETCH_LISTS, sizeof(struct map_fetch *), "table page fetches");
	table->sequence = arena_borrow(arena, slots, sizeof(*table->sequence), "numbers of table pages");
	table->generation = arena_borrow(arena, slots, sizeof(*table->generation), "generations of table pages");
	for (uint32_t i = 0; i < slots; i++)
		table->page[i].ppa = MAP_NO_COPY;
	slc_own(ftl->slc, SLC_OWNS_MAP,
		(struct slc_owner){ .first = slc_map_tag(table->all - 1),
				    .last = slc_map_tag(0),
				    .moved = map_page_moved,
				    .lies_at = map_page_lies_at });
}
