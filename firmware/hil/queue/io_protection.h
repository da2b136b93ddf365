/* Protection information of I/O commands: what a command asks for, and the check of what it brings. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_IO_PROTECTION_H
#define HIL_IO_PROTECTION_H

#include "ftl/request/ftl_request.h"
#include "hil/host/host_memory.h"

/* After io_decode has succeeded, on a namespace of type 1. Fills tuples, expected, tag_mask and protect; the sectors
 * of a write, append or compare are checked against the host's tuples as far as it asks for it. */
uint16_t io_protect(const struct host_bus *bus, const struct nvme_sqe *sqe, struct ftl_request *req);

#endif
