/* Carriers: which kernel thread runs which hart. QEMU gives every hart a thread, of which the token lets one run; the others sleep.
 *
 * With futexes each hart stays in its thread, and a hand-over wakes one thread and puts another to sleep. In user space the thread
 * that hands over goes on as the next hart: it saves the registers that a call keeps, and loads those of the other with its stack and
 * its thread pointer (so that what QEMU keeps in thread-local variables goes along). A thread that has no hart to go on with waits on a
 * small stack of its own for one that another thread cannot take over; threads and harts are equally many, so there always is one. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_SCHEDULE_CARRIER_H
#define VCLOCK_SCHEDULE_CARRIER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/state.h"

/* This machine lets a program set its thread pointer (x86-64 with FSGSBASE, told by the kernel). */
bool vc_carrier_in_user_space(void);
/* Before any hart runs: how hands are over given. False: no memory. */
bool vc_carrier_start(bool in_user_space);
/* In the hart's own thread, once, before anything below. */
void vc_carrier_enter(struct vc_hart *h);
/* In the thread that runs h: h sleeps until someone lets it go, and next goes on (NULL: nobody can; not h). Called without vc.lock, and
 * never with QEMU's big lock: it would stay with this thread. */
void vc_carrier_switch(struct vc_hart *h, struct vc_hart *next);
/* From any thread: h, which sleeps or is about to, goes on beside whoever runs now. */
void vc_carrier_let_go(struct vc_hart *h);

/* Context: a thread of execution that can be left in one kernel thread and gone on with in another: the registers that a call keeps, the
 * stack, and the thread pointer. Only where the machine allows it (context_possible); the rest is never called elsewhere. */

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
