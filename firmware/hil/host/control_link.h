/* Register link: 16-byte records of protocol/register_link.h over a byte stream that may cut them anywhere. Carries them; what a register
 * does is known above. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_CONTROL_LINK_H
#define HIL_CONTROL_LINK_H

#include "hil/host/host.h"
#include "register_link.h"

enum { CONTROL_LINK_OUT = 64 }; /* answers that may wait for the stream */

/* Whom the records are for. Clock frozen. */
struct link_client {
	void *ctx;
	/* False: an access that the register does not allow, and nothing happened. read changes nothing. */
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
	bool overdue; /* what waits has no place in device time (queue/horizon.c): act at the next chance */
	uint8_t out[CONTROL_LINK_OUT * sizeof(struct hz_link_message)];
};

/* Something is there that control_link_act would act upon. */
static inline bool control_link_waits(const struct control_link *link) { return link->lost || link->in_bytes == sizeof(link->in); }

/* host and irq must outlive the link; *client is copied. */
void control_link_init(struct control_link *link, struct host *host, struct interrupts *irq, const struct link_client *client);
/* Takes in what has come and answers it as long as it changes nothing (register reads); a write, or that the host has left, waits
 * for control_link_act. Sends answers and interrupts. Clock frozen. Bounded by what the output buffer holds. */
void control_link_hear(struct control_link *link);
/* Acts upon what waits; false if nothing does. Clock frozen. */
bool control_link_act(struct control_link *link);
/* Hears and acts until nothing is left. For the real clock: under the virtual one it matters when a message is acted upon. */
void control_link_poll(struct control_link *link);
/* True if the record obeys register_link.h, whatever it asks for. */
bool control_link_legal(const struct hz_link_message *message);

#endif
