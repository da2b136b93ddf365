/* What the HIL asks of the platform: the control byte stream and the two ways to wait for the host and to wake it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_HIL_PORT_H
#define HIL_HIL_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All functions are called with the clock frozen, never wait (except host_wait) and take ctx first. */
struct hil_port {
	void *ctx;
	/* Bytes read of the stream (0 = none now), or -1 once when the peer has gone and everything it sent was read. */
	int (*recv)(void *ctx, void *data, size_t bytes);
	/* Bytes accepted, maybe fewer than given (0 = full); -1 = not connected. */
	int (*send)(void *ctx, const void *data, size_t bytes);
	/* The host broke the protocol: drop this connection and listen again. */
	void (*close)(void *ctx);
	/* Sleep until hz_shm_header.host_bell != bell, at most about 1 ms of host time (firmware: HZ_VC_HOST_WAIT), and return true.
	 * False: nothing will come from the host, leave the hook (a test whose host runs in the same thread). */
	bool (*host_wait)(void *ctx, uint32_t bell);
	/* Any HIL hart, all others only the first: wake host threads that sleep on queue's `completed`. Firmware: HZ_VC_HOST_WAKE. */
	void (*host_wake)(void *ctx, unsigned queue);
};

#endif
