/* Mount: every sector of the SLC log, page by page. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MOUNT_VISIT_H
#define FTL_MOUNT_VISIT_H

#include "mount/mount_state.h"

/* True: the sector's page is to be visited again. */
typedef bool mount_visit_fn(struct mount *mount, const struct hz_oob *oob, ppa_t ppa);
/* Visits every programmed sector. Of what it knows the records alone were read, so that HZ_OOB_LOST may be missing, unless mount->whole. */
void mount_visit_slc(struct mount *mount, mount_visit_fn *visit);
/* The same for pages that a visit wanted to be visited again. True: there are still some. */
bool mount_visit_again(struct mount *mount, mount_visit_fn *visit);

#endif
