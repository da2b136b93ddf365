/* The controller's life: which state may follow which. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/life.h"

#include "lt/arch.h"

void life_set(struct life *life, enum life_state to)
{
	static const uint8_t may_follow[] = {
		[LIFE_DISABLED] = 1 << LIFE_READY | 1 << LIFE_FAILED,
		[LIFE_READY] = 1 << LIFE_RESETTING,
		[LIFE_RESETTING] = 1 << LIFE_DISABLED,
		[LIFE_FAILED] = 1 << LIFE_DISABLED,
	};

	if (!(may_follow[life->state] >> to & 1))
		lt_fail("life_set: impossible change of the controller's life");
	life->state = to;
}
