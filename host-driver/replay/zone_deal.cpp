/* Dealing out the zones: in order, or as the threads specify. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/zone_deal.hpp"

#include <algorithm>

namespace hz::replay {
namespace {

std::string number(uint64_t value) { return std::to_string(value); }

const wl::ThreadSpec &spec_of(const wl::Workload &workload, size_t thread)
{
	static const wl::ThreadSpec any;
	return workload.trace ? any : workload.threads[thread];
}

/* One kind of zones of a device, and the threads that use it. */
struct Region {
	const char *name;
	uint64_t first, count;
	std::vector<size_t> threads;
};

Region region_of(const wl::Workload &workload, const NamespaceInfo &device, wl::Area area)
{
	const uint64_t conventional = device.conventional_zones;
	Region region{"sequential", conventional, device.zones - conventional, {}};
	if (area == wl::Area::conventional)
		region = {"conventional", 0, conventional, {}};
	for (size_t i = 0; i < workload.thread_count(); i++)
		if (spec_of(workload, i).area == area)
			region.threads.push_back(i);
	return region;
}

/* In order of the threads. */
void deal_in_order(const wl::Workload &workload, const NamespaceInfo &device, const Region &region, std::vector<wl::ZoneShare> &shares)
{
	uint64_t named = 0, open_handed = 0, next = region.first;
	for (const size_t i : region.threads) {
		named += spec_of(workload, i).zones;
		open_handed += spec_of(workload, i).zones == 0;
	}
	if (named + open_handed > region.count)
		throw wl::WorkloadError("zones: the threads ask for " + number(named + open_handed) + " " + region.name +
					" zones or more, the device has " + number(region.count) + ": use fewer threads or zones");
	const uint64_t equal = open_handed ? (region.count - named) / open_handed : 0;
	for (const size_t i : region.threads) {
		const uint64_t zones = spec_of(workload, i).zones ? spec_of(workload, i).zones : equal;
		shares[i] = share_of_zones(device, next, zones);
		next += zones;
	}
}

void claim(std::vector<size_t> &owner, const wl::ZoneShare &share, size_t thread, const Region &region)
{
	for (uint32_t i = 0; i < share.zones; i++) {
		const uint64_t zone = share.first_zone + uint64_t(i) * share.step;
		if (zone < region.first || zone >= owner.size())
			throw wl::WorkloadError("first_zone: thread " + number(thread) + " names zone " + number(zone) +
						", but only zones " + number(region.first) + " to " + number(owner.size() - 1) +
						" are sequential zones of this device");
		if (owner[zone] != SIZE_MAX)
			throw wl::WorkloadError("first_zone: zone " + number(zone) + " belongs to the threads " + number(owner[zone]) +
						" and " + number(thread) + ": give each its own");
		owner[zone] = thread;
	}
}

void deal_as_named(const wl::Workload &workload, const NamespaceInfo &device, const Region &region, std::vector<wl::ZoneShare> &shares)
{
	std::vector<size_t> owner(region.first + region.count, SIZE_MAX);
	for (const size_t i : region.threads) {
		const wl::ThreadSpec &spec = workload.threads[i];
		shares[i] = share_of_zones(device, spec.first_zone, spec.zones);
		shares[i].step = spec.zone_step;
		claim(owner, shares[i], i, region);
	}
}

void deal_sequential(const wl::Workload &workload, const NamespaceInfo &device, std::vector<wl::ZoneShare> &shares)
{
	const Region region = region_of(workload, device, wl::Area::sequential);
	const auto named = std::count_if(region.threads.begin(), region.threads.end(),
					 [&](size_t i) { return spec_of(workload, i).first_zone != wl::any_zone; });
	if (named && size_t(named) != region.threads.size())
		throw wl::WorkloadError("first_zone: some threads name their zones and some do not: let all of them do so, or none");
	if (named && workload.mapping == wl::Mapping::log)
		throw wl::WorkloadError("first_zone: the log mapping chooses zones by itself: remove the key, or use mapping: direct");
	if (named)
		deal_as_named(workload, device, region, shares);
	else
		deal_in_order(workload, device, region, shares);
}

void deal_conventional(const wl::Workload &workload, const NamespaceInfo &device, std::vector<wl::ZoneShare> &shares)
{
	const Region region = region_of(workload, device, wl::Area::conventional);
	if (region.threads.empty())
		return;
	if (!region.count)
		throw wl::WorkloadError(
			"area: the device has no conventional zones: set conventional.zones in its file, or remove the key");
	if (workload.mapping == wl::Mapping::log)
		throw wl::WorkloadError("area: the log mapping writes sequential zones only: remove the key, or use mapping: direct");
	deal_in_order(workload, device, region, shares);
}

} // namespace

wl::ZoneShare share_of_zones(const NamespaceInfo &device, uint64_t first, uint64_t count)
{
	wl::ZoneShare share;
	share.first_zone = uint32_t(first);
	share.zones = uint32_t(count);
	share.zone_size = device.zone_size_sectors;
	share.zone_capacity = device.zone_capacity_sectors;
	share.max_transfer = std::min<uint32_t>(device.max_transfer_sectors, HZ_MAX_TRANSFER_SECTORS);
	share.max_append = std::min<uint32_t>(device.max_append_sectors, HZ_MAX_TRANSFER_SECTORS);
	share.zrwa_sectors = device.zrwa_sectors;
	share.zrwa_granularity = device.zrwa_granularity;
	share.durable_writes = device.durable_writes;
	return share;
}

wl::ZoneShare sequential_zones(const NamespaceInfo &device)
{
	return share_of_zones(device, device.conventional_zones, device.zones - device.conventional_zones);
}

std::vector<wl::ZoneShare> deal_zones(const wl::Workload &workload, const NamespaceInfo &device)
{
	std::vector<wl::ZoneShare> shares(workload.thread_count());
	deal_sequential(workload, device, shares);
	deal_conventional(workload, device, shares);
	return shares;
}

} // namespace hz::replay
