/* Race check (debug mode): conflicting accesses of two harts without ordering by synchronisation.
 *
 * Happens-before by vector clocks: a release on an address hands the hart's knowledge to every hart
 * that acquires from that address; the aq and rl bits of the instruction and fences decide, as in
 * the RISC-V memory model. Called by the token holder only. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_RACE_RACE_H
#define VCLOCK_RACE_RACE_H

#include <stdint.h>
#include <stdio.h>

#include "base/state.h"

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

/* Shadow memory of the race check: the last few accesses of every 8-byte word of guest memory that
 * was touched. */

enum { VC_SHADOW_CELLS = 4 };

struct vc_cell {
	uint32_t epoch; /* 0: empty */
	uint8_t hart;
	uint8_t bytes;  /* mask of the word's bytes */
	uint8_t access; /* enum vc_race_access */
	uint8_t reserved;
	uint64_t pc;
};

/* The cells of the word at address (8-byte aligned), allocated on first use. */
struct vc_cell *vc_shadow_of(uint64_t address);

/* Vector clocks of the race check: one per hart, and one per synchronisation address. */

struct vc_vector {
	uint32_t at[VC_MAX_HARTS];
};

static inline void vc_vector_join(struct vc_vector *into, const struct vc_vector *from)
{
	for (unsigned i = 0; i < VC_MAX_HARTS; i++)
		if (from->at[i] > into->at[i])
			into->at[i] = from->at[i];
}

/* The clock of an 8-byte word, all zero at first. The pointer is valid until the next call. */
struct vc_vector *vc_vector_of(uint64_t address);

#endif
