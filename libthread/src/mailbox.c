/* Posting events and running them: a multi-producer list per hart, taken whole by its owner and turned round into FIFO
 * order. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "mailbox.h"

static void post_local(struct hart *h, struct lt_event *ev)
{
	ev->next = NULL;
	if (h->local_head)
		h->local_tail->next = ev;
	else
		h->local_head = ev;
	h->local_tail = ev;
}

/* The guess "empty" is mostly right and saves the load before the compare-and-swap. Only the event that ends emptiness kicks: the owner
 * empties the mailbox before its last look and sleep. */
static void post_remote(struct hart *h, struct lt_event *ev)
{
	uint64_t guess, seen = 0;

	do {
		guess = seen;
		ev->next = (struct lt_event *)(uintptr_t)guess;
		seen = lt_cas_seen(&h->mailbox, guess, (uintptr_t)ev);
	} while (seen != guess);
	if (seen == 0)
		lt_kick(h->id);
}

void lt_post(const struct lt_thread *to, struct lt_event *ev, lt_event_fn *run)
{
	struct hart *h = lt_hart_of(to->hart);

	ev->run = run;
	if (to->hart == lt_hart_id())
		post_local(h, ev);
	else
		post_remote(h, ev);
}

/* Newest first becomes oldest first. */
struct lt_event *lt_mail_in_order(struct lt_event *list)
{
	struct lt_event *out = NULL;

	while (list) {
		struct lt_event *next = list->next;

		list->next = out;
		out = list;
		list = next;
	}
	return out;
}

void lt_mail_take(struct hart *h)
{
	h->unlooked = 0;
	if (!h->taken && lt_load(&h->mailbox) != 0)
		h->taken = (struct lt_event *)(uintptr_t)lt_swap(&h->mailbox, 0);
}
