/* Register link: 16-byte records of protocol/register_link.h over a byte stream that may cut them anywhere. Transport only; the layer
 * above implements the registers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_CONTROL_LINK_H
#define HIL_CONTROL_LINK_H

#include <string.h>

#include "hil/host/host.h"
#include "register_link.h"

enum { CONTROL_LINK_OUT = 64 }; /* answers waiting for the stream */

/* Receiver of the records. Clock frozen. */
struct link_client {
	void *ctx;
	/* False: the register does not allow the access, and nothing happened. read changes nothing. */
	bool (*read)(void *ctx, uint32_t offset, unsigned size, uint64_t *value);
	bool (*write)(void *ctx, uint32_t offset, unsigned size, uint64_t value);
	/* The host has left, or was sent away for breaking the protocol. */
	void (*hung_up)(void *ctx);
};

struct control_link {
	struct host *host;
	struct interrupts *irq;
	struct link_client client;
	uint8_t in[sizeof(struct hz_link_message)];
	uint32_t in_bytes;
	uint32_t out_bytes;
	bool lost;    /* the host has left; not acted upon yet */
	bool gone;    /* acted upon, and nothing has come since */
	bool overdue; /* the waiting record has no place in device time (queue/horizon.c): act at the next chance */
	uint8_t out[CONTROL_LINK_OUT * sizeof(struct hz_link_message)];
};

/* True if control_link_act has work. */
static inline bool control_link_waits(const struct control_link *link) { return link->lost || link->in_bytes == sizeof(link->in); }

static inline bool control_link_full(const struct control_link *link)
{
	return link->out_bytes + sizeof(struct hz_link_message) > sizeof(link->out);
}

static inline void control_link_put(struct control_link *link, const struct hz_link_message *message)
{
	memcpy(link->out + link->out_bytes, message, sizeof(*message));
	link->out_bytes += sizeof(*message);
}

/* host and irq must outlive the link; *client is copied. */
void control_link_init(struct control_link *link, struct host *host, struct interrupts *irq, const struct link_client *client);
/* Take in received bytes; answer records without an effect (register reads); a write, or the end of the connection, waits for
 * control_link_act. Send answers and interrupts. Clock frozen. Bounded by the room in the output buffer. */
void control_link_hear(struct control_link *link);
/* Act upon a waiting record; false if there is none. Clock frozen. */
bool control_link_act(struct control_link *link);
/* Answer a record in `in` that only reads a register; false if it is another one. Clock frozen. */
bool control_link_answer_read(struct control_link *link);
/* Send what is in `out`, as far as there is room for it. Clock frozen. */
void control_link_flush(struct control_link *link);
/* Hears and acts until nothing is left. For the real clock: under the virtual one it matters when a message is acted upon. */
void control_link_poll(struct control_link *link);
/* True if the record obeys register_link.h, for any register. */
bool control_link_legal(const struct hz_link_message *message);

#endif
