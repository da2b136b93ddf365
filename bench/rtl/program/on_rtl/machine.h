/* The machine below the programs of bench rtl: RTL in a simulator (bench/rtl/machine.cpp). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_RTL_MACHINE_H
#define BENCH_RTL_MACHINE_H

#include "block.h"
#include "lt/arch.h"

enum { WAIT_TURNS = 20 };

static inline uint64_t cycles(void)
{
	uint64_t v;

	__asm__ volatile("csrr %0, mcycle" : "=r"(v) : : "memory");
	return v;
}

#include "riscv.h"

static inline void machine_begin(void) {}

/* Disturbs the measurement little: by plain loads, since LR keeps Rocket's cache from answering
 * others, and seldom. */
static inline void await_at_least(lt_word *w, uint64_t value)
{
	while (lt_peek(w) < value)
		spend(WAIT_TURNS);
	__asm__ volatile("fence rw, rw" : : : "memory");
}

static inline _Noreturn void machine_rest(void)
{
	for (;;)
		__asm__ volatile("wfi");
}

static inline _Noreturn void machine_end(struct block *block, uint64_t code)
{
	volatile uint64_t *registers = (volatile uint64_t *)0x10001000;

	for (uint64_t i = 0; i < block->results; i++)
		registers[0] = block->result[i];
	registers[1] = code;
	machine_rest();
}

#endif
