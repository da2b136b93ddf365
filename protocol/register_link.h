/* Messages of the register link (virtio-vsock byte stream): fixed 16-byte records, little-endian, both directions.
 *
 * The firmware listens on HZ_CONTROL_PORT; one connection at a time. The host sends READ and WRITE and gets one answer for each, in
 * order. The firmware sends IRQ on its own when a CQE was posted on a queue whose vector is enabled (admin queue always). The map is
 * 0x00…0x6b and the doorbells 0x1000…0x1207. A record with an unknown type, a size other than 4 and 8, an offset that is no multiple of
 * 4 or outside the map breaks the protocol: the firmware closes the connection, the device stays up. Inside the map, ERROR answers a
 * write to a read-only or reserved register and an 8-byte access to anything but CAP, ASQ and ACQ. Under the virtual clock a READ is
 * answered at any time; a WRITE, or the connection's end, is acted upon where device time stands by the host's earlier words in shm.h
 * (docs/internals/virtual-clock.md), so its answer may wait for promised commands. When the connection ends without a shutdown the
 * controller resets itself (CC.EN = 0), so that the next host finds it idle. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_REGISTER_LINK_H
#define HZ_PROTOCOL_REGISTER_LINK_H

#include "base.h"

enum hz_link_type {
	HZ_LINK_READ = 1,  /* host: read `size` bytes of register `offset` */
	HZ_LINK_WRITE = 2, /* host: write `value`; doorbells at 0x1000 + (2*qid + is_cq)*4 too */
	HZ_LINK_VALUE = 3, /* firmware: answer to READ */
	HZ_LINK_DONE = 4,  /* firmware: answer to WRITE */
	HZ_LINK_ERROR = 5, /* firmware: answer to a READ or WRITE of an illegal register; nothing happened */
	HZ_LINK_IRQ = 6,   /* firmware: vector `offset` fired */
};

struct hz_link_message {
	uint8_t type;    /* enum hz_link_type */
	uint8_t size;    /* 4 or 8 for READ and WRITE */
	uint16_t tag;    /* chosen by the asker, echoed */
	uint32_t offset; /* register offset in BAR0 terms (NVMe base spec 3.1.3), or vector */
	uint64_t value;
};
HZ_ASSERT_SIZE(struct hz_link_message, 16);

#endif
