/* The programs of bench rtl: one scene of block.h, on the RTL and under the virtual clock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenes.h"

void program_main(uint64_t hart);
void program_trapped(uint64_t cause, uint64_t pc);

void tell(uint64_t value)
{
	if (BLOCK->results < MOST_RESULTS)
		BLOCK->result[BLOCK->results++] = value;
}

static _Noreturn void fail(uint64_t a, uint64_t b)
{
	tell(a);
	tell(b);
	machine_end(BLOCK, 1);
}

void lt_fail(const char *text) { fail((uintptr_t)text, 0); }
void program_trapped(uint64_t cause, uint64_t pc) { fail(cause, pc); }

#include "begin.h"

static void play(unsigned hart, unsigned harts)
{
	switch ((enum scene)BLOCK->scene) {
	case SCENE_CORE: scene_core(); break;
	case SCENE_ACCESS: scene_access(hart); break;
	case SCENE_STREAM: scene_stream(hart, harts); break;
	case SCENE_HANDOVER: scene_handover(hart, harts); break;
	case SCENE_FANOUT: scene_fanout(hart, harts); break;
	case SCENE_WALK: scene_walk(); break;
	case SCENE_CROWD: scene_crowd(hart, harts); break;
	case SCENE_QUEUE: scene_queue(hart, harts); break;
	case SCENE_LOCK: scene_lock(hart, harts); break;
	}
}

void program_main(uint64_t hart)
{
	unsigned harts = (unsigned)BLOCK->harts;

	machine_begin();
	if (hart >= harts)
		machine_rest();
	play((unsigned)hart, harts);
	machine_end(BLOCK, 0);
}
