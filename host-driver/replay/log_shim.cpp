/* Mapping `log`: user operations. Garbage collection is in log_gc.cpp. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/log_shim.hpp"

#include <algorithm>

namespace hz::replay {

using wl::BlockVerb;
using wl::Cause;
using wl::Op;
using wl::Request;
using wl::Step;

uint64_t LogShim::space_of(const wl::ZoneShare &share, double over_provisioning)
{
	if (share.zones < 4)
		return 0;
	const auto wanted = uint64_t(double(share.zones * share.zone_capacity) * (1.0 - over_provisioning));
	return std::min(wanted, (share.zones - 3) * share.zone_capacity);
}

LogShim::LogShim(const wl::ZoneShare &share, const LogOptions &options, std::unique_ptr<wl::BlockSource> blocks)
	: share_(share), options_(options), blocks_(std::move(blocks)), space_(space_of(share, options.over_provisioning)), map_(space_),
	  zones_(share.zones)
{
	if (share.zones < 4)
		throw wl::WorkloadError("the log mapping needs 4 zones per thread, this device has " + std::to_string(share.zones) +
					": use fewer threads or a device with more zones");
	for (uint32_t zone = 0; zone < share.zones; zone++)
		free_.push_back(zone);
}

wl::Stamp LogShim::stamp(uint64_t lba, uint64_t version) const { return {uint64_t(share_.first_zone) << 40 | lba, version}; }

void LogShim::begin_measurement()
{
	preparing_ = false;
	ended_ = have_op_ = false;
	count_ = {};
}

uint32_t LogShim::progress_ppm() const { return preparing_ ? (ended_ ? 1000000 : 0) : blocks_->progress_ppm(); }

std::vector<wl::LiveSector> LogShim::live()
{
	std::vector<wl::LiveSector> out;
	for (uint32_t zone = 0; zone < zones_.size(); zone++)
		for (uint64_t i = 0; zones_[zone].state != ZoneState::free && i < zones_[zone].issued; i++) {
			const uint64_t lba = zones_[zone].owner[i];
			if (lba < space_ && map_[lba].location == start(zone) + i)
				out.push_back({start(zone) + i, stamp(lba, map_[lba].version)});
		}
	return out;
}

void LogShim::count_op()
{
	switch (op_.verb) {
	case BlockVerb::read: count_.user_reads++, count_.user_read_sectors += op_.sectors; break;
	case BlockVerb::write: count_.user_writes++, count_.user_written_sectors += op_.sectors; break;
	case BlockVerb::trim: count_.user_trims++; break;
	case BlockVerb::flush: count_.user_flushes++; break;
	}
}

/* Fetches the next block operation; false when there is none. */
bool LogShim::load_op()
{
	if (have_op_ || ended_)
		return have_op_;
	have_op_ = preparing_ ? blocks_->prepare(op_) : blocks_->next(op_);
	ended_ = !have_op_;
	if (!have_op_)
		return false;
	if (op_.lba > space_ || op_.sectors > space_ - op_.lba)
		throw wl::WorkloadError("a block operation at sector " + std::to_string(op_.lba) + " ends beyond the address space");
	count_op();
	return true;
}

/* The first `sectors` of the operation are done; later pieces have no think time. */
bool LogShim::advance_op(uint64_t sectors)
{
	op_.lba += sectors;
	op_.sectors -= sectors;
	have_op_ = op_.sectors != 0;
	return have_op_;
}

void LogShim::issued(Request &request, Cause cause)
{
	request.cause = cause;
	request.think_ns = 0;
	request.not_before_ns = 0;
	request.fua = false;
	request.after_flushes = false;
	if (cause == Cause::user) {
		request.think_ns = op_.think_ns;
		request.not_before_ns = op_.not_before_ns;
		request.fua = op_.fua;
		request.after_flushes = op_.after_flushes;
		op_.think_ns = 0;
	}
	outstanding_++;
}

bool LogShim::writers_in_op()
{
	for (uint64_t i = 0; i < op_.sectors; i++)
		if (map_[op_.lba + i].writers)
			return true;
	return false;
}

