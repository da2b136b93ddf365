/* Ticket lock: draw a number, wait until it is served. First come, first served; all waiters watch one word. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "kinds.h"

static bool ticket_enter(struct lt_lock *lock, struct lt_lock_node *node)
{
	node->value = lt_add(&lock->word, 1);
	return lt_load(&lock->serving) == node->value;
}

static void ticket_wait(struct lt_lock *lock, struct lt_lock_node *node) { lt_wait_for_turn(&lock->serving, node->value); }

/* The lock is free exactly if the next number to be drawn is the one being served. */
static bool ticket_try(struct lt_lock *lock, struct lt_lock_node *node)
{
	node->value = lt_load(&lock->serving);
	return lt_cas(&lock->word, node->value, node->value + 1);
}

static void ticket_release(struct lt_lock *lock, struct lt_lock_node *node) { lt_store(&lock->serving, node->value + 1); }

const struct lt_lock_ops lt_ticket_ops = { NULL, ticket_enter, ticket_wait, ticket_try, ticket_release, NULL };
