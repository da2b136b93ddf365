// Protection information of a queue's commands on a device of type 1, from this process's memory to
// flash and back: each sector's guard and reference tag are generated at submission, checked by the
// controller on receipt and before its answer, and checked here again.
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

	// Completes a command that moves, creates or reads sectors; `data` is the id's buffer. A
	// command with its own protection fields (PRACT, PRCHK or MPTR) is unchanged.
	void protect(uint16_t cid, nvme_sqe &sqe, std::span<const std::byte> data);
	// For the last, successful command of the id: 0, or the status of a failed check of the
	// data read.
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
