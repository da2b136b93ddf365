/* Assigns parts of a block trace to threads, and maps them into the thread's address space. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/trace_cursor.hpp"
#include "workload/block_op.hpp"

#include <vector>

namespace hz::replay {

/* split address: every address space of the trace is cut into chunks, chunk c of space s goes to
 * thread (c + s) mod threads, so that each address belongs to one thread. A space is a stream's, or
 * that of all streams (number 0). split stream: each stream belongs to one thread. Bytes are
 * rounded outward to 4 KiB sectors. Addresses beyond the thread's space are folded into it: taken
 * modulo its size. Each space is displaced by a share of the thread's, so that several disks do not
 * overlap at 0. */
struct TraceCut {
	std::shared_ptr<const TraceSurvey> survey;
	uint32_t thread = 0;
	uint64_t space = 0; /* sectors of the thread */

	/* Appends this thread's part of the addresses of a read, write or trim, in order. True if
	 * any of it was folded. Throws trace::TraceError, with file and line, for an address in a
	 * zone, and for a folded one with offsets: refuse. */
	bool cut(const TraceCursor &trace, const trace::Record &record, std::vector<wl::BlockOp> &pieces) const;
	/* The same without looking whether it may be. */
	bool divide(const trace::Record &record, std::vector<wl::BlockOp> &pieces) const;

private:
	bool place(uint64_t number, uint64_t sector, uint64_t run, std::vector<wl::BlockOp> &pieces) const;
};

} // namespace hz::replay
