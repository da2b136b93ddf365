/* A zone that can be written no more. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_FAIL_H
#define FTL_FAIL_H

#include "zone/zone.h"

/* Zone lock held, the zone has failed (no superblock can be had, or data cannot be moved): it becomes READ ONLY and its queued writes
 * fail. Repeated calls do what is left to do. */
void zone_end_writing(struct ftl_worker *self, struct zone *zone);

#endif
