/* Context: a thread of execution that can be left in one kernel thread and gone on with in another: the registers that a call keeps, the
 * stack, and the thread pointer. Only where the machine allows it (context_possible); the rest is never called elsewhere. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_CONTEXT_H
#define VC_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct context {
	void *stack;          /* where the registers are saved while it rests */
	void *thread_pointer; /* NULL: it does without, and leaves that of the last one */
	void *home;           /* belongs to the kernel thread that runs it: taken over from the context that was left */
	_Atomic bool rests;   /* its registers are saved: it can be gone on with */
};

bool context_possible(void);
/* The caller's, in its own kernel thread. */
void context_of_thread(struct context *context, void *home);
/* A context that begins as run(left, home) on a stack that ends at `end`; `left` is what was left for it, and is to be settled. run never
 * returns. It uses no thread-local variable, errno among them. */
void context_make(struct context *context, void *end, void (*run)(struct context *left, void *home), void *home);
/* What was left has all been saved: others may go on with it. */
static inline void context_settle(struct context *left) { atomic_store_explicit(&left->rests, true, memory_order_release); }
/* Leaves the context that runs, which is `here`, for another, once that rests. Returns when somebody goes on with `here`. */
void context_switch(struct context *here, struct context *other);
/* A system call without errno; the kernel's result. */
long context_syscall(long number, long a, long b, long c, long d);

#endif
