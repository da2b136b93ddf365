/* Fetching: round robin over the queues with commands, by weights or without, with the arbitration of feature 01h. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/fetch.h"

#include <string.h>

#include "boundary/boundary.h"
#include "hil/queue/command.h"
#include "lt/bits.h"
#include "lt/native.h"

enum { FETCH_BATCH = 8, UNLIMITED_BURST = 7 };

/* The arbiter (base spec 3.4.4). */

/* The queue whose turn it is goes on while its burst lasts, then the next ready one in circular order. */
static inline unsigned turn_of(const struct fetch *fetch, struct fetch_turn *turn, uint64_t ready)
{
	uint64_t behind = ready & ~(1ull << turn->queue | ((1ull << turn->queue) - 1));
	uint32_t burst = fetch->arbitration & UNLIMITED_BURST;

	if ((ready >> turn->queue & 1) && turn->burst_left > 0) {
		turn->burst_left--;
		return turn->queue;
	}
	turn->queue = lt_lowest_bit(behind ? behind : ready);
	turn->burst_left = burst == UNLIMITED_BURST ? UINT32_MAX : (1u << burst) - 1;
	return turn->queue;
}

static uint64_t ready_of(const struct fetch *fetch, unsigned priority)
{
	return fetch->queues->ready_mask & lt_load(&fetch->queues->of_priority[priority]);
}

/* Not urgent: each priority sends as many commands as its weight says (it is 0's based), from high to low and again. */
static unsigned priority_of_turn(struct fetch *fetch)
{
	if (fetch->priority_left == 0 || !ready_of(fetch, fetch->priority)) {
		do
			fetch->priority = fetch->priority == NVME_QPRIO_LOW ? NVME_QPRIO_HIGH : fetch->priority + 1;
		while (!ready_of(fetch, fetch->priority));
		fetch->priority_left = (fetch->arbitration >> (8 * (NVME_QPRIOS - fetch->priority)) & 0xff) + 1;
	}
	fetch->priority_left--;
	return fetch->priority;
}

/* noinline: round robin saves no registers. */
static __attribute__((noinline)) unsigned arbitrate_by_priority(struct fetch *fetch)
{
	unsigned priority = ready_of(fetch, NVME_QPRIO_URGENT) ? NVME_QPRIO_URGENT : priority_of_turn(fetch);

	return turn_of(fetch, &fetch->turn[priority], ready_of(fetch, priority));
}

static unsigned arbitrate(struct fetch *fetch)
{
	if (fetch->weighted)
		return arbitrate_by_priority(fetch);
	return turn_of(fetch, &fetch->turn[0], fetch->queues->ready_mask);
}

/* --- abort --- */

enum { NO_COMMAND = 0xff }; /* an opcode that the decoder refuses */

static __attribute__((noinline)) bool find_unfetched(struct fetch_abort *abort)
{
	struct host_view *view = abort->fetch->view;
	const struct submission_queue *sq = &abort->fetch->queues->sq[abort->sq];
	uint64_t arrived = life_serves(abort->fetch->life) ? view->arrived(view, sq) : 0;
	uint32_t slot = sq->head;

	for (uint64_t i = 0; i < arrived; i++) {
		if (sq->ring[slot].cid == abort->cid) {
			abort->number = sq->fetched + i;
			return true;
		}
		slot = slot + 1 == sq->depth ? 0 : slot + 1;
	}
	return false;
}

static void end_abort(struct fetch_abort *abort, bool done)
{
	abort->fetch->abort = NULL;
	abort->done = done;
	lt_post(abort->home, &abort->event, abort->over);
}

void fetch_abort_begin(struct lt_event *event)
{
	struct fetch_abort *abort = (struct fetch_abort *)event;
	bool found;

	clock_freeze();
	found = find_unfetched(abort);
	clock_thaw();
	if (found)
		abort->fetch->abort = abort;
	else
		end_abort(abort, false);
}
HZ_STATIC_ASSERT(offsetof(struct fetch_abort, event) == 0, "an event is its abort");

