/* Waiting for another hart with a frozen clock: noticed, told, ended. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "frozen.h"

#include <stdio.h>

#include "symbol.h"
#include "token.h"

enum { MOST_LOOKS = 1 << 20 }; /* at one word in one freeze */

static void end_run(const struct vc_hart *h, enum vc_kind kind)
{
	char title[480], pc[160], since[160];

	snprintf(title, sizeof(title),
		 "FROZEN WAIT: hart %u would have to wait for another hart at %s (%s), but its clock is frozen since %s", h->index,
		 vc_symbol(h->wait_pc, pc, sizeof(pc)), vc_kind_name(kind), vc_symbol(h->freeze_pc, since, sizeof(since)));
	vc_give_up("frozen-wait", title);
}

bool vc_frozen_wait(struct vc_hart *h, enum vc_kind kind)
{
	if (!h->frozen)
		return false;
	if (vc_holds(h) && vc.phase == VC_RUNNING && !vc.ended)
		end_run(h, kind);
	return true;
}

void vc_frozen_access(struct vc_hart *h, enum vc_kind kind, uint64_t address)
{
	if (h->looked_at != address)
		h->looks = 0;
	h->looked_at = address;
	if (++h->looks == MOST_LOOKS)
		vc_frozen_wait(h, kind);
}
