/* A hostile peer and a careless user: each input is a script of packets, reads, sends and closes for one vsock stream. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "platform/vsock_stream.h"

enum { CID = 7, PORT = 5000, PACKET_ROOM = 300 };

struct script {
	const uint8_t *at;
	size_t left;
};

static uint8_t take(struct script *script)
{
	if (!script->left)
		return 0;
	script->left--;
	return *script->at++;
}

static uint32_t take32(struct script *script)
{
	uint8_t first = take(script);

	/* Mostly small numbers, sometimes any. */
	return first < 192 ? first % 8 : (uint32_t)take(script) << 24 | (uint32_t)take(script) << 16 | take(script);
}

static void give_packet(struct vsock_stream *stream, struct script *script)
{
	size_t payload = take(script);
	struct vsock_header h = {2, CID, take32(script), PORT, (uint32_t)payload, VSOCK_TYPE_STREAM, 0, 0, 0, 0};
	uint8_t odd = take(script), *packet = malloc(sizeof(h) + payload);

	h.op = odd % 10;
	h.flags = take32(script);
	h.buf_alloc = take32(script) * 1000;
	h.fwd_cnt = stream->peer_fwd_cnt + take32(script);
	if (odd & 16)
		h.len = take32(script);
	if ((odd & 96) == 96)
		h.dst_port = take32(script);
	memset(packet + sizeof(h), odd, payload);
	memcpy(packet, &h, sizeof(h));
	if (vsock_stream_can_take(stream))
		vsock_stream_take(stream, packet, odd & 128 ? payload % sizeof(h) : sizeof(h) + payload);
	free(packet);
}

static void check(const struct vsock_stream *stream)
{
	if (stream->in.tail - stream->in.head > VSOCK_BUFFER_BYTES || stream->out.tail - stream->out.head > VSOCK_BUFFER_BYTES ||
	    stream->resets > VSOCK_RESETS)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct vsock_stream stream;
	static uint8_t user[70000];
	struct script script = {data, size};
	uint8_t packet[PACKET_ROOM];

	vsock_stream_init(&stream, CID, PORT);
	while (script.left) {
		switch (take(&script) % 8) {
		case 0: vsock_stream_recv(&stream, user, take32(&script) * 100u % sizeof(user)); break;
		case 1: vsock_stream_send(&stream, user, take32(&script) * 100u % sizeof(user)); break;
		case 2:
			vsock_stream_next(&stream, packet, VSOCK_HEADER_BYTES + 1 + take(&script) % (PACKET_ROOM - VSOCK_HEADER_BYTES));
			break;
		case 3:
			if (take(&script) % 4 == 0)
				vsock_stream_close(&stream);
			break;
		default: give_packet(&stream, &script);
		}
		check(&stream);
	}
	return 0;
}
