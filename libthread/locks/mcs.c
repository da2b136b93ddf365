/* MCS queue lock (Mellor-Crummey and Scott, TOCS 1991): each waiter spins on its own node; O(1) remote traffic per
 * handover. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "kinds.h"

bool lt_mcs_enter(struct lt_lock *lock, struct lt_lock_node *node)
{
	lt_preset(&node->next, 0);
	lt_preset(&node->waiting, 1);
	node->value = lt_swap(&lock->word, (uintptr_t)node);
	return node->value == 0;
}

void lt_mcs_wait(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)lock;
	lt_store(&lt_node_of(node->value)->next, (uintptr_t)node);
	lt_spin_until_not(&node->waiting, 1);
}

bool lt_mcs_try(struct lt_lock *lock, struct lt_lock_node *node)
{
	lt_preset(&node->next, 0);
	return lt_cas(&lock->word, 0, (uintptr_t)node);
}

/* No successor seen and the queue still ends here: free. Else one has swapped itself in and is about to link itself. */
void lt_mcs_release(struct lt_lock *lock, struct lt_lock_node *node)
{
	uint64_t next = lt_load(&node->next);

	if (next == 0) {
		if (lt_cas(&lock->word, (uintptr_t)node, 0))
			return;
		next = lt_spin_until_not(&node->next, 0);
	}
	lt_store(&lt_node_of(next)->waiting, 0);
}

const struct lt_lock_ops lt_mcs_ops = { NULL, lt_mcs_enter, lt_mcs_wait, lt_mcs_try, lt_mcs_release, NULL };
