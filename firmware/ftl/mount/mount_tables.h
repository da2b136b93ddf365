/* Mount: the zone table. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MOUNT_TABLES_H
#define FTL_MOUNT_TABLES_H

#include "mount/mount_state.h"

/* NULL, or one sentence why the media cannot be mounted. */
const char *mount_find_tables(struct mount *mount);
const char *mount_load_records(struct mount *mount);

#endif
