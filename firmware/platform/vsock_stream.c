/* Listener for one virtio-vsock stream connection. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/vsock_stream.h"

#include <string.h>

static uint32_t filled_bytes(const struct vsock_buffer *buffer) { return buffer->tail - buffer->head; }

static void buffer_put(struct vsock_buffer *buffer, const uint8_t *data, uint32_t bytes)
{
	uint32_t at = buffer->tail & (VSOCK_BUFFER_BYTES - 1), first = VSOCK_BUFFER_BYTES - at;

	if (first > bytes)
		first = bytes;
	memcpy(buffer->byte + at, data, first);
	memcpy(buffer->byte, data + first, bytes - first);
	buffer->tail += bytes;
}

static void buffer_get(struct vsock_buffer *buffer, uint8_t *data, uint32_t bytes)
{
	uint32_t at = buffer->head & (VSOCK_BUFFER_BYTES - 1), first = VSOCK_BUFFER_BYTES - at;

	if (first > bytes)
		first = bytes;
	memcpy(data, buffer->byte + at, first);
	memcpy(data + first, buffer->byte, bytes - first);
	buffer->head += bytes;
}

/* Nothing more is sent to the peer; its earlier bytes stay readable. */
static void drain(struct vsock_stream *stream)
{
	stream->state = VSOCK_DRAINING;
	stream->out.head = stream->out.tail;
	stream->owe_response = stream->owe_credit = false;
}

static void queue_reset(struct vsock_stream *stream, struct vsock_peer to, uint32_t from_port)
{
	stream->reset[stream->resets] = to;
	stream->reset_from[stream->resets] = from_port;
	stream->resets++;
}

void vsock_stream_init(struct vsock_stream *stream, uint64_t cid, uint32_t port)
{
	memset(stream, 0, sizeof(*stream));
	stream->cid = cid;
	stream->port = port;
}

HZ_FROZEN bool vsock_stream_can_take(const struct vsock_stream *stream) { return stream->resets < VSOCK_RESETS; }

void vsock_stream_reset(struct vsock_stream *stream, uint64_t cid)
{
	stream->cid = cid;
	stream->resets = 0;
	if (stream->state == VSOCK_CONNECTED)
		drain(stream);
}

void vsock_stream_close(struct vsock_stream *stream)
{
	if (stream->state == VSOCK_CONNECTED && vsock_stream_can_take(stream))
		queue_reset(stream, stream->peer, stream->port);
	drain(stream);
	stream->in.head = stream->in.tail;
	stream->state = VSOCK_LISTENING;
}

static void accept_peer(struct vsock_stream *stream, const struct vsock_header *h)
{
	stream->state = VSOCK_CONNECTED;
	stream->peer = (struct vsock_peer){ h->src_cid, h->src_port };
	stream->fwd_cnt = stream->sent_fwd_cnt = stream->tx_cnt = stream->peer_fwd_cnt = 0;
	stream->peer_alloc = h->buf_alloc;
	stream->owe_response = true;
	stream->owe_credit = stream->asked_credit = false;
	stream->in.head = stream->in.tail = stream->out.head = stream->out.tail = 0;
}

/* False if the peer claims to have forwarded bytes that we never sent, or fewer than before. */
static bool take_credit(struct vsock_stream *stream, const struct vsock_header *h)
{
	if (stream->tx_cnt - h->fwd_cnt > stream->tx_cnt - stream->peer_fwd_cnt)
		return false;
	if (h->fwd_cnt != stream->peer_fwd_cnt)
		stream->asked_credit = false;
	stream->peer_fwd_cnt = h->fwd_cnt;
	stream->peer_alloc = h->buf_alloc;
	return true;
}

/* False if the packet breaks a rule: the connection is reset. */
static bool take_connected(struct vsock_stream *stream, const struct vsock_header *h, const uint8_t *data)
{
	if (!take_credit(stream, h))
		return false;
	switch (h->op) {
	case VSOCK_OP_RW:
		if (h->len > VSOCK_BUFFER_BYTES - filled_bytes(&stream->in))
			return false;
		buffer_put(&stream->in, data, h->len);
		return true;
	case VSOCK_OP_CREDIT_UPDATE: return true;
	case VSOCK_OP_CREDIT_REQUEST: stream->owe_credit = true; return true;
	case VSOCK_OP_SHUTDOWN:
		/* Either direction closed ends a question-and-answer link; the RST confirms it (virtio 1.2, 5.10.6.6). */
		return !(h->flags & (VSOCK_SHUTDOWN_RECEIVE | VSOCK_SHUTDOWN_SEND));
	default: return false;
	}
}

static bool is_peer(const struct vsock_stream *stream, const struct vsock_header *h)
{
	return stream->state == VSOCK_CONNECTED && h->src_cid == stream->peer.cid && h->src_port == stream->peer.port;
}

