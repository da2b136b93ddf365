/* RV64GC by class. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "class.h"

#include "state.h"

/* The unprivileged specification's chapter "RV32/64G Instruction Set Listings": opcode, funct3, funct7. */
static uint64_t cost_of_full(uint32_t word)
{
	const struct vc_costs *cost = &vc.options.cost;
	uint32_t funct3 = word >> 12 & 7;

	switch (word & 0x7f) {
	case 0x03:
	case 0x07: return cost->load;
	case 0x23:
	case 0x27: return cost->store;
	case 0x63:
	case 0x67:
	case 0x6f: return cost->branch;
	case 0x73: return funct3 ? cost->csr : 0;
	case 0x33:
	case 0x3b:
		if (word >> 25 != 1)
			return 0;
		return funct3 < 4 ? cost->mul : cost->div;
	default: return 0;
	}
}

/* C.JR and C.JALR; C.MV, C.ADD and C.EBREAK share their funct3. */
static bool jumps_to_register(uint32_t word) { return (word >> 7 & 31) && !(word >> 2 & 31); }

static uint64_t cost_of_compressed(uint32_t word)
{
	const struct vc_costs *cost = &vc.options.cost;
	uint32_t quadrant = word & 3, funct3 = word >> 13 & 7;

	if (quadrant == 1)
		return funct3 >= 5 ? cost->branch : 0;
	if (funct3 == 4)
		return quadrant == 2 && jumps_to_register(word) ? cost->branch : 0;
	if (funct3 > 4)
		return cost->store;
	return funct3 ? cost->load : 0;
}

uint64_t vc_class_cost(uint32_t word) { return (word & 3) == 3 ? cost_of_full(word) : cost_of_compressed(word); }
