/* Writes to the page space: a request goes to the open backing zone of its stream, part by part if that fills up, and lands there through
 * the zone write path. Its sectors get their places, and the map changes, when data land; who waits for that has no place yet.
 *
 * Hot or cold: the backing zone of an LBA's present place tells when it was written, in sectors of host writes. With uniform
 * writes an LBA is overwritten after as many sectors as the space has, on average; one that lasted less than half of that is hot.
 * A copy counts as young as if the host had written it: it errs for a while, and knows the hot sectors among the copies. The
 * first sector decides for the whole request. What the map does not know at once is cold. */
#include "base/context.h"
#include "conventional/page_space.h"
#include "zone/write.h"

static uint16_t write_status(const struct ftl *ftl, const struct ftl_request *req)
{
	const struct hz_shape *shape = &ftl->shape;
	uint64_t offset;

	if (req->op == FTL_APPEND)
		return NVME_INVALID_FIELD;
	if (req->lba + req->sectors > ftl->page.end)
		return NVME_ZONE_BOUNDARY;
	if (shape->zone_size_sectors == shape->zone_capacity_sectors)
		return NVME_SUCCESS;
	offset = req->lba - zone_at((struct ftl *)ftl, req->lba)->start;
	return offset + req->sectors > shape->zone_capacity_sectors ? NVME_ZONE_BOUNDARY : NVME_SUCCESS;
}

static bool from_collector(const struct ftl *ftl, const struct ftl_request *req) { return req == &ftl->page.gc.request; }

static enum page_stream choose_stream(struct ftl *ftl, const struct ftl_request *req)
{
	struct page_space *page = &ftl->page;
	uint32_t place;
	uint64_t age;

	if (from_collector(ftl, req))
		return PAGE_COLLECT;
	if (ftl->cfg->conventional_streams < 2)
		return PAGE_COLD;
	place = l2p_page_hint(ftl, req->lba + io_of((struct ftl_request *)req)->done);
	if (place == L2P_UNMAPPED)
		return PAGE_COLD;
	age = lt_load(&page->clock) - lt_load(&page_zone_of(ftl, place)->page->born);
	return age < page->hot_age ? PAGE_HOT : PAGE_COLD;
}

/* --- space --- */

/* The last erased zone is the collector's. */
static bool may_take(const struct page_space *page, enum page_stream stream)
{
	return lt_load(&page->free) > (stream == PAGE_COLLECT ? 0 : 1);
}

static void open_zone(struct ftl *ftl, enum page_stream stream)
{
	struct page_space *page = &ftl->page;
	uint32_t number = page_take_erased(page);
	struct page_zone *info = &page->zone[number];

	lt_store(&info->born, lt_load(&page->clock));
	lt_store(&info->state, PAGE_OPEN);
	lt_store(&info->stream, stream);
	lt_store(&page->current[stream], number + 1);
}

/* The zone `seen` is full: let the stream have another. False: there is none; the request waits, the collector's fails. */
static bool advance(struct ftl_worker *self, enum page_stream stream, uint64_t seen, struct ftl_request *req)
{
	struct page_space *page = &self->ftl->page;
	struct lt_lock_node node;
	bool had = true;

	lt_lock_acquire(&page->lock, &node);
	if (lt_load(&page->current[stream]) == seen) {
		had = may_take(page, stream);
		if (had) {
			open_zone(self->ftl, stream);
		} else if (stream != PAGE_COLLECT) {
			io_of(req)->since_ns = clock_now_ns();
			io_push(&page->waiting, req);
		}
	}
	lt_lock_release(&page->lock, &node);
	page_gc_kick(self);
	if (!had && stream == PAGE_COLLECT)
		io_complete(req, NVME_WRITE_FAULT);
	return had;
}

static struct io_queue take_waiting(struct page_space *page)
{
	struct io_queue waiting;
	struct lt_lock_node node;

	lt_lock_acquire(&page->lock, &node);
	waiting = page->waiting;
	page->waiting = (struct io_queue){ NULL, NULL };
	lt_lock_release(&page->lock, &node);
	return waiting;
}

void page_space_retry(struct ftl *ftl)
{
	struct io_queue waiting;

	if (!ftl->page.zones)
		return;
	waiting = take_waiting(&ftl->page);
	io_resume_all(&waiting);
}

void page_zone_erased(struct ftl *ftl, struct zone *zone)
{
	struct page_space *page = &ftl->page;
	uint32_t number = zone->index - ftl->zone_count, words = (page->capacity + PAGE_VALID_BITS - 1) / PAGE_VALID_BITS;
	struct page_zone *info = &page->zone[number];
	struct lt_lock_node node;

	for (uint32_t i = 0; i < words; i++)
		lt_add(&info->bits[i], 1ull << PAGE_VALID_BITS);
	lt_store(&info->durable, 0);
	lt_store(&info->state, PAGE_ERASED);
	lt_lock_acquire(&page->lock, &node);
	page_list_erased(page, number);
	lt_lock_release(&page->lock, &node);
	page_space_retry(ftl);
}

void page_space_despair(struct ftl *ftl)
{
	struct io_queue waiting = take_waiting(&ftl->page);
	struct ftl_request *req;

	while ((req = io_pop(&waiting)))
		io_complete(req, NVME_WRITE_FAULT);
}

void page_sealed(struct ftl_worker *self, struct zone *zone)
{
	struct page_zone *info = zone->page;

	lt_store(&info->filled, lt_load(&zone->ftl->sequence));
	lt_store(&info->erases, superblock_erases(zone->ftl, zone->superblock));
	lt_store(&info->state, PAGE_SEALED);
	page_gc_kick(self);
}

