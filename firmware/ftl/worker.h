/* Workers: where a request goes. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_WORKER_H
#define FTL_WORKER_H

#include "base/context.h"

struct arena;

/* At construction, once write buffers and map are there. */
void workers_init(struct ftl *ftl, struct arena *arena);

#endif
