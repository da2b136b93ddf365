/* Carriers: which kernel thread runs which hart. QEMU gives every hart a thread, of which the token lets one run; the others sleep.
 *
 * With futexes each hart stays in its thread, and a hand-over wakes one thread and puts another to sleep. In user space the thread
 * that hands over goes on as the next hart: it saves the registers that a call keeps, and loads those of the other with its stack and
 * its thread pointer (so that what QEMU keeps in thread-local variables goes along). A thread that has no hart to go on with waits on a
 * small stack of its own for one that another thread cannot take over; threads and harts are equally many, so there always is one. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_CARRIER_H
#define VC_CARRIER_H

#include "state.h"

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

#endif
