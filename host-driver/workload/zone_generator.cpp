/* Synthetic zoned workload of one thread.
 *
 * A lane is a place for one zone under writing. A full zone leaves its lane; the lane then takes
 * the next empty zone, or the next full zone after resetting it. The next command is drawn once and
 * kept until it can be issued, so that the sequence of draws does not depend on the number of
 * next() calls. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/zone_generator.hpp"

#include <algorithm>

namespace hz::wl {
namespace {

constexpr uint32_t none = UINT32_MAX;

Versions versions_of(const ThreadSpec &spec)
{
	if (spec.append)
		return Versions::appends;
	return spec.record ? Versions::writes : Versions::generation;
}

uint32_t largest_block(const ThreadSpec &spec)
{
	uint64_t most = 1;
	for (const BlockSize &block : spec.blocks)
		most = std::max(most, block.sectors);
	return uint32_t(most);
}

} // namespace

/* Of the measurement. The device takes writes in any order. A write that ends behind the area commits all that lies more than an area before its
 * end, and a write that begins there is refused. So those under way together fit the area. Blocks that divide it never lie across its end. */
static uint32_t depth_of(const ThreadSpec &spec, const ZoneShare &share)
{
	const uint32_t most = uint32_t(most_sectors(spec));
	if (!spec.zrwa || !share.zrwa_sectors || (spec.blocks.size() == 1 && share.zrwa_sectors % most == 0))
		return spec.zone_depth;
	const uint32_t begun = most % share.zrwa_granularity || spec.blocks.size() > 1 ? share.zrwa_granularity - 1 : 0;
	const uint32_t fit = share.zrwa_sectors < most + begun ? 1 : (share.zrwa_sectors - begun) / most;
	return spec.zone_depth ? std::min(spec.zone_depth, fit) : fit;
}

ZoneGenerator::ZoneGenerator(const ThreadSpec &spec, const ZoneShare &share, uint64_t seed)
	: spec_(spec), cells_(share, versions_of(spec)), random_(seed), depth_(depth_of(spec, share)), draining_(none)
{
	const uint32_t block = largest_block(spec), largest = uint32_t(most_sectors(spec));
	if (share.zones == 0 || share.zone_capacity < block)
		throw WorkloadError("a thread has no zone that holds a block of " + std::to_string(block * 4) + " KiB");
	if (largest > std::min(share.max_transfer, spec.append ? share.max_append : share.max_transfer))
		throw WorkloadError("blocks of " + std::to_string(largest * 4) + " KiB are more than the device takes in one command");
	if (spec.trim_ratio > 0)
		throw WorkloadError("trim_ratio: sectors of sequential zones are not trimmed, zones are reset: remove it, or choose area: "
				    "conventional, mapping: log or a block namespace");
	if (spec.open_zones > share.zones)
		throw WorkloadError("open_zones is " + std::to_string(spec.open_zones) + ", but a thread has only " +
				    std::to_string(share.zones) + " zones");
	lanes_.assign(spec.open_zones, none);
	blocks_per_zone_ = share.zone_capacity / block;
	const uint64_t space = share.zone_capacity * share.zones;
	span_sectors_ = spec.span_sectors ? spec.span_sectors : uint64_t(double(space) * spec.span);
	prefill_sectors_ = prefill_of(space);
	if (span_sectors_ < block || span_sectors_ > space)
		throw WorkloadError("span_bytes: a span of " + std::to_string(span_sectors_ * 4) +
				    " KiB must hold a block and fit the thread's zones of " + std::to_string(space * 4) + " KiB");
	if (span_sectors_ < space && spec.read_ratio > 0 && prefill_sectors_ < span_sectors_)
		throw WorkloadError("prefill: reads are to stay in a span of " + std::to_string(span_sectors_ * 4) + " KiB, but only " +
				    std::to_string(prefill_sectors_ * 4) + " KiB are written before: give it a larger prefill");
	span_blocks_ = std::max<uint64_t>(1, span_sectors_ / share.zone_capacity * blocks_per_zone_ +
						     span_sectors_ % share.zone_capacity / block);
	for (const BlockSize &entry : spec.blocks)
		total_weight_ += entry.weight;
	if (spec.distribution == Distribution::zipf)
		zipf_.emplace(span_blocks_, spec.zipf_theta);
}

