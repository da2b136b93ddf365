/* Where each hart's time goes (option locks=on): instructions by stage of the work, stalls, waits for spin locks by class, idle.
 *
 * Everything that moves a clock is counted where it does, and the clock itself is not asked: that the parts sum to it exactly is a check,
 * whose error the report shows. What happens between asking for a spin lock in vain and the end of the wait, instructions and stalls
 * too, is spin. A hart's account begins anew, and is shown, when the firmware's own is (libthread/src/account.h). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_PROFILE_ACCOUNT_H
#define VCLOCK_PROFILE_ACCOUNT_H

#include <stdint.h>
#include <stdio.h>

#include "base/state.h"

/* To which stage of work (protocol/stages.def) code belongs: by the symbols that the firmware's linker script puts between them. */

enum vc_stage {
#define HZ_STAGE(name, ...) VC_STAGE_##name,
#include "stages.def"
	VC_STAGES
};

extern const char *const vc_stage_names[VC_STAGES];

/* Once the image's symbols are known. Without the linker script's, everything is `other`. */
void vc_stages_load(void);
/* Of the instruction at pc. */
enum vc_stage vc_stage_of(uint64_t pc);

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
