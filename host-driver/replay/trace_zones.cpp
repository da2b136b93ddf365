/* Mapping `direct` for traces. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/trace_zones.hpp"

#include <algorithm>

namespace hz::replay {

using trace::Record;
using wl::CellState;
using wl::Request;
using wl::Step;
using wl::ZoneCell;

TraceZones::TraceZones(std::shared_ptr<const TraceSurvey> survey, const wl::ZoneShare &device, uint32_t thread)
	: trace_(survey, 1), cells_(device, wl::Versions::appends), thread_(thread)
{
	const std::string &key = survey->spec.block_key;
	if (!key.empty())
		throw wl::WorkloadError(
			key + ": a trace that is replayed directly on zones is divided by zone, needs nothing written before, and "
			      "leaves no empty zones to go on with: remove it, or use mapping: log");
}

/* zone: as the trace counts them. */
void TraceZones::add_part(Lane &lane, uint64_t zone, uint64_t sector, uint64_t sectors)
{
	if (zone >= cells_.count())
		trace_.fail("zone " + std::to_string(zone) + " does not exist: the device has " + std::to_string(cells_.count()) +
			    " sequential zones");
	if (zone % trace_.survey().spec.threads == thread_)
		lane.parts.push_back({uint32_t(zone), cells_.start(uint32_t(zone)) + sector, sectors});
}

/* Each thread resets those of its zones with data. */
void TraceZones::cut_reset_all(Lane &lane)
{
	for (uint32_t zone = thread_; zone < cells_.count(); zone += trace_.survey().spec.threads)
		if (cells_[zone].state != CellState::empty)
			lane.parts.push_back({zone, cells_.start(zone), 0});
}

/* A read or write is cut at the ends of zones. */
void TraceZones::cut(Lane &lane)
{
	const Record &record = lane.record;
	const uint64_t size = cells_.share().zone_size;
	uint64_t sector = record.offset / 4096, left = (record.offset % 4096 + record.bytes + 4095) / 4096;
	uint64_t zone = zone_of(record);
	if (record.op == trace::Op::flush) {
		if (trace_.survey().thread_of_stream(record.stream) == thread_)
			lane.parts.push_back({0, 0, 0, true});
		return;
	}
	if (record.op == trace::Op::reset_all)
		return cut_reset_all(lane);
	if (record.zoned && sector >= size)
		trace_.fail("the address lies " + std::to_string(sector) + " sectors into a zone: on this device they are " +
			    std::to_string(size) + " apart");
	sector %= size;
	if (record.op != trace::Op::read && record.op != trace::Op::write)
		return add_part(lane, zone, sector, left);
	for (; left; zone++, sector = 0) {
		const uint64_t run = std::min(left, size - sector);
		add_part(lane, zone, sector, run);
		left -= run;
	}
}

/* Trims have no zoned counterpart and are skipped. */
void TraceZones::start(Lane &lane)
{
	lane.parts.clear();
	lane.part = 0;
	cut(lane);
	const bool mine = !lane.parts.empty(), trim = lane.record.op == trace::Op::trim;
	records_ += mine && !trim;
	if (mine && trim) {
		ignored_.add(lane.record.op);
		lane.parts.clear();
	}
	if (mine && lane.record.flush_first)
		lane.parts.insert(lane.parts.begin(), {0, 0, 0, true});
}

/* The lane's next part, for what is under way in its zone, or for a Flush before it. */
bool TraceZones::must_wait(const Lane &lane) const
{
	const Part &part = lane.parts[lane.part];
	const ZoneCell &cell = cells_[part.zone];
	if (part.flush)
		return false;
	if (cell.state == CellState::resetting || (lane.record.flush_first && flushes_))
		return true;
	if (lane.record.op == trace::Op::read)
		return cell.writes != 0;
	if (lane.record.op == trace::Op::reset || lane.record.op == trace::Op::reset_all || lane.record.op == trace::Op::finish)
		return cell.writes || cell.reads;
	return false;
}

/* One after the other, in the order of the trace. */
Step TraceZones::pick(Lane *&lane)
{
	lane = &only_;
	while (only_.issued()) {
		if (!trace_.next(only_.record))
			return Step::done;
		start(only_);
	}
	return must_wait(only_) ? Step::blocked : Step::issue;
}

