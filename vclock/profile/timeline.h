/* The timeline of a run (option timeline=FILE): idle times and lock waits of each hart, and the die
 * operations that the firmware reports by HZ_VC_SPAN. It begins when the firmware resets its
 * statistics and ends when it reports them. Recording costs no device time.
 *
 * One line each: "idle HART BEGIN END", "wait HART CLASS INDEX BEGIN END", "die DIE OP CAUSE BEGIN
 * END", all in ns; last "left-out COUNT", the number of spans beyond VC_TIMELINE_SPANS. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_PROFILE_TIMELINE_H
#define VCLOCK_PROFILE_TIMELINE_H

#include "base/state.h"

enum {
	VC_TIMELINE_SPANS = 1 << 18,
	VC_TIMELINE_LEAST_NS = 50, /* shortest idle span; a shorter one belongs to the work around it */
};

/* Before and after each synchronisation instruction of h. */
void vc_timeline_before(struct vc_hart *h);
void vc_timeline_after(struct vc_hart *h, enum vc_kind kind);
/* Write the file, at the end of the run. */
void vc_timeline_write(void);

#endif
