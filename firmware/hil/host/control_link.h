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
	bool lost;               /* the host has left; not acted upon yet */
	bool overdue;            /* what waits has no place in device time (horizon.c): act at the next chance */
	uint8_t out[CONTROL_LINK_OUT * sizeof(struct hz_link_message)];
};

/* Something is there that control_link_act would act upon. */
static inline bool control_link_waits(const struct control_link *link)
{
	return link->lost || link->in_bytes == sizeof(link->in);
}

struct hil;
/* Takes in what has come and answers it as long as it changes nothing (register reads); a write, or that the host has left, waits
 * for control_link_act. Sends answers and interrupts. Clock frozen. Bounded by what the output buffer holds. */
void control_link_hear(struct hil *hil);
/* Acts upon what waits; false if nothing does. Clock frozen. */
bool control_link_act(struct hil *hil);
/* Hears and acts until nothing is left. For the real clock: under the virtual one it matters when a message is acted upon (horizon.c). */
void control_link_poll(struct hil *hil);
/* One turn's share: while the device is busy, looks often enough for a host that wants to reset it. Under the virtual clock it only
 * hears, unless a message is overdue: when one is acted upon must not depend on when it came. Clock frozen. */
void control_link_turn(struct hil *hil, bool idle);
/* True if the record obeys link.h, whatever it asks for. */
bool control_link_legal(const struct hz_link_message *message);

#endif
