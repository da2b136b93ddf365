/* Mount: find every zone's data, write pointer and state on flash. Harts do not run yet; bounded work. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MOUNT_H
#define FTL_MOUNT_H

struct ftl;
struct arena;

/* NULL, or one sentence why the media cannot be mounted. */
const char *mount_run(struct ftl *ftl, struct arena *arena);

#endif
