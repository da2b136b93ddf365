/* The guest's integer registers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_REGISTERS_H
#define VC_REGISTERS_H

#include "state.h"

/* In the vCPU's own thread, before guest code; false with a sentence on stderr if this QEMU does not show them all. */
bool vc_registers_find(unsigned hart);
/* Value of x0 … x31 in a callback that was registered with QEMU_PLUGIN_CB_R_REGS. */
uint64_t vc_register(unsigned hart, unsigned number);

#endif
