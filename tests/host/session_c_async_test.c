/* Requests under way from C: several at once, their results, poll(2), refusals, both clocks, and a
 * device that ends meanwhile. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "c_api_check.h"

#include <poll.h>

enum { DEPTH = 16, REQUESTS = 64 };

static unsigned char data[REQUESTS][HARTZONE_BLOCK_BYTES], back[REQUESTS][HARTZONE_BLOCK_BYTES];
static uint64_t place[REQUESTS];
static struct hartzone_completion done[REQUESTS];

static const char *last_error(void) { return hartzone_error_text(HARTZONE_ERROR); }

static void submit(hartzone_queue *queue, enum hartzone_operation operation, unsigned number)
{
	struct iovec part = {operation == HARTZONE_READ ? back[number] : data[number], HARTZONE_BLOCK_BYTES};
	struct hartzone_request request = {.token = number,
					   .operation = operation,
					   .block = operation == HARTZONE_READ ? place[number] : 0,
					   .parts = &part,
					   .count = 1};

	SUCCEEDS(hartzone_submit(queue, &request));
}

static void note(const struct hartzone_completion *c, int count, unsigned *ended, int appends)
{
	require(count >= 0, "completions", count);
	for (int i = 0; i < count; i++, ++*ended) {
		SUCCEEDS(c[i].status);
		require(c[i].latency_ns > 0 && c[i].token < REQUESTS, "a request of ours", 0);
		if (appends)
			place[c[i].token] = c[i].block;
	}
}

/* As many as the queue takes are under way. */
static void run_by_wait(hartzone_queue *queue, enum hartzone_operation operation)
{
	unsigned next = 0, ended = 0;
	int most = 0;

	while (ended < REQUESTS) {
		for (; next < REQUESTS && next - ended < DEPTH; next++)
			submit(queue, operation, next);
		const int count = hartzone_wait(queue, done, REQUESTS);
		most = count > most ? count : most;
		require(count > 0, "wait brings something", count);
		note(done, count, &ended, operation == HARTZONE_APPEND);
	}
	require(hartzone_wait(queue, done, REQUESTS) == 0, "nothing is under way", 0);
}

static void run_by_poll(hartzone_queue *queue, enum hartzone_operation operation)
{
	struct pollfd look = {.fd = hartzone_event_fd(queue), .events = POLLIN};
	unsigned ended = 0;

	require(look.fd >= 0 && hartzone_event_fd(queue) == look.fd, "one descriptor", look.fd);
	for (unsigned first = 0; first < REQUESTS; first += DEPTH) {
		for (unsigned i = first; i < first + DEPTH; i++)
			submit(queue, operation, i);
		while (ended < first + DEPTH) {
			SUCCEEDS(hartzone_commit(queue));
			require(poll(&look, 1, 60000) == 1, "the descriptor becomes readable", 0);
			note(done, hartzone_reap(queue, done, 3), &ended, 0);
		}
	}
	require(poll(&look, 1, 0) == 0, "and stays quiet when nothing is left", 0);
}

static void refusals(hartzone_queue *queue, int virtual_clock)
{
	struct iovec part = {data[0], HARTZONE_BLOCK_BYTES}, half = {data[0], 5};
	struct hartzone_request request = {.operation = HARTZONE_READ, .parts = &half, .count = 1};
	unsigned ended = 0;

	require(hartzone_submit(queue, &request) == HARTZONE_ERROR && strstr(last_error(), "no whole blocks"), "half a block", 0);
	request.operation = 99;
	require(hartzone_submit(queue, &request) == HARTZONE_ERROR && strstr(last_error(), "99 is not known"), "no operation", 0);
	request = (struct hartzone_request){.operation = HARTZONE_READ, .parts = &part, .count = 1, .block = place[0]};
	for (int i = 0; i < DEPTH; i++)
		SUCCEEDS(hartzone_submit(queue, &request));
	require(hartzone_submit(queue, &request) == HARTZONE_ERROR && strstr(last_error(), "16 requests are under way"), "deep enough", 0);
	require(hartzone_flush(queue) == HARTZONE_ERROR && strstr(last_error(), "busy"), "a call that waits, meanwhile", 0);
	SUCCEEDS(hartzone_commit(queue));
	if (virtual_clock)
		require(hartzone_submit(queue, &request) == HARTZONE_ERROR && strstr(last_error(), "device time is running"), "not now", 0);
	while (ended < DEPTH)
		note(done, hartzone_wait(queue, done, 5), &ended, 0);
	SUCCEEDS(hartzone_flush(queue));
	request = (struct hartzone_request){.token = 5, .operation = HARTZONE_ZONE_RESET, .block = 1};
	SUCCEEDS(hartzone_submit(queue, &request));
	require(hartzone_wait(queue, done, 1) == 1 && done[0].status == 0x002 && done[0].token == 5, "a refusal is a completion",
		done[0].status);
}

static void one_device(int real_clock)
{
	struct hartzone_options options = {.real_clock = real_clock, .workers = 2};
	hartzone_device *device = launch_with(&options);
	hartzone_queue *queue = hartzone_queue_open_deep(device, 1, 1, DEPTH), *other;

	require(queue != NULL, "hartzone_queue_open_deep", HARTZONE_ERROR);
	run_by_wait(queue, HARTZONE_APPEND);
	memset(back, 0, sizeof(back));
	run_by_poll(queue, HARTZONE_READ);
	require(memcmp(data, back, sizeof(data)) == 0, "each append is read where it said it went", 0);
	refusals(queue, !real_clock);
	submit(queue, HARTZONE_READ, 0);
	SUCCEEDS(hartzone_queue_close(queue)); /* waits for it */
	require(!hartzone_queue_open_deep(device, 1, 1, 1024) && strstr(last_error(), "1 to 1023"), "too deep", 0);
	other = hartzone_queue_open_deep(device, 2, 1, DEPTH);
	submit(other, HARTZONE_READ, 0);
	SUCCEEDS(hartzone_commit(other));
	hartzone_kill(device);
	require(hartzone_reap(other, done, 1) == HARTZONE_ERROR && strstr(last_error(), "has been closed"), "the device is gone", 0);
	hartzone_queue_close(other);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(data); i++)
		data[i / HARTZONE_BLOCK_BYTES][i % HARTZONE_BLOCK_BYTES] = (unsigned char)(i * 31 + i / 4099);
	one_device(0);
	one_device(1);
	puts("requests under way work");
	return 0;
}
