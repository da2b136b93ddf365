/* Mapping `direct` for traces. */
#include "replay/trace_zones.hpp"

#include <algorithm>

namespace hz::replay {

using trace::Record;
using wl::CellState;
using wl::Request;
using wl::Step;
using wl::ZoneCell;

TraceZones::TraceZones(const wl::TraceSpec &spec, const wl::ZoneShare &device, uint32_t thread)
	: spec_(spec), cells_(device, true), thread_(thread)
{
	if (spec.repeat > 1)
		throw wl::WorkloadError("a zoned trace cannot be repeated: its zones are not empty any more (use repeat: 1)");
	reader_ = std::make_unique<trace::Reader>(spec.file, trace::ReaderOptions{spec.format, spec.time_unit_ns});
}

uint64_t TraceZones::lba_of(const Record &record) const
{
	const wl::ZoneShare &share = cells_.share();
	return share.start_of(share.first_zone + (record.zoned ? record.zone : 0)) + record.offset / 4096;
}

bool TraceZones::mine(const Record &record, uint64_t lba) const
{
	if (record.op == trace::Op::flush)
		return record.stream % spec_.threads == thread_;
	const uint64_t zone = lba / cells_.share().zone_size - cells_.share().first_zone;
	if (zone >= cells_.count())
		throw trace::TraceError(spec_.file + ":" + std::to_string(reader_->line_number()) + ": zone " + std::to_string(zone) +
					" does not exist: the device has " + std::to_string(cells_.count()) + " sequential zones");
	return zone % spec_.threads == thread_;
}

/* Next record of this thread; trims have no zoned counterpart and are passed over. */
bool TraceZones::fetch()
{
	while (!have_ && (!spec_.max_ops || records_ < spec_.max_ops) && reader_->next(record_)) {
		if (records_++ == 0)
			first_ns_ = record_.time_ns;
		lba_ = lba_of(record_);
		if (record_.op == trace::Op::trim || !mine(record_, lba_))
			continue;
		have_ = true;
		own_records_++;
		left_ = (record_.offset % 4096 + record_.bytes + 4095) / 4096;
		const uint64_t since = record_.time_ns > first_ns_ ? record_.time_ns - first_ns_ : 0;
		not_before_ns_ = spec_.timing == wl::Timing::open ? uint64_t(double(since) * spec_.time_scale) : 0;
	}
	return have_;
}

bool TraceZones::must_wait(const ZoneCell &cell) const
{
	if (cell.state == CellState::resetting)
		return true;
	if (record_.op == trace::Op::read)
		return cell.writes != 0;
	if (record_.op == trace::Op::reset || record_.op == trace::Op::finish)
		return cell.writes || cell.reads;
	return false;
}

/* The next piece of a read, write or append; stamps say what the data are. */
void TraceZones::fill_data(Request &request, ZoneCell &cell, uint32_t zone)
{
	const bool append = record_.op == trace::Op::append, read = record_.op == trace::Op::read;
	const uint32_t most = append ? cells_.share().max_append : cells_.share().max_transfer;
	request.sectors = uint32_t(std::min<uint64_t>(left_, most));
	request.lba = append ? cells_.start(zone) : lba_;
	const uint64_t offset = lba_ - cells_.start(zone);
	for (uint32_t i = 0; i < request.sectors; i++)
		request.stamps.push_back(read ? cells_.stamp(zone, offset + i) : wl::Stamp{cells_.start(zone), ++serial_});
	(read ? cell.reads : cell.writes)++;
	if (!read && cell.append_version.empty())
		cell.append_version.assign(cells_.share().zone_capacity, 0);
	if (!read && cell.state == CellState::empty)
		cell.state = CellState::open;
	left_ -= request.sectors;
	lba_ += append ? 0 : request.sectors;
	have_ = left_ != 0;
}

Step TraceZones::next(Request &request)
{
	static constexpr wl::Op ops[] = {wl::Op::read, wl::Op::write, wl::Op::append, wl::Op::flush, wl::Op::flush,
					 wl::Op::reset, wl::Op::finish, wl::Op::open, wl::Op::close};
	if (preparing_ || !fetch())
		return Step::done;
	const auto zone = uint32_t(lba_ / cells_.share().zone_size) - cells_.share().first_zone;
	ZoneCell &cell = cells_[zone];
	if (record_.op != trace::Op::flush && must_wait(cell))
		return Step::blocked;
	request.op = ops[size_t(record_.op)];
	request.cause = wl::Cause::user;
	request.lba = cells_.start(zone);
	request.sectors = 0;
	request.think_ns = 0;
	request.not_before_ns = not_before_ns_;
	request.tag = zone;
	request.stamps.clear();
	if (record_.bytes) {
		fill_data(request, cell, zone);
		return Step::issue;
	}
	have_ = false;
	if (request.op == wl::Op::reset) {
		cell.state = CellState::resetting;
		cells_.unlist(zone);
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

uint32_t TraceZones::progress_ppm() const
{
	return spec_.max_ops ? uint32_t(double(records_) / double(spec_.max_ops) * 1e6) : 0;
}

nlohmann::json TraceZones::cost() const
{
	return {{"trace_records", own_records_}};
}

} // namespace hz::replay
