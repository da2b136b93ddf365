/* Transfers of the data cache. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache/data_cache.h"

#include "cache/cache_internal.h"
#include "lt/arena.h"
#include "lt/logical.h"
#include "request/host_data.h"
#include "request/io.h"

static struct cache_transfer *transfer_of(struct ftl_request *req) { return (struct cache_transfer *)req; }
HZ_STATIC_ASSERT(offsetof(struct cache_transfer, req) == 0, "a transfer is its request");

void transfers_init(struct ftl_worker *worker, struct arena *arena)
{
	const struct data_cache *cache = worker->ftl->data_cache;
	struct cache_transfer *transfer;

	if (!cache)
		return;
	worker->transfers = arena_alloc(arena, 1, sizeof(*worker->transfers), "transfers");
	transfer = arena_alloc(arena, TRANSFERS_PER_WORKER, sizeof(*transfer), "transfers");
	for (uint32_t i = 0; i < TRANSFERS_PER_WORKER; i++) {
		transfer[i].worker = worker;
		transfer[i].memory = arena_alloc(arena, cache->line_sectors, sizeof(*transfer[i].memory), "transfers");
		transfer[i].next = worker->transfers->free;
		worker->transfers->free = &transfer[i];
	}
}

struct cache_transfer *transfer_take(struct ftl_worker *self)
{
	struct cache_transfer *t = self->transfers->free;

	self->transfers->free = t->next;
	return t;
}

static void transfer_give_back(struct cache_transfer *t)
{
	struct transfer_pool *pool = t->worker->transfers;

	t->next = pool->free;
	pool->free = t;
}

void transfer_wait(struct ftl_worker *self, struct ftl_request *req)
{
	io_of(req)->queued = 1;
	io_wait(&self->transfers->waiting, req, HZ_LOGICAL_CACHE, self->ftl->data_cache->shards + (uint32_t)(self - self->ftl->workers));
}

void transfers_wake(struct ftl_worker *self)
{
	struct transfer_pool *pool = self->transfers;
	struct ftl_request *next = pool->free ? io_pop(&pool->waiting) : NULL;

	if (next)
		io_resume(next);
}

/* --- the host's request --- */

void cached_end(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl_io *io = io_of(req);

	if (io->pending || io->queued)
		return;
	if (io_cancelled(self, req))
		io_complete(req, NVME_ABORT_REQUESTED);
	else if (io->done == req->sectors)
		io_complete(req, req->status);
}

static void host_goes_on(struct cache_transfer *t, uint16_t status)
{
	struct ftl_request *host = t->host;

	if (!host)
		return;
	if (status == NVME_UNRECOVERED_READ)
		answer_lost(host);
	else if (status == NVME_HZ_MARKED)
		answer_marked(host);
	else
		answer_status(host, status);
	io_of(host)->pending--;
	cached_end(t->worker, host);
}

static void transfer_end(struct cache_transfer *t, uint16_t status)
{
	struct ftl_worker *self = t->worker;

	host_goes_on(t, status);
	transfer_give_back(t);
	transfers_wake(self);
}

/* --- runs of a line --- */

static uint32_t run_at(uint64_t sectors, uint32_t first)
{
	uint64_t behind = ~(sectors >> first);

	return behind ? (uint32_t)__builtin_ctzll(behind) : 64;
}

static void run_of_line(struct cache_transfer *t, uint8_t op, uint8_t flags, void (*done)(struct ftl_request *))
{
	const struct data_cache *cache = t->worker->ftl->data_cache;
	uint32_t first = (uint32_t)__builtin_ctzll(t->missing), sectors = run_at(t->missing, first);

	for (uint32_t i = 0; i < sectors; i++)
		t->memory[i] = line_sector(t->line, first + i);
	t->req = (struct ftl_request){
		.op = op,
		.flags = flags | FTL_INSIDE,
		.queue = t->host ? t->host->queue : 0,
		.lba = ((uint64_t)t->line->number << cache->line_shift) + first,
		.sectors = sectors,
		.sgl = { t->memory, 0, sectors * HZ_SECTOR_BYTES },
		.data_ns = op == FTL_WRITE ? t->line->arrived_ns : 0,
		.reply_to = &t->worker->thread,
		.done = done,
	};
	io_submit(t->worker, &t->req);
}

/* The run's data have been moved. True: there is another run. */
static bool run_ended(struct cache_transfer *t)
{
	uint32_t first = (uint32_t)__builtin_ctzll(t->missing);

	t->missing &= ~((t->req.sectors == 64 ? ~0ull : (1ull << t->req.sectors) - 1) << first);
	return t->missing;
}

/* Before flash is touched. */
static void note_deallocations(struct cache_transfer *t)
{
	struct data_cache *cache = t->worker->ftl->data_cache;

	t->alone = !lt_load(&cache->unmapping);
	t->unmaps = lt_load(&cache->unmaps);
}

static bool was_alone(struct data_cache *cache, const struct cache_transfer *t) { return t->alone && lt_load(&cache->unmaps) == t->unmaps; }

/* The line is not busy any more; wake its waiters. moved: sectors equal in flash and in the line now. During a deallocation flash may
 * lose them, or have lost them already, so the line does not keep them. */
