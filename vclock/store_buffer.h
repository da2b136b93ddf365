/* Store buffer of a hart (option store_buffer): a release takes the hart no longer than a store that hits. It waits in the buffer for its
 * line, behind the releases before it, while the hart goes on.
 *
 * Of the order points, only those that release and read nothing go this way: AMO with rl, without aq, whose result nobody wants. Every other
 * synchronising access of the hart waits until its buffer is empty (RISC-V's aq and rl are RCsc: a later acquire does not pass them). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_STORE_BUFFER_H
#define VC_STORE_BUFFER_H

#include "state.h"

/* Outside freezes: if no entry is free, the hart waits for the oldest one. Returns the cycle from which on the store may ask for its
 * line. */
uint64_t vc_store_buffer_room(struct vc_hart *h);
/* The store that has room is done at `cycles`, after all before it. */
void vc_store_buffer_add(struct vc_hart *h, uint64_t cycles);
/* Outside freezes: the hart waits until all are done. */
void vc_store_buffer_drain(struct vc_hart *h);

#endif
