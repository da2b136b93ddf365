/* Granting the token: the gate at the start, sync points, parking, and letting harts go when QEMU stops. */
/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "token.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "carrier.h"
#include "watchdog.h"

static const char no_more[] = "DEADLOCK: no hart can ever run again";
static struct vc_token_hooks token_hooks;

void vc_token_start(const struct vc_token_hooks *hooks) { token_hooks = *hooks; }

static bool is_blocked(const struct vc_hart *h) { return h->state == VC_READY || h->state == VC_LOOKING || h->state == VC_PARKED; }

/* Smallest key of all harts, and the one after it. */
static int pick(uint64_t *second)
{
	uint64_t best = VC_NEVER, next = VC_NEVER;

	for (unsigned i = 0; i < vc.harts; i++) {
		uint64_t key = vc.key[i];

		if (key < best) {
			next = best;
			best = key;
		} else if (key < next) {
			next = key;
		}
	}
	*second = next;
	return best == VC_NEVER ? -1 : (int)(best & (VC_MAX_HARTS - 1));
}

/* True if no hart can run and at least one waits for another. An interrupt could still wake harts
 * in WFI: with_halted counts them as stuck. */
static bool all_are_stuck(bool with_halted)
{
	unsigned parked = 0;

	for (unsigned i = 0; i < vc.harts; i++) {
		if (vc.hart[i].state == VC_PARKED && vc.key[i] == VC_NEVER)
			parked++;
		else if (vc.hart[i].state != VC_WFI || !with_halted)
			return false;
	}
	return parked > 0;
}

static struct vc_hart *give(struct vc_hart *h, uint64_t limit)
{
	if (h->state == VC_PARKED && vc.phase == VC_RUNNING)
		vc_clock_raise(h, vc.key[h->index] >> VC_HART_BITS);
	h->drained = vc.phase == VC_DRAINING;
	h->state = VC_RUN;
	vc.key[h->index] = VC_NEVER;
	vc.holder = (int)h->index;
	atomic_store_explicit(&h->limit, limit, memory_order_relaxed);
	return h;
}

/* While draining, any blocked hart will do; limit 0 sends the holder through vc_order_wait at its
 * next sync point. */
static struct vc_hart *grant_draining(void)
{
	for (unsigned i = 0; i < vc.harts; i++)
		if (is_blocked(&vc.hart[i]))
			return give(&vc.hart[i], 0);
	return NULL;
}

static struct vc_hart *end_stuck(const char *end, const char *title)
{
	vc_dump_harts(title);
	vc_abort_locked(end, 3);
	return vc.holder < 0 ? grant_draining() : NULL;
}

static void enter_parked(struct vc_hart *h, uint64_t deadline)
{
	vc.parks += !h->frozen;
	h->state = VC_PARKED;
	h->deadline = deadline;
	vc.key[h->index] = deadline == VC_NEVER ? VC_NEVER : deadline << VC_HART_BITS | h->index;
}

/* Call for the hart with the smallest key: may it run? */
static bool may_run(struct vc_hart *h)
{
	if (h->state != VC_LOOKING || h->ready(h))
		return true;
	enter_parked(h, h->deadline);
	return false;
}

/* Grant the free token to the next hart and return it; its thread must still be released. NULL: no
 * hart can run now. */
static struct vc_hart *grant(void)
{
	uint64_t limit;
	int next;

	if (vc.phase == VC_DRAINING)
		return grant_draining();
	do
		next = pick(&limit);
	while (next >= 0 && !may_run(&vc.hart[next]));
	if (next >= 0)
		return give(&vc.hart[next], limit);
	return !vc.ended && all_are_stuck(false) ? end_stuck("deadlock", no_more) : NULL;
}

static void free_token(struct vc_hart *h)
{
	if (vc.holder == (int)h->index)
		vc.holder = -1;
}

/* h is recorded as blocked; the lock is held and is released here. Returns when h may run again. */
static void hand_over(struct vc_hart *h)
{
	struct vc_hart *next = vc.holder < 0 ? grant() : NULL;

	if (next && next != h && vc.phase == VC_RUNNING)
		vc.hand_overs++;
	pthread_mutex_unlock(&vc.lock);
	if (next != h)
		vc_carrier_switch(h, next);
}

