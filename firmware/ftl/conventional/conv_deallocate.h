/* Deallocation of conventional sectors. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CONV_DEALLOCATE_H
#define FTL_CONV_DEALLOCATE_H

#include "request/io.h"

/* FTL_DEALLOCATE, also its continuation. What of its ranges lies in sequential zones stays as it is. */
void conv_deallocate_run(struct ftl_worker *self, struct ftl_request *req);

#endif