/* An area is given to empty zones: none may be left half full. */
uint64_t ZoneGenerator::prefill_of(uint64_t space) const
{
	const auto part = uint64_t(double(space) * spec_.prefill);
	const uint64_t unit = cells_.share().zone_capacity * spec_.open_zones;
	return spec_.zrwa || spec_.record ? std::min(space, (part + unit - 1) / unit * unit) : part;
}

bool ZoneGenerator::finished() const
{
	if (preparing_)
		return sectors_ >= prefill_sectors_;
	return (spec_.total_ops && ops_ >= spec_.total_ops) || (spec_.total_sectors && sectors_ >= spec_.total_sectors);
}

uint32_t ZoneGenerator::progress_ppm() const
{
	const uint64_t total = preparing_ ? prefill_sectors_ : spec_.total_sectors;
	double part = total ? double(sectors_) / double(total) : preparing_ ? 1.0 : 0.0;
	if (!preparing_ && spec_.total_ops)
		part = std::max(part, double(ops_) / double(spec_.total_ops));
	return uint32_t(std::min(part, 1.0) * 1e6);
}

void ZoneGenerator::begin_measurement()
{
	preparing_ = false;
	ops_ = sectors_ = unflushed_ = 0;
	pending_ = Choice::none;
}

ZoneGenerator::Choice ZoneGenerator::draw()
{
	if (preparing_) {
		pending_block_ = cells_.share().max_transfer;
		if (spec_.append)
			pending_block_ = std::min(pending_block_, cells_.share().max_append);
		return Choice::write;
	}
	const bool read = random_.unit() < spec_.read_ratio;
	pending_block_ = draw_block();
	return read ? Choice::read : Choice::write;
}

uint32_t ZoneGenerator::draw_block()
{
	uint64_t ticket = spec_.blocks.size() > 1 ? random_.below(total_weight_) : 0;
	for (const BlockSize &block : spec_.blocks) {
		if (ticket < block.weight)
			return uint32_t(block.sectors);
		ticket -= block.weight;
	}
	return uint32_t(spec_.blocks.back().sectors);
}

uint64_t ZoneGenerator::draw_think()
{
	if (preparing_ || !spec_.think_ns)
		return 0;
	return spec_.think == Think::exponential ? random_.exponential(spec_.think_ns) : spec_.think_ns;
}

/* Nothing is drawn where all are alike, so that runs without durable writes stay as they were. */
bool ZoneGenerator::draw_durable()
{
	if (preparing_ || spec_.durable_ratio <= 0)
		return false;
	return spec_.durable_ratio >= 1 || random_.unit() < spec_.durable_ratio;
}

Step ZoneGenerator::next(Request &request)
{
	if (finished())
		return Step::done;
	if (!preparing_ && spec_.flush_every && unflushed_ >= spec_.flush_every)
		return issue_flush(request);
	if (pending_ == Choice::none)
		pending_ = draw();
	/* Until something was written there is nothing to read: such a read becomes a write. */
	if (pending_ == Choice::read && cells_.readable().empty() && outstanding_ == 0) {
		if (spec_.read_ratio >= 1.0)
			throw WorkloadError("a thread only reads, but nothing is written: give it a prefill");
		pending_ = Choice::write;
	}
	return pending_ == Choice::read ? issue_read(request) : issue_write(request);
}

/* Read-only and write-only phases can be planned; in a mix, reads depend on completed writes. */
bool ZoneGenerator::plans_ahead() const
{
	const bool writes = preparing_ || spec_.read_ratio <= 0;
	return writes ? !zone_depth() && (preparing_ || !spec_.zrwa) : spec_.read_ratio >= 1;
}

