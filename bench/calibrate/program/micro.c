/* Micro-benchmarks of calibrate: what bench rtl's micro.c measures, for a machine that runs ahead of its program, has prefetchers and a
 * coarse clock. So accesses depend on one another, lines lie apart, and the time of many is printed. */
/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

#include "host.h"
#include "scenes.h"

enum { COPIES = 100, PASSES = 200, TRIES = 5, LINES = 32, NEXT = 13, APART = 4096 + 64, ROUNDS = 100, HOPS = 1000, WALKS = 25, HOT = 8 };

static uint8_t field[LINES * APART] __attribute__((aligned(4096)));
static struct line own[MOST_HARTS], common;
static struct {
	LT_OWN_LINE lt_word value;
} stage, acked, finished;
static struct {
	LT_OWN_LINE uint64_t begin, end;
	lt_word seen;
} of[MOST_HARTS];

#include "contended.h"

/* --- instructions: ticks of PASSES times COPIES, the best of a few --- */
#define INSTRUCTION(name, count, before, code) \
	static __attribute__((noinline)) uint64_t time_##name(void) \
	{ \
		uint64_t best = ~0ull; \
		for (int try = 0; try < TRIES; try++) { \
			uint64_t begin = cycles(), taken; \
			for (int pass = 0; pass < PASSES; pass++) \
				__asm__ volatile(before "\n	.rept %c1\n	" code "\n	.endr" \
						 : \
						 : "r"(own), "i"(COPIES) \
						 : "memory", HOST_SCRATCH); \
			taken = cycles() - begin; \
			best = taken < best ? taken : best; \
		} \
		return best; \
	}
#include HOST_INSTRUCTIONS

uint64_t host_chain_ticks(void) { return time_chain(); }

/* Last the ticks of as many turns of spend(). */
void host_core(unsigned hart, unsigned harts)
{
	uint64_t begin, best = ~0ull;

	(void)hart;
	(void)harts;
	own[0].word[0] = (uintptr_t)own;
#define INSTRUCTION(name, ...) tell(time_##name());
#include HOST_INSTRUCTIONS
	for (int try = 0; try < TRIES; try++) {
		begin = cycles();
		spend(COPIES * PASSES);
		begin = cycles() - begin;
		best = begin < best ? begin : best;
	}
	tell(best);
	machine_end(BLOCK, 0);
}

/* --- accesses by state of the line --- */
static uint64_t *line_at(unsigned i) { return (uint64_t *)(field + (size_t)i % LINES * APART); }

static void make_ring(void)
{
	for (unsigned i = 0; i < LINES; i++)
		line_at(i)[0] = (uintptr_t)line_at(i + NEXT);
}

static void write_lines(uint64_t value)
{
	for (unsigned i = 0; i < LINES; i++)
		*(volatile uint64_t *)&line_at(i)[1] = value;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void read_lines(void)
{
	for (unsigned i = 0; i < LINES; i++)
		(void)*(volatile uint64_t *)&line_at(i)[1];
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void flush_lines(void)
{
	for (unsigned i = 0; i < LINES; i++)
		flush_line(line_at(i));
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Ticks of one access to each line: each has the address of the next, except for stores, which a fence keeps apart. */
static uint64_t timed_ring(enum access how)
{
	uint64_t begin = cycles(), *p = line_at(0);

	if (how == ACCESS_LOAD)
		for (unsigned i = 0; i < LINES; i++)
			p = (uint64_t *)(uintptr_t) * (volatile uint64_t *)p;
	else if (how == ACCESS_AMO)
		for (unsigned i = 0; i < LINES; i++)
			p = (uint64_t *)(uintptr_t)__atomic_fetch_add(p, 0, __ATOMIC_ACQ_REL);
	else
		for (unsigned i = 0; i < LINES; i++) {
			__atomic_store_n(&line_at(i * NEXT)[1], i, __ATOMIC_RELEASE);
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
		}
	__asm__ volatile("" : : "r"(p));
	return cycles() - begin;
}

static void help_access(enum prior prior)
{
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		await_at_least(&stage.value, round);
		if (prior == PRIOR_DIRTY)
			write_lines(round);
		else
			read_lines();
		lt_store(&acked.value, round);
	}
	machine_rest();
}

/* [0] access, [1] state of the lines: of hart 1, if it is DIRTY or CLEAN (shared with hart 0). ROUNDS results. */
void host_access(unsigned hart, unsigned harts)
{
	enum prior prior = (enum prior)BLOCK->of_scene[1];

	(void)harts;
	if (hart)
		help_access(prior);
	make_ring();
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		write_lines(round);
		if (prior == PRIOR_NOWHERE)
			flush_lines();
		if (prior == PRIOR_DIRTY || prior == PRIOR_CLEAN) {
			lt_store(&stage.value, round);
			await_at_least(&acked.value, round);
		}
		tell(timed_ring((enum access)BLOCK->of_scene[0]));
	}
	machine_end(BLOCK, 0);
}

/* --- memory behind the caches: [0] bytes, whose lines are read in a random order; ticks of HOPS of them --- */
static uint64_t *random_ring(uint64_t bytes)
{
	uint64_t lines = bytes / 64, state = 1, *at;

	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		lt_fail("there is no memory for a walk");
	madvise(at, bytes, MADV_HUGEPAGE);
	for (uint64_t i = 0; i < lines; i++)
		at[8 * i] = i;
	for (uint64_t i = lines - 1; i > 0; i--) { /* Sattolo: one cycle through all */
		uint64_t other, kept = at[8 * i];

		state = state * 6364136223846793005u + 1442695040888963407u;
		other = (state >> 33) % i;
		at[8 * i] = at[8 * other];
		at[8 * other] = kept;
	}
	for (uint64_t i = 0; i < lines; i++)
		at[8 * i] = (uintptr_t)&at[8 * at[8 * i]];
	return at;
}

void host_memory(unsigned hart, unsigned harts)
{
	uint64_t lines = BLOCK->of_scene[0] / 64, *p = random_ring(BLOCK->of_scene[0]);

	(void)hart;
	(void)harts;
	for (uint64_t i = 0; i < lines; i++) /* every level has what it keeps */
		p = (uint64_t *)(uintptr_t)*p;
	for (unsigned walk = 0; walk < WALKS; walk++) {
		uint64_t begin = cycles();

		for (unsigned i = 0; i < HOPS; i++)
			p = (uint64_t *)(uintptr_t) * (volatile uint64_t *)p;
		__asm__ volatile("" : : "r"(p));
		tell(cycles() - begin);
	}
	machine_end(BLOCK, 0);
}

/* --- the store buffer: [0] stores to lines of this hart behind one to a line in memory; ticks until they are given away --- */
void host_stores(unsigned hart, unsigned harts)
{
	uint64_t count = BLOCK->of_scene[0], begin;

	(void)hart;
	(void)harts;
	for (unsigned round = 0; round < ROUNDS; round++) {
		write_lines(round);
		flush_line(line_at(LINES - 1));
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		begin = cycles();
		*(volatile uint64_t *)&line_at(LINES - 1)[1] = round;
		for (uint64_t i = 0; i < count; i++)
			*(volatile uint64_t *)&line_at((unsigned)i % HOT)[2] = i;
		tell(cycles() - begin);
	}
	machine_end(BLOCK, 0);
}
