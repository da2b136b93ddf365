/* Sectors that a trace reads before it writes them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/trace_preload.hpp"

#include "replay/progress.hpp"
#include "replay/sparse_table.hpp"
#include "replay/trace_cursor.hpp"
#include "session/machine/interrupt.hpp"

namespace hz::replay {
namespace {

using wl::BlockOp;

constexpr uint64_t most_sectors = 128; /* of a preloading write */

/* A thread's sectors. */
class Needs {
public:
	explicit Needs(uint64_t space) : space_(space), use_(space) {}

	void note(const BlockOp &piece, trace::Op op)
	{
		for (uint64_t lba = piece.lba; lba < piece.lba + piece.sectors; lba++) {
			Use &use = use_[lba];
			use.wanted |= op == trace::Op::read && !use.written;
			use.written |= op == trace::Op::write;
		}
	}

	std::deque<BlockOp> in_runs()
	{
		std::deque<BlockOp> runs;
		for (uint64_t lba = use_.next_touched(0); lba < space_; lba = use_.next_touched(lba + 1)) {
			if (!use_[lba].wanted)
				continue;
			BlockOp *last = runs.empty() ? nullptr : &runs.back();
			if (last && last->lba + last->sectors == lba && last->sectors < most_sectors)
				last->sectors++;
			else
				runs.push_back({wl::BlockVerb::write, lba, 1, 0, 0});
		}
		return runs;
	}

private:
	struct Use {
		bool written = false, wanted = false;
	};
	uint64_t space_;
	SparseTable<Use> use_;
};

} // namespace

std::vector<std::deque<BlockOp>> find_preloads(const std::vector<TraceCut> &cuts)
{
	TraceCursor trace(cuts.front().survey, 1);
	Progress progress("sorting reads and writes of the trace");
	std::vector<Needs> needs;
	std::vector<BlockOp> pieces;
	for (const TraceCut &cut : cuts)
		needs.emplace_back(cut.space);
	uint64_t records = 0;
	for (trace::Record r; trace.next(r); records++) {
		for (size_t thread = 0; thread < cuts.size() && trace::moves_data(r.op); thread++) {
			pieces.clear();
			cuts[thread].cut(trace, r, pieces);
			for (const BlockOp &piece : pieces)
				needs[thread].note(piece, r.op);
		}
		if (records % records_per_look)
			continue;
		check_interrupted();
		progress.show(trace.progress_ppm());
	}
	std::vector<std::deque<BlockOp>> out;
	for (Needs &one : needs)
		out.push_back(trace.survey().spec.preload ? one.in_runs() : std::deque<BlockOp>());
	return out;
}

} // namespace hz::replay
