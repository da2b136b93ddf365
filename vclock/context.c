/* Leaving one context for another, for x86-64 with FSGSBASE (Intel SDM vol. 1, 3.4.4; the kernel allows it by bit 1 of AT_HWCAP2). Other
 * machines use futexes. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "context.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/auxv.h>

#ifdef __x86_64__

enum { HWCAP2_FSGSBASE = 2, KEPT_REGISTERS = 6 };

bool context_possible(void) { return getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE; }

/* Saves what a call keeps (System V ABI: rbx, rbp, r12 to r15) on the stack, changes stacks, and returns on the other one. x87 and SSE
 * control words are the same in all threads of QEMU. `from` stays in rdi and rax: the return value of the one, the argument of a new one. */
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

/* Where a new context returns to: run is in r12, its argument in r13. */
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

/* Not inlined: what the compiler knows of thread-local variables must not outlive the call. */
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

#include <sys/syscall.h>
#include <unistd.h>

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
