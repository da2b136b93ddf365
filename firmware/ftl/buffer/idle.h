/* Idle buffers: one that holds data which are not durable and has got no new ones for buffer_idle_ns is flushed, as if a host had
 * asked for it. Device time; with buffer_idle_ns 0 no timer is ever armed. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_IDLE_H
#define FTL_IDLE_H

#include "lt/event.h"

struct ftl_worker;
struct write_buffer;
struct extent;

/* A timer belongs to the hart that armed it, so it is never moved: data only leave their time in the buffer, and a timer that runs
 * too early arms itself again. */
struct idle_watch {
	struct lt_timer timer;     /* first: leads back to its bank, whose first member this is */
	struct ftl_worker *worker; /* on whose hart it runs; of whoever set `armed` */
	lt_word armed;             /* 1: the timer is armed or about to be */
	uint64_t last_ns;          /* when data last landed; under the zone's lock, as all of the buffer's content */
};

/* Zone lock held: data have landed in the zone's buffer. */
void idle_touch(struct ftl_worker *self, struct extent *ext);

#endif
