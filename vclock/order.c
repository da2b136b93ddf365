/* The trace of order points: clock, hart, instruction, pc; one line each. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "order.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static FILE *trace;

bool vc_order_start(void)
{
	vc.order_hash = 0xcbf29ce484222325ull;
	if (!vc.options.trace)
		return true;
	trace = fopen(vc.options.trace, "we");
	if (!trace)
		vc_say("cannot write %s: %s", vc.options.trace, strerror(errno));
	return trace != NULL;
}

void vc_order_trace(const struct vc_hart *h, enum vc_kind kind)
{
	fprintf(trace, "%" PRIu64 " %u %s 0x%" PRIx64 "\n", vc_clock(h), h->index, vc_kind_name(kind), h->wait_pc);
}
