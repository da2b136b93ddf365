/* Carriers: put harts to sleep and resume them, by futexes or by switching stacks (carrier.h). */
/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "carrier.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STACK_BYTES = 64 << 10 };

/* A kernel thread: the vCPU thread of the same index. */
struct carrier {
	_Alignas(64) struct context waiting; /* its context while it has no hart */
	_Atomic uint32_t hart;               /* next hart to run, plus 1; 0: none yet */
	int tid;
};

static struct carrier carriers[VC_MAX_HARTS];
static struct context contexts[VC_MAX_HARTS]; /* one per hart */
static _Atomic uint64_t idle;                 /* waiting carriers, one bit each */
static bool in_user_space;

/* No libc calls here: errno belongs to the thread pointer, and a waiting carrier uses another's. */
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

/* Main loop of a carrier without a hart. */
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
			sched_yield(); /* one is about to wait: it has given up its hart already */
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

/* Leaving one context for another, for x86-64 with FSGSBASE (Intel SDM vol. 1, 3.4.4; the kernel allows it by bit 1 of AT_HWCAP2). Other
 * machines use futexes. */

#ifdef __x86_64__

enum { HWCAP2_FSGSBASE = 2, KEPT_REGISTERS = 6 };

bool context_possible(void) { return getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE; }

/* Save the callee-saved registers (System V ABI: rbx, rbp, r12 to r15) on the stack, switch stacks,
 * and return on the other one. x87 and SSE control words are equal in all threads of QEMU. `from`
 * stays in rdi and rax: the return value of a resumed context, the argument of a new one. */
struct context *context_swap(struct context *from, void **from_stack, void *to_stack);
__asm__(".text\n"
	".globl context_swap\n"
	".hidden context_swap\n"
	".type context_swap, @function\n"
	"context_swap:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rsi)\n"
	"	mov %rdx, %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	mov %rdi, %rax\n"
	"	ret\n"
	".size context_swap, . - context_swap\n");

/* Entry of a new context: run is in r12, its argument in r13. */
void context_begin(void);
__asm__(".text\n"
	".globl context_begin\n"
	".hidden context_begin\n"
	".type context_begin, @function\n"
	"context_begin:\n"
	"	mov %r13, %rsi\n"
	"	call *%r12\n"
	"	ud2\n"
	".size context_begin, . - context_begin\n");

static void *thread_pointer(void)
{
	void *value;

	__asm__ volatile("rdfsbase %0" : "=r"(value));
	return value;
}

static void set_thread_pointer(void *value) { __asm__ volatile("wrfsbase %0" ::"r"(value) : "memory"); }

void context_of_thread(struct context *context, void *home)
{
	context->thread_pointer = thread_pointer();
	context->home = home;
}

void context_make(struct context *context, void *end, void (*run)(struct context *left, void *home), void *home)
{
	void **top = (void **)end - 2; /* at a call the stack is aligned to 16 bytes */

	*--top = (void *)context_begin;
	top -= KEPT_REGISTERS; /* r15, r14, r13, r12, rbx, rbp, upwards */
	top[2] = home;
	top[3] = (void *)run;
	*context = (struct context){ .stack = top, .home = home };
	context_settle(context);
}

/* noinline: the compiler's knowledge of thread-local variables must not outlive the call. */
__attribute__((noinline)) void context_switch(struct context *here, struct context *other)
{
	struct context *left;

	while (!atomic_exchange_explicit(&other->rests, false, memory_order_acquire))
		sched_yield();
	if (other->thread_pointer)
		set_thread_pointer(other->thread_pointer);
	left = context_swap(here, &here->stack, other->stack);
	here->home = left->home;
	context_settle(left);
}

long context_syscall(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return result;
}

#else

bool context_possible(void) { return false; }
void context_of_thread(struct context *context, void *home) { (void)context, (void)home; }
void context_make(struct context *context, void *end, void (*run)(struct context *left, void *home), void *home)
{
	(void)context, (void)end, (void)run, (void)home;
}
void context_switch(struct context *here, struct context *other)
{
	(void)here, (void)other;
	abort();
}
long context_syscall(long number, long a, long b, long c, long d) { return syscall(number, a, b, c, d); }

#endif
