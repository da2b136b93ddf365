/* Inside libthread only: one hart's mailbox, timers and hook. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_HART_STATE_H
#define LT_HART_STATE_H

#include "lt/engine.h"
#include "lt/hart.h"
#include "timer_heap.h"

struct hart {
	/* Written by any hart: newest event first. */
	LT_OWN_LINE lt_word mailbox;
	LT_OWN_LINE lt_word reset_posted; /* 1 while reset_event is on its way */

	/* Everything below belongs to the hart itself. */
	LT_OWN_LINE struct lt_event *local_head; /* posted by this hart to itself, oldest first */
	struct lt_event *local_tail;
	struct lt_event *taken; /* out of the mailbox, newest first */
	struct timer_heap timers;
	struct lt_engine *engines;
	struct hz_hart_times *times; /* of its account */
	uint64_t idle_from_ns;       /* while it waits */
	lt_hook_fn *hook;
	void *hook_ctx;
	unsigned id;
	uint8_t unlooked; /* turns since the last look into the mailbox */
	bool stopping;
	bool stepped; /* by the host's runner: a wait returns at once */
	struct lt_event stop_event, reset_event;
};

extern struct hart *lt_all_harts; /* by number; lt_harts_init */

static inline struct hart *lt_hart_of(unsigned hart) { return &lt_all_harts[hart]; }
/* The calling hart's. */
static inline struct hart *lt_hart_self(void) { return lt_hart_of(lt_hart_id()); }

#endif
