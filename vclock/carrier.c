/* Carriers: harts that sleep and go on, by futexes or by changing stacks (carrier.h). */
/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "carrier.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "context.h"

enum { STACK_BYTES = 64 << 10 };

/* A kernel thread: that of the vCPU of the same index. */
struct carrier {
	_Alignas(64) struct context waiting; /* what it runs while it has no hart */
	_Atomic uint32_t hart;               /* to go on with, plus 1; 0: none yet */
	int tid;
};

static struct carrier carriers[VC_MAX_HARTS];
static struct context contexts[VC_MAX_HARTS]; /* of the harts */
static _Atomic uint64_t idle;                 /* carriers that wait, a bit each */
static bool in_user_space;

/* No libc here: errno belongs to the thread pointer, and that of a waiting carrier is another's. */
static void sleep_while_zero(_Atomic uint32_t *word)
{
	while (!atomic_load_explicit(word, memory_order_acquire))
		context_syscall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, 0, 0);
}

static void set_and_wake(_Atomic uint32_t *word, uint32_t value)
{
	atomic_store_explicit(word, value, memory_order_release);
	context_syscall(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 1, 0);
}

/* The life of a carrier without a hart. */
static void wait_for_hart(struct context *left, void *home)
{
	struct carrier *carrier = home;

	context_settle(left);
	for (;;) {
		atomic_fetch_or(&idle, 1ull << (carrier - carriers));
		sleep_while_zero(&carrier->hart);
		context_switch(&carrier->waiting, &contexts[atomic_exchange(&carrier->hart, 0) - 1]);
	}
}

static struct carrier *take_idle(void)
{
	for (;;) {
		uint64_t all = atomic_load(&idle);

		if (!all)
			sched_yield(); /* one is on its way: it has given its hart up, but does not wait yet */
		else if (atomic_compare_exchange_weak(&idle, &all, all & (all - 1)))
			return &carriers[__builtin_ctzll(all)];
	}
}

void vc_carrier_let_go(struct vc_hart *h)
{
	if (in_user_space)
		set_and_wake(&take_idle()->hart, h->index + 1);
	else
		set_and_wake(&h->go, 1);
}

static void switch_threads(struct vc_hart *h, struct vc_hart *next)
{
	if (next)
		vc_carrier_let_go(next);
	sleep_while_zero(&h->go);
	atomic_store_explicit(&h->go, 0, memory_order_relaxed);
}

static void switch_contexts(struct vc_hart *h, struct vc_hart *next)
{
	struct carrier *carrier = contexts[h->index].home;

	context_switch(&contexts[h->index], next ? &contexts[next->index] : &carrier->waiting);
	carrier = contexts[h->index].home;
	h->tid = carrier->tid;
}

void vc_carrier_switch(struct vc_hart *h, struct vc_hart *next)
{
	if (in_user_space)
		switch_contexts(h, next);
	else
		switch_threads(h, next);
}

void vc_carrier_enter(struct vc_hart *h)
{
	h->tid = carriers[h->index].tid = (int)syscall(SYS_gettid);
	if (in_user_space)
		context_of_thread(&contexts[h->index], &carriers[h->index]);
}

bool vc_carrier_in_user_space(void) { return context_possible(); }

bool vc_carrier_start(bool wanted)
{
	in_user_space = wanted;
	for (unsigned i = 0; wanted && i < vc.harts; i++) {
		char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

		if (stack == MAP_FAILED)
			return false;
		context_make(&carriers[i].waiting, stack + STACK_BYTES, wait_for_hart, &carriers[i]);
	}
	return true;
}
