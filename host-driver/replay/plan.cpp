/* Plan: who gets which zones, and which source runs on them. */
#include "replay/plan.hpp"

#include "replay/log_shim.hpp"
#include "replay/trace_blocks.hpp"
#include "replay/trace_zones.hpp"
#include "workload/block_generator.hpp"
#include "workload/random.hpp"
#include "workload/zone_generator.hpp"

#include <algorithm>

namespace hz::replay {
namespace {

wl::ZoneShare whole_device(const NamespaceInfo &device)
{
	wl::ZoneShare share;
	share.zones = uint32_t(device.zones);
	share.zone_size = device.zone_size_sectors;
	share.zone_capacity = device.zone_capacity_sectors;
	share.max_transfer = std::min<uint32_t>(device.max_transfer_sectors, HZ_MAX_TRANSFER_SECTORS);
	share.max_append = std::min<uint32_t>(device.max_append_sectors, HZ_MAX_TRANSFER_SECTORS);
	return share;
}

/* Threads that name no number of zones share what the others leave. */
std::vector<wl::ZoneShare> deal_zones(const wl::Workload &workload, const NamespaceInfo &device)
{
	const size_t threads = workload.thread_count();
	uint64_t named = 0, open_handed = 0;
	const auto wanted = [&](size_t i) { return workload.trace ? 0u : workload.threads[i].zones; };
	for (size_t i = 0; i < threads; i++) {
		named += wanted(i);
		open_handed += wanted(i) == 0;
	}
	if (named + open_handed > device.zones)
		throw wl::WorkloadError("the threads ask for " + std::to_string(named + open_handed) + " zones or more, the device has " +
					std::to_string(device.zones));
	const uint64_t equal = open_handed ? (device.zones - named) / open_handed : 0;
	std::vector<wl::ZoneShare> shares;
	uint32_t next = 0;
	for (size_t i = 0; i < threads; i++) {
		wl::ZoneShare share = whole_device(device);
		share.first_zone = next;
		share.zones = wanted(i) ? wanted(i) : uint32_t(equal);
		next += share.zones;
		shares.push_back(share);
	}
	return shares;
}

void check_open_limit(const wl::Workload &workload, const NamespaceInfo &device)
{
	uint64_t open = 0;
	if (workload.mapping == wl::Mapping::log)
		open = 2 * workload.thread_count();
	else
		for (const wl::ThreadSpec &t : workload.threads)
			open += t.open_zones;
	for (const uint32_t limit : {device.max_open, device.max_active})
		if (limit && open > limit)
			throw wl::WorkloadError("the workload writes " + std::to_string(open) + " zones side by side, the device allows " +
						std::to_string(limit) + ": use fewer threads or open zones, or raise zones.max_open");
}

std::unique_ptr<wl::Source> log_source(const wl::Workload &workload, const wl::ZoneShare &share, size_t index)
{
	const uint64_t space = LogShim::space_of(share, workload.over_provisioning);
	std::unique_ptr<wl::BlockSource> blocks;
	if (workload.trace)
		blocks = std::make_unique<TraceBlocks>(*workload.trace, TraceCut{uint32_t(index), workload.trace->threads, space,
										  workload.trace->split, workload.trace->fit});
	else
		blocks = std::make_unique<wl::BlockGenerator>(workload.threads[index], space, wl::thread_seed(workload.seed, index));
	LogOptions options;
	options.over_provisioning = workload.over_provisioning;
	options.gc_low_zones = workload.gc_low_zones;
	return std::make_unique<LogShim>(share, options, std::move(blocks));
}

std::unique_ptr<wl::Source> source_of(const wl::Workload &workload, const NamespaceInfo &device, const wl::ZoneShare &share,
				      size_t index)
{
	if (workload.mapping == wl::Mapping::log)
		return log_source(workload, share, index);
	if (workload.trace)
		return std::make_unique<TraceZones>(*workload.trace, whole_device(device), uint32_t(index));
	return std::make_unique<wl::ZoneGenerator>(workload.threads[index], share, wl::thread_seed(workload.seed, index));
}

} // namespace

Plan make_plan(const wl::Workload &workload, const NamespaceInfo &device)
{
	Plan plan;
	check_open_limit(workload, device);
	const auto shares = deal_zones(workload, device);
	for (size_t i = 0; i < shares.size(); i++) {
		if (workload.mapping == wl::Mapping::log && shares[i].zones < 4)
			throw wl::WorkloadError("the log mapping needs 4 zones per thread, this device offers " +
						std::to_string(shares[i].zones) + ": use fewer threads or a device with more zones");
		const unsigned depth = workload.trace ? workload.trace->queue_depth : workload.threads[i].queue_depth;
		plan.threads.push_back({source_of(workload, device, shares[i], i), depth});
	}
	return plan;
}

} // namespace hz::replay
