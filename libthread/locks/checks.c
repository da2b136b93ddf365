/* Executable lock discipline. */
#include "checks.h"

#include <string.h>

enum { MOST_HELD = 8 };

static bool checking;
static struct { LT_OWN_LINE const struct lt_lock *lock[MOST_HELD]; unsigned count; } held[HZ_MAX_HARTS];

void lt_checks_init(void)
{
	checking = false;
	memset(held, 0, sizeof(held));
}

void lt_locks_check(bool on)
{
	checking = on;
}

void lt_check_acquire(const struct lt_lock *lock)
{
	unsigned hart = lt_hart_id();

	if (!checking)
		return;
	for (unsigned i = 0; i < held[hart].count; i++)
		if (held[hart].lock[i] == lock)
			lt_fail("lock acquired twice by the same hart");
	if (held[hart].count == MOST_HELD)
		lt_fail("more than 8 locks held by one hart");
}

void lt_check_acquired(const struct lt_lock *lock)
{
	unsigned hart = lt_hart_id();

	if (checking)
		held[hart].lock[held[hart].count++] = lock;
}

/* Any order of release is legal; the last takes the free place. */
void lt_check_release(const struct lt_lock *lock)
{
	unsigned hart = lt_hart_id(), i;

	if (!checking)
		return;
	for (i = 0; i < held[hart].count && held[hart].lock[i] != lock; i++)
		;
	if (i == held[hart].count)
		lt_fail("lock released by a hart that does not hold it");
	held[hart].lock[i] = held[hart].lock[--held[hart].count];
}

void lt_check_none_held(void)
{
	if (checking && held[lt_hart_id()].count)
		lt_fail("an event ended with a lock held");
}
