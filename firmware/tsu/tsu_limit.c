/* Limit of the flash's power: the order in which operations get it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_limit.h"

#include <string.h>

#include "tsu/tsu_state.h"

static uint32_t limit_planes_of(const struct die_op *op)
{
	uint32_t planes = 0;

	for (const struct tsu_txn *txn = op->members; txn; txn = txn->next)
		planes++;
	return planes;
}

/* Of `all` entries `count`, from number `first` on, become at_ns. */
static void limit_move(uint64_t *free_ns, uint32_t all, uint32_t first, uint32_t count, uint64_t at_ns)
{
	uint32_t to = all - count;

	memmove(free_ns + first, free_ns + first + count, (all - first - count) * sizeof(*free_ns));
	for (; to > 0 && free_ns[to - 1] > at_ns; to--)
		free_ns[to - 1 + count] = free_ns[to - 1];
	for (uint32_t i = 0; i < count; i++)
		free_ns[to + i] = at_ns;
}

/* Of what is free at at_ns that which became free last: an operation that is due earlier may ask later. */
static uint32_t limit_choose(const uint64_t *free_ns, uint32_t all, uint32_t count, uint64_t at_ns)
{
	uint32_t first = 0;

	while (first + count < all && free_ns[first + count] <= at_ns)
		first++;
	return first;
}

HZ_FROZEN uint64_t tsu_limit_begin(struct tsu_limit *limit, uint32_t planes, const struct die_op *op, uint64_t at_ns)
{
	uint32_t count = limit_planes_of(op), first = limit_choose(limit->free_ns, planes, count, at_ns);
	uint64_t begin_ns = latest_ns(at_ns, limit->free_ns[first + count - 1]);

	if (begin_ns > at_ns) {
		limit->held.times[op->members->op]++;
		limit->held.ns[op->members->op] += begin_ns - at_ns;
	}
	limit_move(limit->free_ns, planes, first, count, begin_ns + op->array_ns);
	return begin_ns;
}

HZ_FROZEN void tsu_limit_stop(struct tsu_limit *limit, uint32_t planes, const struct die_op *op, uint64_t at_ns)
{
	uint32_t first = 0, count = 0, most = limit_planes_of(op);

	while (first < planes && limit->free_ns[first] < op->array_end_ns)
		first++;
	while (first + count < planes && count < most && limit->free_ns[first + count] == op->array_end_ns)
		count++;
	limit_move(limit->free_ns, planes, first, count, at_ns);
}
