/* Setting the clock of a hart that holds a lock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hold.h"

#include "clock.h"
#include "past.h"

static struct {
	uint64_t counted; /* instructions, when it was seen last */
	uint64_t rest;    /* thousandths of a cycle that are not yet in its clock */
} seen[VC_MAX_HARTS];

/* What was charged may be less than nothing. */
void vc_hold(struct vc_hart *h)
{
	uint64_t counted = vc_counted(h), cycles = (counted - seen[h->index].counted) * vc.options.cost.insn, more;

	seen[h->index].counted = counted;
	if (h->frozen || vc.ended || !vc_past_holds(h->index))
		return;
	seen[h->index].rest += cycles * vc.options.hold;
	more = seen[h->index].rest / 1000 - cycles;
	seen[h->index].rest %= 1000;
	h->base += more;
	h->charged += more;
}
