/* Sections under spin locks take longer, or shorter, than their instructions do (option hold=PERMILLE): what another section would be worth.
 *
 * While a hart holds a spin lock its clock passes so many thousandths of what it would for its instructions. What an access costs stays. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_HOLD_H
#define VC_HOLD_H

#include "state.h"

/* Before each synchronisation instruction and hint: nobody sees the clock between two of them. */
void vc_hold(struct vc_hart *h);

#endif
