// FakeDevice: executes in the order of arrivals at once, reports completions in the order of their finish times.
// SPDX-License-Identifier: BSD-3-Clause
#include "fake_device.hpp"

#include <algorithm>
#include <cstring>

#include "replay/pattern.hpp"

namespace hz::replay {

FakeDevice::FakeDevice(const wl::ZoneShare &zones, unsigned depth, uint64_t seed, Faults faults)
	: zones_(zones), faults_(faults), random_(seed), state_(zones.first_zone + zones.zones),
	  flash_(zones.zone_size * state_.size() * sector_bytes), buffers_(depth, std::vector<std::byte>(zones.max_transfer * sector_bytes))
{
	for (unsigned cid = 0; cid < depth; cid++)
		free_.push_back(uint16_t(cid));
}

std::optional<uint16_t> FakeDevice::acquire()
{
	if (free_.empty())
		return std::nullopt;
	const uint16_t cid = free_.front();
	free_.pop_front();
	return cid;
}

void FakeDevice::release(uint16_t cid) { free_.push_back(cid); }

std::span<std::byte> FakeDevice::data(uint16_t cid) { return buffers_[cid]; }

uint16_t FakeDevice::write(const wl::Request &r, uint16_t cid, uint64_t &result)
{
	Zone &zone = state_[r.lba / zones_.zone_size];
	const uint64_t start = r.lba / zones_.zone_size * zones_.zone_size;
	result = r.op == wl::Op::append ? start + zone.pointer : r.lba;
	if (++writes_ == faults_.fail_write)
		return NVME_WRITE_FAULT;
	if (const uint16_t status = check_write(r, zone, result - start))
		return status;
	memcpy(&flash_[result * sector_bytes], buffers_[cid].data(), r.sectors * sector_bytes);
	const uint64_t end = result - start + r.sectors;
	rewrites += std::min(zone.begun, end) - std::min(zone.begun, result - start);
	zone.begun = std::max(zone.begun, end);
	if (!zone.area)
		zone.pointer = std::max(zone.pointer, end);
	else if (end > zone.pointer + area_)
		zone.pointer += (end - zone.pointer - area_ + unit_ - 1) / unit_ * unit_;
	return 0;
}

uint16_t FakeDevice::check_write(const wl::Request &r, Zone &zone, uint64_t at)
{
	if (zone.finished)
		return NVME_ZONE_FULL;
	if (at + r.sectors > zones_.zone_capacity)
		return NVME_ZONE_BOUNDARY;
	if (zone.area)
		return at >= zone.pointer && at + r.sectors <= zone.pointer + 2 * area_ ? 0 : NVME_ZONE_INVALID_WRITE;
	if (r.in_place)
		return at + r.sectors <= zone.pointer ? 0 : NVME_ZONE_INVALID_WRITE;
	return at == zone.pointer ? 0 : NVME_ZONE_INVALID_WRITE;
}

uint16_t FakeDevice::open_zrwa(Zone &zone)
{
	if (!area_ || zone.begun)
		return NVME_INVALID_ZONE_OP;
	zone.area = true;
	return 0;
}

// The tests commit whole zones.
uint16_t FakeDevice::commit(Zone &zone, uint64_t last)
{
	if (!zone.area || last + 1 != zones_.zone_capacity || zone.begun != zones_.zone_capacity)
		return NVME_INVALID_ZONE_OP;
	zone.pointer = last + 1;
	zone.area = false;
	commits++;
	return 0;
}

uint16_t FakeDevice::read(const wl::Request &r, uint16_t cid)
{
	memcpy(buffers_[cid].data(), &flash_[r.lba * sector_bytes], r.sectors * sector_bytes);
	if (++reads_ == faults_.corrupt_read)
		buffers_[cid][sector_bytes - 1] ^= std::byte{4};
	return 0;
}

uint16_t FakeDevice::execute(const wl::Request &r, uint16_t cid, uint64_t &result)
{
	if (r.op == wl::Op::flush)
		return 0;
	Zone &zone = state_[r.lba / zones_.zone_size];
	switch (r.op) {
	case wl::Op::read: return read(r, cid);
	case wl::Op::write:
	case wl::Op::append: return write(r, cid, result);
	case wl::Op::reset:
		memset(&flash_[r.lba * sector_bytes], 0, zones_.zone_size * sector_bytes);
		zone = {.busy_until = zone.busy_until};
		resets++;
		return 0;
	case wl::Op::finish: zone.finished = true; return 0;
	case wl::Op::open_zrwa: return open_zrwa(zone);
	case wl::Op::commit: return commit(zone, r.lba % zones_.zone_size);
	default: return 0;
	}
}

uint64_t FakeDevice::submit(uint16_t cid, const wl::Request &r, uint64_t arrival_ns)
{
	arrivals_.submit({cid, r}, arrival_ns);
	let_arrive();
	return arrival_ns;
}

void FakeDevice::let_arrive()
{
	while (const auto arrived = arrivals_.next())
		arrive(arrived->first.cid, arrived->first.request, arrived->second);
}

void FakeDevice::arrive(uint16_t cid, const wl::Request &r, uint64_t arrival_ns)
{
	history.push_back(std::to_string(int(r.op)) + " " + std::to_string(r.lba) + " " + std::to_string(r.sectors) + " " +
			  std::to_string(arrival_ns));
	Completion done{};
	done.cid = cid;
	done.arrival_ns = arrival_ns;
	done.status = execute(r, cid, done.result);
	const uint64_t cost = 20000 + random_() % 100000;
	done.completed_ns = std::max(arrival_ns + cost, last_done_ns_);
	const auto sooner = [](const Completion &a, const Completion &b) { return a.completed_ns < b.completed_ns; };
	running_.insert(std::upper_bound(running_.begin(), running_.end(), done, sooner), done);
	most_under_way = std::max<uint64_t>(most_under_way, running_.size());
}

std::span<const Completion> FakeDevice::wait(unsigned)
{
	seen_.clear();
	// Device time may go on to the first completion plus the turn-around before the host must answer.
	size_t count = 0;
	while (count < running_.size() && count < batch_ && running_[count].completed_ns < running_[0].completed_ns + turnaround_ns())
		seen_.push_back(running_[count++]);
	if (count)
		last_done_ns_ = seen_.back().completed_ns;
	running_.erase(running_.begin(), running_.begin() + long(count));
	for (const Completion &done : seen_)
		arrivals_.completed(done.completed_ns);
	let_arrive();
	return seen_;
}

} // namespace hz::replay
