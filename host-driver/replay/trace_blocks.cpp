/* A thread's part of a block trace. */
#include "replay/trace_blocks.hpp"

#include <algorithm>

namespace hz::replay {

using wl::BlockOp;
using wl::BlockVerb;

bool TraceCut::place(uint64_t stream, uint64_t sector, uint64_t run, std::vector<BlockOp> &pieces) const
{
	/* Streams are spread over the space; 0x9e37… / 2^64 is the golden section. */
	const uint64_t shift = uint64_t(((unsigned __int128)(stream * 0x9e3779b97f4a7c15ull) * space) >> 64);
	if (fit == wl::Fit::refuse && sector + run > space)
		return false;
	for (uint64_t lba = (sector + shift) % space; run; lba = 0) {
		const uint64_t part = std::min(run, space - lba);
		BlockOp op;
		op.lba = lba;
		op.sectors = part;
		pieces.push_back(op);
		run -= part;
	}
	return true;
}

bool TraceCut::cut(uint64_t stream, uint64_t first, uint64_t sectors, std::vector<BlockOp> &pieces) const
{
	if (split == wl::Split::stream)
		return stream % threads != thread || place(stream, first, std::min(sectors, space), pieces);
	while (sectors) {
		const uint64_t chunk = first / chunk_sectors, inside = first % chunk_sectors;
		const uint64_t run = std::min(sectors, chunk_sectors - inside);
		const bool mine = (chunk + stream) % threads == thread;
		if (mine && !place(stream, chunk / threads * chunk_sectors + inside, run, pieces))
			return false;
		first += run;
		sectors -= run;
	}
	return true;
}

TraceBlocks::TraceBlocks(const wl::TraceSpec &spec, const TraceCut &cut) : spec_(spec), cut_(cut)
{
	scan();
	restart();
	own_records_ = unaligned_ = ignored_ = 0;
}

void TraceBlocks::restart()
{
	reader_ = std::make_unique<trace::Reader>(spec_.file, trace::ReaderOptions{spec_.format, spec_.time_unit_ns});
	records_ = 0;
}

/* Next record with a piece for this thread → pieces_; false at the end of this pass. */
bool TraceBlocks::fetch()
{
	trace::Record r;
	pieces_.clear();
	piece_ = 0;
	while ((!spec_.max_ops || records_ < spec_.max_ops) && reader_->next(r)) {
		if (records_++ == 0)
			first_ns_ = r.time_ns;
		last_ns_ = std::max(last_ns_, r.time_ns);
		const bool flush = r.op == trace::Op::flush;
		const bool data = r.op == trace::Op::read || r.op == trace::Op::write || r.op == trace::Op::trim;
		const uint64_t first = r.offset / 4096, end = (r.offset + r.bytes + 4095) / 4096;
		if (flush && r.stream % cut_.threads == cut_.thread)
			pieces_.push_back(BlockOp{BlockVerb::flush, 0, 0, 0, 0});
		if (data && !cut_.cut(r.stream, first, end - first, pieces_))
			throw trace::TraceError(spec_.file + ":" + std::to_string(reader_->line_number()) +
						": the offset lies beyond the device: choose offsets: wrap, or a larger device");
		ignored_ += !flush && !data;
		if (pieces_.empty())
			continue;
		own_records_++;
		unaligned_ += data && (r.offset % 4096 || r.bytes % 4096);
		const uint64_t since = r.time_ns > first_ns_ ? r.time_ns - first_ns_ : 0;
		for (BlockOp &op : pieces_) {
			op.verb = flush ? op.verb : r.op == trace::Op::read ? BlockVerb::read : r.op == trace::Op::write ? BlockVerb::write : BlockVerb::trim;
			if (spec_.timing == wl::Timing::open)
				op.not_before_ns = base_ns_ + uint64_t(double(since) * spec_.time_scale);
		}
		return true;
	}
	return false;
}

/* Marks what the pieces read before anything wrote it. */
void TraceBlocks::note_reads(std::vector<bool> &written, std::vector<bool> &wanted)
{
	for (const BlockOp &op : pieces_)
		for (uint64_t lba = op.lba; lba < op.lba + op.sectors; lba++) {
			if (op.verb == BlockVerb::read && !written[lba])
				wanted[lba] = true;
			if (op.verb == BlockVerb::write)
				written[lba] = true;
		}
}

/* Reads the trace once: counts its records, checks every line, and lists what must be preloaded, in runs. */
void TraceBlocks::scan()
{
	std::vector<bool> written(cut_.space), wanted(cut_.space);
	restart();
	while (fetch())
		if (spec_.preload)
			note_reads(written, wanted);
	total_ = records_;
	for (uint64_t lba = 0; lba < cut_.space; lba++) {
		if (!wanted[lba])
			continue;
		BlockOp *last = preload_.empty() ? nullptr : &preload_.back();
		if (last && last->lba + last->sectors == lba && last->sectors < 128)
			last->sectors++;
		else
			preload_.push_back({BlockVerb::write, lba, 1, 0, 0});
	}
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
	while (piece_ == pieces_.size()) {
		if (fetch())
			break;
		if (++pass_ >= spec_.repeat)
			return false;
		base_ns_ += uint64_t(double(last_ns_ - first_ns_) * spec_.time_scale);
		scanned_ += records_;
		restart();
	}
	op = pieces_[piece_++];
	return true;
}

uint32_t TraceBlocks::progress_ppm() const
{
	const uint64_t total = std::max<uint64_t>(1, total_ * spec_.repeat);
	return uint32_t(double(std::min(scanned_ + records_, total)) / double(total) * 1e6);
}

nlohmann::json TraceBlocks::cost() const
{
	return {{"trace_records", own_records_}, {"unaligned_records", unaligned_}, {"ignored_records", ignored_}};
}

} // namespace hz::replay
