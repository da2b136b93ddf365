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

/* The host in the loop: sleeping until the host rings, and waking host threads, by futexes in ivshmem #0. */

/* Sleeps until host_bell differs from slot.arg0, at most 1 ms. No device time passes: the hart must be frozen. */
void vc_host_wait(struct vc_hart *h);
/* Wakes everybody who sleeps on `completed` of queue slot.arg0. */
void vc_host_wake(struct vc_hart *h);

/* A hart whose clock is frozen waits for nobody.
 *
 * While its clock stands still no other hart comes past it, so what it would wait for cannot happen; and where it could, device time
 * would pass in a place that is meant to take none. The run ends with a sentence that names the place. HZ_VC_TAKE is no such
 * wait: the hart is idle, and says with the hint itself that its clock jumps to the end of it. */

/* The hart is about to wait for another: true, and the run ends, if its clock is frozen. */
bool vc_frozen_wait(struct vc_hart *h, enum vc_kind kind);
/* A frozen hart's synchronising access. The same word again and again is a wait too; asking the host in between is not. */
void vc_frozen_access(struct vc_hart *h, enum vc_kind kind, uint64_t address);

/* Something else happened in the freeze. */
static inline void vc_frozen_progress(struct vc_hart *h) { h->looks = 0; }
/* The hart's clock stands from the outermost freeze to its thaw. */
void vc_freeze(struct vc_hart *h);
void vc_thaw(struct vc_hart *h);

#endif
