/* The HIL's view of the platform: the vsock stream, and waiting for and waking the host. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/hil_port.h"

#include "lt/arch.h"
#include "platform/vsock.h"
#include "vclock_abi.h"

enum { REAL_WAIT_NS = 50000 }; /* plain QEMU has no bell to wait for: look again this much later */

static HZ_FROZEN int port_recv(void *ctx, void *data, size_t bytes) { return vsock_recv(ctx, data, bytes); }

static HZ_FROZEN int port_send(void *ctx, const void *data, size_t bytes) { return vsock_send(ctx, data, bytes); }

static HZ_FROZEN void port_close(void *ctx) { vsock_close(ctx); }

static bool port_host_wait(void *ctx, uint32_t bell)
{
	static lt_word never;

	(void)ctx;
	if (clock_is_virtual()) {
		lt_vc_slot()->arg0 = bell;
		LT_HYPERCALL(HZ_VC_HOST_WAIT);
	} else {
		lt_wait_take(&never, clock_now_ns() + REAL_WAIT_NS);
	}
	return true;
}

static void port_host_wake(void *ctx, unsigned queue)
{
	(void)ctx;
	lt_vc_slot()->arg0 = queue;
	LT_HYPERCALL(HZ_VC_HOST_WAKE);
}

void hil_port_init(struct hil_port *port, struct vsock *vsock)
{
	*port = (struct hil_port){ .ctx = vsock,
				   .recv = port_recv,
				   .send = port_send,
				   .close = port_close,
				   .host_wait = port_host_wait,
				   .host_wake = port_host_wake };
}
