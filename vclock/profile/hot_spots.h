/* Counted instructions by code segment (option profile=FILE): how often each straight segment ran
 * outside freezes.
 *
 * One line for each segment and hart: hart, address of the first instruction, number of
 * instructions, number of runs. The sum of instructions times runs over a hart's lines equals its
 * "counted" in the report exactly. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_PROFILE_HOT_SPOTS_H
#define VCLOCK_PROFILE_HOT_SPOTS_H

#include "base/qemu_api.h"
#include "base/state.h"

/* At translation, on the segment's first instruction, before its other callbacks. Any vCPU thread. */
void vc_profile_segment(struct qemu_plugin_insn *first, uint64_t instructions);
/* Write the file, sorted by address; with the report. Prints an error on stderr on failure. */
void vc_profile_write(void);

#endif
