/* The scenes of bench rtl's programs, and their shared helpers. Each runs on all its harts,
 * numbered from 0; hart 0 reports the results. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_RTL_SCENES_H
#define BENCH_RTL_SCENES_H

#include "machine.h"

enum { START_CYCLES = 3000 };

struct line {
	LT_OWN_LINE uint64_t word[8];
};

/* One more result. */
void tell(uint64_t value);
/* The common start of all harts of a scene: the cycle at which it begins. */
uint64_t begin_together(unsigned harts);
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

void scene_core(void);
void scene_access(unsigned hart);
void scene_stream(unsigned hart, unsigned harts);
void scene_handover(unsigned hart, unsigned harts);
void scene_fanout(unsigned hart, unsigned harts);
void scene_walk(void);
void scene_crowd(unsigned hart, unsigned harts);
void scene_queue(unsigned hart, unsigned harts);
void scene_lock(unsigned hart, unsigned harts);

#endif
