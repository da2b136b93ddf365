/* Zone random write areas: windows, writes in them, and commits. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/zrwa.h"

#include "lt/arena.h"
#include "zone/read_write.h"
#include "zone/update.h"
#include "zone/zone.h"

/* One window, and the request of its commit. */
struct zrwa {
	struct ftl_request req; /* first */
	struct zrwa *next;      /* in the pool */
	struct zone *zone;
	struct ftl_worker *worker; /* of the commit under way */
	bool runs;                 /* it reads or writes */
	uint32_t begin;            /* the write pointer when nothing was being committed */
	uint32_t count;            /* sectors of the commit */
	uint8_t **memory;          /* [zrwa.size] */
};
HZ_STATIC_ASSERT(offsetof(struct zrwa, req) == 0, "a window is found by its request");

/* --- windows --- */

static void window_init(struct ftl *ftl, struct arena *arena, struct zrwa *window)
{
	uint32_t sectors = (uint32_t)ftl->cfg->zrwa_sectors;
	uint8_t *data = arena_alloc_data(arena, sectors, HZ_SECTOR_BYTES, "data of commits");

	window->memory = arena_alloc(arena, sectors, sizeof(*window->memory), "memory of commits");
	for (uint32_t i = 0; i < sectors; i++)
		window->memory[i] = data + (size_t)i * HZ_SECTOR_BYTES;
}

void zrwas_init(struct ftl *ftl, struct arena *arena)
{
	uint32_t count = ftl->cfg->zrwa_count;
	struct zrwa *window = arena_alloc(arena, count, sizeof(*window), "random write areas");

	ftl->zrwas = arena_alloc(arena, 1, sizeof(*ftl->zrwas), "random write areas");
	if (count)
		ftl->zrwas->by_unit = reciprocal_of((uint32_t)ftl->cfg->zrwa_flush_sectors);
	for (uint32_t i = 0; i < count; i++) {
		window_init(ftl, arena, &window[i]);
		window[i].next = ftl->zrwas->free;
		ftl->zrwas->free = &window[i];
	}
}

bool zrwa_take(struct zone *zone)
{
	struct ftl *ftl = zone->ftl;
	struct lt_lock_node node;

	lt_lock_acquire(&ftl->updates->lock, &node);
	zone->zrwa = ftl->zrwas->free;
	if (zone->zrwa)
		ftl->zrwas->free = zone->zrwa->next;
	lt_lock_release(&ftl->updates->lock, &node);
	if (!zone->zrwa)
		return false;
	zone->zrwa->zone = zone;
	zone->zrwa->begin = zone->wp;
	return true;
}

void zrwa_release(struct zone *zone)
{
	struct ftl *ftl = zone->ftl;
	struct lt_lock_node node;

	if (!zone->zrwa)
		return;
	lt_lock_acquire(&ftl->updates->lock, &node);
	zone->zrwa->next = ftl->zrwas->free;
	ftl->zrwas->free = zone->zrwa;
	lt_lock_release(&ftl->updates->lock, &node);
	zone->zrwa = NULL;
}

bool zrwas_mounted(struct ftl *ftl)
{
	for (uint32_t z = 0; ftl->cfg->zrwa_count && z < ftl->zone_count; z++) {
		struct zone *zone = &ftl->zones[z];

		if (!zone->updates.copies)
			continue;
		if (!zrwa_take(zone))
			return false;
		if (zone->state != NVME_ZS_EMPTY)
			continue;
		zone->state = NVME_ZS_CLOSED;
		ftl->budget->active++;
	}
	return true;
}

uint32_t zrwa_begin(const struct zone *zone) { return zone->zrwa->begin; }

/* Sectors of the window: it ends with the zone. Zone lock held. */
static uint32_t window_sectors(const struct zone *zone)
{
	return min_u32((uint32_t)zone->ftl->cfg->zrwa_sectors, (uint32_t)zone->ftl->capacity - zone->wp);
}

/* In units of the granularity, unless the zone ends before. */
static uint32_t whole_units(const struct zone *zone, uint32_t sectors)
{
	const struct reciprocal *by_unit = &zone->ftl->zrwas->by_unit;
	uint32_t units = reciprocal_divide(sectors + by_unit->divisor - 1, by_unit);

	return min_u32(units * by_unit->divisor, window_sectors(zone));
}

/* --- commits; zone lock held --- */

uint16_t zrwa_commit_status(const struct zone *zone, uint64_t last)
{
	uint64_t count = last + 1 - zone->wp;

	if (!zone->zrwa || !zone_is_active(zone->state))
		return NVME_INVALID_ZONE_OP;
	if (last < zone->wp || count > window_sectors(zone))
		return NVME_ZONE_BOUNDARY;
	return count == whole_units(zone, (uint32_t)count) ? NVME_SUCCESS : NVME_INVALID_FIELD;
}

void zrwa_commit(struct ftl_worker *self, struct zone *zone, uint32_t count, struct ftl_request *req)
{
	zone->op.code = FTL_ZONE_COMMIT;
	zone->op.request = req;
	zone->zrwa->count = count;
	zone->zrwa->runs = false;
	zone_pump(self, zone);
}

bool zrwa_commit_all(struct ftl_worker *self, struct zone *zone)
{
	uint32_t end = updates_end(zone->ftl, zone->start + zone->wp, window_sectors(zone));

	if (!end)
		return false;
	zrwa_commit(self, zone, whole_units(zone, end), NULL);
	return true;
}

/* Its request is idle. */
static void commit_ends(struct ftl_worker *self, struct zone *zone, uint16_t status)
{
	if (!status && zone->wp == zone->ftl->capacity)
		zrwa_release(zone);
	zone_op_end(zone, status);
	zone_pump(self, zone);
}

