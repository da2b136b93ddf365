/* Dealing out the zones: in order, or where the threads say. */
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

/* In order of the threads, from `first` on. */
std::vector<wl::ZoneShare> deal_in_order(const wl::Workload &workload, const NamespaceInfo &device, uint64_t first, uint64_t count)
{
	const size_t threads = workload.thread_count();
	uint64_t named = 0, open_handed = 0;
	for (size_t i = 0; i < threads; i++) {
		named += spec_of(workload, i).zones;
		open_handed += spec_of(workload, i).zones == 0;
	}
	if (named + open_handed > count)
		throw wl::WorkloadError("zones: the threads ask for " + number(named + open_handed) + " zones or more, the device has " +
					number(count) + ": use fewer threads or zones");
	const uint64_t equal = open_handed ? (count - named) / open_handed : 0;
	std::vector<wl::ZoneShare> shares;
	for (size_t i = 0; i < threads; i++) {
		const uint64_t zones = spec_of(workload, i).zones ? spec_of(workload, i).zones : equal;
		shares.push_back(share_of_zones(device, first, zones));
		first += zones;
	}
	return shares;
}

void claim(std::vector<size_t> &owner, const wl::ZoneShare &share, size_t thread, uint64_t first, uint64_t end)
{
	for (uint32_t i = 0; i < share.zones; i++) {
		const uint64_t zone = share.first_zone + uint64_t(i) * share.step;
		if (zone < first || zone >= end)
			throw wl::WorkloadError("first_zone: thread " + number(thread) + " names zone " + number(zone) + ", but only zones " +
						number(first) + " to " + number(end - 1) + " are sequential zones of this device");
		if (owner[zone] != SIZE_MAX)
			throw wl::WorkloadError("first_zone: zone " + number(zone) + " belongs to the threads " + number(owner[zone]) + " and " +
						number(thread) + ": give each its own");
		owner[zone] = thread;
	}
}

std::vector<wl::ZoneShare> deal_as_named(const wl::Workload &workload, const NamespaceInfo &device, uint64_t first, uint64_t count)
{
	std::vector<wl::ZoneShare> shares;
	std::vector<size_t> owner(first + count, SIZE_MAX);
	for (size_t i = 0; i < workload.thread_count(); i++) {
		const wl::ThreadSpec &spec = workload.threads[i];
		wl::ZoneShare share = share_of_zones(device, spec.first_zone, spec.zones);
		share.step = spec.zone_step;
		claim(owner, share, i, first, first + count);
		shares.push_back(share);
	}
	return shares;
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
	return share;
}

std::vector<wl::ZoneShare> deal_zones(const wl::Workload &workload, const NamespaceInfo &device)
{
	const auto named = std::count_if(workload.threads.begin(), workload.threads.end(),
					 [](const wl::ThreadSpec &t) { return t.first_zone != wl::any_zone; });
	if (named && size_t(named) != workload.threads.size())
		throw wl::WorkloadError("first_zone: some threads name their zones and some do not: let all of them do so, or none");
	if (named && workload.mapping == wl::Mapping::log)
		throw wl::WorkloadError("first_zone: the log mapping chooses zones by itself: remove the key, or use mapping: direct");
	return named ? deal_as_named(workload, device, 0, device.zones) : deal_in_order(workload, device, 0, device.zones);
}

} // namespace hz::replay
