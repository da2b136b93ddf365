/* Inside libthread only: a hart's engines. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ENGINE_H
#define ENGINE_H

#include "hart_state.h"

/* When the first of them has something to do; LT_FOREVER: none has. */
static inline uint64_t engines_due_ns(const struct hart *h)
{
	uint64_t due_ns = LT_FOREVER;

	for (const struct lt_engine *engine = h->engines; engine; engine = engine->next)
		due_ns = engine->due_ns < due_ns ? engine->due_ns : due_ns;
	return due_ns;
}
/* Run due engines; true if there were any. Clock frozen. */
bool engines_run(struct hart *h);

#endif
