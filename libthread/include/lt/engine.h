/* Engines: hardware simulated by a hart, because the emulated machine has none. An engine's work at its own times costs the hart no
 * instructions: it runs with the clock frozen. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_ENGINE_H
#define LT_ENGINE_H

#include "lt/arch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lt_engine;
/* On the engine's hart, clock frozen: do the work due at now_ns, and set due_ns to the next time, after now_ns. */
typedef void lt_engine_fn(struct lt_engine *engine, uint64_t now_ns);
struct lt_engine {
	struct lt_engine *next; /* of the same hart */
	uint64_t due_ns;        /* it has something to do then; LT_FOREVER: nothing. Its own hart may change it at any time */
	lt_engine_fn *run;
};

/* From now on run(engine) is called on this hart whenever due_ns has come and no event is running. After lt_harts_init, before the harts
 * run. */
void lt_engine_add(unsigned hart, struct lt_engine *engine);

#ifdef __cplusplus
}
#endif
#endif
