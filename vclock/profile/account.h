/* Each hart's time (option locks=on): instructions by stage of the work, stalls, waits for spin
 * locks by class, idle.
 *
 * Each advance of a clock is counted where it happens, independently of the clock. The parts must
 * therefore sum to the clock exactly; the report shows the difference as an error. Everything
 * between a contended request for a spin lock and the end of the wait, instructions and stalls too,
 * is spin. A hart's account restarts, and is reported, together with the firmware's own
 * (libthread/src/account.h). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_PROFILE_ACCOUNT_H
#define VCLOCK_PROFILE_ACCOUNT_H

#include <stdint.h>
#include <stdio.h>

#include "base/qemu_api.h"
#include "base/state.h"

/* Stage of work (protocol/stages.def) of a code address, from the symbols that the firmware's
 * linker script places between stages. */

enum vc_stage {
#define HZ_STAGE(name, ...) VC_STAGE_##name,
#include "stages.def"
	VC_STAGES
};

extern const char *const vc_stage_names[VC_STAGES];

/* After the image's symbols are loaded. Without the linker script's symbols all code is `other`. */
void vc_stages_load(void);
/* Stage of the instruction at pc. */
enum vc_stage vc_stage_of(uint64_t pc);

struct vc_stage_counts {
	uint64_t cycles[VC_STAGES]; /* of instructions */
};

/* Set the address of the hart's inline counters. Without the option they stay 0. */
void vc_account_open(unsigned hart, struct vc_stage_counts *counts);
/* At the begin and the end of the outermost freeze: instructions in between are not counted. */
void vc_account_freeze(const struct vc_hart *h);
void vc_account_thaw(const struct vc_hart *h);
/* Add cycles to the cost of an instruction. */
void vc_account_work(struct vc_hart *h, enum vc_stage stage, uint64_t cycles);
/* HZ_VC_LOCK_EVENT. */
void vc_account_event(struct vc_hart *h);
/* A member of a JSON object, "accounts". */
void vc_account_write_json(FILE *out);

/* Hot spots: counted instructions by code segment (option profile=FILE): how often each straight segment ran
 * outside freezes.
 *
 * One line for each segment and hart: hart, address of the first instruction, number of
 * instructions, number of runs. The sum of instructions times runs over a hart's lines equals its
 * "counted" in the report exactly. */

/* At translation, on the segment's first instruction, before its other callbacks. Any vCPU thread. */
void vc_profile_segment(struct qemu_plugin_insn *first, uint64_t instructions);
/* Write the file, sorted by address; with the report. Prints an error on stderr on failure. */
void vc_profile_write(void);

#endif