/* A record waits for the one before it, whose last block it writes again. */
uint32_t ZoneGenerator::zone_depth() const { return writes_records() ? 1 : preparing_ ? spec_.zone_depth : depth_; }

/* The next zone written after a reset depends on the reset's end. */
bool ZoneGenerator::foresees()
{
	const bool resets = !preparing_ && spec_.read_ratio <= 0 && spec_.reset_when_full;
	return !resets || (!resets_ && has_open_lane());
}

bool ZoneGenerator::has_open_lane() const
{
	return std::any_of(lanes_.begin(), lanes_.end(), [](uint32_t zone) { return zone != none; });
}

void ZoneGenerator::issued(Request &request)
{
	request.cause = Cause::user;
	const bool writes = request.op == Op::write || request.op == Op::append;
	request.durable &= writes;
	request.fua &= writes;
	request.again &= writes;
	request.in_place &= writes;
	request.think_ns = draw_think();
	request.not_before_ns = 0;
	outstanding_++;
}

Step ZoneGenerator::issue_flush(Request &request)
{
	request.op = Op::flush;
	request.sectors = 0;
	unflushed_ = 0;
	issued(request);
	return Step::issue;
}

Step ZoneGenerator::issue_read(Request &request)
{
	if (cells_.readable().empty())
		return Step::blocked;
	uint32_t zone;
	uint64_t offset;
	if (spec_.read_pattern == Pattern::random)
		random_place(zone, offset);
	else
		sequential_place(zone, offset);
	fill_read(request, zone, offset);
	pending_ = Choice::none;
	issued(request);
	return Step::issue;
}

/* Draws a block of the span first, so that popularity is tied to places; then folds unreadable
 * places into the readable part. */
void ZoneGenerator::random_place(uint32_t &zone, uint64_t &offset)
{
	const uint64_t block = zipf_ ? mix64(zipf_->draw(random_)) % span_blocks_ : random_.below(span_blocks_);
	zone = uint32_t(block / blocks_per_zone_);
	if (cells_[zone].listed == SIZE_MAX)
		zone = cells_.readable()[zone % cells_.readable().size()];
	const uint64_t places = std::max<uint64_t>(1, cells_[zone].readable / pending_block_);
	offset = block % blocks_per_zone_ % places * pending_block_;
}

void ZoneGenerator::sequential_place(uint32_t &zone, uint64_t &offset)
{
	if (cells_[read_zone_].listed == SIZE_MAX || read_offset_ >= cells_[read_zone_].readable) {
		uint32_t step = 1;
		while (step < cells_.count() && cells_[(read_zone_ + step) % cells_.count()].listed == SIZE_MAX)
			step++;
		read_zone_ = (read_zone_ + step) % cells_.count();
		if (cells_[read_zone_].listed == SIZE_MAX)
			read_zone_ = cells_.readable().front();
		read_offset_ = 0;
	}
	zone = read_zone_;
	offset = read_offset_;
	read_offset_ += pending_block_;
	if (zone * cells_.share().zone_capacity + read_offset_ >= span_sectors_) /* the next one begins again */
		read_zone_ = 0, read_offset_ = 0;
}

void ZoneGenerator::fill_read(Request &request, uint32_t zone, uint64_t offset)
{
	ZoneCell &cell = cells_[zone];
	request.op = Op::read;
	request.lba = cells_.start(zone) + offset;
	request.sectors = uint32_t(std::min<uint64_t>(pending_block_, cell.readable - offset));
	request.tag = zone;
	request.stamps.clear();
	for (uint32_t i = 0; i < request.sectors; i++)
		request.stamps.push_back(cells_.stamp(zone, offset + i));
	cell.reads++;
	ops_++;
	sectors_ += request.sectors;
}

std::optional<uint32_t> ZoneGenerator::find_empty()
{
	for (uint32_t i = 0; i < cells_.count(); i++) {
		const uint32_t zone = (empty_hint_ + i) % cells_.count();
		if (cells_[zone].state != CellState::empty)
			continue;
		empty_hint_ = zone + 1;
		return zone;
	}
	return std::nullopt;
}

