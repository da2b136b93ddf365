/* The one instance of the run's state, and the names of its enumerations. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "state.h"

#include <stdarg.h>
#include <stdio.h>

struct vclock vc = { .lock = PTHREAD_MUTEX_INITIALIZER, .holder = -1, .last = -1, .end = "killed" };

const char *vc_kind_name(enum vc_kind kind)
{
	static const char *const names[VC_KINDS] = {
		"amo",  "lr",        "sc",     "wrs.nto",   "wrs.sto", "pause",   "sync", "now",   "wait",   "wake",   "freeze",
		"thaw", "host-wait", "charge", "host-wake", "end",     "wfi",     "gate", "fence", "take",   "window", "copy",
		"fill", "lanes",     "lock",   "span",      "had",     "request", "stay", "look",  "looked", "data",   "native",
	};

	return kind < VC_KINDS ? names[kind] : "plain";
}

const char *vc_flag_name(enum vc_flag flag)
{
	static const char *const names[VC_FLAGS] = {
		"stopped", "flushed", "rescued", "wfi-woke", "reset", "unfrozen-host-wait",
	};

	return names[flag];
}

void vc_flag_run(enum vc_flag flag)
{
	if (!vc.ended)
		atomic_fetch_add(&vc.flags[flag], 1);
}

void vc_say(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "vclock: %s\n", text);
}
