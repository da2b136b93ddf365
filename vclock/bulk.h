/* Bulk work of a hart whose clock stands (vclock_abi.h: WINDOW, COPY, FILL, LANES), done by the host. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_BULK_H
#define VC_BULK_H

#include "state.h"

void vc_window(struct vc_hart *h);
void vc_copy(struct vc_hart *h);
void vc_fill(struct vc_hart *h);
void vc_lanes(struct vc_hart *h);

#endif