/* Gives `zone` room for a sector: keeps it, or opens a free one while more than keep_free are left. */
bool LogShim::open_zone(uint32_t &zone, uint32_t keep_free)
{
	if (zone != none)
		return true;
	if (free_.size() <= keep_free)
		return false;
	zone = free_.front();
	free_.pop_front();
	zones_[zone] = Zone{};
	zones_[zone].state = ZoneState::open;
	zones_[zone].owner.assign(share_.zone_capacity, UINT64_MAX);
	return true;
}

/* Request at the zone's write pointer; a full zone is released. */
void LogShim::take_places(Request &request, uint32_t &zone, uint32_t sectors)
{
	Zone &z = zones_[zone];
	request.op = Op::write;
	request.lba = start(zone) + z.issued;
	request.sectors = sectors;
	request.tag = zone;
	z.issued += sectors;
	z.writes++;
	if (z.issued < share_.zone_capacity)
		return;
	z.state = ZoneState::full;
	zone = none;
}

/* A run of sectors contiguous on the device. Sectors never written are answered here, with zeros. */
Step LogShim::user_read(Request &request)
{
	while (!map_[op_.lba].mapped()) {
		count_.unmapped_read_sectors++;
		if (!advance_op(1))
			return Step::done;
	}
	const uint64_t first = map_[op_.lba].location;
	const uint32_t zone = zone_of(first);
	request.op = Op::read;
	request.lba = first;
	request.tag = zone;
	request.stamps.clear();
	uint32_t run = 0;
	for (; run < op_.sectors && run < share_.max_transfer; run++) {
		const LogEntry &entry = map_[op_.lba + run];
		if (entry.location != first + run || zone_of(entry.location) != zone)
			break;
		request.stamps.push_back(stamp(op_.lba + run, entry.version));
	}
	request.sectors = run;
	zones_[zone].reads++;
	issued(request, Cause::user);
	advance_op(run);
	return Step::issue;
}

Step LogShim::user_write(Request &request)
{
	if (!open_zone(user_zone_, 1))
		return Step::blocked;
	const uint64_t room = share_.zone_capacity - zones_[user_zone_].issued;
	const auto sectors = uint32_t(std::min({op_.sectors, room, uint64_t(share_.max_transfer)}));
	Zone &zone = zones_[user_zone_];
	request.stamps.clear();
	for (uint32_t i = 0; i < sectors; i++) {
		LogEntry &entry = map_[op_.lba + i];
		entry.writers++;
		zone.owner[zone.issued + i] = op_.lba + i;
		request.stamps.push_back(stamp(op_.lba + i, ++entry.issued_version));
	}
	take_places(request, user_zone_, sectors);
	issued(request, Cause::user);
	advance_op(sectors);
	return Step::issue;
}

/* No command: the sectors are only forgotten. */
void LogShim::user_trim()
{
	for (uint64_t i = 0; i < op_.sectors; i++) {
		LogEntry &entry = map_[op_.lba + i];
		if (entry.mapped())
			zones_[zone_of(entry.location)].valid--;
		entry.location = UINT64_MAX;
		entry.version = entry.issued_version;
	}
	have_op_ = false;
}

/* Step::done here means: this operation needed no command, look at the next one. */
Step LogShim::user_step(Request &request)
{
	if (op_.verb == BlockVerb::flush) {
		request.op = Op::flush;
		request.sectors = 0;
		request.stamps.clear();
		issued(request, Cause::user);
		have_op_ = false;
		flushes_++;
		return Step::issue;
	}
	if (op_.after_flushes && flushes_)
		return Step::blocked;
	if (op_.verb == BlockVerb::write)
		return user_write(request);
	if (writers_in_op())
		return Step::blocked; /* its data are on the way to the device */
	if (op_.verb == BlockVerb::read)
		return user_read(request);
	user_trim();
	return Step::done;
}

Step LogShim::next(Request &request)
{
	if (gc_needed() && gc_step(request))
		return Step::issue;
	while (load_op()) {
		const Step step = user_step(request);
		if (step == Step::issue)
			return step;
		if (step == Step::done)
			continue;
		if (outstanding_ == 0)
			throw wl::WorkloadError("the log mapping has no room left: give it more over-provisioning");
		return Step::blocked;
	}
	if (victim_ == none)
		return Step::done;
	return gc_step(request) ? Step::issue : Step::blocked; /* leave no half-collected zone behind */
}

