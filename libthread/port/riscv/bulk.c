/* Bulk work on bare metal: the plugin is asked first, if there is one and the work is worth it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/bulk.h"

#include <string.h>

#include "lt/arch.h"

enum { WORTH_ASKING = 256 };

static bool state_work(const void *to, uint64_t from, size_t bytes)
{
	struct hz_vc_slot *slot = lt_vc_slot();

	if (bytes < WORTH_ASKING || !clock_is_virtual())
		return false;
	slot->arg0 = (uintptr_t)to;
	slot->arg1 = from;
	slot->arg2 = bytes;
	return true;
}

static bool is_done(void) { return *(volatile uint64_t *)&lt_vc_slot()->arg2 == 0; }

void bulk_copy(void *dst, const void *src, size_t bytes)
{
	if (state_work(dst, (uintptr_t)src, bytes)) {
		LT_HYPERCALL(HZ_VC_COPY);
		if (is_done())
			return;
	}
	memcpy(dst, src, bytes);
}

void bulk_fill(void *dst, uint8_t value, size_t bytes)
{
	if (state_work(dst, value, bytes)) {
		LT_HYPERCALL(HZ_VC_FILL);
		if (is_done())
			return;
	}
	memset(dst, value, bytes);
}

void bulk_lanes(struct hz_lanes *lanes, const void *data, size_t bytes)
{
	if (state_work(lanes, (uintptr_t)data, bytes)) {
		LT_HYPERCALL(HZ_VC_LANES);
		if (is_done())
			return;
	}
	hz_lanes_mix(lanes, data, bytes);
}
