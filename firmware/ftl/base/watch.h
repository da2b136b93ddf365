/* Who is told of zones that the device itself changes, and of superblocks that it retires. Owned by who gives it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_WATCH_H
#define FTL_WATCH_H

#include "lt/arch.h"
#include "lt/event.h"

struct ftl;

struct ftl_watch {
	struct lt_event event;
	const struct lt_thread *thread;
	void (*changed)(struct ftl_watch *watch); /* runs on thread's hart after changes, one call for any number of them */
	lt_word posted;                           /* 1: event is posted */
};

/* Something has changed that the watch is told of. Any hart, any lock. */
void watch_tell(struct ftl *ftl);

#endif
