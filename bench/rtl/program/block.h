/* Parameter block of bench rtl's programs, with requests and answers: at one address of RAM on
 * either machine (bench/rtl/machines.py). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_RTL_BLOCK_H
#define BENCH_RTL_BLOCK_H

#include <stdint.h>

enum scene { SCENE_CORE, SCENE_ACCESS, SCENE_STREAM, SCENE_HANDOVER, SCENE_FANOUT, SCENE_WALK, SCENE_CROWD, SCENE_QUEUE, SCENE_LOCK };
enum access { ACCESS_LOAD, ACCESS_STORE, ACCESS_AMO, ACCESS_LR, ACCESS_RELEASE };
/* State of a line before the access, set by the other harts. */
enum prior { PRIOR_NOWHERE, PRIOR_DIRTY, PRIOR_CLEAN, PRIOR_OWN_CLEAN, PRIOR_OWN_DIRTY };

enum { MOST_HARTS = 64, MOST_RESULTS = 500, OF_SCENE = 9 };

struct block {
	uint64_t code; /* 0: all went well */
	uint64_t scene, harts;
	uint64_t of_scene[OF_SCENE]; /* defined by the scene's function */
	uint64_t results;
	uint64_t result[MOST_RESULTS];
};

#ifndef BLOCK
#define BLOCK ((struct block *)0x80300000)
#endif
#define UNTOUCHED 0x80800000ul /* RAM that no hart has touched before, to the end */

#endif
