/* Waiting instructions: WRS on a reservation, HZ_VC_WAIT and HZ_VC_WAKE, HZ_VC_TAKE, PAUSE. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_WAIT_H
#define VCLOCK_WAIT_H

#include "base/state.h"
#include "schedule/token.h"

void vc_wait_reservation(struct vc_hart *h, enum vc_kind kind);
void vc_wait_for_wake(struct vc_hart *h);
void vc_wake(struct vc_hart *h);
void vc_take(struct vc_hart *h);
void vc_pause(struct vc_hart *h);

/* Waiting for the host: sleep until the host rings, and wake host threads, by futexes in ivshmem
 * #0. */

/* Sleeps until host_bell differs from slot.arg0, at most 1 ms. No device time passes: the hart must be frozen. */
void vc_host_wait(struct vc_hart *h);
/* Wake every thread that sleeps on `completed` of queue slot.arg0. */
void vc_host_wake(struct vc_hart *h);

/* A hart with a frozen clock must not wait.
 *
 * While its clock is frozen no other hart can pass it, so the event cannot happen; if it could,
 * device time would pass in a section that must take none. The run ends with a sentence that names
 * the place. HZ_VC_TAKE is exempt: the hart is idle, and the hypercall itself moves its clock to the end
 * of the wait. */

/* The hart is about to wait for another: returns true, and ends the run, if its clock is frozen. */
bool vc_frozen_wait(struct vc_hart *h, enum vc_kind kind);
/* A synchronising access of a frozen hart. Repeated accesses to one word count as a wait; polling
 * the host in between does not. */
void vc_frozen_access(struct vc_hart *h, enum vc_kind kind, uint64_t address);

/* Progress in the freeze. */
static inline void vc_frozen_progress(struct vc_hart *h) { h->looks = 0; }
/* Stop the hart's clock at the outermost freeze; resume it at the matching thaw. */
void vc_freeze(struct vc_hart *h);
void vc_thaw(struct vc_hart *h);

#endif
