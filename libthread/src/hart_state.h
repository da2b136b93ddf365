/* Inside libthread only: one hart's mailbox, timers and hook. */
#ifndef LT_HART_STATE_H
#define LT_HART_STATE_H

#include "lt/hart.h"
#include "timer_heap.h"

enum { TURNS_PER_LOOK = 4 }; /* of a hart that does not come to wait: a wait looks itself */

struct hart {
	/* Written by any hart: newest event first. */
	LT_OWN_LINE lt_word mailbox;
	LT_OWN_LINE lt_word reset_posted; /* 1 while reset_event is on its way */

	/* Everything below belongs to the hart itself. */
	LT_OWN_LINE struct lt_event *local_head; /* posted by this hart to itself, oldest first */
	struct lt_event *local_tail;
	struct lt_event *taken;  /* out of the mailbox, newest first */
	struct timer_heap timers;
	lt_hook_fn *hook;
	void *hook_ctx;
	unsigned id;
	uint8_t unlooked; /* turns since the last look into the mailbox */
	bool stopping;
	struct lt_event stop_event, reset_event;
};

/* The calling hart's. */
struct hart *lt_hart_self(void);
struct hart *lt_hart_of(unsigned hart);
/* One turn of the calling hart's loop: true if it did something. */
bool lt_hart_turn(struct hart *h);
/* Nothing more will come to this hart before it stops. */
bool lt_hart_done(struct hart *h);
/* Run what is on the local list, what was taken, and now and then what is in the mailbox; returns the number of events. */
unsigned lt_mail_run(struct hart *h);
/* Empty the mailbox if it has something: one shared load. */
void lt_mail_take(struct hart *h);
/* Events are waiting on the local list or are taken. */
static inline bool lt_mail_known(const struct hart *h) { return h->local_head || h->taken; }

#endif
