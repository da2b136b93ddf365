/* Inside libthread only: one hart's mailbox, timers and hook. */
#ifndef LT_HART_STATE_H
#define LT_HART_STATE_H

#include "lt/hart.h"
#include "timer_heap.h"

struct hart {
	/* Written by any hart: newest event first. */
	LT_OWN_LINE lt_word mailbox;
	LT_OWN_LINE lt_word reset_posted; /* 1 while reset_event is on its way */

	/* Everything below belongs to the hart itself. */
	LT_OWN_LINE struct lt_event *local_head; /* posted by this hart to itself, oldest first */
	struct lt_event *local_tail;
	struct timer_heap timers;
	lt_hook_fn *hook;
	void *hook_ctx;
	unsigned id;
	unsigned busy_turns; /* since the last idle wait */
	bool mail;      /* the mailbox is known to be filled */
	bool looked;    /* into the mailbox, in the last turn */
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
/* Run what is on the local list and in the mailbox; returns the number of events. The mailbox is left alone if the last turn
 * looked and found nothing. */
unsigned lt_mail_run(struct hart *h);
/* Events are waiting on the local list. */
static inline bool lt_mail_local(const struct hart *h) { return h->local_head != NULL; }

#endif
