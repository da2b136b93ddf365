/* Engines of a hart: a list, since there are as many as TSU threads on it, mostly one. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"

void lt_engine_add(unsigned hart, struct lt_engine *engine)
{
	struct hart *h = lt_hart_of(hart);

	engine->next = h->engines;
	h->engines = engine;
}

HZ_FROZEN bool engines_run(struct hart *h)
{
	uint64_t now_ns = clock_frozen_ns();
	bool ran = false;

	for (struct lt_engine *engine = h->engines; engine; engine = engine->next)
		if (engine->due_ns <= now_ns) {
			engine->run(engine, now_ns);
			ran = true;
		}
	return ran;
}