void vsock_stream_take(struct vsock_stream *stream, const void *packet, size_t bytes)
{
	struct vsock_header h;
	bool ours, legal = false;

	if (bytes < sizeof(h))
		return;
	memcpy(&h, packet, sizeof(h));
	if (h.dst_cid != stream->cid)
		return;
	ours = h.dst_port == stream->port && h.type == VSOCK_TYPE_STREAM;
	if (h.op == VSOCK_OP_RST) {
		if (ours && is_peer(stream, &h))
			drain(stream);
		return;
	}
	if (ours && h.op == VSOCK_OP_REQUEST && stream->state == VSOCK_LISTENING) {
		accept_peer(stream, &h);
		return;
	}
	if (ours && is_peer(stream, &h)) {
		legal = h.len <= bytes - sizeof(h) && take_connected(stream, &h, (const uint8_t *)packet + sizeof(h));
		if (!legal)
			drain(stream);
	}
	if (!legal)
		queue_reset(stream, (struct vsock_peer){ h.src_cid, h.src_port }, h.dst_port);
}

/* Fills in everything but op, len and addresses. */
static size_t put_header(struct vsock_stream *stream, void *packet, struct vsock_header h)
{
	h.src_cid = stream->cid;
	h.type = VSOCK_TYPE_STREAM;
	h.buf_alloc = VSOCK_BUFFER_BYTES;
	h.fwd_cnt = stream->fwd_cnt;
	memcpy(packet, &h, sizeof(h));
	return sizeof(h);
}

static size_t put_to_peer(struct vsock_stream *stream, void *packet, enum vsock_op op, uint32_t len)
{
	stream->sent_fwd_cnt = stream->fwd_cnt;
	return put_header(stream, packet,
			  (struct vsock_header){ .dst_cid = stream->peer.cid,
						 .src_port = stream->port,
						 .dst_port = stream->peer.port,
						 .op = (uint16_t)op,
						 .len = len });
}

static size_t put_reset(struct vsock_stream *stream, void *packet)
{
	struct vsock_peer to = stream->reset[0];
	uint32_t from = stream->reset_from[0];

	stream->resets--;
	memmove(stream->reset, stream->reset + 1, stream->resets * sizeof(stream->reset[0]));
	memmove(stream->reset_from, stream->reset_from + 1, stream->resets * sizeof(stream->reset_from[0]));
	return put_header(stream, packet,
			  (struct vsock_header){ .dst_cid = to.cid, .src_port = from, .dst_port = to.port, .op = VSOCK_OP_RST });
}

/* Bytes of room at the peer. */
static uint32_t credit(const struct vsock_stream *stream)
{
	uint32_t in_flight = stream->tx_cnt - stream->peer_fwd_cnt;

	return stream->peer_alloc > in_flight ? stream->peer_alloc - in_flight : 0;
}

static size_t put_data(struct vsock_stream *stream, uint8_t *packet, size_t room)
{
	uint32_t bytes = filled_bytes(&stream->out), allowed = credit(stream);

	if (bytes > allowed)
		bytes = allowed;
	if (bytes > room - VSOCK_HEADER_BYTES)
		bytes = (uint32_t)(room - VSOCK_HEADER_BYTES);
	if (bytes == 0) {
		if (filled_bytes(&stream->out) == 0 || stream->asked_credit)
			return 0;
		stream->asked_credit = true;
		return put_to_peer(stream, packet, VSOCK_OP_CREDIT_REQUEST, 0);
	}
	put_to_peer(stream, packet, VSOCK_OP_RW, bytes);
	buffer_get(&stream->out, packet + VSOCK_HEADER_BYTES, bytes);
	stream->tx_cnt += bytes;
	return VSOCK_HEADER_BYTES + bytes;
}

HZ_FROZEN size_t vsock_stream_next(struct vsock_stream *stream, void *packet, size_t room)
{
	if (stream->resets)
		return put_reset(stream, packet);
	if (stream->state != VSOCK_CONNECTED)
		return 0;
	if (stream->owe_response) {
		stream->owe_response = false;
		return put_to_peer(stream, packet, VSOCK_OP_RESPONSE, 0);
	}
	/* Every packet carries our credit, but vhost-device-vsock goes on sending only after an explicit update. */
	if (stream->owe_credit) {
		stream->owe_credit = false;
		return put_to_peer(stream, packet, VSOCK_OP_CREDIT_UPDATE, 0);
	}
	return put_data(stream, packet, room);
}

HZ_FROZEN int vsock_stream_recv(struct vsock_stream *stream, void *data, size_t bytes)
{
	uint32_t n = filled_bytes(&stream->in);

	if (n == 0 && stream->state == VSOCK_DRAINING) {
		stream->state = VSOCK_LISTENING;
		return -1;
	}
	if (n > bytes)
		n = (uint32_t)bytes;
	buffer_get(&stream->in, data, n);
	stream->fwd_cnt += n;
	/* Tell the peer before it can run dry: at half of the buffer. */
	if (stream->fwd_cnt - stream->sent_fwd_cnt >= VSOCK_BUFFER_BYTES / 2)
		stream->owe_credit = true;
	return (int)n;
}

int vsock_stream_send(struct vsock_stream *stream, const void *data, size_t bytes)
{
	uint32_t n = VSOCK_BUFFER_BYTES - filled_bytes(&stream->out);

	if (stream->state != VSOCK_CONNECTED)
		return -1;
	if (n > bytes)
		n = (uint32_t)bytes;
	buffer_put(&stream->out, data, n);
	return (int)n;
}
