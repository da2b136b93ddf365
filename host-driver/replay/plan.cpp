/* Plan: assigns zones and sources to threads. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/plan.hpp"

#include "replay/direct_blocks.hpp"
#include "replay/log_shim.hpp"
#include "replay/trace_blocks.hpp"
#include "replay/trace_preload.hpp"
#include "replay/trace_streams.hpp"
#include "replay/trace_zones.hpp"
#include "replay/zone_deal.hpp"
#include "workload/block_generator.hpp"
#include "workload/log_record.hpp"
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

/* The threads of one namespace: a workload of its own, and each thread's number in the run. */
struct Group {
	wl::Workload workload;
	std::vector<size_t> number;
};

uint64_t seed_of(const Group &group, size_t i) { return wl::thread_seed(group.workload.seed, group.number[i]); }

/* One source for each thread, for address spaces of these sizes. */
std::vector<std::unique_ptr<wl::BlockSource>> block_sources(const Group &group, const std::vector<uint64_t> &spaces,
							    const std::shared_ptr<const TraceSurvey> &survey)
{
	const wl::Workload &workload = group.workload;
	std::vector<std::unique_ptr<wl::BlockSource>> out;
	if (!workload.trace) {
		for (size_t i = 0; i < spaces.size(); i++)
			out.push_back(std::make_unique<wl::BlockGenerator>(workload.threads[i], spaces[i], seed_of(group, i),
									   workload.shared ? uint32_t(i) : 0,
									   workload.shared ? uint32_t(spaces.size()) : 1));
		return out;
	}
	std::vector<TraceCut> cuts;
	for (size_t i = 0; i < spaces.size(); i++)
		cuts.push_back({survey, uint32_t(group.number[i]), spaces[i]});
	std::vector<std::deque<wl::BlockOp>> preloads = find_preloads(cuts);
	for (size_t i = 0; i < spaces.size(); i++)
		out.push_back(std::make_unique<TraceBlocks>(cuts[i], std::move(preloads[i])));
	return out;
}

std::vector<std::unique_ptr<wl::Source>> log_sources(const Group &group, const std::vector<wl::ZoneShare> &shares,
						     const std::shared_ptr<const TraceSurvey> &survey)
{
	const wl::Workload &workload = group.workload;
	LogOptions options;
	options.over_provisioning = workload.over_provisioning;
	options.gc_low_zones = workload.gc_low_zones;
	std::vector<uint64_t> spaces;
	for (const wl::ZoneShare &share : shares) {
		if (share.zones < 4)
			throw wl::WorkloadError("the log mapping needs 4 zones per thread, this device offers " +
						std::to_string(share.zones) + ": use fewer threads or a device with more zones");
		spaces.push_back(LogShim::space_of(share, workload.over_provisioning));
	}
	std::vector<std::unique_ptr<wl::BlockSource>> blocks = block_sources(group, spaces, survey);
	std::vector<std::unique_ptr<wl::Source>> out;
	for (size_t i = 0; i < shares.size(); i++)
		out.push_back(std::make_unique<LogShim>(shares[i], options, std::move(blocks[i])));
	return out;
}

std::unique_ptr<wl::Source> conventional_source(const Group &group, const wl::ZoneShare &share, size_t index, bool fresh)
{
	const FlatSpace space{
		share.start_of(share.first_zone), share.zone_capacity, share.zone_size, share.zones, share.max_transfer, fresh};
	return std::make_unique<DirectBlocks>(
		space, std::make_unique<wl::BlockGenerator>(group.workload.threads[index], space.sectors(), seed_of(group, index)));
}

bool runs_streams(const wl::Workload &workload) { return workload.trace && workload.trace->order == wl::Order::streams; }

