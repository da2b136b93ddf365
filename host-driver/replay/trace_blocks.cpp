/* A thread's part of a block trace. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/trace_blocks.hpp"

namespace hz::replay {

using wl::BlockOp;
using wl::BlockVerb;

namespace {

BlockVerb verb_of(trace::Op op)
{
	return op == trace::Op::read    ? BlockVerb::read
	       : op == trace::Op::write ? BlockVerb::write
	       : op == trace::Op::trim  ? BlockVerb::trim
					: BlockVerb::flush;
}

} // namespace

TraceBlocks::TraceBlocks(const TraceCut &cut, std::deque<BlockOp> preload)
	: cut_(cut), trace_(cut.survey, cut.survey->spec.repeat), preload_(std::move(preload))
{
}

/* The next record with a piece for this thread → pieces_. */
bool TraceBlocks::fetch()
{
	trace::Record r;
	pieces_.clear();
	piece_ = 0;
	while (pieces_.empty()) {
		if (!trace_.next(r))
			return false;
		if (trace::moves_data(r.op))
			wrapped_ += cut_.cut(trace_, r, pieces_);
		else if (cut_.survey->thread_of_stream(r.stream) != cut_.thread)
			continue;
		else if (r.op == trace::Op::flush)
			pieces_.push_back(BlockOp{BlockVerb::flush, 0, 0, 0, 0});
		else
			ignored_.add(r.op);
	}
	records_++;
	unaligned_ += trace::moves_data(r.op) && (r.offset % 4096 || r.bytes % 4096);
	for (BlockOp &op : pieces_) {
		op.verb = verb_of(r.op);
		op.not_before_ns = trace_.arrival_ns(r);
		op.fua = r.durable;
		op.after_flushes = r.flush_first;
	}
	if (r.flush_first)
		pieces_.insert(pieces_.begin(), BlockOp{BlockVerb::flush, 0, 0, 0, pieces_[0].not_before_ns});
	return true;
}

bool TraceBlocks::prepare(BlockOp &op)
{
	if (preload_.empty())
		return false;
	op = preload_.front();
	preload_.pop_front();
	return true;
}

bool TraceBlocks::next(BlockOp &op)
{
	if (piece_ == pieces_.size() && !fetch())
		return false;
	op = pieces_[piece_++];
	return true;
}

nlohmann::json TraceBlocks::cost() const
{
	nlohmann::json out = {{"trace_records", records_}, {"unaligned_records", unaligned_}, {"wrapped_records", wrapped_}};
	ignored_.tell(out);
	return out;
}

} // namespace hz::replay
