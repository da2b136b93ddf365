/* Mount: which zones have been read so often, or lain so long, that they are to move (zone/refresh.h). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MOUNT_AGE_H
#define FTL_MOUNT_AGE_H

#include "mount/mount_state.h"

const char *mount_note_due(struct mount *mount);

#endif