std::vector<std::unique_ptr<wl::Source>> zoned_sources(const Group &group, const NamespaceInfo &device, bool fresh,
						       const std::shared_ptr<const TraceSurvey> &survey)
{
	const wl::Workload &workload = group.workload;
	const std::vector<wl::ZoneShare> shares = deal_zones(workload, device);
	if (workload.mapping == wl::Mapping::log)
		return log_sources(group, shares, survey);
	std::vector<std::unique_ptr<wl::Source>> out;
	for (size_t i = 0; i < shares.size(); i++)
		if (runs_streams(workload))
			out.push_back(std::make_unique<TraceStreams>(survey, sequential_zones(device)));
		else if (workload.trace)
			out.push_back(std::make_unique<TraceZones>(survey, sequential_zones(device), uint32_t(group.number[i])));
		else if (workload.threads[i].area == wl::Area::conventional)
			out.push_back(conventional_source(group, shares[i], i, fresh));
		else
			out.push_back(std::make_unique<wl::ZoneGenerator>(workload.threads[i], shares[i], seed_of(group, i)));
	return out;
}

void check_streams(const wl::Workload &workload, const NamespaceInfo &device)
{
	if (runs_streams(workload) && (!device.zoned || workload.mapping == wl::Mapping::log || workload.tailor))
		throw wl::WorkloadError("trace.order: streams are replayed directly on zones: use a device with zones, mapping: direct, "
					"and no iotailor");
}

void check_durable_writes(const wl::Workload &workload, const NamespaceInfo &device)
{
	const bool asked = std::any_of(workload.threads.begin(), workload.threads.end(),
				       [](const wl::ThreadSpec &t) { return t.durable_ratio > 0; });
	if (!asked)
		return;
	if (workload.mapping == wl::Mapping::log)
		throw wl::WorkloadError("durable_ratio: only mapping: direct says of each write whether it must be durable");
	if (!device.durable_writes)
		throw wl::WorkloadError("durable_ratio: this device refuses durable writes: give its file plp: {mode: selective}");
}

void check_placement(const wl::Workload &workload, const NamespaceInfo &device)
{
	uint32_t highest = 0;
	for (const wl::ThreadSpec &t : workload.threads)
		highest = std::max(highest, t.placement);
	if (!highest)
		return;
	if (!device.handles)
		throw wl::WorkloadError("placement: this device has no reclaim unit handles: give its file fdp: {handles: " +
					std::to_string(highest + 1) + "}, or remove the key");
	if (highest >= device.handles)
		throw wl::WorkloadError("placement: " + std::to_string(highest) + " names none of this device's " +
					std::to_string(device.handles) + " reclaim unit handles, which are counted from 0");
}

std::string kib(uint64_t sectors) { return std::to_string(sectors * 4) + " KiB"; }

/* What a record's last block has in common with the next record's first must not be committed before. */
void check_area(const wl::ThreadSpec &t, const NamespaceInfo &device)
{
	const uint64_t block = t.record ? t.blocks.front().sectors : 0, unit = device.zrwa_granularity;
	if (wl::most_sectors(t) > device.zrwa_sectors)
		throw wl::WorkloadError("zrwa: a write of " + kib(wl::most_sectors(t)) +
					" is larger than this device's random write areas of " + kib(device.zrwa_sectors) +
					": give smaller blocks, or its file a larger zrwa.size");
	if (block && unit % block && block % unit && block + unit - 1 > device.zrwa_sectors)
		throw wl::WorkloadError(
			"record: a block of " + kib(block) + " is committed before it is full, in units of " + kib(unit) +
			" (zrwa.flush_granularity): let the block divide them, or give the device's file a larger zrwa.size");
}

