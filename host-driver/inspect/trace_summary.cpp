/* Contents of a trace. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/trace_summary.hpp"

#include <algorithm>
#include <cmath>

namespace hz::inspect {
namespace {

double quotient(double a, double b) { return b > 0 ? a / b : 0; }

/* Address space of a record, as in a replay: a shared one, one per stream, or one per zone. */
uint64_t space_of(const trace::Record &r)
{
	if (r.zoned)
		return ~uint64_t(r.zone);
	return r.shared_space ? 0 : r.stream;
}

} // namespace

void TraceSummary::note_time(uint64_t time_ns)
{
	if (records_ == 0)
		first_ns_ = last_ns_ = time_ns;
	const uint64_t since = time_ns > first_ns_ ? time_ns - first_ns_ : 0;
	span_ns_ = std::max(span_ns_, since);
	backwards_ += time_ns < last_ns_;
	last_ns_ = time_ns;
	if (since >= current_second_ && since - current_second_ < second) {
		in_current_++;
	} else {
		current_second_ = since / second * second;
		in_current_ = 1;
	}
	busiest_ = std::max(busiest_, in_current_);
}

void TraceSummary::note_stream(uint64_t stream)
{
	if (records_ && stream == last_stream_)
		return;
	last_stream_ = stream;
	stream_sketch_.add(mixed(stream));
	if (streams_.size() <= most_streams)
		streams_.insert(stream);
}

void TraceSummary::note_place(const trace::Record &r, Kind &kind)
{
	const uint64_t space = space_of(r), first = r.offset / block, blocks = (r.offset + r.bytes + block - 1) / block - first;
	const bool written = r.op != trace::Op::read;
	end_ = std::max(end_, r.offset + r.bytes);
	unaligned_ += (r.offset | r.bytes) % block != 0;
	Follower &follower = followers_[2 * (mixed(r.stream) % followed) + written];
	kind.sequential += follower.stream == r.stream && follower.end == r.offset;
	follower = {r.stream, r.offset + r.bytes};
	footprint_.add(space, first, blocks, written);
	for (uint64_t i = 0; i < blocks; i++)
		popularity_.add(block_hash(space, first + i));
}

void TraceSummary::note_marks(const trace::Record &r)
{
	if (r.flush_first)
		marks_["flush-first"]++;
	if (r.durable)
		marks_["durable"]++;
	for (size_t hint = 0; r.hints >> hint; hint++)
		if (r.hints >> hint & 1)
			marks_[std::string(trace::hint_name(hint))]++;
}

void TraceSummary::add(const trace::Record &r)
{
	Kind &kind = kinds_[size_t(r.op)];
	note_time(r.time_ns);
	note_stream(r.stream);
	records_++;
	kind.records++;
	kind.bytes += r.bytes;
	if (r.bytes)
		kind.sizes.add(r.bytes);
	if (r.op == trace::Op::read || r.op == trace::Op::write)
		note_place(r, kind);
	if (r.flush_first | r.durable | (r.hints != 0))
		note_marks(r);
}

nlohmann::json TraceSummary::times() const
{
	const double seconds = double(span_ns_) / double(second);
	return {{"first_ns", first_ns_},
		{"span_ns", span_ns_},
		{"records_per_second", quotient(double(records_), seconds)},
		{"busiest_second_records", busiest_},
		{"backward_steps", backwards_}};
}

nlohmann::json TraceSummary::kinds() const
{
	nlohmann::json out = nlohmann::json::object();
	for (size_t op = 0; op < trace::operations; op++) {
		const Kind &k = kinds_[op];
		if (!k.records)
			continue;
		nlohmann::json &kind = out[std::string(trace::op_name(trace::Op(op)))];
		kind = {{"records", k.records}, {"bytes", k.bytes}};
		if (!k.bytes)
			continue;
		kind["size_bytes"] = {{"min", k.sizes.min()},
				      {"mean", k.sizes.mean()},
				      {"p50", k.sizes.quantile(0.5)},
				      {"p99", k.sizes.quantile(0.99)},
				      {"max", k.sizes.max()}};
		kind["sequential_part"] = quotient(double(k.sequential), double(k.records));
	}
	return out;
}

nlohmann::json TraceSummary::footprint()
{
	const Footprint::Blocks blocks = footprint_.blocks();
	const Kind &writes = kinds_[size_t(trace::Op::write)];
	return {{"touched_bytes", blocks.touched * block},
		{"read_bytes", blocks.read * block},
		{"written_bytes", blocks.written * block},
		{"address_end", end_},
		{"rewrites", quotient(double(writes.bytes), double(blocks.written * block))},
		{"method", footprint_.exact() ? "bitmap" : "hyperloglog"},
		{"standard_error", footprint_.exact() ? 0 : Cardinality::standard_error}};
}

nlohmann::json TraceSummary::skew()
{
	const Popularity::Skew skew = popularity_.skew();
	nlohmann::json hottest = nlohmann::json::array();
	for (size_t i = 0; i < Popularity::parts.size(); i++)
		hottest.push_back(
			{{"blocks_part", Popularity::parts[i]}, {"accesses_part", skew.share[i]}, {"standard_error", skew.error[i]}});
	return {{"hottest", hottest},
		{"method", skew.sampled_part == 1 ? "exact" : "sampled"},
		{"sampled_part", skew.sampled_part},
		{"sampled_blocks", skew.blocks}};
}

nlohmann::json TraceSummary::to_json()
{
	const bool counted = streams_.size() <= most_streams;
	return {{"records", records_},
		{"streams", counted ? streams_.size() : uint64_t(std::llround(stream_sketch_.estimate()))},
		{"streams_exact", counted},
		{"unaligned_records", unaligned_},
		{"time", times()},
		{"operations", kinds()},
		{"marks", marks_},
		{"footprint", footprint()},
		{"skew", skew()}};
}

} // namespace hz::inspect
