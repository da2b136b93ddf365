/* Executable lock discipline. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "checks.h"

#include <string.h>

#include "lt/checks.h"
#include "sentence.h"

enum { MOST_HELD = 8 };

bool lt_checking;
static struct {
	LT_OWN_LINE const struct lt_lock *lock[MOST_HELD];
	unsigned count;
} held[HZ_MAX_HARTS];

void lt_checks_init(void)
{
	lt_checking = false;
	memset(held, 0, sizeof(held));
}

void lt_locks_check(bool on) { lt_checking = on; }

/* If every hart goes up, no circle of waits is possible. */
static void out_of_order(const struct lt_lock *lock, const struct lt_lock *outer)
{
	static char text[96];
	struct hz_sentence out = { text, sizeof(text), 0 };

	hz_say(&out, "locks acquired out of order: ");
	hz_say(&out, lock->described->name);
	hz_say(&out, " while holding ");
	hz_say(&out, outer->described->name);
	lt_fail(text);
}

void lt_check_acquire(const struct lt_lock *lock)
{
	unsigned hart = lt_hart_id();

	for (unsigned i = 0; i < held[hart].count; i++) {
		if (held[hart].lock[i] == lock)
			lt_fail("lock acquired twice by the same hart");
		if (held[hart].lock[i]->described->level >= lock->described->level)
			out_of_order(lock, held[hart].lock[i]);
	}
	if (held[hart].count == MOST_HELD)
		lt_fail("more than 8 locks held by one hart");
}

void lt_check_acquired(const struct lt_lock *lock)
{
	unsigned hart = lt_hart_id();

	held[hart].lock[held[hart].count++] = lock;
}

/* Any order of release is legal; the last takes the free place. */
void lt_check_release(const struct lt_lock *lock)
{
	unsigned hart = lt_hart_id(), i;

	for (i = 0; i < held[hart].count && held[hart].lock[i] != lock; i++)
		;
	if (i == held[hart].count)
		lt_fail("lock released by a hart that does not hold it");
	held[hart].lock[i] = held[hart].lock[--held[hart].count];
}

void lt_check_none_held(void)
{
	if (lt_check_held(lt_hart_id()))
		lt_fail("an event ended with a lock held");
}

unsigned lt_check_held(unsigned hart) { return lt_checking ? held[hart].count : 0; }