void check_areas(const wl::Workload &workload, const NamespaceInfo &device)
{
	uint64_t zones = 0;
	for (const wl::ThreadSpec &t : workload.threads) {
		zones += t.zrwa ? t.open_zones : 0;
		if (!t.zrwa)
			continue;
		if (workload.mapping == wl::Mapping::log)
			throw wl::WorkloadError("zrwa: the log mapping writes zones in order: remove the key, or use mapping: direct");
		if (!device.zrwa_sectors)
			throw wl::WorkloadError("zrwa: this device has no random write areas: give its file zrwa: {count: " +
						std::to_string(t.open_zones) + "}, or remove the key");
		check_area(t, device);
	}
	if (zones > device.zrwa_zones)
		throw wl::WorkloadError("zrwa: the workload writes " + std::to_string(zones) +
					" zones with random write areas side by side, " + "the device has " +
					std::to_string(device.zrwa_zones) +
					" that no zone of an earlier run has: use fewer threads or open zones, or raise zrwa.count");
}

/* Without areas a log of records is overwritten in place. */
void check_records(const wl::Workload &workload, const NamespaceInfo &device)
{
	for (const wl::ThreadSpec &t : workload.threads) {
		if (!t.record || t.zrwa || !device.zoned || t.area == wl::Area::conventional || workload.mapping == wl::Mapping::log)
			continue;
		if (!device.in_place_writes)
			throw wl::WorkloadError(
				"record: this device's zones are not overwritten: give the thread zrwa: true, or the device's file "
				"zones: {in_place: 1 MiB}");
		if (t.blocks.front().sectors * 4096 % t.record)
			throw wl::WorkloadError(
				"record: without zrwa a write is either in place or behind all others: let the record divide its block of " +
				kib(t.blocks.front().sectors));
	}
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
		refuse(t.zrwa, "zrwa");
		refuse(t.durable_ratio > 0, "durable_ratio");
		refuse(t.open_zones != 1, "open_zones");
		refuse(t.zone_depth, "zone_depth");
	}
}

/* Unit and memory are given, or the device's. */
void tailor(ThreadPlan &thread, const wl::TailorSpec &spec, const NamespaceInfo &device)
{
	TailorRules rules;
	rules.unit = uint32_t(spec.unit);
	rules.memory = spec.memory;
	rules.hold_ns = spec.hold_ns;
	rules.first_lba = device.conventional_zones * device.zone_size_sectors;
	rules.zone_size = device.zone_size_sectors;
	rules.zone_capacity = device.zone_capacity_sectors;
	rules.max_transfer = std::min<uint32_t>(device.max_transfer_sectors, HZ_MAX_TRANSFER_SECTORS);
	auto tailor = std::make_unique<Tailor>(rules, std::move(thread.source));
	thread.tailor = tailor.get();
	thread.source = std::move(tailor);
}

void check_tailor(const wl::Workload &workload, const NamespaceInfo &device)
{
	if (!device.zoned)
		throw wl::WorkloadError("iotailor: this device has a block namespace and no zones: leave it out");
	if (workload.tailor->unit > device.zone_capacity_sectors)
		throw wl::WorkloadError("iotailor.unit: " + std::to_string(workload.tailor->unit * 4) +
					" KiB are more than a zone holds, " + std::to_string(device.zone_capacity_sectors * 4) + " KiB");
	if (workload.tailor->memory < workload.tailor->unit)
		throw wl::WorkloadError("iotailor.memory: " + std::to_string(workload.tailor->memory * 4) +
					" KiB are less than the unit of " + std::to_string(workload.tailor->unit * 4) +
					" KiB that they must hold");
	for (const wl::ThreadSpec &t : workload.threads)
		if (workload.mapping == wl::Mapping::direct && (t.record || t.zrwa))
			throw wl::WorkloadError(
				std::string("iotailor: it writes each sector once, in order, and a thread does not: remove ") +
				(t.record ? "record" : "zrwa") + ", or leave it out");
	for (const wl::ThreadSpec &t : workload.threads)
		if (workload.mapping == wl::Mapping::direct && (t.append || t.area == wl::Area::conventional))
			throw wl::WorkloadError(std::string("iotailor: it groups writes to sequential zones, and a thread ") +
						(t.append ? "appends: remove append" : "writes conventional ones: remove area") +
						", or leave it out");
}

