/* Mapping `direct` for random writes: block operations on a block namespace or on conventional
 * zones, unchanged.
 *
 * Every sector carries a version that each write raises. A read must return a version that was
 * acknowledged when the read was issued, or one whose write was under way since: commands of a
 * queue are unordered. For the same reason a write waits for other writes of the same sectors;
 * their final content would be undefined. A trim is a deallocation; its version reads as zeros. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/sparse_table.hpp"
#include "workload/block_op.hpp"
#include "workload/source.hpp"

#include <memory>

namespace hz::replay {

/* Place of a thread's address space on the device, in sectors: `runs` runs of run_sectors, `stride`
 * apart. */
struct FlatSpace {
	uint64_t first = 0, run_sectors = 0, stride = 0, runs = 1;
	uint32_t max_transfer = 128;
	bool fresh = true; /* the device is blank; else sectors not written by this run have unknown content */

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
		uint64_t issued = 0;       /* version of the newest write that has arrived; ahead of the data while it is under way, or if
					    * it failed */
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
