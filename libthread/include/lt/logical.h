/* Logical locks: resources waited for with state and a queue, not in a spin. The virtual clock's lock profile counts and times them like spin
 * locks; the caller numbers them, from 0 on, below HZ_VC_LOGICAL_LOCKS.
 *
 * Every acquisition is reported with lt_tell_had (lt/arch.h), with or without a wait. Begin and end of a wait are reported by any hart;
 * the queue's lock orders the two. All of it takes the same device time at every level of statistics. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_LOGICAL_H
#define LT_LOGICAL_H

#include "lt/arch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `waiter`, the address of a request or of its place in a queue, begins to wait; for one thing at a time. */
void lt_logical_wait(unsigned logical_lock, uint32_t index, const void *waiter);
/* The wait is over, by acquisition or for a retry. No effect without a wait. */
void lt_logical_wait_ended(const void *waiter);

#ifdef __cplusplus
}
#endif
#endif
