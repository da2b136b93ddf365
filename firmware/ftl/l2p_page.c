/* Map on flash, conventional zones: an entry is looked up among the changes, then in the cache, then fetched with its table page.
 *
 * In this order, since a table page's bytes and its copy on flash are older than the changes. Nothing is cached of an LBA that has a
 * change, and a page that was read becomes void (its epoch) when a new copy takes its place, before the changes in it are dropped. */
#include "l2p_page.h"

#include "context.h"

/* A look-up of consecutive LBAs of one zone. Shard lock held. */
struct lookup {
	struct ftl_worker *self;
	struct ftl_request *req;
	uint32_t shard, page;         /* table page of the sector at hand */
	uint32_t first;               /* LBA of that page's first entry */
	uint32_t lba, end;
	uint32_t *place;              /* where the next one goes */
	uint64_t now_ns;
	bool replaced;                /* an insertion made another entry leave */
};

static void found(struct lookup *at, uint32_t place)
{
	*at->place++ = place;
	at->lba++;
}

static bool from_changes(struct lookup *at)
{
	const struct l2p_change *change = l2p_change_of(at->self->ftl, at->shard, at->lba);

	if (!change)
		return false;
	at->self->counters.l2p_log_hits++;
	found(at, change->place);
	return true;
}

static bool from_cache(struct lookup *at)
{
	ppa_t place = l2p_cache_find(&at->self->ftl->l2p.cache, at->shard, at->lba, HZ_MAP_PAGE, at->now_ns);

	if (place == PPA_NONE)
		return false;
	at->self->counters.l2p_hits[HZ_MAP_PAGE]++;
	found(at, place);
	return true;
}

static bool insert(struct lookup *at, uint32_t lba, uint32_t place)
{
	struct l2p_cache_new entry = { .lba = lba, .ppa = place, .group = at->page, .level = HZ_MAP_PAGE };
	enum l2p_cache_insertion insertion = l2p_cache_insert(&at->self->ftl->l2p.cache, at->shard, &entry, at->now_ns);

	at->self->counters.l2p_evictions += insertion == L2P_CACHE_REPLACED;
	at->replaced |= insertion == L2P_CACHE_REPLACED;
	return insertion != L2P_CACHE_PRESENT;
}

/* Entries behind the one that was wanted: those without a change, as many as the prefetch window and the shard's room allow. */
static void prefetch(struct lookup *at, const struct map_fetch *fetch, uint32_t index)
{
	const uint32_t *entry = (const uint32_t *)fetch->image;
	struct ftl *ftl = at->self->ftl;
	const struct l2p_cache_shard *shard = &ftl->l2p.cache.shard[at->shard];
	uint32_t end = index + ftl->cfg->l2p_prefetch, room = index + shard->own - shard->pinned - 1;
	bool changes = ftl->l2p.table.page[at->page].flags & (MAP_DIRTY | MAP_WRITING);

	if (end > fetch->merged)
		end = fetch->merged;
	for (uint32_t i = index; i < end && i < room; i++)
		if (!changes || !l2p_change_of(ftl, at->shard, at->first + i))
			at->self->counters.l2p_prefetched += insert(at, at->first + i, entry[i] & L2P_ADDRESS_MASK);
}

/* A page without a copy says that nothing was ever written there. */
static bool from_page(struct lookup *at)
{
	const struct map_page *page = &at->self->ftl->l2p.table.page[at->page];
	struct ftl_io *io = io_of(at->req);
	const struct map_fetch *fetch = io->fetch;
	uint32_t index = at->lba - at->first;
	const uint32_t *entry;

	if (page->ppa == PPA_NONE) {
		found(at, L2P_UNMAPPED);
		return true;
	}
	if (!fetch)
		return false;
	if (fetch->page != at->page || l2p_fetch_stale(at->self->ftl, fetch)) {
		l2p_fetch_leave(at->self, at->req);
		return false;
	}
	entry = (const uint32_t *)fetch->image;
	insert(at, at->lba, entry[index] & L2P_ADDRESS_MASK);
	found(at, entry[index] & L2P_ADDRESS_MASK);
	if (io->missed) {
		at->self->counters.l2p_misses[HZ_MAP_PAGE]++;
		io->missed = 0;
		prefetch(at, fetch, index + 1);
	}
	return true;
}

static void page_of(struct lookup *at, const struct zone *zone)
{
	at->page = l2p_page_index(at->self->ftl, zone, (uint32_t)(at->lba - zone->start));
	at->first = (uint32_t)zone->start + l2p_page_first(at->self->ftl, at->page);
}

uint32_t l2p_cached_page_read(struct ftl_worker *self, struct ftl_request *req, uint64_t lba, uint32_t count, uint32_t *place)
{
	struct l2p *l2p = &self->ftl->l2p;
	const struct zone *zone = zone_at(self->ftl, lba);
	struct lookup at = { .self = self, .req = req, .shard = l2p_shard_of(self->ftl, zone), .lba = (uint32_t)lba,
			     .end = (uint32_t)lba + count, .place = place, .now_ns = l2p_cache_now(l2p) };
	struct lt_lock_node node;
	bool more = true;

	lt_lock_acquire(&l2p->shard[at.shard], &node);
	while (more && at.lba < at.end) {
		page_of(&at, zone);
		if (from_changes(&at) || from_cache(&at) || from_page(&at))
			continue;
		more = at.lba == (uint32_t)lba && l2p_fetch(self, req, at.page);
	}
	lt_lock_release(&l2p->shard[at.shard], &node);
	if (at.replaced && l2p->shards > 1)
		l2p_cache_borrow(self, at.shard);
	return at.lba - (uint32_t)lba;
}

