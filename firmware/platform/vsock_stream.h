/* Listener for one virtio-vsock stream connection: the packet state machine, without rings or registers (virtio 1.2, 5.10).
 *
 * Packets are untrusted: any bytes may be given. A packet for another port, of another type, or illegal in the present state is answered
 * with RST; a peer that breaks the credit rules is cut off. Sizes: both buffers hold VSOCK_BUFFER_BYTES. One hart. Every call is O(bytes
 * moved). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLATFORM_VSOCK_STREAM_H
#define PLATFORM_VSOCK_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	VSOCK_BUFFER_BYTES = 65536, /* power of two; also our announced credit */
	VSOCK_RESETS = 16,          /* answers to strangers waiting for room in the transmit ring */
	VSOCK_HEADER_BYTES = 44,
};

enum vsock_op {
	VSOCK_OP_INVALID = 0,
	VSOCK_OP_REQUEST = 1,
	VSOCK_OP_RESPONSE = 2,
	VSOCK_OP_RST = 3,
	VSOCK_OP_SHUTDOWN = 4,
	VSOCK_OP_RW = 5,
	VSOCK_OP_CREDIT_UPDATE = 6,
	VSOCK_OP_CREDIT_REQUEST = 7,
};
enum { VSOCK_TYPE_STREAM = 1, VSOCK_SHUTDOWN_RECEIVE = 1, VSOCK_SHUTDOWN_SEND = 2 };

/* struct virtio_vsock_hdr, little-endian. */
struct vsock_header {
	uint64_t src_cid, dst_cid;
	uint32_t src_port, dst_port, len;
	uint16_t type, op;
	uint32_t flags, buf_alloc, fwd_cnt;
} __attribute__((packed));
HZ_STATIC_ASSERT(sizeof(struct vsock_header) == VSOCK_HEADER_BYTES, "virtio 1.2, 5.10.6");

enum vsock_state {
	VSOCK_LISTENING, /* no peer */
	VSOCK_CONNECTED,
	VSOCK_DRAINING, /* the peer has gone; its last bytes, and the end itself, have not been read yet */
};

struct vsock_peer {
	uint64_t cid;
	uint32_t port;
}; /* port 0 is a port like any other */
struct vsock_buffer {
	uint32_t head, tail;
	uint8_t byte[VSOCK_BUFFER_BYTES];
}; /* free-running indices, tail - head = fill */

struct vsock_stream {
	uint64_t cid;
	uint32_t port;
	enum vsock_state state;
	struct vsock_peer peer;
	uint32_t fwd_cnt, sent_fwd_cnt;            /* bytes read by our user; the last value sent to the peer */
	uint32_t tx_cnt, peer_fwd_cnt, peer_alloc; /* our credit: virtio 1.2, 5.10.6.3 */
	bool owe_response, owe_credit, asked_credit;
	uint32_t resets;
	struct vsock_peer reset[VSOCK_RESETS];
	uint32_t reset_from[VSOCK_RESETS]; /* our port in that answer */
	struct vsock_buffer in, out;
};

void vsock_stream_init(struct vsock_stream *stream, uint64_t cid, uint32_t port);
/* True while a further incoming packet may be given: an answer to it has room. */
bool vsock_stream_can_take(const struct vsock_stream *stream);
/* One incoming packet, header and data together. Requires vsock_stream_can_take. */
void vsock_stream_take(struct vsock_stream *stream, const void *packet, size_t bytes);
/* Writes the next outgoing packet (at most room bytes, room > VSOCK_HEADER_BYTES); returns its size, 0 = nothing to send now. */
size_t vsock_stream_next(struct vsock_stream *stream, void *packet, size_t room);
/* The transport lost all connections (virtio 1.2, 5.10.6.8: transport reset). */
void vsock_stream_reset(struct vsock_stream *stream, uint64_t cid);
/* Our side ends the connection: RST to the peer, both buffers dropped. */
void vsock_stream_close(struct vsock_stream *stream);

/* Bytes read (0 = none now), or -1 once when the peer has gone and everything it sent was read; then a new peer may connect. */
int vsock_stream_recv(struct vsock_stream *stream, void *data, size_t bytes);
/* Bytes accepted, maybe fewer than given (0 = full); -1 = not connected. */
int vsock_stream_send(struct vsock_stream *stream, const void *data, size_t bytes);
static inline bool vsock_stream_connected(const struct vsock_stream *stream) { return stream->state == VSOCK_CONNECTED; }

#ifdef __cplusplus
}
#endif

#endif
