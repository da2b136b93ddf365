/* Mapping `direct` where writes may go anywhere: block operations on a block namespace or on conventional zones, as they are.
 *
 * Every sector carries a version that each write raises. A read must bring a version that was acknowledged when it was issued, or
 * one whose write was under way since: commands of a queue have no order among each other. For the same reason a write waits
 * while another one of the same sectors is under way; what would be left behind is nobody's to say. A trim is a deallocation, whose version
 * reads as zeros. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/sparse_table.hpp"
#include "workload/block_op.hpp"
#include "workload/source.hpp"

#include <memory>

namespace hz::replay {

/* Where a thread's address space lies on the device, in sectors: `runs` runs of run_sectors, `stride` apart. */
struct FlatSpace {
	uint64_t first = 0, run_sectors = 0, stride = 0, runs = 1;
	uint32_t max_transfer = 128;
	bool fresh = true; /* nothing was ever written here; else what this run has not written is unknown */

	uint64_t sectors() const { return runs * run_sectors; }
	uint64_t lba_of(uint64_t sector) const { return first + sector / run_sectors * stride + sector % run_sectors; }
};

class DirectBlocks : public wl::Source {
public:
	DirectBlocks(const FlatSpace &space, std::unique_ptr<wl::BlockSource> blocks);

	wl::Step next(wl::Request &request) override;
	bool plans_ahead() const override { return preparing_ || !blocks_->timed(); }
	void arrives(wl::Request &request, bool held) override;
	void complete(const wl::Request &request, uint16_t status, uint64_t result) override;
	uint64_t newest_version(const wl::Request &request, uint32_t index) override;
	uint64_t newest_zeros(const wl::Request &request, uint32_t index) override;
	void begin_measurement() override;
	uint32_t progress_ppm() const override;
	std::vector<wl::LiveSector> live() override;
	nlohmann::json cost() const override;

private:
	struct Sector {
		uint64_t acknowledged = 0; /* version that the newest successful write left */
		uint64_t issued = 0;       /* version of the newest write that has arrived; ahead while it is under way, or if it failed */
		uint64_t zeros = 0;        /* newest version that was a deallocation */
		bool writing = false;      /* a write was handed out and has not completed */
	};
	bool load_op();
	bool being_written(uint32_t sectors);
	wl::Step issue(wl::Request &request);
	void fill_stamps(wl::Request &request);

	FlatSpace space_;
	std::unique_ptr<wl::BlockSource> blocks_;
	SparseTable<Sector> sectors_;
	bool preparing_ = true, have_op_ = false, ended_ = false;
	wl::BlockOp op_;
	uint64_t overlap_waits_ = 0;
	uint32_t flushes_ = 0; /* under way */
};

} // namespace hz::replay