std::optional<uint32_t> ZoneGenerator::find_full()
{
	for (uint32_t i = 0; i < cells_.count(); i++) {
		const uint32_t zone = (full_hint_ + i) % cells_.count();
		if (cells_[zone].state != CellState::full)
			continue;
		full_hint_ = zone + 1;
		return zone;
	}
	return std::nullopt;
}

/* A lane whose zone takes another write now. waiting: none now, but a completion may provide one. */
std::optional<size_t> ZoneGenerator::writable_lane(bool &waiting)
{
	const size_t first = spec_.write_pattern == Pattern::random && !preparing_ ? random_.below(lanes_.size()) : turn_;
	for (size_t i = 0; i < lanes_.size(); i++) {
		const size_t lane = (first + i) % lanes_.size();
		if (lanes_[lane] == none) {
			const auto zone = find_empty();
			if (!zone)
				continue;
			lanes_[lane] = *zone;
			cells_.opened(*zone);
			if (spec_.zrwa && !preparing_)
				cells_[*zone].state = CellState::opening;
		}
		const ZoneCell &cell = cells_[lanes_[lane]];
		const uint32_t depth = cell.state == CellState::open ? zone_depth() : 1; // one command that opens it, or ends it
		if (depth && cell.writes >= depth) {
			waiting = true;
			continue;
		}
		turn_ = (lane + 1) % lanes_.size();
		return lane;
	}
	return std::nullopt;
}

/* Resets the next full zone once its commands have drained. */
bool ZoneGenerator::start_reset(Request &request, bool &waiting)
{
	const auto idle_lanes = size_t(std::count(lanes_.begin(), lanes_.end(), none));
	if (draining_ == none && spec_.reset_when_full && !preparing_ && resets_ < idle_lanes) {
		const auto zone = find_full();
		if (zone) {
			draining_ = *zone;
			cells_[*zone].state = CellState::resetting;
			cells_.unlist(*zone);
		}
	}
	waiting = resets_ || draining_ != none;
	if (draining_ == none)
		return false;
	ZoneCell &cell = cells_[draining_];
	if (cell.reads || cell.writes)
		return false;
	request.op = Op::reset;
	request.lba = cells_.start(draining_);
	request.sectors = 0;
	request.tag = draining_;
	draining_ = none;
	resets_++;
	issued(request);
	return true;
}

Step ZoneGenerator::issue_write(Request &request)
{
	bool waiting = false;
	const auto lane = writable_lane(waiting);
	if (lane && cells_[lanes_[*lane]].state != CellState::open)
		return issue_zone(request, lanes_[*lane]);
	if (lane) {
		fill_write(request, lanes_[*lane]);
		if (cells_[lanes_[*lane]].state == CellState::full)
			lanes_[*lane] = none;
		pending_ = Choice::none;
		issued(request);
		return Step::issue;
	}
	if (!waiting && start_reset(request, waiting))
		return Step::issue;
	if (outstanding_)
		return Step::blocked;
	if (waiting)
		throw WorkloadError("internal: a write waits although nothing is under way");
	return Step::done;
}

/* The zone gets its random write area, or loses it: all of it is committed. */
Step ZoneGenerator::issue_zone(Request &request, uint32_t zone)
{
	ZoneCell &cell = cells_[zone];
	const bool opens = cell.state == CellState::opening;
	request.op = opens ? Op::open_zrwa : Op::commit;
	request.lba = cells_.start(zone) + (opens ? 0 : cells_.share().zone_capacity - 1);
	request.sectors = 0;
	request.tag = zone;
	request.stamps.clear();
	cell.writes++;
	issued(request);
	return Step::issue;
}

SectorRange ZoneGenerator::next_range(ZoneCell &cell) const
{
	const uint64_t capacity = cells_.share().zone_capacity;
	if (writes_records())
		return next_record(spec_, cell.filled, capacity);
	return {cell.issued, std::min(cell.issued + pending_block_, capacity)};
}