/* The newest version wins, in any order of completion. */
void LogShim::settle(uint64_t lba, uint64_t location, uint64_t version)
{
	LogEntry &entry = map_[lba];
	if (entry.mapped())
		zones_[zone_of(entry.location)].valid--;
	entry.location = location;
	entry.version = version;
	zones_[zone_of(location)].valid++;
}

void LogShim::finish_user_write(const Request &request, uint64_t location)
{
	for (uint32_t i = 0; i < request.sectors; i++) {
		const uint64_t lba = request.stamps[i].key & ((1ull << 40) - 1);
		if (request.stamps[i].version > map_[lba].version)
			settle(lba, location + i, request.stamps[i].version);
	}
}

void LogShim::finish_write(const Request &request, bool ok)
{
	const auto zone = uint32_t(request.tag);
	zones_[zone].writes--;
	if (request.cause == Cause::user)
		for (const wl::Stamp &s : request.stamps)
			map_[s.key & ((1ull << 40) - 1)].writers--;
	else
		gc_writes_--;
	if (ok && request.cause == Cause::user)
		return finish_user_write(request, request.lba);
	if (ok)
		return finish_gc_write(request, request.lba);
	/* The zone's order is broken: its data stay readable, and it takes no more writes. */
	count_.failed_writes++;
	zones_[zone].state = ZoneState::lost;
	user_zone_ = user_zone_ == zone ? none : user_zone_;
	gc_zone_ = gc_zone_ == zone ? none : gc_zone_;
}

void LogShim::complete(const Request &request, uint16_t status, uint64_t)
{
	outstanding_--;
	switch (request.op) {
	case Op::read:
		zones_[uint32_t(request.tag)].reads--;
		if (request.cause == Cause::gc)
			finish_gc_read(request);
		break;
	case Op::write: finish_write(request, status == 0); break;
	case Op::flush: flushes_--; break;
	case Op::reset: finish_reset(request, status == 0); break;
	default: break;
	}
}

nlohmann::json LogShim::cost() const
{
	const Counters &c = count_;
	const uint64_t written = c.user_written_sectors + c.gc_copied_sectors;
	nlohmann::json out = blocks_->cost();
	out.update({
		{"user_reads", c.user_reads},
		{"user_writes", c.user_writes},
		{"user_trims", c.user_trims},
		{"user_flushes", c.user_flushes},
		{"user_read_bytes", c.user_read_sectors * 4096},
		{"user_written_bytes", c.user_written_sectors * 4096},
		{"unmapped_read_bytes", c.unmapped_read_sectors * 4096},
		{"gc_runs", c.gc_runs},
		{"gc_read_bytes", c.gc_read_sectors * 4096},
		{"gc_copied_bytes", c.gc_copied_sectors * 4096},
		{"zone_resets", c.zone_resets},
		{"failed_writes", c.failed_writes},
		{"address_space_bytes", space_ * 4096},
		{"host_waf", c.user_written_sectors ? double(written) / double(c.user_written_sectors) : 1.0},
	});
	return out;
}

std::string LogShim::check()
{
	std::vector<uint64_t> valid(zones_.size());
	for (uint64_t lba = 0; lba < space_; lba++) {
		const LogEntry &entry = map_[lba];
		if (!entry.mapped())
			continue;
		const uint32_t zone = zone_of(entry.location);
		const uint64_t offset = entry.location - start(zone);
		if (zones_[zone].state == ZoneState::free || zones_[zone].owner[offset] != lba)
			return "sector " + std::to_string(lba) + " is mapped to a place that another sector owns";
		valid[zone]++;
	}
	for (size_t zone = 0; zone < zones_.size(); zone++)
		if (valid[zone] != zones_[zone].valid)
			return "zone " + std::to_string(zone) + " counts " + std::to_string(zones_[zone].valid) +
			       " valid sectors, the map has " + std::to_string(valid[zone]);
	return {};
}

} // namespace hz::replay
