/* What each synchronisation instruction does to the clock and the order. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_HINT_H
#define VC_HINT_H

#include "state.h"

/* Before the instruction. */
void vc_before(struct vc_hart *h, enum vc_kind kind);

#endif
