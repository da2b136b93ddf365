/* The host in the loop: sleeping until the host rings, and waking host threads, by futexes in ivshmem #0. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_HOST_WAIT_H
#define VC_HOST_WAIT_H

#include "state.h"

/* Sleeps until host_bell differs from slot.arg0, at most 1 ms. No device time passes: the hart must be frozen. */
void vc_host_wait(struct vc_hart *h);
/* Wakes everybody who sleeps on `completed` of queue slot.arg0. */
void vc_host_wake(struct vc_hart *h);

#endif
