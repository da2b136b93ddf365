/* Runs patterns of flash operations (protocol/flashbench.h) on a TSU, one after the other, and notes what each took. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PATTERNS_FLASH_PATTERNS_H
#define PATTERNS_FLASH_PATTERNS_H

#include "flashbench.h"
#include "lt/arena.h"
#include "tsu/tsu.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pattern_job;
/* All of it belongs to hart 0. */
struct flash_patterns {
	struct tsu *tsu;
	const struct flash_map *map;
	struct hz_flashbench *block;
	struct hz_oob *oob; /* of every program */
	struct pattern_job *jobs;
	void (*finished)(struct flash_patterns *patterns);
	struct hz_flashbench_pattern *now; /* the one that runs */
	struct hz_flashbench_pattern *last;
	struct lt_event start;
	uint64_t begin_ns;
	uint32_t under_way; /* transactions; erases before a pattern too */
	bool preparing;     /* these erases */
};

/* Before the harts run. block->cfg is the device that tsu and map were made for. */
void flash_patterns_init(struct flash_patterns *patterns, struct arena *arena, struct tsu *tsu, const struct flash_map *map,
			 struct hz_flashbench *block);
/* The patterns first … last run on the harts from now on; finished is called on hart 0 when all have ended. */
void flash_patterns_run(struct flash_patterns *patterns, uint32_t first, uint32_t last, void (*finished)(struct flash_patterns *patterns));

#ifdef __cplusplus
}
#endif
#endif
