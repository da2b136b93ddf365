/* The control link: joins the virtio rings (virtio 1.2, 5.10) to the packet state machine of vsock_stream. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/vsock.h"

#include <string.h>

#include "platform/virtio_mmio.h"
#include "platform/vsock_stream.h"

enum {
	VIRTIO_DEVICE_VSOCK = 19,
	CONFIG_GUEST_CID = 0,
	QUEUE_RX = 0,
	QUEUE_TX = 1,
	QUEUE_EVENT = 2,
	PACKETS = 32,
	PACKET_BYTES = 4096 + VSOCK_HEADER_BYTES,
	EVENTS = 4,
	EVENT_BYTES = 8,
};

struct vsock {
	struct virtio_queue rx, tx, event;
	uint32_t free_count;
	uint32_t free_packet[PACKETS]; /* transmit buffers not held by the device */
	struct vsock_stream stream;
};

static uint64_t guest_cid(const struct vsock *vsock) { return virtio_config32(vsock->rx.device, CONFIG_GUEST_CID); }

static const char *start_device(struct vsock *vsock, uintptr_t device, struct arena *arena)
{
	const char *error = virtio_begin(device);

	if (!error)
		error = virtio_queue_init(&vsock->rx, device, QUEUE_RX, PACKETS, PACKET_BYTES, true, arena);
	if (!error)
		error = virtio_queue_init(&vsock->tx, device, QUEUE_TX, PACKETS, PACKET_BYTES, false, arena);
	if (!error)
		error = virtio_queue_init(&vsock->event, device, QUEUE_EVENT, EVENTS, EVENT_BYTES, true, arena);
	return error ? error : virtio_ready(device);
}

struct vsock *vsock_init(struct arena *arena, const struct machine *machine, uint32_t port, const char **error)
{
	uintptr_t device = virtio_find(machine, VIRTIO_DEVICE_VSOCK);
	struct vsock *vsock = arena_alloc_model(arena, 1, sizeof(*vsock), "vsock");

	*error = device ? start_device(vsock, device, arena) : "virtio: no vsock device (a modern one, on virtio-mmio)";
	if (*error)
		return NULL;
	vsock_stream_init(&vsock->stream, guest_cid(vsock), port);
	for (uint32_t i = 0; i < PACKETS; i++) {
		virtio_give(&vsock->rx, i, PACKET_BYTES);
		vsock->free_packet[vsock->free_count++] = i;
	}
	for (uint32_t i = 0; i < EVENTS; i++)
		virtio_give(&vsock->event, i, EVENT_BYTES);
	virtio_notify(&vsock->rx);
	virtio_notify(&vsock->event);
	return vsock;
}

static bool take_packets(struct vsock *vsock)
{
	uint32_t id, bytes;
	bool any = false;

	while (vsock_stream_can_take(&vsock->stream) && virtio_take(&vsock->rx, &id, &bytes)) {
		vsock_stream_take(&vsock->stream, virtio_buffer(&vsock->rx, id), bytes);
		/* vhost-device-vsock may return an unwritten buffer, after the end of a connection: the old packet must not be taken
		 * once more. A packet of zeros has no receiver. */
		memset(virtio_buffer(&vsock->rx, id), 0, VSOCK_HEADER_BYTES);
		virtio_give(&vsock->rx, id, PACKET_BYTES);
		any = true;
	}
	if (any)
		virtio_notify(&vsock->rx);
	return any;
}

/* The only event there is: transport reset (the guest was moved); the context id may be another one. */
static void take_events(struct vsock *vsock)
{
	uint32_t id, bytes;

	while (virtio_take(&vsock->event, &id, &bytes)) {
		vsock_stream_reset(&vsock->stream, guest_cid(vsock));
		virtio_give(&vsock->event, id, EVENT_BYTES);
		virtio_notify(&vsock->event);
	}
}

static bool send_packets(struct vsock *vsock)
{
	uint32_t id, bytes;
	bool any = false;

	while (vsock->free_count < PACKETS && virtio_take(&vsock->tx, &id, &bytes))
		vsock->free_packet[vsock->free_count++] = id;
	while (vsock->free_count) {
		id = vsock->free_packet[vsock->free_count - 1];
		bytes = (uint32_t)vsock_stream_next(&vsock->stream, virtio_buffer(&vsock->tx, id), PACKET_BYTES);
		if (!bytes)
			break;
		vsock->free_count--;
		virtio_give(&vsock->tx, id, bytes);
		any = true;
	}
	if (any)
		virtio_notify(&vsock->tx);
	return any;
}

HZ_FROZEN bool vsock_poll(struct vsock *vsock)
{
	bool took = take_packets(vsock);

	take_events(vsock);
	return send_packets(vsock) || took;
}

HZ_FROZEN bool vsock_connected(struct vsock *vsock)
{
	vsock_poll(vsock);
	return vsock_stream_connected(&vsock->stream);
}

HZ_FROZEN int vsock_recv(struct vsock *vsock, void *data, size_t bytes)
{
	vsock_poll(vsock);
	return vsock_stream_recv(&vsock->stream, data, bytes);
}

HZ_FROZEN int vsock_send(struct vsock *vsock, const void *data, size_t bytes)
{
	int accepted = vsock_stream_send(&vsock->stream, data, bytes);

	vsock_poll(vsock);
	return accepted;
}

HZ_FROZEN void vsock_close(struct vsock *vsock)
{
	vsock_stream_close(&vsock->stream);
	vsock_poll(vsock);
}
