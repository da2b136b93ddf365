/* Telling of logical locks. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/logical.h"

#include "stats.h"

/* noinline: keeps freeze and thaw paired on one exit. */
static __attribute__((noinline)) void tell_logical(enum hz_vc_lock_event event, unsigned logical_lock, uint32_t index, const void *waiter)
{
	if (lt_profile_enabled())
		lt_tell_lock(event, logical_lock, index, waiter);
}

void lt_logical_wait(unsigned logical_lock, uint32_t index, const void *waiter)
{
	clock_freeze();
	tell_logical(HZ_VC_LOGICAL_ASKED, logical_lock, index, waiter);
	clock_thaw();
}

void lt_logical_wait_ended(const void *waiter)
{
	clock_freeze();
	tell_logical(HZ_VC_LOGICAL_ENDED, 0, 0, waiter);
	clock_thaw();
}
