/* Logical locks: what is waited for as state and a queue, not in a spin. The virtual clock's ledger counts and times them as it does spin
 * locks; who they are is the caller's to number, from 0 on, below HZ_VC_LOGICAL_LOCKS.
 *
 * Whoever has got one says so with lt_tell_had (lt/arch.h), whether or not it waited. Waits are told where they begin and end, by any
 * hart; what orders the two is what protects the queue. All of it takes the same device time at every level of statistics. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_LOGICAL_H
#define LT_LOGICAL_H

#include "lt/arch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `waiter`, the address of a request or of its place in a queue, begins to wait; for one thing at a time. */
void lt_logical_wait(unsigned logical_lock, uint32_t index, const void *waiter);
/* It waits no more, whether it has got it or must ask again. No effect on one that did not wait. */
void lt_logical_wait_ended(const void *waiter);

#ifdef __cplusplus
}
#endif
#endif
