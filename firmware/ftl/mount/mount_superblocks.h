/* Mount after a power cut: the superblocks. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MOUNT_SUPERBLOCKS_H
#define FTL_MOUNT_SUPERBLOCKS_H

#include "mount/mount_state.h"

/* NULL, or one sentence why the media cannot be mounted. */
/* Which superblocks live, and which are blank; after a power cut also whose data each claims to hold. */
const char *mount_look_at_superblocks(struct mount *mount);
const char *mount_find_reach(struct mount *mount);
/* While the media is at rest: of zones whose records are in doubt, in superblocks that no other zone holds. */
void mount_find_doubted(struct mount *mount);

#endif
