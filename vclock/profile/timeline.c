/* Recording of the timeline. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/clock.h"
#include "schedule/token.h"

enum span_kind { IDLE, WAIT, DIE };
struct span {
	uint64_t begin_ns, end_ns;
	uint64_t what; /* HZ_VC_LOCK of a wait, HZ_VC_SPAN_OF of a die */
	uint32_t kind, hart;
};

static struct {
	struct span *spans;
	uint64_t count, left_out;
	bool open;
} timeline;

/* State of a hart at its synchronisation instruction. */
static struct {
	uint64_t came_ns;
	uint64_t lock, since_ns; /* the spin lock that it waits for; 0: none */
} stands[VC_MAX_HARTS];

static void add(enum span_kind kind, uint32_t hart, uint64_t what, uint64_t begin_ns, uint64_t end_ns)
{
	if (!timeline.open)
		return;
	if (timeline.count == VC_TIMELINE_SPANS)
		timeline.left_out++;
	else
		timeline.spans[timeline.count++] =
			(struct span){ .begin_ns = begin_ns, .end_ns = end_ns, .what = what, .kind = kind, .hart = hart };
}

static void begin_anew(void)
{
	if (!timeline.spans)
		timeline.spans = calloc(VC_TIMELINE_SPANS, sizeof(*timeline.spans));
	timeline.open = timeline.spans != NULL;
	timeline.count = timeline.left_out = 0;
}

/* The firmware writes the lock that it waits for to its slot, in a freeze that a hypercall follows. */
static void look_for_wait(struct vc_hart *h, uint64_t now_ns)
{
	uint64_t lock = h->slot->waiting_for;

	if (stands[h->index].lock && !lock)
		add(WAIT, h->index, stands[h->index].lock, stands[h->index].since_ns, now_ns);
	stands[h->index].lock = lock;
	stands[h->index].since_ns = h->slot->waiting_since_ns;
}

void vc_timeline_before(struct vc_hart *h)
{
	stands[h->index].came_ns = vc_cycles_to_ns(vc_clock(h));
	if (h->slot)
		look_for_wait(h, stands[h->index].came_ns);
}

static void lock_event(uint64_t event)
{
	if (event == HZ_VC_LOCKS_RESET)
		begin_anew();
	if (event == HZ_VC_LOCKS_REPORTED)
		timeline.open = false;
}

void vc_timeline_after(struct vc_hart *h, enum vc_kind kind)
{
	uint64_t came_ns = stands[h->index].came_ns, now_ns = vc_cycles_to_ns(vc_clock(h));

	if (vc.ended || !h->slot || !vc_holds(h))
		return;
	if (kind == VC_LOCK)
		lock_event(h->slot->arg0);
	else if (kind == VC_SPAN)
		add(DIE, h->index, h->slot->arg2, h->slot->arg0, h->slot->arg1);
	else if (!stands[h->index].lock && now_ns >= came_ns + VC_TIMELINE_LEAST_NS)
		add(IDLE, h->index, 0, came_ns, now_ns);
}

static void write_span(FILE *out, const struct span *span)
{
	if (span->kind == IDLE)
		fprintf(out, "idle %u", span->hart);
	else if (span->kind == WAIT)
		fprintf(out, "wait %u %u %u", span->hart, HZ_VC_LOCK_CLASS(span->what), HZ_VC_LOCK_INDEX(span->what));
	else
		fprintf(out, "die %u %u %u", HZ_VC_SPAN_DIE(span->what), HZ_VC_SPAN_OP(span->what), HZ_VC_SPAN_CAUSE(span->what));
	fprintf(out, " %" PRIu64 " %" PRIu64 "\n", span->begin_ns, span->end_ns);
}

void vc_timeline_write(void)
{
	FILE *out = fopen(vc.options.timeline, "we");

	if (!out) {
		vc_say("cannot write %s: %s", vc.options.timeline, strerror(errno));
		return;
	}
	for (uint64_t i = 0; i < timeline.count; i++)
		write_span(out, &timeline.spans[i]);
	fprintf(out, "left-out %" PRIu64 "\n", timeline.left_out);
	if (fclose(out))
		vc_say("cannot write %s: %s", vc.options.timeline, strerror(errno));
}
