/* Dispatch of synchronisation instructions and hints. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hint.h"

#include "bulk.h"
#include "class.h"
#include "hold.h"
#include "host_wait.h"
#include "jitter.h"
#include "ledger.h"
#include "line.h"
#include "logical.h"
#include "memory.h"
#include "pair.h"
#include "race.h"
#include "record.h"
#include "registers.h"
#include "request.h"
#include "timeline.h"
#include "token.h"
#include "wait.h"

static void show_now(struct vc_hart *h) { h->slot->now_ns = vc_cycles_to_ns(vc_clock(h)); }

static void charge_time(struct vc_hart *h)
{
	uint64_t cycles = vc_duration_cycles(h->slot->arg0);

	h->base += cycles;
	h->charged += cycles;
}

/* Succeed or fail, the reservation is used up. */
static void store_conditional(struct vc_hart *h)
{
	if (vc_holds(h) && !vc.ended)
		vc_pair_decide(h);
	else
		vc_pair_drop(h);
}

/* What rs1 holds is the address. A store buffer waits for its hart. */
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

static void dispatch(struct vc_hart *h, enum vc_kind kind)
{
	if (__builtin_expect(vc.options.recording && (kind == VC_AMO || kind == VC_LR || kind == VC_SC), 0))
		vc_record_access(h);
	h->in_wfi = kind == VC_WFI_INSN;
	if (__builtin_expect(vc.options.hold != 1000, 0))
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
	case VC_NOW: return show_now(h);
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
	case VC_LOCK: return vc_ledger_event(h);
	case VC_HAD: return vc_logical_had(h);
	case VC_REQUEST: return vc_request_event(h);
	case VC_SPAN: return vc_record_span(h);
	case VC_END: return vc_end_run(h, "end");
	case VC_GATE: return vc_gate(h);
	case VC_FENCE: return vc_race_fence(h);
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
