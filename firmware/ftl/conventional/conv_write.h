/* Writes to conventional zones. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CONV_WRITE_H
#define FTL_CONV_WRITE_H

#include "request/io.h"

/* Why the host's write of conventional sectors is refused, or NVME_SUCCESS. */
uint16_t conv_write_status(const struct ftl *ftl, const struct ftl_request *req);
/* FTL_WRITE and FTL_WRITE_ZEROES of a conventional LBA, also their continuation; the collector's copies, whose lba is 0; FTL_APPEND,
 * which is refused. */
void conv_write_run(struct ftl_worker *self, struct ftl_request *req);

#endif
