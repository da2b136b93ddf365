/* Calls of the native image on bare metal. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/native.h"

typedef uint64_t function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/* Inside its hint the plugin changes the call. */
HZ_FROZEN bool lt_native_run(struct hz_native_call *call)
{
	const uint64_t *argument = call->argument;

	call->state = HZ_NATIVE_ASKED;
	for (;;) {
		lt_vc_slot()->arg0 = (uintptr_t)call;
		LT_VC_HINT(HZ_VC_NATIVE);
		if (call->state != HZ_NATIVE_ASKS)
			return call->state == HZ_NATIVE_DONE;
		call->result = ((function *)(uintptr_t)call->function)(argument[0], argument[1], argument[2], argument[3], argument[4],
								       argument[5]);
	}
}
