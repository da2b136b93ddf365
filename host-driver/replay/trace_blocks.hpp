/* A thread's part of a block trace, folded into the thread's own address space. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/trace_cursor.hpp"
#include "replay/trace_cut.hpp"
#include "workload/block_op.hpp"

#include <deque>

namespace hz::replay {

class TraceBlocks : public wl::BlockSource {
public:
	/* preload: writes to do first, from find_preloads(). */
	TraceBlocks(const TraceCut &cut, std::deque<wl::BlockOp> preload);
	bool prepare(wl::BlockOp &op) override;
	/* Throws trace::TraceError as the cut does. */
	bool next(wl::BlockOp &op) override;
	bool timed() const override { return cut_.survey->spec.timing == wl::Timing::open; }
	uint32_t progress_ppm() const override { return trace_.progress_ppm(); }
	nlohmann::json cost() const override;

private:
	bool fetch();

	TraceCut cut_;
	TraceCursor trace_;
	std::vector<wl::BlockOp> pieces_;
	size_t piece_ = 0;
	std::deque<wl::BlockOp> preload_;
	uint64_t records_ = 0, unaligned_ = 0, wrapped_ = 0;
	Ignored ignored_;
};

} // namespace hz::replay
