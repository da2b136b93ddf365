/* The watchdog thread: detects a token holder that cannot continue until the blocked harts do. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_SCHEDULE_WATCHDOG_H
#define VCLOCK_SCHEDULE_WATCHDOG_H

void vc_watchdog_start(void);

/* The dump of a deadlock: the address and lock that each hart waits for. */

void vc_dump_harts(const char *title);

#endif
