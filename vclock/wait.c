/* Waiting instructions: a waiting hart is parked and costs no host time; its clock jumps to its
 * release time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cost/line.h"
#include "guest/memory.h"
#include "guest/symbol.h"
#include "profile/account.h"
#include "race/race.h"
#include "schedule/token.h"
#include "shm.h"

/* HZ_VC_WAKE and HZ_VC_WAIT synchronise like a release and an acquire of a word of their own. */
static uint64_t wake_word(uint64_t hart) { return hart * 8; }

/* A waiter that retries (test-and-set) never parks, so a lock that is never released shows as an
 * endless wait. */
static bool spins_for_ever(const struct vc_hart *h)
{
	return h->slot->waiting_for && vc.options.spin_limit &&
	       vc_cycles_to_ns(vc_clock(h)) - h->slot->waiting_since_ns > vc.options.spin_limit;
}

/* Charge a `pause`, then round up to pause_multiple. */
static void pay_pause(struct vc_hart *h)
{
	uint64_t multiple = vc.options.cost.pause_multiple, beyond;

	vc_charge(h, vc.options.cost.pause);
	beyond = multiple ? vc_clock(h) % multiple : 0;
	if (beyond)
		vc_charge(h, multiple - beyond);
}

void vc_pause(struct vc_hart *h)
{
	if (vc_frozen_wait(h, VC_PAUSE))
		return;
	pay_pause(h);
	vc_order(h, VC_PAUSE);
	if (__builtin_expect(spins_for_ever(h), 0) && vc_holds(h))
		vc_give_up("deadlock", "DEADLOCK: a hart spins for a lock that nobody releases");
}

/* No sync point before it parks: the LR was one, and the hart has held the token since. */
void vc_wait_reservation(struct vc_hart *h, enum vc_kind kind)
{
	uint64_t deadline = kind == VC_WRS_STO ? vc_deadline_cycles(h->slot->arg0) : VC_NEVER;

	if (!h->reserved) {
		vc_pair_drop(h);
		pay_pause(h);
		vc_order(h, kind);
		return;
	}
	if (deadline > vc_clock(h) && !vc_frozen_wait(h, kind)) {
		vc_line_count_park(h);
		vc_park(h, deadline, kind);
	}
	vc_pair_drop(h);
}

/* A remembered wake acts like a deadline at wake_at. */
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
	if (deadline > vc_clock(h) && !vc_frozen_wait(h, VC_WAIT))
		vc_park(h, deadline, VC_WAIT);
}

void vc_wait_for_wake(struct vc_hart *h)
{
	wait_for_wake(h);
	vc_show_frozen(h);
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
	vc.wakes += !h->frozen;
	if (vc.options.race_check)
		vc_race_write_to(h, wake_word(target), true);
	if (other->state == VC_PARKED && other->wait_kind == VC_WAIT && at <= other->deadline) {
		vc_unpark(h, other, at);
	} else if (!other->wake_pending) {
		other->wake_pending = true;
		other->wake_at = at;
	}
}

/* The poll of HZ_VC_TAKE, when the hart's key is the smallest; often called in another hart's
 * thread. */
static bool something_there(struct vc_hart *h)
{
	vc_order_record(h, VC_TAKE);
	vc_line_load_reserved(h, h->slot->arg1);
	if (!__atomic_load_n(h->word, __ATOMIC_ACQUIRE) && h->deadline > vc_clock(h)) {
		vc_line_count_park(h);
		return false;
	}
	return true;
}

static void take(struct vc_hart *h, uint64_t address)
{
	vc_show_frozen(h);
	h->reserved = false; /* the SC of an earlier LR fails */
	h->slot->arg1 = __atomic_load_n(h->word, __ATOMIC_ACQUIRE);
	if (!h->slot->arg1)
		return;
	h->slot->arg1 = __atomic_exchange_n(h->word, 0, __ATOMIC_ACQ_REL);
	if (!vc_holds(h) || vc.ended)
		return;
	if (vc.options.race_check) {
		vc_race_access(h, h->wait_pc, address, 8, VC_RACE_ATOMIC | VC_RACE_STORE);
		vc_race_read_from(h, address, true);
		vc_race_write_to(h, address, true);
	}
	vc_line_write(h, address, false);
}

