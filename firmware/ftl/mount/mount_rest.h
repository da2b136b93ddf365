/* Mount of a device that was at rest: the superblocks. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MOUNT_REST_H
#define FTL_MOUNT_REST_H

#include "mount/mount_state.h"

/* NULL, or one sentence why the media cannot be mounted. */
const char *mount_take_superblocks(struct mount *mount);

#endif
