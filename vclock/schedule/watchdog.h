/* The watchdog thread: notices a token holder that cannot go on until the blocked harts do. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_SCHEDULE_WATCHDOG_H
#define VCLOCK_SCHEDULE_WATCHDOG_H

void vc_watchdog_start(void);

/* The dump of a deadlock: for every hart where it waits, for which address and lock. */

void vc_dump_harts(const char *title);

#endif
