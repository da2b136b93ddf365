/* Threads as event loops: an event is a link inside a preallocated object, so a mailbox can never be full and never
 * allocates.
 *
 * A *hart* owns one mailbox and one timer heap. A *thread* is a named handler context placed on a hart; several threads
 * may share a hart, each event runs to completion. Back-pressure lives in the pools the objects come from, never in the
 * mailbox. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_EVENT_H
#define LT_EVENT_H

#include "lt/arch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lt_event;
typedef void lt_event_fn(struct lt_event *ev);

struct lt_event {
	struct lt_event *next; /* owned by the mailbox while posted */
	lt_event_fn *run;
};

struct lt_thread {
	const char *name;
	unsigned hart;
};

/* Hand ev over to `to`'s hart: run(ev) is called there exactly once, after everything posted before by the same hart.
 * Any hart may call. One compare-and-swap on the target's mailbox; a plain list operation if the target is on this
 * hart. ev must not be posted again before run(ev) has begun. Everything written before is visible to run. */
void lt_post(const struct lt_thread *to, struct lt_event *ev, lt_event_fn *run);

struct lt_timer;
typedef void lt_timer_fn(struct lt_timer *timer);
struct lt_timer {
	uint64_t deadline_ns;
	uint32_t slot;  /* 1-based place in the heap; 0 = not armed. Zeroed memory is an unarmed timer */
	uint32_t order; /* of arming, among equal deadlines */
	lt_timer_fn *run;
};
/* Call run on this hart at deadline_ns or as soon after as the hart is free; equal deadlines fire in arming order. Re-arming moves it.
 * O(log n). Only its hart may cancel it. The heap's capacity is fixed at lt_harts_init; more fail the run. Disarmed when run begins, so
 * run may arm it again; it then fires in a later turn, even if already due. */
void lt_timer_arm(struct lt_timer *timer, uint64_t deadline_ns, lt_timer_fn *run);
void lt_timer_cancel(struct lt_timer *timer); /* no effect if not armed */

#ifdef __cplusplus
}
#endif
#endif
