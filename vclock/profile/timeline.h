/* The timeline of a run (option timeline=FILE): when each hart was idle or waited for a lock, and what the firmware tells of its dies by
 * HZ_VC_SPAN. It begins when the firmware resets its statistics, and ends when these are reported. Looking on costs no device time.
 *
 * A line each: "idle HART BEGIN END", "wait HART CLASS INDEX BEGIN END", "die DIE OP CAUSE BEGIN END", all in ns; last "left-out COUNT",
 * of those that came when VC_TIMELINE_SPANS were there. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_PROFILE_TIMELINE_H
#define VCLOCK_PROFILE_TIMELINE_H

#include "base/state.h"

enum {
	VC_TIMELINE_SPANS = 1 << 18,
	VC_TIMELINE_LEAST_NS = 50, /* of being idle: what is shorter belongs to the work around it */
};

/* Before and after each synchronisation instruction of h. */
void vc_timeline_before(struct vc_hart *h);
void vc_timeline_after(struct vc_hart *h, enum vc_kind kind);
/* The file, at the end of the run. */
void vc_timeline_write(void);

#endif
