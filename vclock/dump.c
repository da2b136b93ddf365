/* The dump of a deadlock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "dump.h"

#include <stdio.h>

#include "clock.h"
#include "symbol.h"

static const char *lock_name(uint64_t what, char *text, size_t bytes)
{
	static const char *const classes[] = {
#define HZ_LOCK_CLASS(constant, name, ...) #name,
#include "lock_classes.def"
	};
	uint32_t lock_class = HZ_VC_LOCK_CLASS(what);
	const char *name = lock_class < sizeof(classes) / sizeof(classes[0]) ? classes[lock_class] : "unknown";

	if (!what)
		return "";
	snprintf(text, bytes, ", lock %s[%u]", name, HZ_VC_LOCK_INDEX(what));
	return text;
}

static void dump_parked(const struct vc_hart *h)
{
	char pc[160], word[160], lock[64];
	unsigned long long now = vc_cycles_to_ns(vc_clock(h));

	if (h->wait_kind == VC_WAIT)
		vc_say("  hart %u: waits for a wake since %llu ns at %s", h->index, now, vc_symbol(h->wait_pc, pc, sizeof(pc)));
	else
		vc_say("  hart %u: waits for %s%s since %llu ns at %s", h->index, vc_symbol(h->reserved_address, word, sizeof(word)),
		       lock_name(h->slot->waiting_for, lock, sizeof(lock)), now, vc_symbol(h->wait_pc, pc, sizeof(pc)));
}

void vc_dump_harts(const char *title)
{
	static const char *const states[] = { "not started", "ready",         "running", "ready",
					      "parked",      "halted by WFI", "stopped", "running without the token" };
	char pc[160], lock[64];

	vc_say("%s", title);
	for (unsigned i = 0; i < vc.harts; i++) {
		const struct vc_hart *h = &vc.hart[i];

		if (h->state == VC_PARKED)
			dump_parked(h);
		else
			vc_say("  hart %u: %s%s, last order point at %s", i, states[h->state],
			       lock_name(h->slot->waiting_for, lock, sizeof(lock)), vc_symbol(h->wait_pc, pc, sizeof(pc)));
	}
}
