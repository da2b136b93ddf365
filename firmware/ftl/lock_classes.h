/* Registration of the lock classes of protocol/lock_classes.def with libthread. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_LOCK_CLASSES_H
#define FTL_LOCK_CLASSES_H

#include "device_config.h"
#include "lt/arena.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Before the harts run, and before ftl_init: every class gets the kind and the granularity that the config names. NULL, or one sentence. */
const char *ftl_lock_classes_init(struct arena *arena, const struct hz_device_config *cfg);

#ifdef __cplusplus
}
#endif
#endif
