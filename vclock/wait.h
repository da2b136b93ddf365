/* Waiting instructions: WRS on a reservation, HZ_VC_WAIT and HZ_VC_WAKE, HZ_VC_TAKE, PAUSE. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_WAIT_H
#define VC_WAIT_H

#include "token.h"

void vc_wait_reservation(struct vc_hart *h, enum vc_kind kind);
void vc_wait_for_wake(struct vc_hart *h);
void vc_wake(struct vc_hart *h);
void vc_take(struct vc_hart *h);
void vc_pause(struct vc_hart *h);

#endif
