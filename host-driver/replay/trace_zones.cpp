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
	: trace_(survey, 1), cells_(device, true), thread_(thread)
{
	const std::string &key = survey->spec.block_key;
	if (!key.empty())
		throw wl::WorkloadError(
			key + ": a trace that is replayed directly on zones is divided by zone, needs nothing written before, and "
			      "leaves no empty zones to go on with: remove it, or use mapping: log");
}

/* zone: as the trace counts them. */
void TraceZones::add_part(uint64_t zone, uint64_t sector, uint64_t sectors)
{
	if (zone >= cells_.count())
		trace_.fail("zone " + std::to_string(zone) + " does not exist: the device has " + std::to_string(cells_.count()) +
			    " sequential zones");
	if (zone % trace_.survey().spec.threads == thread_)
		parts_.push_back({uint32_t(zone), cells_.start(uint32_t(zone)) + sector, sectors});
}

/* Each thread resets those of its zones with data. */
void TraceZones::cut_reset_all()
{
	for (uint32_t zone = thread_; zone < cells_.count(); zone += trace_.survey().spec.threads)
		if (cells_[zone].state != CellState::empty)
			parts_.push_back({zone, cells_.start(zone), 0});
}

/* A read or write is cut at the ends of zones. */
void TraceZones::cut()
{
	const uint64_t size = cells_.share().zone_size;
	uint64_t sector = record_.offset / 4096, left = (record_.offset % 4096 + record_.bytes + 4095) / 4096;
	uint64_t zone = record_.zoned ? record_.zone : sector / size;
	if (record_.op == trace::Op::flush) {
		if (trace_.survey().thread_of_stream(record_.stream) == thread_)
			parts_.push_back({0, 0, 0, true});
		return;
	}
	if (record_.op == trace::Op::reset_all)
		return cut_reset_all();
	if (record_.zoned && sector >= size)
		trace_.fail("the address lies " + std::to_string(sector) + " sectors into a zone: on this device they are " +
			    std::to_string(size) + " apart");
	sector %= size;
	if (record_.op != trace::Op::read && record_.op != trace::Op::write)
		return add_part(zone, sector, left);
	for (; left; zone++, sector = 0) {
		const uint64_t run = std::min(left, size - sector);
		add_part(zone, sector, run);
		left -= run;
	}
}

/* This thread's next part of a record; trims have no zoned counterpart and are skipped. */
bool TraceZones::fetch()
{
	while (part_ == parts_.size()) {
		parts_.clear();
		part_ = 0;
		if (!trace_.next(record_))
			return false;
		cut();
		const bool mine = !parts_.empty(), trim = record_.op == trace::Op::trim;
		records_ += mine && !trim;
		if (mine && trim) {
			ignored_.add(record_.op);
			parts_.clear();
		}
		if (mine && record_.flush_first)
			parts_.insert(parts_.begin(), {0, 0, 0, true});
	}
	return true;
}

bool TraceZones::must_wait(const ZoneCell &cell) const
{
	if (cell.state == CellState::resetting || (record_.flush_first && flushes_))
		return true;
	if (record_.op == trace::Op::read)
		return cell.writes != 0;
	if (record_.op == trace::Op::reset || record_.op == trace::Op::reset_all || record_.op == trace::Op::finish)
		return cell.writes || cell.reads;
	return false;
}

/* The next piece of a read, write or append; stamps define the data. */
void TraceZones::fill_data(Request &request, ZoneCell &cell, Part &part)
{
	const bool append = record_.op == trace::Op::append, read = record_.op == trace::Op::read;
	const uint32_t most = append ? cells_.share().max_append : cells_.share().max_transfer;
	const uint64_t start = cells_.start(part.zone);
	request.sectors = uint32_t(std::min<uint64_t>(part.sectors, most));
	request.lba = append ? start : part.lba;
	for (uint32_t i = 0; i < request.sectors; i++)
		request.stamps.push_back(read ? cells_.stamp(part.zone, part.lba - start + i) : wl::Stamp{start, ++serial_});
	(read ? cell.reads : cell.writes)++;
	if (!read && cell.append_version.empty())
		cell.append_version.assign(cells_.share().zone_capacity, 0);
	if (!read && cell.state == CellState::empty)
		cell.state = CellState::open;
	part.sectors -= request.sectors;
	part.lba += request.sectors;
	part_ += part.sectors == 0;
}

Step TraceZones::next(Request &request)
{
	static constexpr wl::Op ops[] = {wl::Op::read,  wl::Op::write,  wl::Op::append, wl::Op::flush, wl::Op::flush,
					 wl::Op::reset, wl::Op::finish, wl::Op::open,   wl::Op::close, wl::Op::reset};
	if (preparing_ || !fetch())
		return Step::done;
	Part &part = parts_[part_];
	ZoneCell &cell = cells_[part.zone];
	if (!part.flush && must_wait(cell))
		return Step::blocked;
	request.op = part.flush ? wl::Op::flush : ops[size_t(record_.op)];
	request.cause = wl::Cause::user;
	request.lba = cells_.start(part.zone);
	request.sectors = 0;
	request.think_ns = 0;
	request.not_before_ns = trace_.arrival_ns(record_);
	request.durable = record_.durable && cells_.share().durable_writes;
	request.fua = record_.durable && !request.durable;
	request.after_flushes = record_.flush_first && !part.flush;
	request.tag = part.zone;
	request.stamps.clear();
	if (part.flush) {
		request.durable = request.fua = false;
		flushes_++;
	} else if (record_.bytes) {
		fill_data(request, cell, part);
		return Step::issue;
	}
	part_++;
	if (request.op == wl::Op::reset) {
		cell.state = CellState::resetting;
		cells_.unlist(part.zone);
	}
	return Step::issue;
}

void TraceZones::finish_data(const Request &request, ZoneCell &cell, uint32_t zone, uint64_t lba)
{
	const uint64_t offset = lba - cells_.start(zone);
	if (offset + request.sectors > cell.append_version.size())
		return;
	for (uint32_t i = 0; i < request.sectors; i++)
		cell.append_version[offset + i] = request.stamps[i].version;
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
