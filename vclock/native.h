/* Code of hardware that runs on the host's processor: the native image in the firmware's file, on the guest's memory (native_abi.h).
 *
 * A call runs on a stack of its own, so that it can leave QEMU's callback half way: to ask a function of the guest, whose instructions
 * count, or because its hart waits. The clock is frozen all the while, so a call costs what the same code costs in instructions: nothing.
 * Without it (option native=off, another processor, an address that is taken) the guest runs the code itself. So it does where
 * each access or instruction of frozen code matters: with race-check, profile or count=insn. With data it runs code that asks for
 * decisions, since the lines of the stack matter that these use. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_NATIVE_H
#define VCLOCK_NATIVE_H

#include "base/state.h"

/* When the guest's image is in RAM and before any hart runs: lets the guest ask, if it can be served. Holds vc.lock. */
void vc_native_start(void);
/* HZ_VC_NATIVE. */
void vc_native(struct vc_hart *h);
/* The guest sees a file's bytes at an address. */
void vc_native_window(uint64_t guest, uint64_t bytes, uint64_t file);

#endif
