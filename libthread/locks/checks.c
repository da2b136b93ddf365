/* Executable lock discipline. */
#include "checks.h"

#include <string.h>

enum { MOST_HELD = 8 };

static bool checking;
static struct {
	LT_OWN_LINE const struct lt_lock *lock[MOST_HELD];
	unsigned count;
	uint16_t inside[HZ_LOCK_CLASSES]; /* bit c: class c was acquired while this class was held */
} held[HZ_MAX_HARTS];
HZ_STATIC_ASSERT(HZ_LOCK_CLASSES <= 16, "a bit for each lock class");

static const char *const class_names[HZ_LOCK_CLASSES] = {
	[HZ_LC_ZONE] = "zone", [HZ_LC_OPEN] = "open", [HZ_LC_BUFFER] = "buffer", [HZ_LC_L2P] = "l2p",
	[HZ_LC_SLC] = "slc", [HZ_LC_BLOCK] = "block", [HZ_LC_LINK] = "link", [HZ_LC_TEST] = "test",
};

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
	for (unsigned i = 0; i < held[hart].count; i++) {
		if (held[hart].lock[i] == lock)
			lt_fail("lock acquired twice by the same hart");
		held[hart].inside[held[hart].lock[i]->lock_class] |= (uint16_t)(1u << lock->lock_class);
	}
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
	if (lt_check_held(lt_hart_id()))
		lt_fail("an event ended with a lock held");
}

unsigned lt_check_held(unsigned hart)
{
	return checking ? held[hart].count : 0;
}

const char *lt_lock_class_name(enum hz_lock_class lock_class)
{
	return class_names[lock_class];
}

/* Transitive closure (Warshall) of what was seen on all harts; a class inside itself is a cycle. */
bool lt_locks_order_cycle(enum hz_lock_class *in_cycle)
{
	uint16_t inside[HZ_LOCK_CLASSES] = { 0 };

	for (unsigned hart = 0; hart < HZ_MAX_HARTS; hart++)
		for (unsigned c = 0; c < HZ_LOCK_CLASSES; c++)
			inside[c] |= held[hart].inside[c];
	for (unsigned via = 0; via < HZ_LOCK_CLASSES; via++)
		for (unsigned c = 0; c < HZ_LOCK_CLASSES; c++)
			if (inside[c] >> via & 1)
				inside[c] |= inside[via];
	for (unsigned c = 0; c < HZ_LOCK_CLASSES; c++) {
		if (!(inside[c] >> c & 1))
			continue;
		*in_cycle = (enum hz_lock_class)c;
		return true;
	}
	return false;
}
