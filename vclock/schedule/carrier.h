/* Carriers: the mapping of harts to kernel threads. QEMU gives every hart a thread; the token lets
 * one run, the others sleep.
 *
 * With futexes each hart stays in its thread, and a hand-over wakes one thread and puts another to
 * sleep. In user space the thread that hands over resumes the next hart itself: it saves the
 * callee-saved registers and loads those of the other hart with its stack and its thread pointer
 * (QEMU's thread-local variables thus follow the hart). A thread without a hart waits on a small
 * stack of its own; threads and harts are equal in number, so one is always available. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_SCHEDULE_CARRIER_H
#define VCLOCK_SCHEDULE_CARRIER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/state.h"

/* True if a program may set its thread pointer (x86-64 with FSGSBASE, as reported by the kernel). */
bool vc_carrier_in_user_space(void);
/* Before any hart runs: select the hand-over method. False: out of memory. */
bool vc_carrier_start(bool in_user_space);
/* In the hart's own thread, once, before the calls below. */
void vc_carrier_enter(struct vc_hart *h);
/* In the thread that runs h: h sleeps until another thread releases it, and `next` runs (NULL: none
 * can; not h). Called without vc.lock, and never with QEMU's big lock, which would stay with this
 * thread. */
void vc_carrier_switch(struct vc_hart *h, struct vc_hart *next);
/* From any thread: h, which sleeps or is about to, resumes in parallel with the running hart. */
void vc_carrier_let_go(struct vc_hart *h);

/* Context: a thread of execution that can leave one kernel thread and resume in another:
 * callee-saved registers, stack and thread pointer. Only if the machine supports it
 * (context_possible); otherwise none of these is called. */

struct context {
	void *stack;          /* saved registers while it rests */
	void *thread_pointer; /* NULL: none; it keeps that of the previous context */
	void *home;           /* belongs to the kernel thread that runs it: copied from the previous context */
	_Atomic bool rests;   /* its registers are saved: it can be resumed */
};

bool context_possible(void);
/* The caller's context, in its own kernel thread. */
void context_of_thread(struct context *context, void *home);
/* A context that begins as run(left, home) on a stack that ends at `end`; `left` is the context
 * that it replaced and must settle. run never returns. It uses no thread-local variable, including
 * errno. */
void context_make(struct context *context, void *end, void (*run)(struct context *left, void *home), void *home);
/* The registers of `left` are saved: other threads may resume it. */
static inline void context_settle(struct context *left) { atomic_store_explicit(&left->rests, true, memory_order_release); }
/* Leave the running context, `here`, for another one, once that rests. Returns when a thread
 * resumes `here`. */
void context_switch(struct context *here, struct context *other);
/* A system call without errno; the kernel's result. */
long context_syscall(long number, long a, long b, long c, long d);

#endif
