/* The token: selects the hart that may run. At sync points, guest code runs only in the hart with
 * the smallest key (clock, then index). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_SCHEDULE_TOKEN_H
#define VCLOCK_SCHEDULE_TOKEN_H

#include "clock.h"

/* The order of the run: a hash over every sync point, and an optional trace. */

/* False with a sentence on stderr if the trace file cannot be created. */
bool vc_order_start(void);
void vc_order_trace(const struct vc_hart *h, enum vc_kind kind);

/* FNV-1a over (clock, hart, kind). Not inside a freeze: the number of polls of the host depends on
 * the host. For the same reason a switch is a change of hart in this order, not a hand-over of the
 * token: a frozen hart takes and releases the token at each poll. */
static inline void vc_order_record(struct vc_hart *h, enum vc_kind kind)
{
	if (h->frozen || vc.ended)
		return;
	vc.order_hash = (vc.order_hash ^ vc_key(h)) * 0x100000001b3ull;
	vc.order_hash = (vc.order_hash ^ kind) * 0x100000001b3ull;
	vc.orders++;
	if (vc.last != (int)h->index) {
		vc.switches[kind] += vc.last >= 0;
		vc.last = (int)h->index;
	}
	if (__builtin_expect(vc.options.trace != NULL, 0))
		vc_order_trace(h, kind);
}

/* Hooks of the token. opened: every hart is there, the run begins; ended: the run is over, the
 * measurement is final. Both with vc.lock held. */
struct vc_token_hooks {
	void (*opened)(void), (*ended)(void);
};
/* Before any hart runs. */
void vc_token_start(const struct vc_token_hooks *hooks);

/* First instruction of a hart: blocks until every hart has arrived. */
void vc_gate(struct vc_hart *h);
/* Slow path of vc_order. */
void vc_order_wait(struct vc_hart *h, enum vc_kind kind);
/* Blocks until vc_unpark or the deadline (cycles, VC_NEVER: none); the clock is then the later of
 * both. The caller holds the token (else it returns at once). */
void vc_park(struct vc_hart *h, uint64_t deadline, enum vc_kind kind);
/* Blocks until the key is the smallest and h->ready(h) returns true; on false, parks until a
 * reservation breaks or until h->deadline. Equivalent to a sync point, ready() and vc_park, but a
 * poll that finds nothing costs no switch. */
void vc_look(struct vc_hart *h, enum vc_kind kind);
/* The holder makes a parked hart ready at time `cycles`; no effect on other states. */
void vc_unpark(struct vc_hart *holder, struct vc_hart *h, uint64_t cycles);
/* True if no hart runs or is ready: some wait for each other, others are halted by WFI. */
bool vc_all_sleep(void);
/* End the run as `end`, with a dump under the title. */
void vc_give_up(const char *end, const char *title);
/* The same for harts that can never run again. */
void vc_deadlock(void);
/* Release every blocked hart at once, unordered. */
void vc_rescue(void);

/* QEMU reports idle and resumed vCPUs; called with QEMU's big lock held, never block. */
void vc_hart_idle(struct vc_hart *h);
void vc_hart_resume(struct vc_hart *h);
/* End the measured run; the calling holder continues without order, the others stay blocked until
 * QEMU stops. */
void vc_end_run(struct vc_hart *h, const char *end);
/* End the run with an exit code of QEMU; the caller holds vc.lock. */
void vc_abort_locked(const char *end, int exit_code);

static inline bool vc_holds(const struct vc_hart *h) { return h->state == VC_RUN; }

/* Returns once the hart has the smallest key (or if order is suspended: vc_holds may then be
 * false). */
static inline void vc_come_first(struct vc_hart *h, enum vc_kind kind)
{
	if (__builtin_expect(!vc_holds(h) || vc_key(h) >= atomic_load_explicit(&h->limit, memory_order_relaxed), 0))
		vc_order_wait(h, kind);
}

/* Sync point. */
static inline void vc_order(struct vc_hart *h, enum vc_kind kind)
{
	vc_come_first(h, kind);
	if (__builtin_expect(vc_holds(h), 1))
		vc_order_record(h, kind);
}

#endif
