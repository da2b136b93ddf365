// AdminRing: an admin queue under the case's own control: any size, several commands at once, doorbells by hand.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "bench.hpp"

namespace conform {

class AdminRing {
public:
	// Disables the controller, places the queue, enables. The bench must restart afterwards.
	AdminRing(Bench &bench, unsigned sq_depth, unsigned cq_depth);

	// Places a command; its id is its number. ring() tells the device.
	uint16_t submit(nvme_sqe sqe);
	void ring() { bench_.link().write32(NVME_REG_DOORBELLS, tail_); }
	// Waits for `count` completions and frees their entries, unless `keep`.
	std::vector<nvme_cqe> reap(unsigned count, bool keep = false);
	// Nothing arrives for a while.
	bool quiet();

private:
	bool next(nvme_cqe &cqe);

	Bench &bench_;
	unsigned sq_depth_, cq_depth_, tail_ = 0, head_ = 0;
	bool phase_ = true;
	uint16_t next_cid_ = 0;
	hz::BusAddress sq_, cq_;
};

inline uint16_t status_of(const nvme_cqe &cqe) { return cqe.status >> 1 & 0x7ff; }

} // namespace conform