void vc_take(struct vc_hart *h)
{
	uint64_t address = h->slot->arg1;

	h->word = address % 8 ? NULL : vc_guest(address, 8);
	if (!h->word) {
		vc_give_up("deadlock", "HZ_VC_TAKE of a word that is not in RAM");
		return;
	}
	vc_frozen_progress(h);
	h->deadline = vc_deadline_cycles(h->slot->arg0);
	h->ready = something_there;
	if (!vc_holds(h) || vc_key(h) >= atomic_load_explicit(&h->limit, memory_order_relaxed))
		vc_look(h, VC_TAKE);
	else if (!something_there(h))
		vc_park(h, h->deadline, VC_TAKE);
	take(h, address);
}

/* Waiting for the host and waking it. */

void vc_host_wait(struct vc_hart *h)
{
	static const struct timespec at_most = { 0, 1000000 };
	struct hz_shm_header *header = vc.shm;

	vc.host_waits++;
	vc_frozen_progress(h);
	if (!h->frozen)
		vc_flag_run(VC_FLAG_UNFROZEN_HOST_WAIT);
	if (header)
		syscall(SYS_futex, &header->host_bell, FUTEX_WAIT, (uint32_t)h->slot->arg0, &at_most, NULL, 0);
	else
		nanosleep(&at_most, NULL);
}

void vc_host_wake(struct vc_hart *h)
{
	uint64_t queue = h->slot->arg0;
	struct hz_queue_clock *clocks;

	if (!vc.shm || queue > HZ_MAX_IO_QUEUES)
		return;
	vc.host_wakes++;
	clocks = (void *)((char *)vc.shm + HZ_SHM_QUEUES_OFFSET);
	syscall(SYS_futex, &clocks[queue].completed, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* A wait for another hart with a frozen clock: detected and reported; ends the run. */

enum { MOST_LOOKS = 1 << 20 }; /* accesses to one word in one freeze */

static void end_run(const struct vc_hart *h, enum vc_kind kind)
{
	char title[480], pc[160], since[160];

	snprintf(title, sizeof(title),
		 "FROZEN WAIT: hart %u would have to wait for another hart at %s (%s), but its clock is frozen since %s", h->index,
		 vc_symbol(h->wait_pc, pc, sizeof(pc)), vc_kind_name(kind), vc_symbol(h->freeze_pc, since, sizeof(since)));
	vc_give_up("frozen-wait", title);
}

bool vc_frozen_wait(struct vc_hart *h, enum vc_kind kind)
{
	if (!h->frozen)
		return false;
	if (vc_holds(h) && vc.phase == VC_RUNNING && !vc.ended)
		end_run(h, kind);
	return true;
}

void vc_frozen_access(struct vc_hart *h, enum vc_kind kind, uint64_t address)
{
	if (h->looked_at != address)
		h->looks = 0;
	h->looked_at = address;
	if (++h->looks == MOST_LOOKS)
		vc_frozen_wait(h, kind);
}

void vc_freeze(struct vc_hart *h)
{
	if (h->frozen++)
		return;
	h->stays = false;
	h->base += (*h->retired - h->mark) * vc.options.cost.insn + h->retired[1];
	h->mark = *h->retired;
	h->freeze_pc = h->wait_pc;
	vc_account_freeze(h);
	h->looks = 0;
	vc_show_now(h);
}

void vc_thaw(struct vc_hart *h)
{
	if (!h->frozen || --h->frozen)
		return;
	h->skipped += *h->retired - h->mark;
	h->mark = *h->retired;
	h->retired[1] = 0;
	vc_account_thaw(h);
}
