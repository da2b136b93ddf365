/* The machine below the scenes of calibrate: the host, with libthread's host port. A cycle here is a tick of the counter that user code
 * may read; host.py divides. x86-64, AArch64 and RV64. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_RTL_MACHINE_H
#define BENCH_RTL_MACHINE_H

extern struct block host_block;
#define BLOCK (&host_block)
#include "block.h"
#include "lt/arch.h"

/* Waits until all other harts rest, prints the results and ends the process. One hart calls it, once. */
_Noreturn void machine_end(struct block *block, uint64_t code);
/* After the common start of a scene: from that tick on counts how long others have this thread's CPU. */
void machine_begun(uint64_t at);
/* The calling thread ends. */
_Noreturn void machine_rest(void);

#if defined(__x86_64__)
#define HOST_INSTRUCTIONS "x86_64.def"
#define HOST_PAUSE "pause"
#define HOST_SCRATCH "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc"
#define HOST_FLUSHES 1
/* Nothing before it is still under way, nothing behind it has begun; stores may still wait in the store buffer. */
static inline uint64_t cycles(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n	rdtsc\n	lfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}
static inline void flush_line(const void *p) { __asm__ volatile("clflush (%0)" : : "r"(p) : "memory"); }
static inline void spend(uint64_t turns)
{
	__asm__ volatile("	test %0, %0\n	jz 2f\n	.p2align 4\n1:	dec %0\n	jnz 1b\n2:" : "+r"(turns) : : "cc");
}
#elif defined(__aarch64__)
#define HOST_INSTRUCTIONS "aarch64.def"
#define HOST_PAUSE "isb" /* YIELD is no more than a NOP on most cores */
#define HOST_SCRATCH "x9", "x10", "x11", "x12", "x13", "x14", "x15", "cc"
#define HOST_FLUSHES 1
static inline uint64_t cycles(void)
{
	uint64_t v;

	__asm__ volatile("isb\n	mrs %0, cntvct_el0\n	isb" : "=r"(v) : : "memory");
	return v;
}
static inline void flush_line(const void *p) { __asm__ volatile("dc civac, %0" : : "r"(p) : "memory"); }
static inline void spend(uint64_t turns)
{
	__asm__ volatile("	cbz %0, 2f\n	.p2align 4\n1:	subs %0, %0, #1\n	b.ne 1b\n2:" : "+r"(turns) : : "cc");
}
#elif defined(__riscv) && __riscv_xlen == 64
#define HOST_INSTRUCTIONS "riscv64.def"
#define HOST_PAUSE ".word 0x0100000f"
#define HOST_SCRATCH "t0", "t1", "t2", "t3", "t4", "t5", "t6"
#define HOST_FLUSHES 0 /* Zicbom is not for user code everywhere */
static inline uint64_t cycles(void)
{
	uint64_t v;

	__asm__ volatile("fence rw, rw\n	rdtime %0" : "=r"(v) : : "memory");
	return v;
}
static inline void flush_line(const void *p) { (void)p; }
static inline void spend(uint64_t turns)
{
	__asm__ volatile("	beqz %0, 2f\n1:	addi %0, %0, -1\n	bnez %0, 1b\n2:" : "+r"(turns));
}
#else
#error "calibrate measures x86-64, AArch64 and RV64 hosts"
#endif

static inline void await_at_least(lt_word *w, uint64_t value)
{
	while (lt_load(w) < value)
		__asm__ volatile(HOST_PAUSE : : : "memory");
}

/* One access by the compiler's atomic operations. */
static inline void access_once(enum access how, uint64_t *p)
{
	switch (how) {
	case ACCESS_LR:
	case ACCESS_LOAD: (void)__atomic_load_n(p, __ATOMIC_ACQUIRE); break;
	case ACCESS_STORE: __atomic_store_n(p, 1, __ATOMIC_SEQ_CST); break;
	case ACCESS_AMO: (void)__atomic_fetch_add(p, 1, __ATOMIC_ACQ_REL); break;
	case ACCESS_RELEASE: __atomic_store_n(p, 1, __ATOMIC_RELEASE); break;
	}
}

/* The clock's reading takes dozens of cycles: one for every sixteen turns of the lock benchmark. */
static inline uint64_t cycles_of_lap(uint64_t lap)
{
	static __thread uint64_t seen;

	if (lap % 16 == 0)
		seen = cycles();
	return seen;
}

#endif
