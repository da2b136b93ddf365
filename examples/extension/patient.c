/* Test-and-set that pauses before each retry, each time once more, up to 16 times. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "kinds.h"

static bool patient_enter(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	return lt_swap(&lock->word, 1) == 0;
}

static void patient_wait(struct lt_lock *lock, struct lt_lock_node *node)
{
	unsigned spins = 0;

	(void)node;
	do {
		spins += spins < 16;
		for (unsigned pause = 0; pause < spins; pause++)
			lt_relax();
	} while (lt_swap(&lock->word, 1) != 0);
}

static void patient_release(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	lt_store(&lock->word, 0);
}

const struct lt_lock_ops lt_patient_ops = { NULL, patient_enter, patient_wait, patient_enter, patient_release, NULL };