/* The next piece of a read, write or append; stamps define the data. */
void TraceZones::fill_data(Request &request, Lane &lane)
{
	Part &part = lane.parts[lane.part];
	ZoneCell &cell = cells_[part.zone];
	const bool append = lane.record.op == trace::Op::append, read = lane.record.op == trace::Op::read;
	const uint32_t most = append ? cells_.share().max_append : cells_.share().max_transfer;
	const uint64_t start = cells_.start(part.zone);
	request.sectors = uint32_t(std::min<uint64_t>(part.sectors, most));
	request.lba = append ? start : part.lba;
	for (uint32_t i = 0; i < request.sectors; i++)
		request.stamps.push_back(read ? cells_.stamp(part.zone, part.lba - start + i) : wl::Stamp{start, ++serial_});
	(read ? cell.reads : cell.writes)++;
	if (!read && cell.version.empty())
		cell.version.assign(cells_.share().zone_capacity, 0);
	if (!read && cell.state == CellState::empty)
		cell.state = CellState::open;
	part.sectors -= request.sectors;
	part.lba += request.sectors;
	lane.part += part.sectors == 0;
}

/* What holds for every operation. */
void TraceZones::fill_head(Request &request, const Lane &lane, const Part &part)
{
	static constexpr wl::Op ops[] = {wl::Op::read,  wl::Op::write,  wl::Op::append, wl::Op::flush, wl::Op::flush,
					 wl::Op::reset, wl::Op::finish, wl::Op::open,   wl::Op::close, wl::Op::reset};
	const bool durable = lane.record.durable && !part.flush;
	request.op = part.flush ? wl::Op::flush : ops[size_t(lane.record.op)];
	request.cause = wl::Cause::user;
	request.lba = cells_.start(part.zone);
	request.sectors = 0;
	request.think_ns = 0;
	request.not_before_ns = trace_.arrival_ns(lane.record);
	request.durable = durable && cells_.share().durable_writes;
	request.fua = durable && !request.durable;
	request.after_flushes = lane.record.flush_first && !part.flush;
	request.tag = uint64_t(lane.number) << 32 | part.zone;
	request.stamps.clear();
}

Step TraceZones::next(Request &request)
{
	Lane *lane = nullptr;
	const Step step = preparing_ ? Step::done : pick(lane);
	if (step != Step::issue)
		return step;
	const Part &part = lane->parts[lane->part];
	fill_head(request, *lane, part);
	flushes_ += part.flush;
	if (!part.flush && lane->record.bytes) {
		fill_data(request, *lane);
		return Step::issue;
	}
	lane->part++;
	if (request.op == wl::Op::reset) {
		cells_[part.zone].state = CellState::resetting;
		cells_.unlist(part.zone);
	}
	return Step::issue;
}

void TraceZones::finish_data(const Request &request, ZoneCell &cell, uint32_t zone, uint64_t lba)
{
	const uint64_t offset = lba - cells_.start(zone);
	if (offset + request.sectors > cell.version.size())
		return;
	for (uint32_t i = 0; i < request.sectors; i++)
		cell.version[offset + i] = request.stamps[i].version;
	cells_.written(zone, offset, request.sectors);
}

void TraceZones::complete(const Request &request, uint16_t status, uint64_t result)
{
	const auto zone = uint32_t(request.tag);
	ZoneCell &cell = cells_[zone];
	const bool append = request.op == wl::Op::append;
	flushes_ -= request.op == wl::Op::flush;
	if (request.op == wl::Op::read)
		cell.reads--;
	if (append || request.op == wl::Op::write) {
		cell.writes--;
		if (status == 0)
			finish_data(request, cell, zone, append ? result : request.lba);
	}
	if (request.op != wl::Op::reset)
		return;
	if (status == 0)
		cells_.was_reset(zone);
	else
		cell.state = CellState::open;
}

nlohmann::json TraceZones::cost() const
{
	nlohmann::json out = {{"trace_records", records_}};
	ignored_.tell(out);
	return out;
}

} // namespace hz::replay
