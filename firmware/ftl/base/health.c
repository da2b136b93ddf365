/* Notifying the watch: at most one event is pending. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/health.h"

#include "base/context.h"

static void watch_run(struct lt_event *event)
{
	struct ftl_watch *watch = (struct ftl_watch *)((char *)event - offsetof(struct ftl_watch, event));

	lt_swap(&watch->posted, 0);
	watch->changed(watch);
}

/* Post once until it runs: the event also covers changes made meanwhile. */
void watch_tell(struct ftl *ftl)
{
	struct ftl_watch *watch = ftl->watch;

	if (watch && lt_cas(&watch->posted, 0, 1))
		lt_post(watch->thread, &watch->event, watch_run);
}
