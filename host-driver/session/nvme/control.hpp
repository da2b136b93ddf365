// Control: a running controller as one process may use it, the machine's owner (local_control.hpp) or another (remote_control.hpp).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "nvme.h"
#include "queue_table.hpp"

namespace hz {

struct AdminResult {
	uint16_t status; // SCT << 8 | SC
	bool do_not_retry;
	uint32_t dw0;
};

// A refused call (Error, or NvmeError if the device refused it) has changed nothing.
class Control {
public:
	virtual ~Control() = default;

	// Runs one admin command unchanged except for its id; its PRPs address the data.
	virtual AdminResult admin(const nvme_sqe &sqe) = 0;
	// Memory of the region, page aligned and zero, until it is freed or this process leaves.
	virtual BusAddress allocate(uint64_t bytes) = 0;
	virtual void free(BusAddress address) = 0;
	// A queue pair with its memory; qid: 1 to 64, or any_queue. delete_queue removes both,
	// after waiting for commands in the device.
	virtual QueueGrant create_queue(unsigned qid, const QueueOptions &options) = 0;
	virtual void delete_queue(unsigned qid) = 0;
};

// Admin commands that would affect other users (queues, doorbells), or that complete out of order.
bool for_the_owner_alone(const nvme_sqe &sqe);

// Throws NvmeError "<what> failed: <status text>" unless the command succeeded.
void require_success(const char *what, const AdminResult &result);

} // namespace hz
