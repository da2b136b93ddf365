/* Erased backing zones, and who waits for one. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "conventional/conv_space.h"

#include "lt/logical.h"

void conv_list_erased(struct ftl *ftl, uint32_t number)
{
	struct conventional *conv = ftl->conventional;
	uint32_t at = conv->head + (uint32_t)lt_load(&conv->free), zones = ftl->shape.backing_zones;

	conv->erased[at < zones ? at : at - zones] = number;
	lt_add(&conv->free, 1);
}

uint32_t conv_take_erased(struct ftl *ftl)
{
	struct conventional *conv = ftl->conventional;
	uint32_t number = conv->erased[conv->head];

	conv->head = conv->head + 1 == ftl->shape.backing_zones ? 0 : conv->head + 1;
	lt_add(&conv->free, (uint64_t)-1);
	lt_tell_had(HZ_LOGICAL_BACKING);
	return number;
}

static struct io_queue take_waiting(struct conventional *conv)
{
	struct io_queue waiting;
	struct lt_lock_node node;

	lt_lock_acquire(&conv->lock, &node);
	waiting = conv->waiting;
	conv->waiting = (struct io_queue){ NULL, NULL };
	lt_lock_release(&conv->lock, &node);
	return waiting;
}

void conv_retry(struct ftl *ftl)
{
	struct io_queue waiting;

	if (!ftl->shape.backing_zones)
		return;
	waiting = take_waiting(ftl->conventional);
	io_resume_all(&waiting);
}

void conv_despair(struct ftl *ftl)
{
	struct io_queue waiting = take_waiting(ftl->conventional);
	struct ftl_request *req;

	while ((req = io_pop(&waiting))) {
		lt_logical_wait_ended(req);
		io_complete(req, NVME_WRITE_FAULT);
	}
}
