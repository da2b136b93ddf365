/* Host bodies of the architecture header: clock, waiting, waking, failing. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "interleave.h"
#include "lt/arch.h"
#include "runner.h"

__thread unsigned lt_host_hart;
__thread unsigned lt_host_frozen;

/* One futex word per hart: a kick changes it. */
static struct {
	LT_OWN_LINE uint32_t kicks;
} doorbell[HZ_MAX_HARTS];

enum {
	SLEEP_LIMIT_NS = 10000000, /* a word changed without a kick is noticed at the latest after this */
	SPINS_BEFORE_YIELD = 32,
	YIELDS_BEFORE_NAP = 16,
	NAP_NS = 50000,
};

void lt_fail(const char *text)
{
	fprintf(stderr, "hart %u: %s\n", lt_host_hart, text);
	abort();
}

void lt_may_wait(const char *what)
{
	char text[128];

	if (!lt_host_frozen)
		return;
	snprintf(text, sizeof(text), "%s with the clock frozen: it may have to wait for another hart", what);
	lt_fail(text);
}

static uint64_t steady_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_now_ns(void) { return lt_runner_active() ? lt_runner_now_ns() : steady_ns(); }

void clock_charge_ns(uint64_t ns)
{
	if (lt_runner_active())
		lt_runner_charge_ns(ns);
}

static void sleep_on(uint32_t *kicks, uint32_t seen, uint64_t ns)
{
	struct timespec limit = { .tv_nsec = (long)(ns < SLEEP_LIMIT_NS ? ns : SLEEP_LIMIT_NS) };

	syscall(SYS_futex, kicks, FUTEX_WAIT_PRIVATE, seen, &limit, NULL, 0);
}

/* The kick counter is read before the word: a kick after a change not seen here ends the futex wait. */
static bool wait_while(const lt_word *w, uint64_t value, uint64_t deadline_ns)
{
	uint32_t *kicks = &doorbell[lt_host_hart].kicks;
	uint32_t seen = __atomic_load_n(kicks, __ATOMIC_ACQUIRE);
	uint64_t now_ns;

	if (lt_load(w) != value)
		return true;
	if (lt_runner_active()) {
		lt_runner_note_wait(deadline_ns);
		return false;
	}
	now_ns = steady_ns();
	if (now_ns < deadline_ns)
		sleep_on(kicks, seen, deadline_ns - now_ns);
	return lt_load(w) != value;
}

bool lt_wait_while(const lt_word *w, uint64_t value, uint64_t deadline_ns)
{
	lt_may_wait("lt_wait_while");
	return wait_while(w, value, deadline_ns);
}

uint64_t lt_wait_take(lt_word *w, uint64_t deadline_ns) { return wait_while(w, 0, deadline_ns) ? lt_swap(w, 0) : 0; }

void lt_kick(unsigned hart)
{
	if (lt_runner_active())
		return;
	__atomic_fetch_add(&doorbell[hart].kicks, 1, __ATOMIC_ACQ_REL);
	syscall(SYS_futex, &doorbell[hart].kicks, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* A thread that yields stays runnable, and on a busy machine it may get turn after turn while the thread it waits for gets none: with a
 * fair lock and more threads than cores each hand-over would cost a round of them all. So it sleeps now and then. */
static void give_way(void)
{
	static __thread unsigned yields;

	if (++yields % YIELDS_BEFORE_NAP)
		sched_yield();
	else
		nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
}

void lt_relax(void)
{
	lt_may_wait("lt_relax");
	if (lt_host_interleaves)
		lt_interleave_relax();
	else
		give_way();
}

uint64_t lt_spin_while(const lt_word *w, uint64_t value)
{
	uint64_t seen = lt_load(w);

	lt_may_wait("lt_spin_while");
	if (seen != value)
		return seen;
	if (lt_host_interleaves) {
		lt_interleave_spin(w, value);
		return value;
	}
	if (lt_runner_active())
		lt_fail("a lock is waited for in the single-threaded runner: its holder returned without releasing it");
	for (unsigned i = 0; i < SPINS_BEFORE_YIELD; i++)
		if (lt_load(w) != value)
			return value;
	give_way();
	return value;
}
