/* A hart whose clock is frozen waits for nobody.
 *
 * While its clock stands still no other hart comes past it, so what it would wait for cannot happen; and where it could, device time
 * would pass in a place that is meant to take none. The run ends with a sentence that names the place. HZ_VC_TAKE is no such
 * wait: the hart is idle, and says with the hint itself that its clock jumps to the end of it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_FROZEN_H
#define VC_FROZEN_H

#include "state.h"

/* The hart is about to wait for another: true, and the run ends, if its clock is frozen. */
bool vc_frozen_wait(struct vc_hart *h, enum vc_kind kind);
/* A frozen hart's synchronising access. The same word again and again is a wait too; asking the host in between is not. */
void vc_frozen_access(struct vc_hart *h, enum vc_kind kind, uint64_t address);

/* Something else happened in the freeze. */
static inline void vc_frozen_progress(struct vc_hart *h) { h->looks = 0; }

#endif
