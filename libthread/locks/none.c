/* No lock at all: the control for the cost of locking. Only for classes with data of one hart. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "kinds.h"

static bool none_take(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)lock;
	(void)node;
	return true;
}

static void none_nothing(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)lock;
	(void)node;
}

const struct lt_lock_ops lt_none_ops = { NULL, none_take, none_nothing, none_take, none_nothing, NULL };
