/* Work and accesses of bench rtl's programs on RV64: the RTL, and the virtual clock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_RTL_RISCV_H
#define BENCH_RTL_RISCV_H

#include "block.h"

/* Two instructions a turn. */
static inline void spend(uint64_t turns)
{
	__asm__ volatile("	beqz %0, 2f\n"
			 "1:	addi %0, %0, -1\n"
			 "	bnez %0, 1b\n"
			 "2:"
			 : "+r"(turns));
}

/* One access, its result wanted at once. */
static inline void access_once(enum access how, uint64_t *p)
{
	uint64_t v = 1;

	switch (how) {
	case ACCESS_LOAD: __asm__ volatile("ld %0, (%1)\n add %0, %0, zero" : "=&r"(v) : "r"(p) : "memory"); break;
	case ACCESS_STORE: __asm__ volatile("sd %0, (%1)\n fence rw, rw" : : "r"(v), "r"(p) : "memory"); break;
	case ACCESS_AMO: __asm__ volatile("amoadd.d.aqrl %0, %0, (%1)\n add %0, %0, zero" : "+&r"(v) : "r"(p) : "memory"); break;
	case ACCESS_LR: __asm__ volatile("lr.d.aq %0, (%1)\n add %0, %0, zero" : "=&r"(v) : "r"(p) : "memory"); break;
	case ACCESS_RELEASE: __asm__ volatile("amoswap.d.rl zero, %0, (%1)" : : "r"(v), "r"(p) : "memory"); break;
	}
}

/* After the common start of a scene, at this cycle. */
static inline void machine_begun(uint64_t at) { (void)at; }

/* The cycle at which a turn of the lock benchmark ends: the clock is read in each. */
static inline uint64_t cycles_of_lap(uint64_t lap)
{
	(void)lap;
	return cycles();
}

#endif
