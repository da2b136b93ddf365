/* Executable lock discipline: the locks held by each hart, recorded by the hart itself. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_LOCK_CHECKS_H
#define LT_LOCK_CHECKS_H

#include "lt/lock.h"

extern bool lt_checking; /* lt_locks_check(true) was called */
void lt_checks_init(void);
/* Only then. */
void lt_check_acquire(const struct lt_lock *lock); /* before it waits, or when it was had at once */
void lt_check_acquired(const struct lt_lock *lock);
void lt_check_release(const struct lt_lock *lock);
/* An event has ended on the calling hart. */
void lt_check_none_held(void);
/* How many locks the hart holds. */
unsigned lt_check_held(unsigned hart);

#endif
