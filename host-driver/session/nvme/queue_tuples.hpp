// Protection information of a queue's commands on a device of type 1: from this process's memory to flash and back, each sector's guard and
// reference tag are made when a command is submitted, checked by the controller on receipt and before it answers, and checked here again.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nvme.h"
#include "session/machine/region.hpp"

namespace hz {

class QueueTuples {
public:
	// Room for the tuples of `most_sectors` sectors of each of `depth` command ids, at `memory`.
	QueueTuples(Region &region, BusAddress memory, unsigned depth, uint64_t most_sectors);
	static uint64_t bytes_per_id(uint64_t most_sectors);

	// Completes a command that moves, makes or reads sectors; `data` is the id's buffer. One that says itself what to do with protection
	// information (PRACT, PRCHK or MPTR) stays as it is.
	void protect(uint16_t cid, nvme_sqe &sqe, std::span<const std::byte> data);
	// Of the last command of the id, which has succeeded: 0, or the status of a check that what was read fails.
	uint16_t check(uint16_t cid, std::span<const std::byte> data) const;

private:
	std::byte *tuples(uint16_t cid) const;

	struct Expected {
		uint32_t reference, sectors; // sectors: 0 = nothing to check
	};
	Region &region_;
	BusAddress memory_;
	uint64_t most_sectors_;
	std::vector<Expected> expected_;
};

} // namespace hz
