// CrashSource: choosing operations, keeping the model, and the check after a boot.
// SPDX-License-Identifier: BSD-3-Clause
#include "crash_source.hpp"

#include <algorithm>

namespace e2e {

using hz::wl::Op;
using hz::wl::Request;
using hz::wl::Stamp;
using hz::wl::Step;

CrashSource::CrashSource(const hz::wl::ZoneShare &share, uint64_t seed, unsigned writable_zones)
	: share_(share), random_(seed), writable_zones_(writable_zones), zones_(share.zones)
{
}

void CrashSource::start(uint64_t commands, std::function<void()> each)
{
	left_ = commands;
	outstanding_ = 0;
	flushes_.clear();
	each_ = std::move(each);
}

unsigned CrashSource::active() const
{
	return static_cast<unsigned>(std::count_if(zones_.begin(), zones_.end(), [](const CrashZone &zone) {
		return (!zone.versions.empty() && !zone.full) || zone.finishing || zone.under_way;
	}));
}

Step CrashSource::next(Request &request)
{
	if (!left_)
		return Step::done;
	request = {};
	bool chosen = false;
	for (int i = 0; i < 20 && !chosen; i++)
		chosen = choose(request);
	if (!chosen && outstanding_)
		return Step::blocked;
	if (!chosen)
		choose_flush(request);
	left_--;
	outstanding_++;
	if (each_)
		each_();
	return Step::issue;
}

bool CrashSource::choose(Request &request)
{
	const uint32_t zone = roll(share_.zones), dice = roll(100);
	if (dice < 58)
		return choose_write(request, zone);
	if (dice < 76)
		return choose_read(request, zone);
	if (dice < 88)
		return choose_flush(request), true;
	if (dice < 95)
		return choose_zone_command(request, zone, Op::reset);
	return choose_zone_command(request, zone, dice < 97 ? Op::finish : Op::close);
}

bool CrashSource::choose_write(Request &request, uint32_t index)
{
	CrashZone &zone = zones_[index];
	if (zone.full || zone.finishing || zone.resetting || (zone.versions.empty() && active() >= writable_zones_))
		return false;
	const uint64_t room = share_.zone_capacity - zone.versions.size();
	const uint32_t wanted = 1 + roll(roll(3) ? 8 : share_.max_transfer);
	request.op = Op::write;
	request.fua = roll(8) == 0;
	request.lba = start_of(index) + zone.versions.size();
	request.sectors = static_cast<uint32_t>(std::min<uint64_t>(wanted, room));
	request.tag = index;
	for (uint32_t i = 0; i < request.sectors; i++) {
		request.stamps.push_back({request.lba + i, next_version_});
		zone.versions.push_back(next_version_++);
	}
	zone.full = zone.versions.size() == share_.zone_capacity;
	zone.under_way++;
	return true;
}

bool CrashSource::choose_read(Request &request, uint32_t index)
{
	CrashZone &zone = zones_[index];
	if (!zone.acked || zone.resetting)
		return false;
	const uint64_t from = random_() % zone.acked;
	request.op = Op::read;
	request.lba = start_of(index) + from;
	request.sectors = static_cast<uint32_t>(std::min<uint64_t>(1 + roll(share_.max_transfer), zone.acked - from));
	request.tag = index;
	for (uint32_t i = 0; i < request.sectors; i++)
		request.stamps.push_back({request.lba + i, zone.versions[from + i]});
	zone.under_way++;
	return true;
}

bool CrashSource::choose_zone_command(Request &request, uint32_t index, Op op)
{
	CrashZone &zone = zones_[index];
	if (zone.under_way || zone.versions.empty() || (op != Op::reset && zone.full) || (op == Op::reset && !zone.full && roll(3)))
		return false;
	request.op = op;
	request.lba = start_of(index);
	request.tag = index;
	zone.resetting = op == Op::reset;
	zone.finishing = op == Op::finish;
	zone.under_way++;
	return true;
}

void CrashSource::choose_flush(Request &request)
{
	request.op = Op::flush;
	request.tag = next_flush_++;
	for (const CrashZone &zone : zones_)
		flushes_[request.tag].push_back(zone.acked);
}

void CrashSource::written(CrashZone &zone, uint64_t offset, const Request &request)
{
	zone.ahead[offset] = request.sectors;
	for (auto first = zone.ahead.begin(); first != zone.ahead.end() && first->first == zone.acked;) {
		zone.acked += first->second;
		first = zone.ahead.erase(first);
	}
	if (request.fua)
		zone.durable = std::max(zone.durable, offset + request.sectors);
}

void CrashSource::complete(const Request &request, uint16_t status, uint64_t)
{
	outstanding_--;
	EXPECT_EQ(status, 0) << "operation " << static_cast<int>(request.op) << " at LBA " << request.lba;
	if (request.op == Op::flush) {
		const auto &acked = flushes_.at(request.tag);
		for (uint32_t i = 0; i < share_.zones; i++) // a zone that was reset since holds less
			zones_[i].durable = std::max(zones_[i].durable, std::min<uint64_t>(acked[i], zones_[i].acked));
		flushes_.erase(request.tag);
		return;
	}
	CrashZone &zone = zones_[request.tag];
	zone.under_way--;
	if (request.op == Op::write)
		written(zone, request.lba - start_of(static_cast<uint32_t>(request.tag)), request);
	if (request.op == Op::reset) {
		zone = CrashZone();
		for (auto &[tag, acked] : flushes_)
			acked[request.tag] = 0;
	}
	if (request.op == Op::finish) {
		zone.full = zone.finished = true;
		zone.finishing = false;
		zone.durable = zone.acked;
	}
}

std::vector<hz::wl::LiveSector> CrashSource::live()
{
	std::vector<hz::wl::LiveSector> out;
	for (uint32_t z = 0; z < share_.zones; z++)
		for (uint64_t i = 0; i < zones_[z].acked; i++)
			out.push_back({start_of(z) + i, {start_of(z) + i, zones_[z].versions[i]}});
	return out;
}

uint64_t CrashSource::durable_sectors() const
{
	uint64_t sum = 0;
	for (const CrashZone &zone : zones_)
		sum += zone.durable;
	return sum;
}

void CrashSource::settle()
{
	for (CrashZone &zone : zones_) {
		EXPECT_EQ(zone.acked, zone.versions.size());
		zone.durable = zone.acked;
	}
}

void CrashSource::recover(uint32_t index, const nvme_zone_descriptor &found, const Holds &holds)
{
	CrashZone &zone = zones_[index];
	const uint64_t issued = zone.versions.size(), capacity = share_.zone_capacity, base = start_of(index);
	const auto state = static_cast<nvme_zone_state>(found.state >> 4);
	SCOPED_TRACE("zone " + std::to_string(share_.first_zone + index) + ": durable " + std::to_string(zone.durable) + ", issued " +
		     std::to_string(issued) + ", found state " + std::to_string(state) + " write pointer " +
		     std::to_string(found.write_pointer - base));
	if (state == NVME_ZS_EMPTY && zone.resetting)
		zone = CrashZone();
	// Length of the data: the write pointer; in a FULL zone, the data end at the first zeros.
	uint64_t length = found.write_pointer - base;
	if (state == NVME_ZS_FULL) {
		ASSERT_TRUE(zone.full || zone.finishing) << "the zone became FULL by itself";
		for (length = 0; length < zone.versions.size() && holds(length, {base + length, zone.versions[length]});)
			length++;
		ASSERT_TRUE(length == capacity || zone.finished || zone.finishing) << "data of a written up zone are lost";
	} else {
		ASSERT_FALSE(zone.finished || zone.durable == capacity) << "the zone is not FULL any more";
		ASSERT_EQ(state, length ? NVME_ZS_CLOSED : NVME_ZS_EMPTY);
	}
	ASSERT_GE(length, zone.durable) << "durable data are lost";
	ASSERT_LE(length, zone.versions.size()) << "the zone has sectors that nobody wrote";
	for (uint64_t i = 0; i < capacity; i++)
		ASSERT_TRUE(holds(i, {base + i, i < length ? zone.versions[i] : 0})) << "sector " << i << " reads wrong";
	lost_ += zone.versions.size() - length;
	zone.versions.resize(length);
	zone.ahead.clear();
	zone.acked = zone.durable = length;
	zone.full = zone.finished = state == NVME_ZS_FULL;
	zone.finishing = zone.resetting = false;
	zone.under_way = 0;
}

} // namespace e2e
