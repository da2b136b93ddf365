/* Impossible states, and the sentence of ftl_check() for each: the check that all other tests rely on is checked itself. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_FTL_WRONG_STATES_H
#define TEST_FTL_WRONG_STATES_H

#ifdef __cplusplus
extern "C" {
#endif

struct ftl;

/* The sound state before the fault; check_test.cpp makes it. */
enum scene {
	SCENE_ZONES,        /* map in RAM. Zone 1 is full, 2 open and empty, 3 has three staged sectors, 4 one in its buffer */
	SCENE_MAP,          /* the same, map in flash, at rest; a sector of zone 1 was read */
	SCENE_CONVENTIONAL, /* map in flash: sectors 10 to 14 are in the copy of a table page, 12 was changed since and is durable */
	SCENE_DIRECTORY,    /* … with a directory: zone 1 is scattered, all is merged, and a sector was read */
	SCENE_CACHE,        /* a data cache with lines, some of them dirty */
	SCENE_ZONE_MAP,     /* as SCENE_ZONES, with a map of zones */
	SCENE_IN_PLACE,     /* map in RAM; zone 1 is full, and its sectors 7 to 9 were written in place */
	SCENE_SLOTS,        /* as SCENE_ZONES, with buffers that share their memory */
	SCENES
};

struct wrong_state {
	enum scene scene;
	void (*spoil)(struct ftl *ftl); /* harts idle; nothing may be done with it afterwards but ftl_check() */
	const char *report;
};

/* The last one has no sentence. */
extern const struct wrong_state wrong_states[];

#ifdef __cplusplus
}
#endif
#endif
