/* The bus of a channel: one transfer at a time, commands first, then data, each in the order of readiness. Hardware, too. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_CHANNEL_H
#define TSU_CHANNEL_H

#include "tsu/event_wheel.h"
#include "tsu/tsu_usage.h"

struct tsu_thread;

/* A command to the cells goes before data: it takes the bus for an instant and lets another die work meanwhile. Without this, dies
 * reading in step stay in step and leave the bus idle. No starvation: between two commands of a die lies its transfer. */
enum bus_wish { WISH_COMMAND, WISH_DATA };

/* A place in a channel's queue. granted: the bus is free for it at at_ns; set once, by the owner of the place. */
struct bus_wait {
	struct bus_wait *next;
	void (*granted)(struct bus_wait *wait, uint64_t at_ns);
	uint64_t ready_ns;
};

struct tsu_channel {
	struct wheel_node bus_free; /* while dies wait */
	struct tsu_thread *thread;
	struct wait_fifo {
		struct bus_wait *head, *tail;
	} waiting[2]; /* enum bus_wish: in the order of readiness */
	struct tsu_usage usage;
	bool armed; /* bus_free is in the wheel */
	bool heard; /* … for the second time: requests at the instant when the bus becomes free have been made */
};

void channel_init(struct tsu_channel *channel, struct tsu_thread *thread, uint64_t now_ns);
/* wait->granted follows, now or later. */
void channel_request(struct tsu_channel *channel, struct bus_wait *wait, enum bus_wish wish, uint64_t ready_ns);
/* Occupy the bus for ns from start_ns (or when it is free); returns the begin. */
uint64_t channel_use(struct tsu_channel *channel, uint64_t start_ns, uint64_t ns);
/* Would a request at at_ns have to wait? */
bool channel_is_wanted(const struct tsu_channel *channel, uint64_t at_ns);

#endif
