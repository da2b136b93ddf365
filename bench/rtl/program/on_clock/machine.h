/* The machine below the programs of bench rtl: QEMU with the virtual clock, and libthread's own port. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_RTL_MACHINE_H
#define BENCH_RTL_MACHINE_H

#include "block.h"
#include "lt/arch.h"

/* The clock has 1000 MHz here: a nanosecond is a cycle. */
static inline uint64_t cycles(void)
{
	LT_HYPERCALL(HZ_VC_NOW);
	return *(volatile uint64_t *)&lt_vc_slot()->now_ns;
}

#include "riscv.h"

static inline void machine_begin(void) { LT_HYPERCALL(HZ_VC_SYNC); }

static inline void await_at_least(lt_word *w, uint64_t value)
{
	uint64_t seen = lt_load(w);

	while (seen < value)
		seen = lt_spin_while(w, seen);
}

static inline _Noreturn void machine_rest(void)
{
	static lt_word never;

	for (;;)
		lt_spin_while(&never, 0);
}

/* The results are in RAM, where bench.py reads them. END before the finisher, in one piece. */
static inline _Noreturn void machine_end(struct block *block, uint64_t code)
{
	block->code = code;
	__asm__ volatile("slti zero, zero, %0\n"
			 "	sw %1, 0(%2)"
			 :
			 : "i"(HZ_VC_END), "r"(0x5555), "r"(0x100000ul)
			 : "memory");
	for (;;)
		lt_relax();
}

#endif