void l2p_cached_page_map(struct ftl_worker *self, uint64_t lba, uint32_t count, uint32_t to, struct hz_oob *oob)
{
	struct ftl *ftl = self->ftl;
	uint32_t shard = l2p_shard_of(ftl, zone_at(ftl, lba));
	struct lt_lock_node node;
	uint64_t sequence;

	lt_lock_acquire(&ftl->l2p.shard[shard], &node);
	sequence = sequence_take(ftl, count);
	for (uint32_t i = 0; i < count; i++) {
		oob[i].sequence = sequence + i;
		l2p_change(ftl, shard, (uint32_t)lba + i, to + i);
	}
	lt_lock_release(&ftl->l2p.shard[shard], &node);
	self->counters.l2p_updates += count;
	l2p_log_kick(self);
}

/* Without a change the copy on flash decides, and it names `from` as long as that is valid: what replaces it there invalidates it. */
bool l2p_cached_page_move(struct ftl_worker *self, uint64_t lba, uint32_t from, uint32_t to, struct hz_oob *oob)
{
	struct ftl *ftl = self->ftl;
	uint32_t shard = l2p_shard_of(ftl, zone_at(ftl, lba));
	const struct l2p_change *change;
	struct lt_lock_node node;
	bool here;

	lt_lock_acquire(&ftl->l2p.shard[shard], &node);
	change = l2p_change_of(ftl, shard, (uint32_t)lba);
	here = change ? change->place == from : page_space_valid(ftl, from);
	if (here) {
		oob->sequence = sequence_take(ftl, 1);
		l2p_change(ftl, shard, (uint32_t)lba, to);
	}
	lt_lock_release(&ftl->l2p.shard[shard], &node);
	self->counters.l2p_updates += here;
	l2p_log_kick(self);
	return here;
}

uint32_t l2p_cached_page_hint(struct ftl *ftl, uint64_t lba)
{
	uint32_t shard = l2p_shard_of(ftl, zone_at(ftl, lba)), place;
	const struct l2p_change *change;
	struct lt_lock_node node;

	lt_lock_acquire(&ftl->l2p.shard[shard], &node);
	change = l2p_change_of(ftl, shard, (uint32_t)lba);
	place = change ? change->place : l2p_cache_find(&ftl->l2p.cache, shard, (uint32_t)lba, HZ_MAP_PAGE, l2p_cache_now(&ftl->l2p));
	lt_lock_release(&ftl->l2p.shard[shard], &node);
	return place == PPA_NONE ? L2P_UNMAPPED : place;
}

static uint32_t peek_copy(struct ftl *ftl, uint32_t index, uint32_t offset)
{
	uint8_t *image = ftl->l2p.changes.peek;
	struct sgl data = { &image, 0, HZ_SECTOR_BYTES };
	ppa_t ppa = ftl->l2p.table.page[index].ppa;

	if (ppa == PPA_NONE)
		return L2P_UNMAPPED;
	tsu_read_now(ftl->tsu, ppa, 1, &data, 0, NULL);
	return ((const uint32_t *)image)[offset & (HZ_MAP_PAGE_ENTRIES - 1)] & L2P_ADDRESS_MASK;
}

uint32_t l2p_cached_page_peek(struct ftl *ftl, uint64_t lba)
{
	const struct zone *zone = zone_at(ftl, lba);
	uint32_t offset = (uint32_t)(lba - zone->start);
	const struct l2p_change *change;

	if (ftl->l2p.changes.scan)
		return ftl->l2p.changes.scan[zone->index * ftl->page.capacity + offset] & L2P_ADDRESS_MASK;
	change = l2p_change_of(ftl, l2p_shard_of(ftl, zone), (uint32_t)lba);
	return change ? change->place : peek_copy(ftl, l2p_page_index(ftl, zone, offset), offset);
}

static bool still_holds(struct ftl *ftl, uint32_t place, uint32_t lba)
{
	return place != L2P_UNMAPPED && page_space_valid(ftl, place) && page_zone_of(ftl, place)->page->lba[page_offset_of(ftl, place)] == lba;
}

/* What the copies still name although a change says otherwise, and nobody has collected yet. */
uint64_t l2p_cached_page_stale(struct ftl *ftl)
{
	const struct l2p_changes *changes = &ftl->l2p.changes;
	uint32_t pages = ftl->shape.conventional_zones << ftl->l2p.table.zone_shift;
	uint64_t stale = 0;

	for (uint32_t p = 0; p < pages; p++)
		for (uint32_t i = changes->of_page[p]; i != CHANGE_NONE; i = changes->record[i].next) {
			const struct l2p_change *change = &changes->record[i];
			uint32_t old = peek_copy(ftl, p, change->lba - (uint32_t)l2p_page_zone(ftl, p)->start);

			stale += old != change->place && still_holds(ftl, old, change->lba);
		}
	return stale;
}

void l2p_cached_page_preset(struct ftl *ftl, uint64_t lba, uint32_t place)
{
	const struct zone *zone = zone_at(ftl, lba);

	ftl->l2p.changes.scan[zone->index * ftl->page.capacity + (lba - zone->start)] = place;
}
