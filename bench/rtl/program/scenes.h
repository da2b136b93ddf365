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
