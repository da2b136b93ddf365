// Plans: zones of each thread, and the messages for impossible combinations.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <set>

#include "replay/plan.hpp"
#include "replay/zone_deal.hpp"
#include "replay_harness.hpp"
#include "workload/zone_generator.hpp"

namespace {

using namespace hz;
using namespace hz::replay;

NamespaceInfo zoned(uint64_t zones)
{
	NamespaceInfo info;
	info.zones = zones;
	info.zone_size_sectors = 128;
	info.zone_capacity_sectors = 96;
	info.size_sectors = zones * 128;
	info.max_open = info.max_active = 8;
	info.max_transfer_sectors = info.max_append_sectors = 128;
	return info;
}

std::string plan_error_of(const std::string &text, const NamespaceInfo &device)
{
	try {
		make_plan(wl::parse_workload(text, "w.yaml"), device);
	} catch (const wl::WorkloadError &e) {
		return e.what();
	}
	return "no error";
}

TEST(Plan, ThreadsThatNameNothingShareEqually)
{
	const auto shares = deal_zones(wl::parse_workload("threads: 3\ncommon: {total_ops: 1}\neach:\n  - {zones: 2}\n", "w"), zoned(12));
	ASSERT_EQ(shares.size(), 3u);
	EXPECT_EQ(shares[0].first_zone, 0u);
	EXPECT_EQ(shares[0].zones, 2u);
	EXPECT_EQ(shares[1].first_zone, 2u);
	EXPECT_EQ(shares[2].first_zone, 7u);
	EXPECT_EQ(shares[2].zones, 5u);
}

TEST(Plan, IOTailorNeedsZonesAndWritesToThem)
{
	const std::string with = "iotailor: {unit: 64 KiB, memory: 128 KiB}\n", one = "threads: 1\n";
	EXPECT_EQ(plan_error_of(one + with + "common: {total_ops: 1}\n", zoned(4)), "no error");
	EXPECT_NE(plan_error_of(one + with + "common: {total_ops: 1, append: true}\n", zoned(4)).find("a thread appends: remove append"),
		  std::string::npos);
	EXPECT_NE(plan_error_of(one + "iotailor: {unit: 400 KiB, memory: 4 MiB}\ncommon: {total_ops: 1}\n", zoned(4))
			  .find("400 KiB are more than a zone holds, 384 KiB"),
		  std::string::npos);
	EXPECT_NE(plan_error_of(one + "iotailor: {unit: 64 KiB, memory: 60 KiB}\ncommon: {total_ops: 1}\n", zoned(4))
			  .find("60 KiB are less than the unit of 64 KiB"),
		  std::string::npos);
	NamespaceInfo flat = zoned(4);
	flat.zoned = false;
	EXPECT_NE(plan_error_of(one + with + "common: {total_ops: 1}\n", flat).find("block namespace and no zones"), std::string::npos);
}

TEST(Plan, RandomWriteAreasMustExistAndHoldWhatIsWritten)
{
	NamespaceInfo device = zoned(8);
	const std::string one = "threads: 1\n", two = "threads: 2\n", thread = "common: {total_ops: 1, zrwa: true, block: 4 KiB";
	EXPECT_EQ(plan_error_of(one + thread + "}\n", device),
		  "w.yaml: zrwa: this device has no random write areas: give its file zrwa: {count: 1}, or remove the key");
	device.zrwa_zones = 2;
	device.zrwa_sectors = 16;
	device.zrwa_granularity = 4;
	EXPECT_EQ(plan_error_of(two + thread + "}\n", device), "no error");
	EXPECT_EQ(
		plan_error_of(two + thread + ", open_zones: 2}\n", device),
		"w.yaml: zrwa: the workload writes 4 zones with random write areas side by side, the device has 2 that no zone of an earlier run has: use "
		"fewer threads or open zones, or raise zrwa.count");
	EXPECT_EQ(
		plan_error_of(one + "common: {total_ops: 1, zrwa: true, block: 68 KiB}\n", device),
		"w.yaml: zrwa: a write of 68 KiB is larger than this device's random write areas of 64 KiB: give smaller blocks, or its file a "
		"larger zrwa.size");
	EXPECT_EQ(plan_error_of(one + "common: {total_ops: 1, zrwa: true, block: 48 KiB, record: 4 KiB}\n", device), "no error");
	EXPECT_EQ(plan_error_of(one + "common: {total_ops: 1, zrwa: true, block: 64 KiB, record: 4 KiB}\n", device), "no error")
		<< "the area is one block";
	EXPECT_EQ(plan_error_of(one + "common: {total_ops: 1, zrwa: true, block: 4 KiB, record: 62 KiB}\n", device), "no error")
		<< "records begin at multiples of 2 KiB: 64 KiB hold one";
	EXPECT_EQ(
		plan_error_of(one + "common: {total_ops: 1, zrwa: true, block: 56 KiB, record: 4 KiB}\n", device),
		"w.yaml: record: a block of 56 KiB is committed before it is full, in units of 16 KiB (zrwa.flush_granularity): let the block "
		"divide them, or give the device's file a larger zrwa.size");
	EXPECT_EQ(plan_error_of(one + "mapping: log\n" + thread + "}\n", device),
		  "w.yaml: zrwa: the log mapping writes zones in order: remove the key, or use mapping: direct");
	EXPECT_NE(plan_error_of(one + "iotailor: {unit: 64 KiB, memory: 128 KiB}\n" + thread + "}\n", device).find("remove zrwa"),
		  std::string::npos);
}

TEST(Plan, RecordsWithoutAnAreaAreWrittenInPlace)
{
	NamespaceInfo device = zoned(8);
	const std::string thread = "threads: 1\ncommon: {total_ops: 1, block: 4 KiB, record: ";
	EXPECT_EQ(
		plan_error_of(thread + "512 B}\n", device),
		"w.yaml: record: this device's zones are not overwritten: give the thread zrwa: true, or the device's file zones: {in_place: 1 "
		"MiB}");
	device.in_place_writes = true;
	EXPECT_EQ(plan_error_of(thread + "512 B}\n", device), "no error");
	EXPECT_EQ(plan_error_of(thread + "500 B}\n", device),
		  "w.yaml: record: without zrwa a write is either in place or behind all others: let the record divide its block of 4 KiB");
	EXPECT_EQ(plan_error_of("mapping: log\n" + thread + "500 B}\n", zoned(8)), "no error");
}

TEST(Plan, ThreadsMayNameTheirZones)
{
	const wl::Workload w = wl::parse_workload(
		"threads: 2\ncommon: {total_ops: 9, read_ratio: 0.0, zones: 3, zone_step: 2, first_zone: 1}\n"
		"each:\n  - {first_zone: 4}\n",
		"w");
	const auto shares = deal_zones(w, zoned(12));
	EXPECT_EQ(shares[0].first_zone, 4u);
	EXPECT_EQ(shares[1].first_zone, 1u);
	Plan plan = make_plan(w, zoned(12));
	wl::Request first;
	ASSERT_EQ(plan.threads[0].source->next(first), wl::Step::done); /* no prefill */
	plan.threads[0].source->begin_measurement();
	ASSERT_EQ(plan.threads[0].source->next(first), wl::Step::issue);
	EXPECT_EQ(first.lba, 4u * 128);
}

TEST(Plan, SteppedZonesAreWrittenAndReadAtTheirPlaces)
{
	wl::ThreadSpec spec;
	spec.total_ops = 2000;
	wl::ZoneShare share = share_of(1, 4, 96), device_share = share_of(0, 12, 96);
	share.step = 3;
	FakeDevice device(device_share, 9, 1);
	wl::ZoneGenerator source(spec, share, 7);
	const res::QueueAccount account = run_both(device, source, 8);
	EXPECT_TRUE(account.errors.empty());
	EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
	std::set<uint64_t> zones;
	for (const std::string &line : device.history)
		if (line.substr(0, 2) == "1 ")
			zones.insert(std::stoull(line.substr(2)) / 128);
	EXPECT_EQ(zones, (std::set<uint64_t>{1, 4, 7, 10}));
}

TEST(Plan, ImpossiblePlacesNameFileKeyAndFix)
{
	EXPECT_EQ(plan_error_of("threads: 9\ncommon: {total_ops: 1}\n", zoned(8)),
		  "w.yaml: the workload writes 9 zones side by side, the device allows 8: use fewer threads or open zones, or raise "
		  "zones.max_open");
	EXPECT_EQ(plan_error_of("threads: 2\ncommon: {total_ops: 1, zones: 5}\n", zoned(8)),
		  "w.yaml: zones: the threads ask for 10 sequential zones or more, the device has 8: use fewer threads or zones");
	EXPECT_EQ(plan_error_of("threads: 2\ncommon: {total_ops: 1, zones: 1}\neach:\n  - {first_zone: 1}\n", zoned(8)),
		  "w.yaml: first_zone: some threads name their zones and some do not: let all of them do so, or none");
	EXPECT_EQ(plan_error_of("threads: 2\ncommon: {total_ops: 1, zones: 2, first_zone: 1}\neach:\n  - {first_zone: 2}\n", zoned(8)),
		  "w.yaml: first_zone: zone 2 belongs to the threads 0 and 1: give each its own");
	EXPECT_EQ(plan_error_of("threads: 1\ncommon: {total_ops: 1, zones: 3, first_zone: 2, zone_step: 3}\n", zoned(8)),
		  "w.yaml: first_zone: thread 0 names zone 8, but only zones 0 to 7 are sequential zones of this device");
	EXPECT_EQ(plan_error_of("mapping: log\nthreads: 1\ncommon: {total_ops: 1, zones: 4, first_zone: 0}\n", zoned(8)),
		  "w.yaml: first_zone: the log mapping chooses zones by itself: remove the key, or use mapping: direct");
}

NamespaceInfo mixed_zones()
{
	NamespaceInfo info = zoned(12);
	info.conventional_zones = 4;
	return info;
}

NamespaceInfo block()
{
	NamespaceInfo info;
	info.zoned = false;
	info.size_sectors = 1000;
	info.max_transfer_sectors = 128;
	return info;
}

uint64_t first_lba(Plan &plan, size_t thread)
{
	wl::Request request;
	plan.threads[thread].source->begin_measurement();
	EXPECT_EQ(plan.threads[thread].source->next(request), wl::Step::issue);
	return request.lba;
}

TEST(Plan, AreasAreDealtApart)
{
	const wl::Workload w = wl::parse_workload(
		"threads: 4\ncommon: {total_ops: 9, read_ratio: 0.0}\n"
		"each:\n  - {}\n  - {area: conventional, zones: 1}\n  - {area: conventional, write_pattern: sequential}\n",
		"w");
	const auto shares = deal_zones(w, mixed_zones());
	EXPECT_EQ(shares[0].first_zone, 4u);
	EXPECT_EQ(shares[0].zones, 4u);
	EXPECT_EQ(shares[1].first_zone, 0u);
	EXPECT_EQ(shares[1].zones, 1u);
	EXPECT_EQ(shares[2].first_zone, 1u);
	EXPECT_EQ(shares[2].zones, 3u);
	EXPECT_EQ(shares[3].first_zone, 8u);
	Plan plan = make_plan(w, mixed_zones());
	EXPECT_EQ(first_lba(plan, 2), 128u);
	EXPECT_EQ(first_lba(plan, 3), 8u * 128);
	EXPECT_LT(first_lba(plan, 1), 96u);
}

TEST(Plan, TheLogMappingLeavesConventionalZonesAlone)
{
	const wl::Workload w = wl::parse_workload("mapping: log\nthreads: 2\ncommon: {total_ops: 9, read_ratio: 0.0}\n", "w");
	Plan plan = make_plan(w, mixed_zones());
	EXPECT_EQ(first_lba(plan, 0), 4u * 128);
	EXPECT_EQ(first_lba(plan, 1), 8u * 128);
}

TEST(Plan, ABlockNamespaceIsDealtInEqualParts)
{
	const wl::Workload w = wl::parse_workload("threads: 3\ncommon: {total_ops: 9, read_ratio: 0.0}\n", "w");
	Plan plan = make_plan(w, block());
	EXPECT_EQ(first_lba(plan, 0), 0u);
	EXPECT_EQ(first_lba(plan, 1), 333u);
	EXPECT_EQ(first_lba(plan, 2), 666u);
}

// Each thread has the whole namespace; it is prepared only once.
TEST(Plan, ASharedBlockNamespaceIsEverybodys)
{
	const wl::Workload w = wl::parse_workload(
		"shared: true\nverify: false\nthreads: 3\ncommon: {total_ops: 200, read_ratio: 0.5, pattern: random, prefill: 0.9}\n", "w");
	Plan plan = make_plan(w, block());
	std::vector<unsigned> prepared(1000);
	for (ThreadPlan &thread : plan.threads) {
		wl::Request r;
		uint64_t least = 1000, most = 0;
		while (thread.source->next(r) == wl::Step::issue) {
			for (uint32_t i = 0; i < r.sectors; i++)
				prepared[r.lba + i]++;
			thread.source->complete(r, 0, 0);
		}
		thread.source->begin_measurement();
		while (thread.source->next(r) == wl::Step::issue) {
			least = std::min(least, r.lba);
			most = std::max(most, r.lba);
			thread.source->complete(r, 0, 0);
		}
		EXPECT_LT(least, 50u);
		EXPECT_GT(most, 950u);
	}
	for (uint64_t i = 0; i < 1000; i++)
		EXPECT_EQ(prepared[i], i < 900 ? 1u : 0u) << i;
}

TEST(Plan, ATraceChoosesItsMappingByTheDevice)
{
	wl::Workload trace = wl::parse_workload("trace: {file: a}\n", "w"),
		     log = wl::parse_workload("mapping: log\ntrace: {file: a}\n", "w");
	wl::choose_mapping(trace, false);
	EXPECT_EQ(trace.mapping, wl::Mapping::direct);
	wl::choose_mapping(trace, true);
	EXPECT_EQ(trace.mapping, wl::Mapping::log);
	wl::choose_mapping(log, false);
	EXPECT_EQ(log.mapping, wl::Mapping::log) << "as it was asked for";
}

TEST(Plan, StreamsAreReplayedDirectlyOnZones)
{
	const std::string
		streams = "trace: {file: a, order: streams, threads: 1}\n",
		refused = "w.yaml: trace.order: streams are replayed directly on zones: use a device with zones, mapping: direct, and no "
			  "iotailor";
	EXPECT_EQ(plan_error_of("mapping: direct\n" + streams, block()), refused);
	EXPECT_EQ(plan_error_of("mapping: log\n" + streams, zoned(8)), refused);
	EXPECT_EQ(plan_error_of("mapping: direct\niotailor: {unit: 64 KiB, memory: 128 KiB}\n" + streams, zoned(8)), refused);
}

TEST(Plan, WhatADeviceDoesNotHaveIsNamed)
{
	const std::string tail = ": this device has a block namespace and no zones: remove the key";
	EXPECT_EQ(plan_error_of("mapping: log\nthreads: 1\ncommon: {total_ops: 1}\n", block()),
		  "w.yaml: mapping: log needs zones, this device has a block namespace: use mapping: direct");
	EXPECT_EQ(plan_error_of("common: {total_ops: 1, zones: 2}\n", block()), "w.yaml: zones" + tail);
	EXPECT_EQ(plan_error_of("common: {total_ops: 1, append: true}\n", block()), "w.yaml: append" + tail);
	EXPECT_EQ(plan_error_of("common: {total_ops: 1, durable_ratio: 1.0}\n", block()), "w.yaml: durable_ratio" + tail);
	EXPECT_EQ(plan_error_of("common: {total_ops: 1, durable_ratio: 1.0}\n", zoned(8)),
		  "w.yaml: durable_ratio: this device refuses durable writes: give its file plp: {mode: selective}");
	NamespaceInfo placed = block();
	placed.handles = 3;
	EXPECT_EQ(plan_error_of("common: {total_ops: 1, placement: 2}\n", placed), "no error");
	EXPECT_EQ(plan_error_of("common: {total_ops: 1, placement: 3}\n", placed),
		  "w.yaml: placement: 3 names none of this device's 3 reclaim unit handles, which are counted from 0");
	EXPECT_EQ(plan_error_of("common: {total_ops: 1, placement: 2}\n", block()),
		  "w.yaml: placement: this device has no reclaim unit handles: give its file fdp: {handles: 3}, or remove the key");
	EXPECT_EQ(plan_error_of("mapping: log\ncommon: {total_ops: 1, durable_ratio: 1.0}\n", zoned(8)),
		  "w.yaml: durable_ratio: only mapping: direct says of each write whether it must be durable");
	EXPECT_EQ(plan_error_of("common: {total_ops: 1, open_zones: 2}\n", block()), "w.yaml: open_zones" + tail);
	EXPECT_EQ(plan_error_of("common: {total_ops: 1, zone_depth: 2}\n", block()), "w.yaml: zone_depth" + tail);
	EXPECT_EQ(plan_error_of("common: {total_ops: 1, zrwa: true}\n", block()), "w.yaml: zrwa" + tail);
	EXPECT_EQ(plan_error_of("common: {total_ops: 1, record: 500 B, fua: true}\n", block()), "no error");
	EXPECT_EQ(plan_error_of("common: {total_ops: 1, area: conventional}\n", zoned(8)),
		  "w.yaml: area: the device has no conventional zones: set conventional.zones in its file, or remove the key");
	EXPECT_EQ(plan_error_of("mapping: log\nthreads: 1\ncommon: {total_ops: 1, area: conventional}\n", mixed_zones()),
		  "w.yaml: area: the log mapping writes sequential zones only: remove the key, or use mapping: direct");
	EXPECT_EQ(plan_error_of("threads: 2\ncommon: {total_ops: 1, area: conventional, zones: 3}\n", mixed_zones()),
		  "w.yaml: zones: the threads ask for 6 conventional zones or more, the device has 4: use fewer threads or zones");
	EXPECT_EQ(plan_error_of("threads: 1\ncommon: {total_ops: 1, first_zone: 3, zones: 1}\n", mixed_zones()),
		  "w.yaml: first_zone: thread 0 names zone 3, but only zones 4 to 11 are sequential zones of this device");
	EXPECT_EQ(plan_error_of("shared: true\nverify: false\nthreads: 1\ncommon: {total_ops: 1}\n", zoned(8)),
		  "w.yaml: shared: this device has zones, each of which is one thread's: remove the key");
	EXPECT_EQ(plan_error_of("threads: 1\ncommon: {total_ops: 1, span_bytes: 8 MiB}\n", block()),
		  "w.yaml: span_bytes: a thread's address space has only 4000 KiB: make it smaller");
}

} // namespace
