/* A hart's clock: cycles from retired instructions and charges; its conversion to device nanoseconds; freezing;
 * jitter. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_SCHEDULE_CLOCK_H
#define VCLOCK_SCHEDULE_CLOCK_H

#include "base/state.h"

static inline uint64_t vc_clock(const struct vc_hart *h)
{
	return h->frozen ? h->base : h->base + (*h->retired - h->mark) * vc.options.cost.insn + h->retired[1];
}

static inline uint64_t vc_key(const struct vc_hart *h) { return vc_clock(h) << VC_HART_BITS | h->index; }

/* Add the modelled cost of an instruction; nothing inside a freeze. */
static inline void vc_charge(struct vc_hart *h, uint64_t cycles)
{
	if (h->frozen)
		return;
	h->base += cycles;
	h->stalled += cycles;
}

/* Advance the clock to `cycles`, frozen or not; never backward. */
static inline void vc_clock_raise(struct vc_hart *h, uint64_t cycles)
{
	uint64_t now = vc_clock(h);

	if (cycles <= now)
		return;
	h->base += cycles - now;
	h->waited += cycles - now;
}

/* Device time shown to firmware: rounded down. */
uint64_t vc_cycles_to_ns(uint64_t cycles);
/* Write the hart's device time into its slot: HZ_VC_NOW. */
void vc_show_now(struct vc_hart *h);
/* The same where its clock is frozen: the slot then always has the time, so that the firmware need not ask. */
static inline void vc_show_frozen(struct vc_hart *h)
{
	if (h->frozen)
		vc_show_now(h);
}
/* First cycle at which the device time is at least ns; VC_NEVER if beyond the range of keys. */
uint64_t vc_deadline_cycles(uint64_t ns);
/* A duration, to the nearest cycle. */
uint64_t vc_duration_cycles(uint64_t ns);
/* Instructions that the clock counted: outside freezes. */
uint64_t vc_counted(const struct vc_hart *h);

/* Jitter: perturbed schedules (option jitter=SEED[:PERMILLE]). Each hart's clock jumps ahead at random, so
 * that the harts meet in a different order for every seed, and in the same order for the same seed.
 *
 * Before each sync point outside freezes (except WRS) a hart's clock is charged in proportion to
 * the instructions counted since the last one: PERMILLE thousandths on average, mostly much less,
 * and with falling probability up to thousands of times as much, as if another task had used the
 * core. The draws depend on the seed and the hart only, and freezes draw nothing, so the run is as
 * repeatable as without jitter. */

/* Before any hart runs. */
void vc_jitter_start(void);
/* Before an instruction, by the hart's own thread; no effect unless it is a sync point. */
void vc_jitter(struct vc_hart *h, enum vc_kind kind);

#endif