/* Equal parts of a block namespace, or the whole of it for each. */
std::vector<std::unique_ptr<wl::Source>> flat_sources(const Group &group, const NamespaceInfo &device, bool fresh,
						      const std::shared_ptr<const TraceSurvey> &survey)
{
	const wl::Workload &workload = group.workload;
	FlatSpace space;
	space.run_sectors = device.size_sectors / (workload.shared ? 1 : workload.thread_count());
	space.max_transfer = std::min<uint32_t>(device.max_transfer_sectors, HZ_MAX_TRANSFER_SECTORS);
	space.fresh = fresh;
	const std::vector<uint64_t> spaces(workload.thread_count(), space.sectors());
	std::vector<std::unique_ptr<wl::Source>> out;
	for (std::unique_ptr<wl::BlockSource> &blocks : block_sources(group, spaces, survey)) {
		out.push_back(std::make_unique<DirectBlocks>(space, std::move(blocks)));
		space.first += workload.shared ? 0 : space.run_sectors;
	}
	return out;
}

Plan plan_of(const Group &group, const NamespaceInfo &device, bool fresh, const std::shared_ptr<const TraceSurvey> &survey)
{
	const wl::Workload &workload = group.workload;
	if (device.zoned && workload.shared)
		throw wl::WorkloadError("shared: this device has zones, each of which is one thread's: remove the key");
	if (device.zoned)
		check_open_limit(workload, device);
	else
		refuse_zones(workload);
	check_streams(workload, device);
	check_durable_writes(workload, device);
	check_placement(workload, device);
	check_areas(workload, device);
	check_records(workload, device);
	if (workload.tailor)
		check_tailor(workload, device);
	Plan plan;
	for (auto &source : device.zoned ? zoned_sources(group, device, fresh, survey) : flat_sources(group, device, fresh, survey)) {
		const size_t i = plan.threads.size();
		plan.threads.push_back({.source = std::move(source),
					.queue_depth = workload.trace ? workload.trace->queue_depth : workload.threads[i].queue_depth});
		if (workload.tailor)
			tailor(plan.threads.back(), *workload.tailor, device);
	}
	return plan;
}

Group group_of(const wl::Workload &workload, size_t first, size_t n)
{
	Group group{wl::part_of(workload, first, n), {}};
	for (size_t i = first; i < workload.thread_count(); i += n)
		group.number.push_back(i);
	return group;
}

Plan plan_of_all(const wl::Workload &workload, const std::vector<Target> &targets, const std::shared_ptr<const TraceSurvey> &survey)
{
	if (workload.thread_count() < targets.size())
		throw wl::WorkloadError("namespaces: " + std::to_string(targets.size()) + " are to be used, but there are only " +
					std::to_string(workload.thread_count()) + " threads: use more threads");
	std::vector<Plan> parts;
	for (size_t i = 0; i < targets.size(); i++)
		parts.push_back(plan_of(group_of(workload, i, targets.size()), targets[i].device, targets[i].fresh, survey));
	Plan plan;
	for (size_t i = 0; i < workload.thread_count(); i++)
		plan.threads.push_back(std::move(parts[i % targets.size()].threads[i / targets.size()]));
	return plan;
}

} // namespace

Plan make_plan(const wl::Workload &workload, const std::vector<Target> &targets, std::shared_ptr<const TraceSurvey> survey)
{
	try {
		return plan_of_all(workload, targets, survey);
	} catch (const wl::WorkloadError &e) {
		throw wl::WorkloadError(workload.file + ": " + e.what());
	}
}

Plan make_plan(const wl::Workload &workload, const NamespaceInfo &device, bool fresh, std::shared_ptr<const TraceSurvey> survey)
{
	return make_plan(workload, std::vector<Target>{{device, fresh}}, std::move(survey));
}

} // namespace hz::replay
