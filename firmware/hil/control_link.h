/* Register link: 16-byte records of protocol/register_link.h over a byte stream that may cut them anywhere. */
#ifndef HIL_CONTROL_LINK_H
#define HIL_CONTROL_LINK_H

#include <stdbool.h>

#include "register_link.h"

enum { CONTROL_LINK_OUT = 64 }; /* answers that may wait for the stream */

struct control_link {
	uint8_t in[sizeof(struct hz_link_message)];
	uint32_t in_bytes;
	uint32_t out_bytes;
	uint8_t out[CONTROL_LINK_OUT * sizeof(struct hz_link_message)];
};

struct hil;
/* Handles everything that has come; sends answers and interrupts. Clock frozen. Bounded by what the output buffer holds. */
void control_link_poll(struct hil *hil);
/* True if the record obeys link.h, whatever it asks for. */
bool control_link_legal(const struct hz_link_message *message);

#endif
