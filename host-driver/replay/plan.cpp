/* Plan: who gets which zones, and which source runs on them. */
#include "replay/plan.hpp"

#include "replay/direct_blocks.hpp"
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
			open += t.area == wl::Area::sequential ? t.open_zones : 0;
	for (const uint32_t limit : {device.max_open, device.max_active})
		if (limit && open > limit)
			throw wl::WorkloadError("the workload writes " + std::to_string(open) + " zones side by side, the device allows " +
						std::to_string(limit) + ": use fewer threads or open zones, or raise zones.max_open");
}

/* What a thread asks of an address space of `space` sectors. */
std::unique_ptr<wl::BlockSource> block_source(const wl::Workload &workload, uint64_t space, size_t index)
{
	if (!workload.trace)
		return std::make_unique<wl::BlockGenerator>(workload.threads[index], space, wl::thread_seed(workload.seed, index));
	const wl::TraceSpec &trace = *workload.trace;
	return std::make_unique<TraceBlocks>(trace, TraceCut{uint32_t(index), trace.threads, space, trace.split, trace.fit});
}

std::unique_ptr<wl::Source> log_source(const wl::Workload &workload, const wl::ZoneShare &share, size_t index)
{
	if (share.zones < 4)
		throw wl::WorkloadError("the log mapping needs 4 zones per thread, this device offers " + std::to_string(share.zones) +
					": use fewer threads or a device with more zones");
	LogOptions options;
	options.over_provisioning = workload.over_provisioning;
	options.gc_low_zones = workload.gc_low_zones;
	return std::make_unique<LogShim>(share, options,
					 block_source(workload, LogShim::space_of(share, workload.over_provisioning), index));
}

std::unique_ptr<wl::Source> conventional_source(const wl::Workload &workload, const wl::ZoneShare &share, size_t index, bool fresh)
{
	const FlatSpace space{share.start_of(share.first_zone), share.zone_capacity, share.zone_size, share.zones, share.max_transfer, fresh};
	return std::make_unique<DirectBlocks>(space, block_source(workload, space.sectors(), index));
}

std::unique_ptr<wl::Source> zoned_source(const wl::Workload &workload, const NamespaceInfo &device, const wl::ZoneShare &share,
					 size_t index, bool fresh)
{
	if (workload.mapping == wl::Mapping::log)
		return log_source(workload, share, index);
	if (workload.trace)
		return std::make_unique<TraceZones>(*workload.trace, sequential_zones(device), uint32_t(index));
	if (workload.threads[index].area == wl::Area::conventional)
		return conventional_source(workload, share, index, fresh);
	return std::make_unique<wl::ZoneGenerator>(workload.threads[index], share, wl::thread_seed(workload.seed, index));
}

/* Keys that name zones mean nothing where there are none. */
void refuse_zones(const wl::Workload &workload)
{
	if (workload.mapping == wl::Mapping::log)
		throw wl::WorkloadError("mapping: log needs zones, this device has a block namespace: use mapping: direct");
	const auto refuse = [](bool given, const char *key) {
		if (given)
			throw wl::WorkloadError(std::string(key) + ": this device has a block namespace and no zones: remove the key");
	};
	for (const wl::ThreadSpec &t : workload.threads) {
		refuse(t.zones, "zones");
		refuse(t.append, "append");
		refuse(t.open_zones != 1, "open_zones");
		refuse(t.zone_depth, "zone_depth");
	}
}

/* Equal parts of a block namespace. */
std::unique_ptr<wl::Source> flat_source(const wl::Workload &workload, const NamespaceInfo &device, size_t index, bool fresh)
{
	FlatSpace space;
	space.run_sectors = device.size_sectors / workload.thread_count();
	space.first = index * space.run_sectors;
	space.max_transfer = std::min<uint32_t>(device.max_transfer_sectors, HZ_MAX_TRANSFER_SECTORS);
	space.fresh = fresh;
	return std::make_unique<DirectBlocks>(space, block_source(workload, space.sectors(), index));
}

Plan plan_of(const wl::Workload &workload, const NamespaceInfo &device, bool fresh)
{
	Plan plan;
	std::vector<wl::ZoneShare> shares;
	if (device.zoned) {
		check_open_limit(workload, device);
		shares = deal_zones(workload, device);
	} else {
		refuse_zones(workload);
	}
	for (size_t i = 0; i < workload.thread_count(); i++)
		plan.threads.push_back({device.zoned ? zoned_source(workload, device, shares[i], i, fresh) : flat_source(workload, device, i, fresh),
					workload.trace ? workload.trace->queue_depth : workload.threads[i].queue_depth});
	return plan;
}

} // namespace

Plan make_plan(const wl::Workload &workload, const NamespaceInfo &device, bool fresh)
{
	try {
		return plan_of(workload, device, fresh);
	} catch (const wl::WorkloadError &e) {
		throw wl::WorkloadError(workload.file + ": " + e.what());
	}
}

} // namespace hz::replay
