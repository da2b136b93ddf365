/* The guest's CPU: classes of instructions, and integer registers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_GUEST_CPU_H
#define VCLOCK_GUEST_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/state.h"

/* Classes of instructions, and what those of each cost beyond the cycles of every one. */

enum vc_class { VC_NO_CLASS, VC_LOAD, VC_STORE, VC_MUL, VC_DIV, VC_BRANCH, VC_CSR };

/* Of the instruction word, whose upper half is 0 where it is compressed. Synchronisation instructions and hints are of no class. */
enum vc_class vc_class_of(uint32_t word);
uint64_t vc_class_cost(uint32_t word);
/* A conditional branch to a lower address. */
bool vc_class_loops(uint32_t word);
/* An AMO with rl, without aq, whose result goes to x0. */
bool vc_class_releases(uint32_t word);
/* Of a division or remainder: by how many bits its dividend is longer than its divisor, both without their signs. */
unsigned vc_class_longer(uint32_t word, uint64_t dividend, uint64_t divisor);

/* The guest's integer registers. */

/* In the vCPU's own thread, before guest code; false with a sentence on stderr if this QEMU does not show them all. */
bool vc_registers_find(unsigned hart);
/* Value of x0 … x31 in a callback that was registered with QEMU_PLUGIN_CB_R_REGS. */
uint64_t vc_register(unsigned hart, unsigned number);

#endif
