/* The programs of a trace beside each other. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/trace_streams.hpp"

#include <algorithm>
#include <utility>

namespace hz::replay {

constexpr uint32_t unplaced = UINT32_MAX;

using trace::Record;
using wl::Step;

TraceStreams::TraceStreams(std::shared_ptr<const TraceSurvey> survey, const wl::ZoneShare &device)
	: TraceZones(std::move(survey), device, 0)
{
	for (Record record; trace_.next(record); record = {})
		take(std::move(record));
}

TraceStreams::Stream &TraceStreams::stream_of(uint64_t number)
{
	const auto [place, fresh] = index_.try_emplace(number, uint32_t(streams_.size()));
	if (fresh) {
		if (streams_.size() == most_streams)
			trace_.fail("order: streams runs " + std::to_string(most_streams) + " streams at most: use order: trace");
		streams_.emplace_back().number = place->second;
	}
	return streams_[place->second];
}

/* From the trace's numbers of streams to places in streams_. */
void TraceStreams::refer(Record &record) const
{
	for (trace::After &after : record.after) {
		if (!after.records)
			continue;
		const auto found = index_.find(after.stream);
		const uint64_t there = found == index_.end() ? 0 : streams_[found->second].read;
		if (after.records > there)
			trace_.fail("after=" + std::to_string(after.stream) + ":" + std::to_string(after.records) + ": stream " +
				    std::to_string(after.stream) + " has " + std::to_string(there) +
				    " records before this one: a record waits for earlier ones only");
		after.stream = found->second;
	}
}

void TraceStreams::take(Record record)
{
	if (++total_ > most_records)
		trace_.fail("order: streams keeps " + std::to_string(most_records) + " records at most: use --max-ops, or order: trace");
	const uint64_t end = record.offset + record.bytes;
	if (record.op == trace::Op::reset_all || (record.bytes && (end - 1) / zone_bytes() != record.offset / zone_bytes()))
		trace_.fail("the record touches several zones: order: streams takes none of these");
	Stream &stream = stream_of(record.stream);
	refer(record);
	uint64_t life = 0;
	if (record.op != trace::Op::flush) {
		Zone &zone = zones_[zone_of(record)];
		zone.waiting.insert(total_);
		life = zone.resets_read;
		zone.resets_read += record.op == trace::Op::reset;
	}
	stream.read++;
	stream.coming.push_back({std::move(record), total_, life});
}

bool TraceStreams::has_turn(const Coming &next) const
{
	if (next.record.op == trace::Op::flush)
		return true;
	const Zone &zone = zones_.at(zone_of(next.record));
	return zone.life == next.life && (next.record.op == trace::Op::write || *zone.waiting.begin() == next.number);
}

bool TraceStreams::may_begin(const Stream &stream) const
{
	const Coming &next = stream.coming.front();
	for (const trace::After &after : next.record.after)
		if (after.records && streams_[after.stream].completed < after.records)
			return false;
	return has_turn(next);
}

/* A write at the write pointer, a read where the writes went: in runs of blocks side by side. What
 * was not written is read where the trace has it. */
void TraceStreams::place(Stream &stream)
{
	if (stream.record.op != trace::Op::write && stream.record.op != trace::Op::read)
		return;
	Zone &zone = zones_.at(zone_of(stream.record));
	const Part whole = stream.parts.back();
	const uint64_t first = stream.record.offset % zone_bytes() / 4096, base = whole.lba - first;
	const bool write = stream.record.op == trace::Op::write;
	zone.place.resize(std::max<size_t>(zone.place.size(), first + whole.sectors), unplaced);
	stream.parts.pop_back();
	for (uint64_t block = first; block < first + whole.sectors; block++) {
		if (write)
			zone.place[block] = uint32_t(zone.written++);
		const uint64_t lba = base + (zone.place[block] == unplaced ? block : zone.place[block]);
		if (block > first && stream.parts.back().lba + stream.parts.back().sectors == lba)
			stream.parts.back().sectors++;
		else
			stream.parts.push_back({whole.zone, lba, 1});
	}
}

/* The last part of its record is out. */
void TraceStreams::leave_zone(const Stream &stream)
{
	if (stream.record.op == trace::Op::flush)
		return;
	Zone &zone = zones_.at(zone_of(stream.record));
	zone.waiting.erase(stream.begun);
	if (stream.record.op != trace::Op::reset)
		return;
	zone.life++;
	zone.written = 0;
	zone.place.clear();
}

void TraceStreams::end_record(Stream &stream)
{
	stream.completed++;
	completed_++;
}

/* Takes the stream's next record in hand when nothing but its computing keeps that back. */
void TraceStreams::begin(Stream &stream)
{
	while (!stream.under_way && stream.issued() && !stream.coming.empty() && may_begin(stream)) {
		stream.record = std::move(stream.coming.front().record);
		stream.begun = stream.coming.front().number;
		stream.coming.pop_front();
		stream.due_ns = now_ns_ + uint64_t(double(stream.record.think_ns) * trace_.survey().spec.think_scale);
		start(stream);
		if (!stream.issued())
			return;
		leave_zone(stream); /* a trim */
		end_record(stream);
	}
}

/* The stream that is due first goes. If it still computes, it waits for other completions: the queue
 * is in order, so a command of another stream behind it would come too late. */
Step TraceStreams::pick(Lane *&lane)
{
	bool left = false, moving = false;
	Stream *first = nullptr;
	for (Stream &stream : streams_) {
		begin(stream);
		moving |= stream.under_way && !stream.flushing;
		left |= !stream.issued() || !stream.coming.empty();
		const bool can_go = !stream.under_way && !stream.issued() && !must_wait(stream);
		if (can_go && (!first || stream.due_ns < first->due_ns))
			first = &stream;
	}
	if (!first || (moving && first->due_ns > now_ns_))
		return left ? Step::blocked : Step::done;
	if (!first->parts[first->part].flush && !std::exchange(first->placed, true))
		place(*first);
	lane = first;
	return Step::issue;
}

Step TraceStreams::next(wl::Request &request)
{
	const Step step = TraceZones::next(request);
	if (step != Step::issue)
		return step;
	Stream &stream = streams_[lane_of(request)];
	request.not_before_ns = stream.due_ns > now_ns_ ? stream.due_ns : 0;
	stream.under_way = true;
	stream.flushing = request.op == wl::Op::flush;
	if (stream.issued()) {
		leave_zone(stream);
		stream.placed = false;
	}
	return step;
}

void TraceStreams::complete(const wl::Request &request, uint16_t status, uint64_t result)
{
	Stream &stream = streams_[lane_of(request)];
	TraceZones::complete(request, status, result);
	stream.under_way = false;
	if (stream.issued())
		end_record(stream);
}

} // namespace hz::replay
