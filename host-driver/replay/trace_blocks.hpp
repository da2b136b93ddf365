/* A thread's part of a block trace, folded into the thread's own address space. */
#pragma once

#include "trace/reader.hpp"
#include "workload/block_op.hpp"
#include "workload/spec.hpp"

#include <deque>
#include <memory>

namespace hz::replay {

/* Which thread and which of its addresses a byte of the trace belongs to.
 *
 * split hash: every stream's space is cut into chunks of 1 MiB, chunk c of stream s goes to thread (c + s) mod threads.
 * split stream: stream s goes to thread s mod threads whole.
 * Bytes are rounded outward to 4 KiB sectors. offsets wrap: addresses beyond the space are taken modulo its size; refuse: they
 * are an error. Each stream is displaced by a share of the space, so that several disks do not lie on top of each other. */
struct TraceCut {
	uint32_t thread = 0, threads = 1;
	uint64_t space = 0; /* sectors per thread */
	wl::Split split = wl::Split::hash;
	wl::Fit fit = wl::Fit::wrap;

	static constexpr uint64_t chunk_sectors = 256;

	/* The pieces of [first, first + sectors) of a stream that are this thread's, in order. Returns false if an address lies
	 * beyond the space and fit is refuse. */
	bool cut(uint64_t stream, uint64_t first, uint64_t sectors, std::vector<wl::BlockOp> &pieces) const;

private:
	bool place(uint64_t stream, uint64_t sector, uint64_t run, std::vector<wl::BlockOp> &pieces) const;
};

class TraceBlocks : public wl::BlockSource {
public:
	/* Scans the whole trace once for what to preload. Throws trace::TraceError. */
	TraceBlocks(const wl::TraceSpec &spec, const TraceCut &cut);
	bool prepare(wl::BlockOp &op) override;
	bool next(wl::BlockOp &op) override;
	uint32_t progress_ppm() const override;
	nlohmann::json cost() const override;

private:
	void restart();
	bool fetch();
	void scan();
	void note_reads(std::vector<bool> &written, std::vector<bool> &wanted);

	wl::TraceSpec spec_;
	TraceCut cut_;
	std::unique_ptr<trace::Reader> reader_;
	std::vector<wl::BlockOp> pieces_;
	size_t piece_ = 0;
	std::deque<wl::BlockOp> preload_;
	uint64_t records_ = 0, scanned_ = 0, total_ = 0, first_ns_ = 0, last_ns_ = 0, base_ns_ = 0;
	uint64_t own_records_ = 0, unaligned_ = 0, ignored_ = 0;
	uint32_t pass_ = 0;
};

} // namespace hz::replay
