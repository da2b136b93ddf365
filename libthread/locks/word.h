/* Shared by kinds with a state of one word, 0 = free and 1 = held; they differ in the way of waiting. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_WORD_H
#define LT_WORD_H

#include "kinds.h"

/* Writes the line whether it gets the lock or not. */
bool lt_word_enter(struct lt_lock *lock, struct lt_lock_node *node);
/* Writes the line only if it gets the lock. */
bool lt_word_try(struct lt_lock *lock, struct lt_lock_node *node);
void lt_word_release(struct lt_lock *lock, struct lt_lock_node *node);

#endif