static void line_leaves(struct cache_transfer *t, uint64_t moved, bool failed)
{
	struct data_cache *cache = t->worker->ftl->data_cache;
	struct cache_shard *shard = cache_shard_of(cache, t->line->number);
	struct ftl_request *next;
	struct io_queue woken;
	struct lt_lock_node node;

	lt_lock_acquire(&shard->lock, &node);
	if (!failed && !was_alone(cache, t))
		t->line->valid &= ~moved;
	else if (!failed)
		t->line->valid |= moved;
	if (t->line->state == LINE_FILLING && moved)
		t->line->arrived_ns = t->arrived_ns;
	line_end(cache, shard, t->line, failed, &woken);
	next = lines_wake(shard, NULL);
	lt_lock_release(&shard->lock, &node);
	io_resume_all(&woken);
	if (next)
		io_resume(next);
}

/* --- fill --- */

/* The line is busy, so its content cannot change. */
static void answer_piece(struct cache_transfer *t)
{
	struct ftl_worker *self = t->worker;
	struct ftl_request *host = t->host;
	uint64_t at_ns = clock_now_ns();

	if (io_cancelled(self, host))
		return;
	for (uint32_t i = 0; i < t->piece.sectors; i++)
		answer_sector(host, t->index + i, line_sector(t->line, t->piece.first + i));
	self->counters.host_read_sectors += host_sectors(host, t->piece.sectors);
	at_ns = t->arrived_ns > at_ns ? t->arrived_ns : at_ns;
	answer_cross(self->ftl, host, at_ns, t->piece.sectors);
}

static void fill_run_ended(struct ftl_request *req)
{
	struct cache_transfer *t = transfer_of(req);

	t->arrived_ns = req->ready_ns > t->arrived_ns ? req->ready_ns : t->arrived_ns;
	if (!req->status && run_ended(t)) {
		run_of_line(t, FTL_READ, 0, fill_run_ended);
		return;
	}
	if (!req->status)
		answer_piece(t);
	line_leaves(t, req->status ? 0 : t->sectors, false);
	transfer_end(t, req->status);
}

void transfer_fill(struct cache_transfer *t, struct cache_line *line, struct ftl_request *host, const struct cache_piece *piece,
		   uint32_t index)
{
	t->line = line;
	t->host = host;
	t->piece = *piece;
	t->index = index;
	t->arrived_ns = line->arrived_ns;
	t->sectors = t->missing = piece_mask(piece) & ~line->valid;
	note_deallocations(t);
	io_of(host)->pending++;
	run_of_line(t, FTL_READ, 0, fill_run_ended);
}

/* --- write-back --- */

static void write_run_ended(struct ftl_request *req)
{
	struct cache_transfer *t = transfer_of(req);
	uint8_t flags = req->flags;
	uint16_t status = req->status;

	t->worker->counters.cache_written_sectors += status ? 0 : req->sectors;
	if (!status && run_ended(t)) {
		run_of_line(t, FTL_WRITE, flags, write_run_ended);
		return;
	}
	t->worker->counters.cache_failures += status != 0;
	line_leaves(t, status ? 0 : t->sectors, status);
	transfer_end(t, status);
}

void transfer_line(struct cache_shard *shard, struct cache_transfer *t, struct cache_line *line, struct ftl_request *host, bool leaves)
{
	t->line = line;
	t->host = host;
	t->sectors = t->missing = line->dirty;
	note_deallocations(t);
	if (host)
		io_of(host)->pending++;
	line_begin(shard, line, LINE_WRITING, leaves);
}

void transfer_write_back(struct cache_transfer *t, uint8_t flags) { run_of_line(t, FTL_WRITE, flags, write_run_ended); }

/* --- past the lines --- */

static void passed(struct ftl_request *req)
{
	struct cache_transfer *t = transfer_of(req);
	struct ftl_request *host = t->host;

	if (req->ready_ns > host->ready_ns)
		host->ready_ns = req->ready_ns;
	transfer_end(t, req->status);
}

void transfer_read_past(struct cache_transfer *t, struct ftl_request *host, uint32_t index, uint32_t sectors)
{
	t->host = host;
	t->req = (struct ftl_request){
		.op = host->op,
		.flags = host->flags,
		.queue = host->queue,
		.life = host->life,
		.lba = host->lba + index,
		.sectors = sectors,
		.sgl = { host->op == FTL_VERIFY ? NULL : host->sgl.memory + index, host->sgl.offset, sectors * HZ_SECTOR_BYTES },
		.reply_to = &t->worker->thread,
		.done = passed,
	};
	io_of(host)->pending++;
	io_submit(t->worker, &t->req);
}

static void deallocated(struct ftl_request *req)
{
	struct cache_transfer *t = transfer_of(req);
	struct ftl_worker *self = t->worker;
	struct ftl_request *host = t->host;

	lt_add(&self->ftl->data_cache->unmapping, (uint64_t)-1);
	host->ready_ns = req->ready_ns;
	io_complete(host, req->status);
	transfer_give_back(t);
	transfers_wake(self);
}

void transfer_deallocate(struct cache_transfer *t, struct ftl_request *host)
{
	t->host = host;
	t->req = (struct ftl_request){
		.op = host->op,
		.flags = host->flags,
		.queue = host->queue,
		.life = host->life,
		.lba = host->lba,
		.namespace_sectors = host->namespace_sectors,
		.sectors = host->sectors,
		.sgl = host->sgl,
		.reply_to = &t->worker->thread,
		.done = deallocated,
	};
	io_submit(t->worker, &t->req);
}
