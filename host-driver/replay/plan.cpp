/* Plan: who gets which zones, and which source runs on them. */
#include "replay/plan.hpp"

#include "replay/log_shim.hpp"
#include "replay/trace_blocks.hpp"
#include "replay/trace_zones.hpp"
#include "replay/zone_deal.hpp"
#include "workload/block_generator.hpp"
#include "workload/random.hpp"
#include "workload/zone_generator.hpp"

#include <algorithm>

namespace hz::replay {
namespace {

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
		return std::make_unique<TraceZones>(*workload.trace, share_of_zones(device, 0, device.zones), uint32_t(index));
	return std::make_unique<wl::ZoneGenerator>(workload.threads[index], share, wl::thread_seed(workload.seed, index));
}

Plan plan_of(const wl::Workload &workload, const NamespaceInfo &device)
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

} // namespace

Plan make_plan(const wl::Workload &workload, const NamespaceInfo &device)
{
	try {
		return plan_of(workload, device);
	} catch (const wl::WorkloadError &e) {
		throw wl::WorkloadError(workload.file + ": " + e.what());
	}
}

} // namespace hz::replay
