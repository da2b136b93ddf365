/* Mount: every sector of the SLC log in turn. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MOUNT_VISIT_H
#define FTL_MOUNT_VISIT_H

#include "mount/mount_state.h"

typedef void mount_visit_fn(struct mount *mount, const struct hz_oob *oob, ppa_t ppa);
/* Visits every programmed sector. */
void mount_visit_slc(struct mount *mount, mount_visit_fn *visit);

#endif
