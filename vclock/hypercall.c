/* Dispatch of synchronisation instructions and hypercalls. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hypercall.h"

#include <string.h>

#include "cost/cache.h"
#include "cost/line.h"
#include "guest/cpu.h"
#include "guest/memory.h"
#include "lanes.h"
#include "native.h"
#include "profile/critical_path.h"
#include "profile/lock_profile.h"
#include "profile/timeline.h"
#include "race/race.h"
#include "schedule/clock.h"
#include "schedule/token.h"
#include "wait.h"

static void charge_time(struct vc_hart *h)
{
	uint64_t cycles = vc_duration_cycles(h->slot->arg0);

	h->base += cycles;
	h->charged += cycles;
	vc_show_frozen(h);
}

/* The reservation is used up whether the SC succeeds or fails. */
static void store_conditional(struct vc_hart *h)
{
	if (vc_holds(h) && !vc.ended)
		vc_pair_decide(h);
	else
		vc_pair_drop(h);
}

/* rs1 holds the address. A store buffer waits for its hart. */
static void wait_turn(struct vc_hart *h, enum vc_kind kind)
{
	uint32_t insn = vc_guest_instruction(h->wait_pc);

	if (!vc.options.store_buffer || kind != VC_AMO || !vc_class_releases(insn))
		vc_line_wait_turn(h, kind, vc_register(h->index, insn >> 15 & 31), kind != VC_LR || vc.options.lr_alone);
}

static void come_to_atomic(struct vc_hart *h, enum vc_kind kind)
{
	vc_order(h, kind);
	if (__builtin_expect(vc.options.turns, 0))
		wait_turn(h, kind);
}

static bool scales(void) { return vc.options.hold != 1000 || vc.options.pace_harts; }

/* What dispatch and vc_before do beside it depends on options only: jitter draws at sync points. */
bool vc_hypercall_is_simple(enum vc_kind kind)
{
	return (kind == VC_FREEZE || kind == VC_THAW || kind == VC_NOW) && !scales() && !vc.options.timeline;
}

static void dispatch(struct vc_hart *h, enum vc_kind kind)
{
	h->in_wfi = kind == VC_WFI_INSN;
	if (__builtin_expect(scales(), 0))
		vc_hold(h);
	if (__builtin_expect(vc.options.jitter.seed != 0, 0))
		vc_jitter(h, kind);
	switch (kind) {
	case VC_SC: come_to_atomic(h, kind); return store_conditional(h);
	case VC_AMO:
	case VC_LR: return come_to_atomic(h, kind);
	case VC_SYNC: return vc_order(h, kind);
	case VC_WRS_NTO:
	case VC_WRS_STO: return vc_wait_reservation(h, kind);
	case VC_PAUSE: return vc_pause(h);
	case VC_NOW: return vc_show_now(h);
	case VC_WAIT: return vc_wait_for_wake(h);
	case VC_WAKE: return vc_wake(h);
	case VC_FREEZE: return vc_freeze(h);
	case VC_THAW: return vc_thaw(h);
	case VC_HOST_WAIT: return vc_host_wait(h);
	case VC_CHARGE: return charge_time(h);
	case VC_HOST_WAKE: return vc_host_wake(h);
	case VC_TAKE: return vc_take(h);
	case VC_WINDOW: return vc_window(h);
	case VC_COPY: return vc_copy(h);
	case VC_FILL: return vc_fill(h);
	case VC_LANES: return vc_lanes(h);
	case VC_LOCK: vc_line_lock_event(h); return vc_lock_profile_event(h);
	case VC_HAD: return vc_logical_had(h);
	case VC_REQUEST: return vc_request_event(h);
	case VC_STAY: h->stays = true; return;
	case VC_LOOK:
	case VC_LOOKED: h->glances = kind == VC_LOOK; return;
	case VC_END: return vc_end_run(h, "end");
	case VC_GATE: return vc_gate(h);
	case VC_NATIVE: return vc_native(h);
	case VC_FENCE: return vc_race_fence(h);
	case VC_SPAN: /* for the timeline */
	case VC_WFI_INSN:
	case VC_DATA:
	case VC_PLAIN: return;
	}
}

void vc_before(struct vc_hart *h, enum vc_kind kind)
{
	if (__builtin_expect(!vc.options.timeline, 1))
		return dispatch(h, kind);
	vc_timeline_before(h);
	dispatch(h, kind);
	vc_timeline_after(h, kind);
}

/* Copies, fills and checksums in the guest's memory. */

void vc_window(struct vc_hart *h)
{
	const struct hz_vc_slot *slot = h->slot;

	vc_guest_window(slot->arg2, slot->arg0, slot->arg1);
	vc_native_window(slot->arg0, slot->arg1, slot->arg2);
}

/* False outside a freeze, where the hart's own instructions are the cost, and for a race check,
 * which must see each access. */
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

/* Setting the clock of a hart that holds a lock. */

static struct {
	uint64_t counted; /* instructions, when it was seen last */
	uint64_t rest;    /* millionths of a cycle that are not yet in its clock */
} seen[VC_MAX_HARTS];

/* Thousandths of what its instructions take, squared: of its sections and of the hart. */
static uint64_t scale(const struct vc_hart *h)
{
	uint64_t held = vc_past_holds(h->index, vc.options.hold_class) ? vc.options.hold : 1000;

	return held * (vc.options.pace_harts >> h->index & 1 ? vc.options.pace : 1000);
}

/* What was charged may be less than nothing. */
void vc_hold(struct vc_hart *h)
{
	uint64_t counted = vc_counted(h), cycles = (counted - seen[h->index].counted) * vc.options.cost.insn, more;

	seen[h->index].counted = counted;
	if (h->frozen || vc.ended)
		return;
	seen[h->index].rest += cycles * scale(h);
	more = seen[h->index].rest / 1000000 - cycles;
	seen[h->index].rest %= 1000000;
	h->base += more;
	h->charged += more;
}

/* Plain accesses that fetch lines. */

/* Returns when h has the smallest key; false: it has lost the token. */
static bool in_turn(struct vc_hart *h, uint64_t pc, uint64_t address, bool write)
{
	h->wait_pc = pc;
	if (scales())
		vc_hold(h);
	vc_order(h, VC_DATA);
	if (vc.options.turns)
		vc_line_wait_turn(h, VC_DATA, address, write);
	return vc_holds(h) && !vc.ended;
}

static void access_line(struct vc_hart *h, uint64_t pc, uint64_t address, bool write)
{
	struct vc_copies *copies = vc_cache_in_ram(address);

	if (!copies)
		return;
	if (!vc_cache_hit(h, copies, write)) {
		if (vc.options.data != HZ_DATA_ORDERED || h->stays || in_turn(h, pc, address, write))
			vc_line_data(h, address, write);
	} else if (write && !copies->dirty) {
		copies->dirty = true;
	}
}

void vc_data_access(struct vc_hart *h, uint64_t pc, uint64_t address, unsigned bytes, bool write)
{
	uint64_t last = address + bytes - 1;

	access_line(h, pc, address, write);
	if (__builtin_expect(last >> VC_LINE_SHIFT != address >> VC_LINE_SHIFT, 0) && vc_holds(h))
		access_line(h, pc, last, write);
}
