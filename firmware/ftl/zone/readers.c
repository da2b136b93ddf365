/* What readers do for those who wait for them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/readers.h"

void readers_look(struct ftl_worker *self, struct zone *zone)
{
	struct lt_lock_node node;

	lt_lock_acquire(&zone->ext.lock, &node);
	lt_and(&zone->readers_ended, ~(uint64_t)READERS_AWAITED); /* if it is still too early, the pump marks it again */
	extent_pump(self, &zone->ext);
	lt_lock_release(&zone->ext.lock, &node);
}