static void pin(struct vc_hart *h)
{
	static int core = VC_PIN_OFF; /* under vc.lock */
	cpu_set_t set;

	if (vc.options.pin == VC_PIN_OFF)
		return;
	if (core < 0)
		core = vc.options.pin == VC_PIN_AUTO ? sched_getcpu() : vc.options.pin;
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		vc_say("cannot pin hart %u to core %d", h->index, core);
}

static void open_gate(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	vc.started_host_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	for (unsigned i = 0; i < vc.harts; i++)
		vc.hart[i].slot->magic = HZ_VC_MAGIC;
	vc.phase = VC_RUNNING;
	token_hooks.opened();
}

void vc_gate(struct vc_hart *h)
{
	struct vc_hart *first = NULL;

	pthread_mutex_lock(&vc.lock);
	if (h->state != VC_OFF) { /* the machine was reset */
		pthread_mutex_unlock(&vc.lock);
		vc_flag_run(VC_FLAG_RESET);
		return;
	}
	pin(h);
	vc_carrier_enter(h);
	h->state = VC_READY;
	h->wait_kind = VC_GATE;
	vc.key[h->index] = vc_key(h);
	if (++vc.entered == vc.harts && vc.phase == VC_STARTING)
		open_gate();
	if (vc.phase != VC_STARTING && vc.holder < 0)
		first = grant();
	pthread_mutex_unlock(&vc.lock);
	if (first != h)
		vc_carrier_switch(h, first);
}

/* A sync point that does not pass at once: blocked is VC_READY or VC_LOOKING. */
static void wait_turn(struct vc_hart *h, enum vc_kind kind, enum vc_hart_state blocked)
{
	pthread_mutex_lock(&vc.lock);
	if (vc.phase != VC_RUNNING || (vc.ended && vc_holds(h))) {
		pthread_mutex_unlock(&vc.lock);
		return;
	}
	if (h->woke)
		vc_flag_run(VC_FLAG_WFI_WOKE);
	h->woke = false;
	h->state = blocked;
	h->wait_kind = kind;
	vc.key[h->index] = vc_key(h);
	free_token(h);
	if (vc.holder >= 0 && vc.key[h->index] < atomic_load(&vc.hart[vc.holder].limit))
		atomic_store(&vc.hart[vc.holder].limit, vc.key[h->index]);
	hand_over(h);
}

void vc_order_wait(struct vc_hart *h, enum vc_kind kind) { wait_turn(h, kind, VC_READY); }

void vc_look(struct vc_hart *h, enum vc_kind kind) { wait_turn(h, kind, VC_LOOKING); }

void vc_park(struct vc_hart *h, uint64_t deadline, enum vc_kind kind)
{
	pthread_mutex_lock(&vc.lock);
	if (vc.phase != VC_RUNNING || vc.ended || !vc_holds(h)) {
		h->drained = true;
		pthread_mutex_unlock(&vc.lock);
		return;
	}
	h->wait_kind = kind;
	enter_parked(h, deadline);
	free_token(h);
	hand_over(h);
}

void vc_unpark(struct vc_hart *holder, struct vc_hart *h, uint64_t cycles)
{
	if (h->state != VC_PARKED)
		return;
	pthread_mutex_lock(&vc.lock);
	if (h->state == VC_PARKED) {
		vc_clock_raise(h, cycles);
		h->state = VC_READY;
		vc.key[h->index] = vc_key(h);
		if (vc.key[h->index] < atomic_load(&holder->limit))
			atomic_store(&holder->limit, vc.key[h->index]);
	}
	pthread_mutex_unlock(&vc.lock);
}

bool vc_all_sleep(void)
{
	bool stuck;

	pthread_mutex_lock(&vc.lock);
	stuck = vc.phase == VC_RUNNING && !vc.ended && vc.holder < 0 && all_are_stuck(true);
	pthread_mutex_unlock(&vc.lock);
	return stuck;
}

