/* Waiting instructions: a hart that waits is parked, costs no host time, and its clock jumps to the time it is
 * released at. */
#include "wait.h"

#include "line.h"
#include "race.h"

/* HZ_VC_WAKE and HZ_VC_WAIT synchronise like a release and an acquire of a word nobody else has. */
static uint64_t wake_word(uint64_t hart)
{
	return hart * 8;
}

/* A waiter that retries (test-and-set) never parks, so that a lock nobody will release shows as a wait without end. */
static bool spins_for_ever(const struct vc_hart *h)
{
	return h->slot->waiting_for && vc.options.spin_limit &&
	       vc_cycles_to_ns(vc_clock(h)) - h->slot->waiting_since_ns > vc.options.spin_limit;
}

void vc_pause(struct vc_hart *h)
{
	vc_charge(h, vc.options.cost.pause);
	vc_order(h, VC_PAUSE);
	if (__builtin_expect(spins_for_ever(h), 0) && vc_holds(h))
		vc_deadlock("DEADLOCK: a hart spins for a lock that nobody releases");
}

/* No order point when it parks: the LR was one, and the token is held since. */
void vc_wait_reservation(struct vc_hart *h, enum vc_kind kind)
{
	uint64_t deadline = kind == VC_WRS_STO ? vc_deadline_cycles(h->slot->arg0) : VC_NEVER;

	if (!h->reserved) {
		vc_charge(h, vc.options.cost.pause);
		vc_order(h, kind);
		return;
	}
	if (deadline > vc_clock(h)) {
		vc_line_count_park(h);
		vc_park(h, deadline, kind);
	}
	h->reserved = false;
}

/* A remembered wake is like a deadline at the time it takes effect. */
static void wait_for_wake(struct vc_hart *h)
{
	uint64_t deadline;

	vc_order(h, VC_WAIT);
	deadline = vc_deadline_cycles(h->slot->arg0);
	if (h->wake_pending && h->wake_at <= deadline) {
		h->wake_pending = false;
		vc_clock_raise(h, h->wake_at);
		return;
	}
	if (deadline > vc_clock(h))
		vc_park(h, deadline, VC_WAIT);
}

void vc_wait_for_wake(struct vc_hart *h)
{
	wait_for_wake(h);
	if (vc.options.race_check && vc_holds(h))
		vc_race_read_from(h, wake_word(h->index), true);
}

void vc_wake(struct vc_hart *h)
{
	uint64_t target = h->slot->arg0, at;
	struct vc_hart *other;

	vc_order(h, VC_WAKE);
	if (target >= vc.harts || !vc_holds(h))
		return;
	other = &vc.hart[target];
	at = vc_clock(h) + vc.options.cost.ipi;
	vc.wakes++;
	if (vc.options.race_check)
		vc_race_write_to(h, wake_word(target), true);
	if (other->state == VC_PARKED && other->wait_kind == VC_WAIT && at << VC_HART_BITS < vc.key[target]) {
		vc_unpark(h, other, at);
	} else if (!other->wake_pending) {
		other->wake_pending = true;
		other->wake_at = at;
	}
}
