/* What an instruction costs beyond the cycles of every one, by its class: loads, stores, multiplications, divisions, branches, CSRs. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_CLASS_H
#define VC_CLASS_H

#include <stdint.h>

/* Of the instruction word, whose upper half is 0 where it is compressed. Synchronisation instructions and hints are of no class. */
uint64_t vc_class_cost(uint32_t word);

#endif