void fetch_abort_drop(struct fetch *fetch)
{
	if (fetch->abort)
		end_abort(fetch->abort, false);
}

static void claim(struct fetch_abort *abort, const struct submission_queue *sq, struct nvme_sqe *sqe)
{
	if (abort->sq != sq->id || abort->number != sq->fetched)
		return;
	sqe->opcode = NO_COMMAND;
	abort->taken = true;
}

/* Copy the next entry, as a fetch engine does; the copy is decoded, since the host may change its ring at any time. */
static struct submission_queue *take_entry(struct fetch *fetch, struct nvme_sqe *sqe)
{
	struct submission_queue *sq;

	clock_freeze();
	boundary_work(WORK_FETCH, 1, 0);
	sq = &fetch->queues->sq[arbitrate(fetch) + 1];
	memcpy(sqe, &sq->ring[sq->head], sizeof(*sqe));
	if (fetch->abort)
		claim(fetch->abort, sq, sqe);
	sq->fetched++;
	sq->outstanding++;
	sq->head = sq->head + 1 == sq->depth ? 0 : sq->head + 1;
	fetch->queues->ready_mask &= ~queue_bit(sq->id);
	fetch->view->fetched(fetch->view, sq);
	clock_thaw();
	return sq;
}

/* A Flush of all namespaces goes from one to the next; the first failure is its status. */
static bool flush_next(struct command *command)
{
	const struct fetch *fetch = command->flushes;

	while (command->number < fetch->namespaces && fetch->limits[command->number].inactive)
		command->number++;
	if (command->number == fetch->namespaces)
		return false;
	fetch->device->submit(fetch->device->ctx, command->sq->worker, &command->req, command->number++);
	return true;
}

static void on_one_flushed(struct ftl_request *req)
{
	struct command *command = command_of(req);

	if (!req->status && flush_next(command))
		return;
	req->done = command->done;
	req->done(req);
}

static __attribute__((noinline)) void flush_all(struct fetch *fetch, struct command *command)
{
	command->flushes = fetch;
	command->number = 0;
	command->done = command->req.done;
	command->req.done = on_one_flushed;
	if (!flush_next(command)) {
		command->req.done = command->done;
		completion_end(command);
	}
}

static const struct io_limits *limits_for(const struct fetch *fetch, uint32_t nsid)
{
	return fetch->of_nsid[nsid <= fetch->namespaces ? nsid : 0];
}

/* The queue's last command has been taken, and was refused by the decoder. */
static uint16_t sanitize_status(const struct fetch *fetch, const struct submission_queue *sq)
{
	if (sq->ring[(sq->head ? sq->head : sq->depth) - 1].opcode == NVME_IO_FLUSH)
		return NVME_SUCCESS;
	return fetch->sanitize == FETCH_SANITIZE_RUNS ? NVME_SANITIZE_IN_PROGRESS : NVME_SANITIZE_FAILED;
}

/* The decoder knows only that a namespace being formatted or sanitized is not served, and that a command to be aborted is none. */
static __attribute__((noinline)) void refuse(struct fetch *fetch, struct command *command, const struct io_limits *limits)
{
	struct fetch_abort *abort = fetch->abort && fetch->abort->taken ? fetch->abort : NULL;

	if (abort)
		command->req.status = NVME_ABORT_REQUESTED;
	else if (fetch->sanitize)
		command->req.status = sanitize_status(fetch, command->sq);
	else if (limits->formatting && command->req.status == (NVME_INVALID_FIELD | NVME_DNR))
		command->req.status = NVME_FORMAT_IN_PROGRESS;
	completion_end(command);
	if (abort)
		end_abort(abort, true);
}

