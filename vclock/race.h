/* Race check (debug mode): conflicting accesses of two harts that no synchronisation orders.
 *
 * Happens-before by vector clocks: a release on an address hands the hart's knowledge to whoever acquires from
 * that address; the aq and rl bits of the instruction and fences decide, as in the RISC-V memory model. Called by
 * the token holder only. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_RACE_H
#define VC_RACE_H

#include <stdio.h>

#include "state.h"

enum vc_race_access { VC_RACE_LOAD = 0, VC_RACE_STORE = 1, VC_RACE_ATOMIC = 2 };

/* A load or store of RAM; atomic accesses conflict with plain ones only. access: bits of enum vc_race_access. */
void vc_race_access(struct vc_hart *h, uint64_t pc, uint64_t address, unsigned bytes, unsigned access);
/* Synchronisation through an address; without acquire (release) the effect waits for (comes from) the hart's next
 * (last) fence. */
void vc_race_read_from(struct vc_hart *h, uint64_t address, bool acquire);
void vc_race_write_to(struct vc_hart *h, uint64_t address, bool release);
void vc_race_fence(struct vc_hart *h);
/* Distinct pairs of instructions found so far. */
unsigned vc_race_count(void);
/* The pairs as elements of a JSON array. */
void vc_race_write_json(FILE *out);

#endif
