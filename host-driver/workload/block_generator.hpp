/* Synthetic block workload of one thread: reads and in-place writes over a flat address space. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "workload/block_op.hpp"
#include "workload/random.hpp"
#include "workload/source.hpp"
#include "workload/spec.hpp"
#include "workload/zipf.hpp"

#include <optional>

namespace hz::wl {

class BlockGenerator : public BlockSource {
public:
	/* space: sectors of the thread's address space; the spec's `span` is the part used.
	 * `sharers` threads use the same space, and this one, number `index` of them, prepares its
	 * part of it. */
	BlockGenerator(const ThreadSpec &spec, uint64_t space, uint64_t seed, uint32_t index = 0, uint32_t sharers = 1);
	bool prepare(BlockOp &op) override;
	bool next(BlockOp &op) override;
	uint32_t progress_ppm() const override;

private:
	BlockVerb draw_verb();
	uint64_t draw_block();
	uint64_t place(Pattern pattern, uint64_t sectors, uint64_t &cursor);
	void place_record(BlockOp &op);

	ThreadSpec spec_;
	Random random_;
	uint64_t space_, block_ = 1, total_weight_ = 0;
	std::optional<Zipf> zipf_;
	uint64_t prepared_, prepared_end_; /* the part to prepare */
	uint64_t ops_ = 0, sectors_ = 0, unflushed_ = 0, read_cursor_ = 0, write_cursor_ = 0, trim_cursor_ = 0, filled_ = 0;
};

} // namespace hz::wl
