/* Effect of each synchronisation instruction on the clock and the order. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_HYPERCALL_H
#define VCLOCK_HYPERCALL_H

#include "base/state.h"

/* Before the instruction. */
void vc_before(struct vc_hart *h, enum vc_kind kind);
/* True for FREEZE, THAW and NOW if no option wants more of them than vc_freeze, vc_thaw and
 * vc_show_now. */
bool vc_hypercall_is_simple(enum vc_kind kind);

/* Bulk work of a hart with a frozen clock (vclock_abi.h: WINDOW, COPY, FILL, LANES), done by the
 * host. */

void vc_window(struct vc_hart *h);
void vc_copy(struct vc_hart *h);
void vc_fill(struct vc_hart *h);
void vc_lanes(struct vc_hart *h);

/* Sections under spin locks, or harts, take longer or shorter than their instructions do: what other code would be worth. While a hart holds
 * a spin lock of hold_class its clock passes hold thousandths of what it would for its instructions, and that of pace_harts always pace
 * thousandths. What an access costs stays. */

/* Before each synchronisation instruction and hypercall; the clock is not observable between two of
 * them. */
void vc_hold(struct vc_hart *h);

/* Plain loads and stores of RAM. With data=moves they fetch lines as synchronising accesses do,
 * false sharing included, but neither wait for a busy line nor keep one busy. They take effect in
 * the order in which the harts run: with the preceding sync point.
 *
 * With data=ordered an access that must fetch its line is a sync point: it waits for the line and
 * keeps it busy. Its value was read or written when its hart came to it; in code without data races
 * the difference is not observable.
 *
 * An access that hits costs no more than its instruction. */

/* By the token holder with its clock not frozen, after the access at pc. */
void vc_data_access(struct vc_hart *h, uint64_t pc, uint64_t address, unsigned bytes, bool write);

#endif