static void commit_submit(struct zrwa *window, uint8_t op, uint8_t flags, uint64_t lba, void (*done)(struct ftl_request *))
{
	window->req = (struct ftl_request){
		.op = op,
		.flags = flags | FTL_INSIDE,
		.lba = lba,
		.sectors = window->count,
		.sgl = { window->memory, 0, window->count * HZ_SECTOR_BYTES },
		.reply_to = &window->worker->thread,
		.done = done,
	};
	io_submit(window->worker, &window->req);
}

static void commit_written(struct ftl_request *req)
{
	struct zrwa *window = (struct zrwa *)req;
	struct ftl_worker *self = window->worker;
	struct zone *zone = window->zone;
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	if (!req->status) {
		updates_end_range(self, zone, req->lba, window->count);
		self->counters.update_folds++;
		self->counters.folded_updates += window->count;
		window->begin = zone->wp;
	}
	commit_ends(self, zone, req->status);
	lt_lock_release(&zone->lock, &node);
}

/* A sector that cannot be read cannot be committed, and nothing behind it. */
static void commit_read(struct ftl_request *req)
{
	struct zrwa *window = (struct zrwa *)req;
	struct ftl_worker *self = window->worker;
	struct zone *zone = window->zone;
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	if (req->status && !zone_failed(zone))
		zone_fail(self, zone);
	if (zone_failed(zone))
		commit_ends(self, zone, NVME_WRITE_FAULT);
	else
		commit_submit(window, FTL_WRITE, FTL_FUA, zone->start + zone->wp, commit_written);
	lt_lock_release(&zone->lock, &node);
}

void zrwa_commit_advance(struct ftl_worker *self, struct zone *zone)
{
	struct zrwa *window = zone->zrwa;

	if (window->runs || zone->updates.writing)
		return;
	window->runs = true;
	window->worker = self;
	commit_submit(window, FTL_READ, 0, zone->start + zone->wp, commit_read);
}

/* --- writes --- */

static uint16_t window_status(const struct zone *zone, const struct ftl_request *req, uint32_t at, uint32_t end)
{
	uint64_t capacity = zone->ftl->capacity;

	if (req->op == FTL_APPEND || req->op == FTL_WRITE_UNCORRECTABLE)
		return NVME_INVALID_ZONE_OP;
	if (zone->state == NVME_ZS_FULL)
		return NVME_ZONE_FULL;
	if (zone->state == NVME_ZS_READ_ONLY)
		return NVME_ZONE_READ_ONLY;
	if (zone->state == NVME_ZS_OFFLINE)
		return NVME_ZONE_OFFLINE;
	if (end > capacity)
		return NVME_ZONE_BOUNDARY;
	return at >= zone->wp && end <= zone->wp + 2 * zone->ftl->cfg->zrwa_sectors ? NVME_SUCCESS : NVME_ZONE_INVALID_WRITE;
}

/* Checked, and the zone is open. False: first a commit is needed, and the request is parked. */
static bool window_accept(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t at, uint32_t end)
{
	uint32_t limit = zone->wp + window_sectors(zone), now = min_u32(end, limit);
	uint32_t listed = zone->updates.listed;
	bool some = at < limit;

	if (some) {
		updates_window(self, zone, req, now - at);
		self->counters.in_place_sectors += now - at - (zone->updates.listed - listed);
		zone_turn_ends(zone, req);
	} else {
		zone_park(zone, req);
	}
	if (end > limit)
		zrwa_commit(self, zone, whole_units(zone, end - limit), NULL);
	return some;
}

/* Zone lock held. */
static enum write_verdict window_admit(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status,
				       struct zone **victim)
{
	uint32_t at = (uint32_t)(req->lba - zone->start) + io_of(req)->done;
	uint64_t end = req->lba - zone->start + req->sectors;
	enum write_verdict verdict = WRITE_ACCEPTED;

	if (!zone_admits(zone, req))
		return WRITE_PARKED;
	*status = zone->zrwa ? window_status(zone, req, at, end > zone->ftl->capacity ? UINT32_MAX : (uint32_t)end)
			     : NVME_ZONE_INVALID_WRITE;
	if (*status) {
		zone_turn_ends(zone, req);
		return WRITE_REFUSED;
	}
	if (!zone_is_open(zone->state))
		verdict = write_opens(self, zone, req, status, victim);
	if (verdict == WRITE_ACCEPTED && !window_accept(self, zone, req, at, (uint32_t)end))
		verdict = WRITE_PARKED;
	return verdict;
}

/* The zone's own commit owns its turn. Others: a zone may have lost its window since a look at it; then only a rest has nowhere to go. */
static enum write_verdict window_try(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status,
				     struct zone **victim)
{
	enum write_verdict verdict;
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	if (zone->zrwa && req == &zone->zrwa->req) {
		write_commit(self, zone, req);
		verdict = WRITE_LANDS;
	} else if (!zone->zrwa && req->op != FTL_UPDATE) {
		verdict = WRITE_IN_WINDOW;
	} else {
		verdict = window_admit(self, zone, req, status, victim);
	}
	lt_lock_release(&zone->lock, &node);
	return verdict;
}

void zrwa_write_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct zone *zone = zone_at(self->ftl, req->lba), *victim = NULL;
	enum write_verdict verdict;
	uint16_t status = NVME_SUCCESS;

	while ((verdict = window_try(self, zone, req, &status, &victim)) == WRITE_NEEDS_ROOM)
		budget_make_room(victim);
	if (verdict == WRITE_ACCEPTED)
		update_go_on(self, zone, req);
	else if (verdict == WRITE_REFUSED)
		io_complete(req, status);
	else if (verdict == WRITE_IN_WINDOW)
		write_run(self, req);
}
