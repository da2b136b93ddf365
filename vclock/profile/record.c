/* Writing the recording. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "schedule/clock.h"

static FILE *file;
static bool goes;
static struct {
	uint64_t instructions; /* counted when it last accessed a word that synchronises */
	bool gives;            /* a lock back, with the next access */
} stands[VC_MAX_HARTS];

bool vc_record_open(void)
{
	if (!vc.options.recording)
		return true;
	file = fopen(vc.options.recording, "we");
	if (!file)
		vc_say("cannot write %s: %s", vc.options.recording, strerror(errno));
	return file != NULL;
}

/* more: 0: nothing. */
static void write_event(const struct vc_hart *h, char letter, uint64_t what, uint64_t more)
{
	fprintf(file, "%c %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, letter, h->index, vc_clock(h), h->stalled, h->waited,
		what);
	if (more)
		fprintf(file, " %" PRIu64, more);
	fputc('\n', file);
}

static void begin(void)
{
	rewind(file);
	goes = ftruncate(fileno(file), 0) == 0;
}

static void finish(void)
{
	goes = false;
	fflush(file);
}

/* Of a lock's event: 0: it is of no interest. */
static char letter_of(enum hz_vc_lock_event event)
{
	switch (event) {
	case HZ_VC_LOCK_ASKED: return 'A';
	case HZ_VC_LOCK_WAITED: return 'W';
	case HZ_VC_LOCK_GOT: return 'G';
	case HZ_VC_LOCK_GOT_SHARED: return 'S';
	case HZ_VC_LOCK_GIVEN: return 'R';
	default: return 0;
	}
}

void vc_record_lock(const struct vc_hart *h, enum hz_vc_lock_event event, uint64_t what)
{
	if (!file)
		return;
	if (event == HZ_VC_LOCKS_RESET)
		begin();
	else if (goes && event == HZ_VC_LOCKS_REPORTED)
		finish();
	else if (goes && event == HZ_VC_LOGICAL_ENDED)
		write_event(h, 'E', h->slot->arg2, 0);
	else if (goes && letter_of(event))
		write_event(h, letter_of(event), what, (vc_counted(h) - stands[h->index].instructions) * vc.options.cost.insn);
	if (letter_of(event))
		stands[h->index].gives = event == HZ_VC_LOCK_GIVEN;
}

void vc_record_access(const struct vc_hart *h)
{
	if (h->frozen)
		return;
	stands[h->index].instructions = vc_counted(h);
	if (goes && stands[h->index].gives)
		write_event(h, 'o', 0, 0);
	stands[h->index].gives = false;
}

void vc_record_request(const struct vc_hart *h, enum hz_vc_hint event, uint64_t request)
{
	static const char letters[] = "frlkdxee";
	const struct hz_vc_slot *slot = h->slot;
	uint64_t until_ns = event == HZ_VC_FLASH_READ ? slot->arg2 : event == HZ_VC_LINKS ? slot->arg0 : 0;

	if (goes)
		write_event(h, letters[event - HZ_VC_FETCHED], request, vc_duration_cycles(until_ns));
}

void vc_record_span(const struct vc_hart *h)
{
	const struct hz_vc_slot *slot = h->slot;

	if (goes)
		fprintf(file, "p %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32 "\n",
			h->index, vc_clock(h), h->stalled, h->waited, vc_duration_cycles(slot->arg0), vc_duration_cycles(slot->arg1),
			HZ_VC_SPAN_DIE(slot->arg2), HZ_VC_SPAN_OP(slot->arg2));
}

void vc_record_completion(const struct vc_hart *h)
{
	if (goes)
		write_event(h, 'c', 0, 0);
}