void vc_give_up(const char *end, const char *title)
{
	struct vc_hart *next = NULL;

	pthread_mutex_lock(&vc.lock);
	if (!vc.ended)
		next = end_stuck(end, title);
	pthread_mutex_unlock(&vc.lock);
	if (next)
		vc_carrier_let_go(next);
}

void vc_deadlock(void) { vc_give_up("deadlock", no_more); }

void vc_rescue(void)
{
	pthread_mutex_lock(&vc.lock);
	for (unsigned i = 0; i < vc.harts; i++) {
		struct vc_hart *h = &vc.hart[i];

		if (!is_blocked(h))
			continue;
		h->state = VC_LOOSE;
		h->drained = true;
		vc.key[i] = VC_NEVER;
		vc_carrier_let_go(h);
	}
	pthread_mutex_unlock(&vc.lock);
}

/* The holder, if any, passes its next sync points freely; the others follow as vCPUs come to rest. */
static struct vc_hart *begin_drain(void)
{
	vc.phase = VC_DRAINING;
	if (vc.holder < 0)
		return grant_draining();
	atomic_store(&vc.hart[vc.holder].limit, 0);
	return NULL;
}

void vc_hart_idle(struct vc_hart *h)
{
	struct vc_hart *next = NULL;

	pthread_mutex_lock(&vc.lock);
	h->woke = false;
	if (h->in_wfi && vc.phase == VC_RUNNING && !vc.ended) {
		h->state = VC_WFI;
		free_token(h);
		next = vc.holder < 0 ? grant() : NULL;
	} else if (h->state != VC_OFF || vc.entered) {
		if (h->state != VC_OFF)
			h->state = h->in_wfi ? VC_WFI : VC_STOPPED;
		free_token(h);
		if (vc.phase != VC_DRAINING)
			vc_flag_run(VC_FLAG_STOPPED);
		next = begin_drain();
	}
	pthread_mutex_unlock(&vc.lock);
	if (next)
		vc_carrier_let_go(next);
}

void vc_hart_resume(struct vc_hart *h)
{
	bool rests = true;

	pthread_mutex_lock(&vc.lock);
	if (h->state == VC_STOPPED && vc.phase == VC_DRAINING) {
		for (unsigned i = 0; i < vc.harts; i++)
			rests &= !is_blocked(&vc.hart[i]) && vc.hart[i].state != VC_RUN;
		if (rests)
			vc.phase = vc.entered < vc.harts ? VC_STARTING : VC_RUNNING;
	}
	h->woke = h->state == VC_WFI;
	if (h->state == VC_STOPPED || h->state == VC_WFI)
		h->state = VC_LOOSE;
	pthread_mutex_unlock(&vc.lock);
}

void vc_end_run(struct vc_hart *h, const char *end)
{
	pthread_mutex_lock(&vc.lock);
	if (!vc.ended) {
		vc.end = end;
		token_hooks.ended();
		vc.ended = true;
	}
	if (vc_holds(h))
		atomic_store(&h->limit, VC_NEVER);
	pthread_mutex_unlock(&vc.lock);
}

void vc_abort_locked(const char *end, int exit_code)
{
	vc.end = end;
	vc.exit_code = exit_code;
	token_hooks.ended();
	vc.ended = true;
	vc.phase = VC_DRAINING;
	if (vc.holder >= 0)
		atomic_store(&vc.hart[vc.holder].limit, 0);
	kill(getpid(), SIGTERM); /* QEMU's orderly shutdown: cleans up sockets, terminals and pid files */
}

/* The trace of sync points: clock, hart, instruction, pc; one line each. */

static FILE *trace;

bool vc_order_start(void)
{
	vc.order_hash = 0xcbf29ce484222325ull;
	if (!vc.options.trace)
		return true;
	trace = fopen(vc.options.trace, "we");
	if (!trace)
		vc_say("cannot write %s: %s", vc.options.trace, strerror(errno));
	return trace != NULL;
}

void vc_order_trace(const struct vc_hart *h, enum vc_kind kind)
{
	fprintf(trace, "%" PRIu64 " %u %s 0x%" PRIx64 "\n", vc_clock(h), h->index, vc_kind_name(kind), h->wait_pc);
}
