/* Synthetic block workload of one thread. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/block_generator.hpp"

#include "workload/log_record.hpp"

#include <algorithm>

namespace hz::wl {
namespace {

constexpr uint64_t prepare_sectors = 128;

} // namespace

BlockGenerator::BlockGenerator(const ThreadSpec &spec, uint64_t space, uint64_t seed, uint32_t index, uint32_t sharers)
	: spec_(spec), random_(seed), space_(spec.span_sectors ? spec.span_sectors : uint64_t(double(space) * spec.span))
{
	const auto prefilled = uint64_t(double(space_) * spec.prefill);
	prepared_ = prefilled * index / sharers;
	prepared_end_ = prefilled * (index + 1) / sharers;
	if (space_ > space)
		throw WorkloadError("span_bytes: a thread's address space has only " + std::to_string(space * 4) + " KiB: make it smaller");
	for (const BlockSize &block : spec.blocks) {
		block_ = std::max(block_, block.sectors);
		total_weight_ += block.weight;
	}
	if (space_ < block_)
		throw WorkloadError("a thread's address space of " + std::to_string(space_ * 4) + " KiB is smaller than its blocks");
	if (spec.record && spec.write_pattern == Pattern::random)
		throw WorkloadError(
			"record: a log is written from its begin to its end: give write_pattern: sequential, or remove the key");
	if (spec.distribution == Distribution::zipf)
		zipf_.emplace(space_ / block_, spec.zipf_theta);
}

bool BlockGenerator::prepare(BlockOp &op)
{
	if (prepared_ >= prepared_end_)
		return false;
	op = {BlockVerb::write, prepared_, std::min(prepare_sectors, prepared_end_ - prepared_), 0, 0, uint16_t(spec_.placement)};
	prepared_ += op.sectors;
	return true;
}

uint64_t BlockGenerator::draw_block()
{
	uint64_t ticket = spec_.blocks.size() > 1 ? random_.below(total_weight_) : 0;
	for (const BlockSize &block : spec_.blocks) {
		if (ticket < block.weight)
			return block.sectors;
		ticket -= block.weight;
	}
	return spec_.blocks.back().sectors;
}

/* Random places are aligned to the largest block; popular ones are scattered over the whole space. */
uint64_t BlockGenerator::place(Pattern pattern, uint64_t sectors, uint64_t &cursor)
{
	const uint64_t places = space_ / block_;
	if (pattern == Pattern::random)
		return (zipf_ ? mix64(zipf_->draw(random_)) % places : random_.below(places)) * block_;
	if (cursor + sectors > space_)
		cursor = 0;
	const uint64_t lba = cursor;
	cursor += sectors;
	return lba;
}

/* The log begins again at its start. */
void BlockGenerator::place_record(BlockOp &op)
{
	if (filled_ == space_ * 4096)
		filled_ = 0;
	const SectorRange range = next_record(spec_, filled_, space_);
	op.lba = range.first;
	op.sectors = range.end - range.first;
}

BlockVerb BlockGenerator::draw_verb()
{
	const double dice = random_.unit();
	if (dice < spec_.read_ratio)
		return BlockVerb::read;
	return dice < spec_.read_ratio + spec_.trim_ratio ? BlockVerb::trim : BlockVerb::write;
}

bool BlockGenerator::next(BlockOp &op)
{
	if ((spec_.total_ops && ops_ >= spec_.total_ops) || (spec_.total_sectors && sectors_ >= spec_.total_sectors))
		return false;
	op = BlockOp{};
	op.placement = uint16_t(spec_.placement);
	if (spec_.think_ns)
		op.think_ns = spec_.think == Think::exponential ? random_.exponential(spec_.think_ns) : spec_.think_ns;
	if (spec_.flush_every && unflushed_ >= spec_.flush_every) {
		unflushed_ = 0;
		op.verb = BlockVerb::flush;
		return true;
	}
	op.verb = draw_verb();
	op.sectors = draw_block();
	op.lba = op.verb == BlockVerb::read
			 ? place(spec_.read_pattern, op.sectors, read_cursor_)
			 : place(spec_.write_pattern, op.sectors, op.verb == BlockVerb::trim ? trim_cursor_ : write_cursor_);
	if (op.verb == BlockVerb::write && spec_.record)
		place_record(op);
	op.fua = spec_.fua && op.verb == BlockVerb::write;
	ops_++;
	sectors_ += op.sectors;
	unflushed_ += op.verb == BlockVerb::write;
	return true;
}

uint32_t BlockGenerator::progress_ppm() const
{
	double part = spec_.total_sectors ? double(sectors_) / double(spec_.total_sectors) : 0.0;
	if (spec_.total_ops)
		part = std::max(part, double(ops_) / double(spec_.total_ops));
	return uint32_t(std::min(part, 1.0) * 1e6);
}

} // namespace hz::wl
