/* The watchdog thread: notices a token holder that cannot go on until the blocked harts do. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_WATCHDOG_H
#define VC_WATCHDOG_H

void vc_watchdog_start(void);

#endif
