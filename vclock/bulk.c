/* Copies, fills and checksums in the guest's memory. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "bulk.h"

#include <string.h>

#include "lanes.h"
#include "memory.h"

void vc_window(struct vc_hart *h)
{
	const struct hz_vc_slot *slot = h->slot;

	vc_guest_window(slot->arg2, slot->arg0, slot->arg1);
}

/* Outside a freeze the hart's own instructions are what its work costs; a race check has to see each access. */
static bool may_help(const struct vc_hart *h) { return h->frozen && !vc.options.race_check; }

static void done(struct hz_vc_slot *slot)
{
	vc.bulk_bytes += slot->arg2;
	slot->arg2 = 0;
}

void vc_copy(struct vc_hart *h)
{
	struct hz_vc_slot *slot = h->slot;
	uint64_t bytes = slot->arg2;
	void *to = may_help(h) ? vc_guest_bulk(slot->arg0, bytes) : NULL;
	const void *from = to ? vc_guest_bulk(slot->arg1, bytes) : NULL;

	if (!from)
		return;
	memmove(to, from, bytes);
	done(slot);
}

void vc_fill(struct vc_hart *h)
{
	struct hz_vc_slot *slot = h->slot;
	void *to = may_help(h) ? vc_guest_bulk(slot->arg0, slot->arg2) : NULL;

	if (!to)
		return;
	memset(to, (int)(slot->arg1 & 0xff), slot->arg2);
	done(slot);
}

void vc_lanes(struct vc_hart *h)
{
	struct hz_vc_slot *slot = h->slot;
	uint64_t bytes = slot->arg2;
	struct hz_lanes *lanes = may_help(h) && slot->arg0 % 8 == 0 ? vc_guest_bulk(slot->arg0, sizeof(*lanes)) : NULL;
	const void *data = lanes && slot->arg1 % 8 == 0 && bytes % 32 == 0 ? vc_guest_bulk(slot->arg1, bytes) : NULL;

	if (!data)
		return;
	hz_lanes_mix(lanes, data, bytes);
	done(slot);
}
