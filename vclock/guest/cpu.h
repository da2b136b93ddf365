/* The guest's CPU: classes of instructions, and integer registers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_GUEST_CPU_H
#define VCLOCK_GUEST_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/state.h"

/* Instruction classes, and their costs on top of the cost of every instruction. */

enum vc_class { VC_NO_CLASS, VC_LOAD, VC_STORE, VC_MUL, VC_DIV, VC_BRANCH, VC_CSR };

/* Class and extra cost of an instruction word; the upper half of a compressed one is 0.
 * Synchronisation instructions and hypercalls have no class. */
enum vc_class vc_class_of(uint32_t word);
uint64_t vc_class_cost(uint32_t word);
/* True for a conditional branch to a lower address. */
bool vc_class_loops(uint32_t word);
/* True for an AMO with rl, without aq, and with destination x0. */
bool vc_class_releases(uint32_t word);
/* For a division or remainder: bits by which the dividend is longer than the divisor, both
 * unsigned. */
unsigned vc_class_longer(uint32_t word, uint64_t dividend, uint64_t divisor);

/* The guest's integer registers. */

/* In the vCPU's own thread, before guest code; false with a sentence on stderr if this QEMU lacks
 * one of them. */
bool vc_registers_find(unsigned hart);
/* Value of x0 … x31 in a callback that was registered with QEMU_PLUGIN_CB_R_REGS. */
uint64_t vc_register(unsigned hart, unsigned number);

#endif
