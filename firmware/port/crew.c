/* The way of requests to workers and back, their reads of flash, and counters. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/crew.h"

#include <string.h>

#include "lt/arena.h"
#include "lt/logical.h"

enum { READS = 64 /* of a worker at once */ };

struct crew_read {
	struct tsu_txn txn; /* first */
	struct crew_read *next;
	struct ftl_request *req;
};

/* Requests. */

static struct ftl_request *request_of(struct lt_event *event)
{
	return (struct ftl_request *)((char *)event - offsetof(struct ftl_request, event));
}

static void completed(struct lt_event *event)
{
	struct ftl_request *req = request_of(event);

	req->done(req);
}

static void answer(struct ftl_request *req, uint16_t status)
{
	req->status = status;
	lt_tell_request(HZ_VC_DONE, req);
	lt_post(req->reply_to, &req->event, completed);
}

/* Who finds that no request is left answers the FTL_CANCEL that waits for it, which counts as one until it waits. */
static void leave(struct crew *crew)
{
	struct ftl_request *cancel = NULL;

	if (lt_add(&crew->active, (uint64_t)-1) == 1)
		cancel = (struct ftl_request *)(uintptr_t)lt_swap(&crew->cancel, 0);
	if (cancel)
		answer(cancel, NVME_SUCCESS);
}

void crew_complete(struct ftl_request *req, uint16_t status)
{
	struct crew *crew = crew_part(req)->worker->crew;

	answer(req, status);
	leave(crew);
}

static void dispatched(struct lt_event *event)
{
	struct ftl_request *req = request_of(event);
	struct crew_worker *self = crew_part(req)->worker;

	lt_tell_request(HZ_VC_RUN, req);
	if (req->op == FTL_CANCEL) {
		lt_store(&self->crew->cancel, (uint64_t)(uintptr_t)req);
		leave(self->crew);
	} else {
		self->crew->run(self, req);
	}
	lt_tell_request(HZ_VC_LEFT, req);
}

void crew_again(struct ftl_request *req)
{
	lt_logical_wait_ended(req);
	lt_post(&crew_part(req)->worker->thread, &req->event, dispatched);
}

void crew_submit(struct crew *crew, unsigned worker, struct ftl_request *req)
{
	memset(req->work, 0, sizeof(req->work));
	crew_part(req)->worker = &crew->worker[worker];
	crew_part(req)->pending = 1;
	req->status = NVME_SUCCESS;
	req->ready_ns = 0;
	lt_add(&crew->active, 1);
	lt_tell_request(HZ_VC_LEFT, req);
	lt_post(&crew->worker[worker].thread, &req->event, dispatched);
}

/* Reads of flash. */

static void read_left(struct ftl_request *req)
{
	if (--crew_part(req)->pending == 0)
		crew_complete(req, req->status);
}

static void read_done(struct tsu_txn *txn)
{
	struct crew_read *read = (struct crew_read *)txn;
	struct crew_worker *self = crew_worker_of(txn);
	struct ftl_request *req = read->req;

	if (txn->status == NAND_POWER_OFF)
		return;
	clock_freeze();
	lt_tell_flash_read(req, txn->start_ns, txn->cells_end_ns, txn->end_ns);
	clock_thaw();
	lt_tell_request(HZ_VC_RUN, req);
	if (txn->status != NAND_OK)
		req->status = NVME_UNRECOVERED_READ;
	crew_ready(req, link_transfer(&self->crew->links->to_host, txn->end_ns, txn->sectors * HZ_SECTOR_BYTES));
	read->next = self->reads;
	self->reads = read;
	read_left(req);
	lt_tell_request(HZ_VC_LEFT, req);
	if (self->waiting.head)
		crew_again(crew_pop(&self->waiting));
}

struct tsu_txn *crew_read(struct crew_worker *self, struct ftl_request *req, ppa_t place, uint32_t sectors, uint32_t at,
			  struct tsu_txn *next)
{
	struct crew_read *read = self->reads;

	self->reads = read->next;
	lt_tell_had(HZ_LOGICAL_READS);
	crew_part(req)->pending++;
	read->req = req;
	read->txn.next = next;
	read->txn.stream = req->queue;
	read->txn.sectors = (uint16_t)sectors;
	read->txn.ppa = place;
	read->txn.data = req->sgl;
	read->txn.data_at = at * HZ_SECTOR_BYTES;
	return &read->txn;
}

void crew_read_waits(struct crew_worker *self, struct ftl_request *req)
{
	lt_logical_wait(HZ_LOGICAL_READS, self->number, req);
	crew_push(&self->waiting, req);
}

void crew_reads_begun(struct ftl_request *req) { read_left(req); }

/* Construction, and counters. */

static void reads_init(struct crew_worker *worker, struct arena *arena)
{
	struct crew_read *reads = arena_alloc(arena, READS, sizeof(*reads), "flash reads");

	for (uint32_t i = 0; i < READS; i++) {
		reads[i].txn = (struct tsu_txn){ .owner = &worker->thread, .done = read_done, .op = TSU_READ, .cause = HZ_CAUSE_HOST };
		reads[i].next = worker->reads;
		worker->reads = &reads[i];
	}
}

void crew_init(struct crew *crew, struct arena *arena, const struct hz_device_config *cfg, struct link_pair *links, void *ftl,
	       void (*run)(struct crew_worker *self, struct ftl_request *req))
{
	crew->ftl = ftl;
	crew->links = links;
	crew->run = run;
	crew->count = cfg->worker_count;
	crew->worker = arena_alloc(arena, crew->count, sizeof(*crew->worker), "workers");
	arena_part_is_model(arena, crew->count * 2 * sizeof(struct hz_log_ftl), "workers"); /* counters */
	for (uint32_t i = 0; i < crew->count; i++) {
		crew->worker[i].thread = (struct lt_thread){ "ftl", cfg->worker_hart[i] };
		crew->worker[i].crew = crew;
		crew->worker[i].number = i;
		reads_init(&crew->worker[i], arena);
	}
}

void crew_publish(struct crew *crew)
{
	for (uint32_t w = 0; w < crew->count; w++)
		if (crew->worker[w].thread.hart == lt_hart_id())
			crew->worker[w].published = crew->worker[w].counters;
}

void crew_published(struct crew *crew, struct hz_log_ftl *out)
{
	uint64_t *sum = &out->host_read_sectors;

	memset(out, 0, sizeof(*out));
	out->version = 1;
	for (uint32_t w = 0; w < crew->count; w++)
		for (size_t i = 0; i < (sizeof(*out) - offsetof(struct hz_log_ftl, host_read_sectors)) / sizeof(*sum); i++)
			sum[i] += (&crew->worker[w].published.host_read_sectors)[i];
}
