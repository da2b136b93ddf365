/* The control link: a byte stream to the host over virtio-vsock. The firmware listens; one connection at a time; never waits.
 *
 * Every call is for the HIL hart only, with the clock frozen. Messages may arrive in fragments: framing is the caller's. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLATFORM_VSOCK_H
#define PLATFORM_VSOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lt/arena.h"
#include "platform/machine.h"

struct vsock;

/* Finds the device, starts it and listens on `port`. NULL and one sentence in *error if there is none or it does not work. */
struct vsock *vsock_init(struct arena *arena, const struct machine *machine, uint32_t port, const char **error);
/* Moves packets between rings and stream; the calls below do it themselves. True if anything moved. */
bool vsock_poll(struct vsock *vsock);
/* Bytes read (0 = none now), or -1 once when the peer has gone and everything it sent was read; then a new peer may connect. */
int vsock_recv(struct vsock *vsock, void *data, size_t bytes);
/* Bytes accepted, maybe fewer than given (0 = full); -1 = not connected. */
int vsock_send(struct vsock *vsock, const void *data, size_t bytes);
bool vsock_connected(struct vsock *vsock);
/* Resets the connection; a new one may come. */
void vsock_close(struct vsock *vsock);

#endif
