/* Mount: staged sectors, write pointers and states. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MOUNT_STAGED_H
#define FTL_MOUNT_STAGED_H

#include "mount/mount_state.h"

/* NULL, or one sentence why the media cannot be mounted. */
const char *mount_find_staged(struct mount *mount);
const char *mount_settle_zones(struct mount *mount);

#endif
