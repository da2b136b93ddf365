/* A recording of what a study needs to ask what other locks would do (option recording=FILE): what harts did with locks and requests, when.
 *
 * From the reset of the statistics to their first report. A line is an event: letter, hart, its clock, of which it was stalled, of which
 * it waited, and what about: a lock (HZ_VC_LOCK) or the address of a request. docs/virtual-clock.md has the letters. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_PROFILE_RECORD_H
#define VCLOCK_PROFILE_RECORD_H

#include "base/state.h"

/* False: the file cannot be written, as was said. */
bool vc_record_open(void);
/* A lock's event, or one of all statistics. */
void vc_record_lock(const struct vc_hart *h, enum hz_vc_lock_event event, uint64_t what);
/* A request's. */
void vc_record_request(const struct vc_hart *h, enum hz_vc_hint event, uint64_t request);
/* HZ_VC_SPAN: what a die did is over. */
void vc_record_span(const struct vc_hart *h);
/* It is about to access a word that synchronises. */
void vc_record_access(const struct vc_hart *h);
/* A completion is about to be posted. */
void vc_record_completion(const struct vc_hart *h);

#endif
