/* Sixteen reads under way at once on one queue, completions by poll(2). */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <hartzone.h>

#include <poll.h>
#include <stdio.h>

enum { DEPTH = 16 };

static unsigned char data[DEPTH * HARTZONE_BLOCK_BYTES], back[DEPTH][HARTZONE_BLOCK_BYTES];

static int submit_reads(hartzone_queue *queue)
{
	int code = 0;

	for (unsigned i = 0; !code && i < DEPTH; i++) {
		struct iovec part = {back[i], HARTZONE_BLOCK_BYTES};
		struct hartzone_request read = {.token = i, .operation = HARTZONE_READ, .block = i, .parts = &part, .count = 1};

		code = hartzone_submit(queue, &read);
	}
	return code;
}

static int take_completions(hartzone_queue *queue)
{
	struct hartzone_completion done[DEPTH];
	struct pollfd look = {.fd = hartzone_event_fd(queue), .events = POLLIN};

	for (int left = DEPTH; left > 0;) {
		if (hartzone_commit(queue) || poll(&look, 1, -1) < 0)
			return HARTZONE_ERROR;
		const int count = hartzone_reap(queue, done, DEPTH);
		if (count < 0)
			return count;
		for (int i = 0; i < count; i++)
			printf("read %2llu took %llu ns\n", (unsigned long long)done[i].token, (unsigned long long)done[i].latency_ns);
		left -= count;
	}
	return 0;
}

int main(void)
{
	hartzone_device *device = hartzone_launch(NULL);
	hartzone_queue *queue = device ? hartzone_queue_open_deep(device, 1, DEPTH, DEPTH) : NULL;
	int code = queue ? hartzone_write(queue, 0, DEPTH, data) : HARTZONE_ERROR;

	if (!code)
		code = submit_reads(queue);
	if (!code)
		code = take_completions(queue);
	if (code)
		fprintf(stderr, "%s\n", hartzone_error_text(code));
	hartzone_queue_close(queue);
	return hartzone_close(device) || code;
}
