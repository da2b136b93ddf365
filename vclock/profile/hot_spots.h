/* Where the counted instructions are (option profile=FILE): how often each segment of straight code ran outside freezes.
 *
 * A line for each segment and hart that ran it: hart, address of the first instruction, number of instructions, how often it ran.
 * The sum of number times how often over a hart's lines is its "counted" of the report, exactly. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_PROFILE_HOT_SPOTS_H
#define VCLOCK_PROFILE_HOT_SPOTS_H

#include "base/qemu_api.h"
#include "base/state.h"

/* At translation, on the segment's first instruction, before its other callbacks. Any vCPU thread. */
void vc_profile_segment(struct qemu_plugin_insn *first, uint64_t instructions);
/* Writes the file, sorted by address; with the report. Says so on stderr if it cannot. */
void vc_profile_write(void);

#endif