void ZoneGenerator::fill_stamps(Request &request, uint32_t zone)
{
	ZoneCell &cell = cells_[zone];
	request.stamps.clear();
	for (uint32_t i = 0; i < request.sectors; i++) {
		if (spec_.append)
			request.stamps.push_back({cells_.start(zone), ++serial_});
		else if (spec_.record)
			request.stamps.push_back({request.lba + i, ++serial_});
		else
			request.stamps.push_back({request.lba + i, cell.generation});
		if (spec_.record)
			cell.newest[request.lba + i - cells_.start(zone)] = serial_;
	}
}

void ZoneGenerator::fill_write(Request &request, uint32_t zone)
{
	ZoneCell &cell = cells_[zone];
	const uint64_t capacity = cells_.share().zone_capacity;
	request.op = spec_.append ? Op::append : Op::write;
	const SectorRange range = next_range(cell);
	request.durable = draw_durable();
	request.fua = spec_.fua && !preparing_;
	request.again = range.first < cell.issued;
	request.in_place = request.again && !spec_.zrwa;
	request.sectors = uint32_t(range.end - range.first);
	request.lba = cells_.start(zone) + (spec_.append ? 0 : range.first);
	request.tag = zone;
	fill_stamps(request, zone);
	cell.issued = range.end;
	if (cell.issued == capacity && (!writes_records() || cell.filled == capacity * 4096))
		cell.state = spec_.zrwa && !preparing_ ? CellState::ending : CellState::full;
	cell.writes++;
	ops_++;
	unflushed_++;
	sectors_ += request.sectors;
}

void ZoneGenerator::finish_write(const Request &request, bool ok, uint64_t result)
{
	const auto zone = uint32_t(request.tag);
	ZoneCell &cell = cells_[zone];
	cell.writes--;
	const uint64_t lba = request.op == Op::append ? result : request.lba;
	const uint64_t offset = lba - cells_.start(zone);
	if (!ok || offset + request.sectors > cells_.share().zone_capacity) {
		lose(zone);
		return;
	}
	if (spec_.append || spec_.record)
		for (uint32_t i = 0; i < request.sectors; i++)
			cell.version[offset + i] = request.stamps[i].version;
	cells_.written(zone, offset, request.sectors);
}

/* The zone's order is broken for good: nothing further is written to it. */
void ZoneGenerator::lose(uint32_t zone)
{
	std::replace(lanes_.begin(), lanes_.end(), zone, none);
	cells_[zone].state = CellState::lost;
	cells_.unlist(zone);
}

void ZoneGenerator::finish_zone(const Request &request, bool ok)
{
	const auto zone = uint32_t(request.tag);
	cells_[zone].writes--;
	if (!ok) {
		lose(zone);
		return;
	}
	cells_[zone].state = request.op == Op::commit ? CellState::full : CellState::open;
	if (request.op == Op::commit)
		std::replace(lanes_.begin(), lanes_.end(), zone, none);
}

/* A write that was under way beside the read may have been faster. */
uint64_t ZoneGenerator::newest_version(const Request &request, uint32_t index)
{
	const auto zone = uint32_t(request.tag);
	return spec_.record ? cells_[zone].newest[request.lba + index - cells_.start(zone)] : request.stamps[index].version;
}

void ZoneGenerator::complete(const Request &request, uint16_t status, uint64_t result)
{
	outstanding_--;
	const auto zone = uint32_t(request.tag);
	if (request.op == Op::read)
		cells_[zone].reads--;
	if (request.op == Op::write || request.op == Op::append)
		finish_write(request, status == 0, result);
	if (request.op == Op::open_zrwa || request.op == Op::commit)
		finish_zone(request, status == 0);
	if (request.op != Op::reset)
		return;
	resets_--;
	if (status == 0)
		cells_.was_reset(zone);
	else
		cells_[zone].state = CellState::lost;
}

} // namespace hz::wl
