/* Where each hart's time goes (option locks=on): instructions by stage of the work, stalls, waits for spin locks by class, idle.
 *
 * Everything that moves a clock is counted where it does, and the clock itself is not asked: that the parts sum to it exactly is a check,
 * whose error the report shows. What happens between asking for a spin lock in vain and the end of the wait, instructions and stalls
 * too, is spin. A hart's account begins anew, and is shown, when the firmware's own is (libthread/src/account.h). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_ACCOUNT_H
#define VC_ACCOUNT_H

#include <stdio.h>

#include "stage.h"
#include "state.h"

struct vc_stage_counts {
	uint64_t cycles[VC_STAGES]; /* of instructions */
};

/* Where the hart's inline counters are. Without the option they stay 0. */
void vc_account_open(unsigned hart, struct vc_stage_counts *counts);
/* At the begin and the end of the outermost freeze: what runs in between is not counted. */
void vc_account_freeze(const struct vc_hart *h);
void vc_account_thaw(const struct vc_hart *h);
/* An instruction takes so much more. */
void vc_account_work(struct vc_hart *h, enum vc_stage stage, uint64_t cycles);
/* HZ_VC_LOCK_EVENT. */
void vc_account_event(struct vc_hart *h);
/* A member of a JSON object, "accounts". */
void vc_account_write_json(FILE *out);

#endif
