/* A policy of garbage collection: the opposite of FIFO. The youngest that is mostly valid would be taken again and again, so a key says how
 * much of it may be valid. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "device_config.h"
#include "gc/victim.h"

static bool may_go(const struct gc_view *view, const struct gc_candidate *candidate)
{
	return candidate->valid * 100 <= view->capacity * view->cfg->youngest_percent;
}

bool gc_youngest(const struct gc_view *view, const struct gc_candidate *a, const struct gc_candidate *b)
{
	if (!may_go(view, a) || !may_go(view, b))
		return a->valid != b->valid ? a->valid < b->valid : a->order < b->order;
	return a->filled > b->filled;
}
