/* Engines: hardware that a hart stands in for, because the emulated machine has none. What an engine does at its own times costs the
 * hart no instructions: it runs with the clock frozen. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_ENGINE_H
#define LT_ENGINE_H

#include "lt/arch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lt_engine;
/* On the engine's hart, clock frozen: does what is due at now_ns, and sets due_ns to what comes next, after now_ns. */
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