void page_zone_lost(struct ftl_worker *self, struct zone *zone)
{
	if (zone->landed > zone_durable(zone))
		lt_add(&self->ftl->page.losses, 1);
	lt_store(&zone->page->stream, PAGE_NO_STREAM);
	lt_store(&zone->page->state, PAGE_LOST);
	page_gc_kick(self);
}

/* --- appending --- */

/* Zone lock held. */
static void accept(struct ftl_worker *self, struct zone *zone, enum page_stream stream, struct ftl_request *req)
{
	io_of(req)->first = io_of(req)->done;
	io_of(req)->end = req->sectors;
	zone->stream = stream;
	if (!zone_is_open(zone->state))
		zone_set_state(zone, NVME_ZS_IMPLICIT_OPEN, BUDGET_NONE);
	io_push(&zone->writers, req);
	zone_pump(self, zone);
}

/* False: the zone takes nothing more. */
static bool append(struct ftl_worker *self, enum page_stream stream, uint64_t current, struct ftl_request *req)
{
	struct lt_lock_node node;
	struct zone *zone;
	bool fits;

	if (!current)
		return false;
	zone = &self->ftl->zones[self->ftl->zone_count + current - 1];
	lt_lock_acquire(&zone->lock, &node);
	fits = lt_load(&zone->page->stream) == stream && zone->wp < self->ftl->page.capacity && !zone->failed;
	if (fits)
		accept(self, zone, stream, req);
	lt_lock_release(&zone->lock, &node);
	return fits;
}

static void note_stall(struct ftl_worker *self, struct ftl_io *io)
{
	if (!io->since_ns)
		return;
	self->counters.page_stalls++;
	self->counters.page_stall_ns += clock_now_ns() - io->since_ns;
	io->since_ns = 0;
}

void page_write_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct page_space *page = &self->ftl->page;
	uint16_t status = from_collector(self->ftl, req) ? NVME_SUCCESS : write_status(self->ftl, req);
	enum page_stream stream;
	uint64_t current;

	if (status) {
		io_complete(req, status);
		return;
	}
	note_stall(self, io_of(req));
	stream = choose_stream(self->ftl, req);
	do
		current = lt_load(&page->current[stream]);
	while (!append(self, stream, current, req) && advance(self, stream, current, req));
}

/* --- landing --- */

/* As many sectors as one call of the map takes. */
static uint32_t map_piece(struct ftl_worker *self, struct zone *zone, uint64_t lba, uint32_t sectors, uint32_t offset, struct hz_oob *oob)
{
	struct ftl *ftl = zone->ftl;
	const struct zone *host = zone_at(ftl, lba);
	uint64_t rest = host->start + ftl->shape.zone_capacity_sectors - lba;
	uint32_t *reverse = &zone->page->lba[offset];

	if (sectors > L2P_PIECE)
		sectors = L2P_PIECE;
	if (sectors > rest)
		sectors = (uint32_t)rest;
	for (uint32_t i = 0; i < sectors; i++)
		reverse[i] = oob[i].host_lba = (uint32_t)lba + i;
	l2p_page_map(self, lba, sectors, page_place(zone->page, offset), oob);
	return sectors;
}

/* A copy whose original was overwritten meanwhile fills its slot for nothing. */
static void move_one(struct ftl_worker *self, struct zone *zone, uint32_t at, uint32_t offset, struct hz_oob *oob)
{
	struct ftl *ftl = zone->ftl;
	struct page_gc *gc = &ftl->page.gc;
	uint32_t from = page_place(gc->victim->page, gc->offset[at]), to = page_place(zone->page, offset);
	uint32_t *reverse = &zone->page->lba[offset];

	*reverse = oob->host_lba = gc->lba[at];
	if (!l2p_page_move(self, gc->lba[at], from, to, oob)) {
		*reverse = oob->host_lba = UINT32_MAX;
		oob->sequence = sequence_take(ftl, 1);
		page_space_invalidate(ftl, to, UINT64_MAX);
	}
	page_space_invalidate(ftl, from, UINT64_MAX);
}

/* The one that landed last stays, with what it has here as its part; it and the others go on in the stream's next zone. */
static void filled(struct zone *zone, struct ftl_request *last)
{
	struct io_queue rest = zone->writers;

	zone_set_state(zone, NVME_ZS_FULL, BUDGET_NONE);
	lt_store(&zone->page->stream, PAGE_NO_STREAM);
	io_of(last)->end = io_of(last)->done;
	io_pop(&rest);
	zone->writers = (struct io_queue){ last, last };
	io_of(last)->next = NULL;
	io_resume_all(&rest);
}

void page_landed(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors)
{
	struct page_space *page = &self->ftl->page;

	zone->wp = zone->landed;
	if (zone->stream != PAGE_COLLECT) {
		self->counters.host_write_sectors += sectors;
		lt_add(&page->clock, sectors);
	}
	if (zone->wp == page->capacity)
		filled(zone, req);
}

void page_land(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors, struct hz_oob *oob)
{
	uint32_t done = io_of(req)->done, at = 0;

	page_mark_valid(zone, zone->landed, sectors);
	for (uint32_t i = 0; i < sectors; i++)
		oob[i] = (struct hz_oob){ .lpa = (uint32_t)(zone->start + zone->landed + i), .kind = HZ_OOB_DATA,
					  .stream = zone->stream };
	while (at < sectors) {
		uint32_t offset = zone->landed + at;

		if (zone->stream == PAGE_COLLECT) {
			move_one(self, zone, done + at, offset, &oob[at]);
			at++;
		} else {
			at += map_piece(self, zone, req->lba + done + at, sectors - at, offset, &oob[at]);
		}
	}
}
