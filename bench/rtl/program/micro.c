/* Micro-benchmarks: cost of one instruction and of one access, alone and under contention. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenes.h"

enum { FEW = 32, MANY = 96, TRIES = 4, LINES = 8, WALK_PASSES = 60, CROWD_LINES = 48, QUEUE_ROUNDS = 5, QUEUE_CYCLES = 2000 };

static struct line lines[LINES + 1], own[MOST_HARTS], common;
static struct {
	LT_OWN_LINE lt_word value;
} stage[MOST_HARTS], acked, finished;
static struct {
	LT_OWN_LINE uint64_t begin, end;
	lt_word seen;
} of[MOST_HARTS];

/* --- instructions ---
 * Cycles of FEW copies in a row, and of MANY, each the best of a few: the difference is free of what stands around them. */
#define TIME(copies, before, code) \
	do { \
		uint64_t best = ~0ull; \
		_Pragma("GCC unroll 1") /* or each copy would run once, and its code be fetched */ \
			for (int i = 0; i < TRIES; i++) \
		{ \
			uint64_t begin = cycles(), taken; \
			__asm__ volatile(before "\n	.rept %1\n	" code "\n	.endr" \
					 : \
					 : "r"(&lines[0]), "i"(copies) \
					 : "memory", "t0", "t1", "t2", "t3", "t4", "t5", "t6"); \
			taken = cycles() - begin; \
			best = taken < best ? taken : best; \
		} \
		tell(best); \
	} while (0);

/* 9 cycles: the result is used, and the unit comes to rest. */
#define WANTED "\n	add t0, t0, t0\n	.rept 8\n	addi t3, t3, 1\n	.endr"

#define INSTRUCTION(name, before, code) \
	static __attribute__((noinline)) void time_##name(void) \
	{ \
		TIME(FEW, before, code) \
		TIME(MANY, before, code) \
	}
#include "instructions.def"

void scene_core(void)
{
	lines[0].word[0] = (uintptr_t)&lines[0];
#define INSTRUCTION(name, ...) time_##name();
#include "instructions.def"
}

/* --- one access to a line that other harts have in a known state ---
 * [0] access, [1] prior, [2] how many others. LINES of them, each once: cycles with the reading of the clock, whose own come first. */
static uint64_t timed_access(enum access how, uint64_t *p)
{
	uint64_t begin = cycles();

	access_once(how, p);
	return cycles() - begin;
}

static void prepare_access(enum prior prior, unsigned others, unsigned i)
{
	if (prior == PRIOR_OWN_CLEAN)
		(void)*(volatile uint64_t *)lines[i].word;
	if (prior == PRIOR_OWN_DIRTY)
		*(volatile uint64_t *)lines[i].word = 7;
	for (unsigned h = 1; h <= others; h++) {
		lt_store(&stage[h].value, i + 1);
		await_at_least(&acked.value, i * others + h);
	}
	spend(300);
}

static void help_access(enum prior prior, unsigned hart, unsigned i)
{
	await_at_least(&stage[hart].value, i + 1);
	if (prior == PRIOR_DIRTY)
		*(volatile uint64_t *)lines[i].word = hart;
	else
		(void)*(volatile uint64_t *)lines[i].word;
	__asm__ volatile("fence rw, rw" : : : "memory");
	lt_add(&acked.value, 1);
}

void scene_access(unsigned hart)
{
	enum access how = (enum access)BLOCK->of_scene[0];
	enum prior prior = (enum prior)BLOCK->of_scene[1];
	unsigned others = (unsigned)BLOCK->of_scene[2];

	for (unsigned i = 0; i < LINES; i++) {
		if (hart) {
			if (hart <= others)
				help_access(prior, hart, i);
			continue;
		}
		prepare_access(prior, others, i);
		timed_access(how, lines[LINES].word); /* this code is in the cache then */
		tell(timed_access(how, lines[i].word));
	}
	if (hart)
		machine_rest();
}

#include "contended.h"

/* --- the cache: [0] lines [1] bytes apart are read cyclically; cycles of the first pass and of the
 * fastest --- */
void scene_walk(void)
{
	uint64_t count = BLOCK->of_scene[0], apart = BLOCK->of_scene[1], first = 0, best = ~0ull;

	for (int pass = 0; pass < WALK_PASSES; pass++) {
		uint64_t begin = cycles(), taken, at = UNTOUCHED;

		for (uint64_t i = 0; i < count; i++, at += apart)
			access_once(ACCESS_LOAD, (uint64_t *)at);
		taken = cycles() - begin;
		first = pass ? first : taken;
		best = taken < best ? taken : best;
	}
	tell(first);
	tell(best);
}

/* --- the last hart reads private lines while all others fight for one: cycles of each read --- */
void scene_crowd(unsigned hart, unsigned harts)
{
	static LT_OWN_LINE uint64_t taken[CROWD_LINES];

	begin_together(harts);
	if (hart == harts - 1) {
		for (int i = 0; i < CROWD_LINES; i++)
			taken[i] = timed_access(ACCESS_LOAD, (uint64_t *)(UNTOUCHED + 64 * (uint64_t)i));
		for (int i = 0; i < CROWD_LINES; i++)
			tell(taken[i]);
		machine_end(BLOCK, 0);
	}
	for (;;) /* until the other one ends it all */
		access_once(ACCESS_AMO, common.word);
}

/* --- order of service: [0] cycles after which each hart asks, in the order of their numbers; [1]
 * 0: all ask for one line; 1: each for one that no hart has had. Reports each hart's cycles and its
 * position, in the last round. */
void scene_queue(unsigned hart, unsigned harts)
{
	uint64_t at = begin_together(harts) + BLOCK->of_scene[0] * hart;

	for (uint64_t round = 0; round < QUEUE_ROUNDS; round++, at += QUEUE_CYCLES) {
		uint64_t *fresh = (uint64_t *)UNTOUCHED + 8 * (round * harts + hart), begin;

		while (cycles() < at)
			;
		begin = cycles();
		of[hart].end = lt_add((lt_word *)(BLOCK->of_scene[1] ? fresh : common.word), 1) - round * harts;
		of[hart].begin = cycles() - begin;
	}
	leave(hart, harts);
	tell_times(harts);
}
