/* One lock for all: every other lock is a part of it, and a hart with one part has all others.
 *
 * So the parts count how many of them the hart holds: the first takes the one lock, the last to go, in any order, releases it. The one
 * lock's waiter node outlives the call of its acquisition, so it is the hart's. With several such locks (lt_locks_apart), a hart holds
 * parts of one of them at a time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "kinds.h"

static struct {
	LT_OWN_LINE struct lt_lock_node node;
	unsigned parts; /* held by the hart */
} held[HZ_MAX_HARTS];

void lt_parts_init(void) { memset(held, 0, sizeof(held)); }

/* Counting costs no device time: a firmware with one lock by design would not do it. Returns how many parts the hart held before. */
static unsigned count_parts(unsigned hart, int change)
{
	unsigned before;

	clock_freeze();
	before = held[hart].parts;
	held[hart].parts += (unsigned)change;
	clock_thaw();
	return before;
}

/* Waiting, and its count, happen at the one lock. */
static bool part_enter(struct lt_lock *lock, struct lt_lock_node *node)
{
	unsigned hart = lt_hart_id();

	(void)node;
	if (count_parts(hart, 1) == 0)
		lt_lock_acquire(lock->one, &held[hart].node);
	return true;
}

static bool part_try(struct lt_lock *lock, struct lt_lock_node *node)
{
	unsigned hart = lt_hart_id();

	(void)node;
	if (held[hart].parts == 0 && !lt_lock_try(lock->one, &held[hart].node))
		return false;
	count_parts(hart, 1);
	return true;
}

static void part_release(struct lt_lock *lock, struct lt_lock_node *node)
{
	unsigned hart = lt_hart_id();

	(void)node;
	if (count_parts(hart, -1) == 1)
		lt_lock_release(lock->one, &held[hart].node);
}

/* Entering never fails: there is nothing to wait for behind it. */
const struct lt_lock_ops lt_part_ops = { NULL, part_enter, NULL, part_try, part_release, NULL };
