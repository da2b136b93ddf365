/* Harts: start, main loop, idle, stop, and the account of each hart's time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_HART_H
#define LT_HART_H

#include "lt/arena.h"
#include "lt/event.h"
#include "thread_logs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called once per turn of the hart's loop, after due timers and one mailbox batch, until the loop stops. idle = nothing was done in this
 * turn. When idle the hook waits itself, with lt_hart_wait, until deadline_ns or mail; returns true if it did some work. HIL uses it. */
typedef bool lt_hook_fn(void *ctx, bool idle, uint64_t deadline_ns);

/* Before any hart runs, on one hart; all memory comes from the arena. timers = capacity of each hart's timer heap. */
void lt_harts_init(struct arena *arena, unsigned harts, unsigned timers);
void lt_hart_set_hook(unsigned hart, lt_hook_fn *hook, void *ctx);
void lt_hart_set_roles(unsigned hart, uint32_t roles); /* enum hz_role bits, echoed in the account */
/* The calling hart's loop; returns after lt_harts_stop and once its mailbox is empty. */
void lt_hart_run(void);
/* Any hart: all loops end. */
void lt_harts_stop(void);
/* Park the calling hart until mail, the deadline or its own next timer; counted as idle. For hooks only. True if mail has
 * come, as lt_hart_knows_mail says. */
bool lt_hart_wait(uint64_t deadline_ns);
/* True if mail has come for the calling hart: one shared load. */
bool lt_hart_has_mail(void);
/* The same from the hart's own state: no shared load. Enough before lt_hart_wait, since that looks itself. */
bool lt_hart_knows_mail(void);
/* True if ev is all the mail known to the calling hart: it is then taken back and will not run. For a hook that only wanted to be woken. */
bool lt_hart_forget_mail(struct lt_event *ev);
unsigned lt_harts(void);
/* Copy a hart's account; always work + spin + idle = elapsed. Exact for the caller itself; for another hart as it last
 * published it, or ended its loop, and since then taken to be idle. */
void lt_hart_times(unsigned hart, struct hz_hart_times *out);
/* Publish the calling hart's account. A reader of all accounts sends each hart an event that calls this; publishing at every idle wait
 * would cost two atomic operations each time. */
void lt_hart_times_publish(void);
void lt_hart_times_reset(void); /* starts a new account on every hart at its next turn */

#ifdef __cplusplus
}
#endif
#endif