static void fetch_one(struct fetch *fetch)
{
	struct command *command = command_take(fetch->pool);
	const struct io_limits *limits;
	struct submission_queue *sq;
	struct nvme_sqe sqe;

	lt_tell_request(HZ_VC_FETCHED, &command->req);
	sq = take_entry(fetch, &sqe);
	command->sq = sq;
	command->cid = sqe.cid;
	command->nsid = sqe.nsid;
	command->req.ready_ns = 0;
	limits = limits_for(fetch, sqe.nsid);
	command->req.status = io_decode(limits, &sqe, command->page, &command->req);
	if (limits->protection != HZ_PROTECTION_NONE && !command->req.status)
		command->req.status = io_protect(&limits->bus, &sqe, &command->req);
	if (command->req.status) {
		refuse(fetch, command, limits);
		return;
	}
	command->req.queue = (uint8_t)sq->id;
	command->req.life = fetch->life->number;
	if (sqe.nsid == NVME_NSID_ALL)
		flush_all(fetch, command);
	else
		fetch->device->submit(fetch->device->ctx, sq->worker, &command->req, limits->number);
}

/* Doorbells. Looking may end the controller's life. noinline: keeps freeze and thaw paired on one exit. */
HZ_FROZEN __attribute__((noinline)) bool fetch_finds(struct fetch *fetch)
{
	struct hz_native_call call;

	if (LT_NATIVE(call, fetch_finds, (uintptr_t)fetch))
		return call.result & 1;
	return fetch_possible(fetch) && fetch->view->settle(fetch->view) && fetch->queues->ready_mask && fetch_possible(fetch);
}

void fetch_commands(struct fetch *fetch)
{
	unsigned taken = 0;
	bool more;

	do {
		fetch_one(fetch);
		clock_freeze();
		more = fetch_finds(fetch);
		clock_thaw();
	} while (more && ++taken < FETCH_BATCH);
}

void fetch_set_write_cache(struct fetch *fetch, bool on)
{
	for (uint32_t i = 0; i < fetch->namespaces; i++)
		fetch->limits[i].write_cache = on;
}

void fetch_set_namespace(struct fetch *fetch, uint32_t number, uint64_t sectors, bool active, bool formatting)
{
	fetch->limits[number].namespace_sectors = fetch->sectors[number] = sectors;
	fetch->limits[number].inactive = !active || formatting || fetch->sanitize;
	fetch->limits[number].formatting = formatting;
}

uint64_t fetch_served(const struct fetch *fetch)
{
	uint64_t served = (uint64_t)fetch->sanitize << FETCH_SANITIZE_SHIFT;

	for (uint32_t i = 0; i < fetch->namespaces; i++) {
		served |= (uint64_t)!fetch->limits[i].inactive << i;
		served |= (uint64_t)fetch->limits[i].formatting << (i + FETCH_FORMATTING_SHIFT);
	}
	return served;
}
HZ_STATIC_ASSERT((int)HZ_MAX_NAMESPACES <= (int)FETCH_SANITIZE_SHIFT - (int)FETCH_FORMATTING_SHIFT,
		 "a word has both bits of each namespace");

void fetch_reset(struct fetch *fetch, bool weighted)
{
	fetch_set_write_cache(fetch, true);
	fetch->arbitration = 0;
	fetch->weighted = weighted;
	fetch->priority = NVME_QPRIO_LOW;
	fetch->priority_left = 0;
	for (unsigned priority = 0; priority < NVME_QPRIOS; priority++)
		fetch->turn[priority].burst_left = 0;
}

void fetch_init(struct fetch *fetch, struct queues *queues, struct command_pool *pool, const struct life *life,
		const struct controller_ops *device, const struct io_limits *limits, uint32_t namespaces)
{
	*fetch = (struct fetch){
		.queues = queues, .pool = pool, .view = queues->view, .life = life, .device = device, .namespaces = namespaces
	};
	memcpy(fetch->limits, limits, namespaces * sizeof(*limits));
	fetch->of_nsid[0] = &fetch->limits[0];
	for (uint32_t i = 0; i < namespaces; i++)
		fetch->of_nsid[i + 1] = &fetch->limits[i];
	for (uint32_t i = 0; i < namespaces; i++)
		fetch->sectors[i] = limits[i].namespace_sectors;
}
