// Transfers of the C interface from and to several buffers.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "hartzone.h"
#include "nvme.h"

namespace hz::capi {

// Blocks of a transfer. Throws Error for buffers that are not whole blocks, or exceed the queue's
// limit.
uint32_t blocks_of(const hartzone_queue *queue, const iovec *parts, int count);
// Throws Error for a count that no command takes.
nvme_sqe verify_of(uint64_t block, uint32_t blocks);
// Encodes a write's flags in the command. Throws Error for unknown flags, and for a handle that the device does not have.
void set_flags(const hartzone_queue *queue, nvme_sqe &sqe, unsigned flags);

} // namespace hz::capi
