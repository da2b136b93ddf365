/* The token: which hart may run. Guest code runs only in the hart whose key (clock, then index) is smallest at
 * order points. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_SCHEDULE_TOKEN_H
#define VCLOCK_SCHEDULE_TOKEN_H

#include "clock.h"

/* The order of the run: a hash over every order point, and its trace on request. */

/* False with a sentence on stderr if the trace file cannot be made. */
bool vc_order_start(void);
void vc_order_trace(const struct vc_hart *h, enum vc_kind kind);

/* FNV-1a over (clock, hart, kind). Not inside a freeze: how often a hart looks at the host is the host's affair. For the same reason
 * a switch is a change of hart in this order, and no hand-over of the token: a frozen hart takes and gives it as often as it looks. */
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

/* What the token starts and ends. opened: every hart is there, the run begins; ended: it is over, what is measured stands. Both with
 * vc.lock held. */
struct vc_token_hooks {
	void (*opened)(void), (*ended)(void);
};
/* Before any hart runs. */
void vc_token_start(const struct vc_token_hooks *hooks);

/* First instruction of a hart: blocks until every hart is there. */
void vc_gate(struct vc_hart *h);
/* Slow path of vc_order. */
void vc_order_wait(struct vc_hart *h, enum vc_kind kind);
/* Blocks until woken by vc_unpark or until the deadline (cycles, VC_NEVER: none); the clock then stands at the
 * later of both. The caller holds the token (else it returns at once). */
void vc_park(struct vc_hart *h, uint64_t deadline, enum vc_kind kind);
/* Blocks until the key is the smallest and h->ready(h) says yes; if it says no, parks until a reservation breaks or until
 * h->deadline. A look that finds nothing thus costs no switch. The same as an order point, ready() and vc_park. */
void vc_look(struct vc_hart *h, enum vc_kind kind);
/* The holder makes a parked hart ready at time `cycles`; no effect unless it is parked. */
void vc_unpark(struct vc_hart *holder, struct vc_hart *h, uint64_t cycles);
/* No hart runs or is ready; some wait for each other, others are halted by WFI. */
bool vc_all_sleep(void);
/* Ends the run as `end`, with a dump under the title. */
void vc_give_up(const char *end, const char *title);
/* The same for harts of which none can ever run again. */
void vc_deadlock(void);
/* Lets every blocked hart go at once, unordered. */
void vc_rescue(void);

/* QEMU's view of vCPUs; called with QEMU's big lock held, never block. */
void vc_hart_idle(struct vc_hart *h);
void vc_hart_resume(struct vc_hart *h);
/* Ends the measured run; the calling holder goes on without order, the others stay blocked until QEMU stops. */
void vc_end_run(struct vc_hart *h, const char *end);
/* Ends the run with an exit code of QEMU; vc.lock is held by the caller. */
void vc_abort_locked(const char *end, int exit_code);

static inline bool vc_holds(const struct vc_hart *h) { return h->state == VC_RUN; }

/* Returns once the hart has the smallest key (or order is suspended: then vc_holds may be false). */
static inline void vc_come_first(struct vc_hart *h, enum vc_kind kind)
{
	if (__builtin_expect(!vc_holds(h) || vc_key(h) >= atomic_load_explicit(&h->limit, memory_order_relaxed), 0))
		vc_order_wait(h, kind);
}

/* Order point. */
static inline void vc_order(struct vc_hart *h, enum vc_kind kind)
{
	vc_come_first(h, kind);
	if (__builtin_expect(vc_holds(h), 1))
		vc_order_record(h, kind);
}

#endif
