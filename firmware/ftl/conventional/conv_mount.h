/* Mount of conventional zones. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CONV_MOUNT_H
#define FTL_CONV_MOUNT_H

#include "base/context.h"

/* Harts idle: finds what the backing zones hold. Zones and SLC are settled. The map knows the sectors with sequence numbers below `since`
 * already; complete: there are no others. oob: room for the records of a superpage. */
void conv_mount(struct ftl *ftl, struct hz_oob *oob, uint64_t since, bool complete);

#endif
