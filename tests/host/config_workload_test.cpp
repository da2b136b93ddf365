// Workload files.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <filesystem>

#include "workload/spec.hpp"

namespace {

using namespace hz::wl;
using hz::conf::ConfigError;

std::string workload_error_of(const std::string &text)
{
	try {
		parse_workload(text, "w.yaml");
	} catch (const ConfigError &e) {
		return e.what();
	}
	return "no error";
}

TEST(WorkloadConfig, EveryPresetIsLegal)
{
	for (const auto &file : std::filesystem::directory_iterator(HZ_TREE "/configs/workloads"))
		EXPECT_NO_THROW(load_workload(file.path().string())) << file.path();
}

TEST(WorkloadConfig, CommonAndEach)
{
	const Workload w = parse_workload(
		"threads: 3\ncommon: {total_ops: 10, block: 8 KiB}\neach:\n  - {}\n  - {read_ratio: 1.0, prefill: 0.5}\n", "w");
	ASSERT_EQ(w.threads.size(), 3u);
	EXPECT_EQ(w.threads[1].read_ratio, 1.0);
	EXPECT_EQ(w.threads[2].read_ratio, 0.5);
	EXPECT_EQ(w.threads[1].blocks[0].sectors, 2u);
	EXPECT_EQ(w.turnaround_ns, 4000u);
}

TEST(WorkloadConfig, Errors)
{
	EXPECT_EQ(workload_error_of("threads: 1\n"), "w.yaml:1: common: the workload never ends: give total_ops or total_bytes");
	EXPECT_TRUE(workload_error_of("threads: 1\nthread: {total_ops: 1}\n").starts_with("w.yaml:2: unknown key 'thread': did you mean"));
	EXPECT_EQ(workload_error_of("common:\n  total_ops: 5\n  block: 5 KiB\n"), "w.yaml:3: common.block: must be a multiple of 4 KiB");
	EXPECT_EQ(workload_error_of("common:\n  total_ops: 5\n  block: 1 MiB\n"), "w.yaml:3: common.block: a block is 4 KiB to 512 KiB");
	EXPECT_EQ(workload_error_of("common:\n  total_ops: 5\n  read_ratio: 1.5\n"),
		  "w.yaml:3: common.read_ratio: '1.5' must be a number from 0 to 1");
	EXPECT_EQ(workload_error_of("common:\n  total_ops: 5\n  read_ratio: 0.7\n  trim_ratio: 0.4\n"),
		  "w.yaml:4: common.trim_ratio: with read_ratio is more than 1: together they are at most all commands");
	EXPECT_EQ(workload_error_of("trace: {file: a}\nthreads: 2\n"),
		  "w.yaml:1: trace: a workload either replays a trace or generates threads, not both");
	EXPECT_EQ(workload_error_of("shared: true\ncommon: {total_ops: 5}\n"),
		  "w.yaml:1: shared: threads overwrite each other's sectors, so the data of a read are not known: give verify: false too");
	EXPECT_EQ(workload_error_of("shared: true\nverify: false\ntrace: {file: a}\n"),
		  "w.yaml:1: shared: a trace says itself where its records go: remove the key");
	EXPECT_EQ(workload_error_of("prepared: kept\ncommon: {total_ops: 5}\n"),
		  "w.yaml:1: prepared: nothing is written before the measurement: give prefill too, or remove the key");
	EXPECT_EQ(workload_error_of("prepared: kept\ntrace: {file: a, preload: false}\n"),
		  "w.yaml:1: prepared: nothing is written before the measurement: give prefill too, or remove the key");
	EXPECT_EQ(workload_error_of("prepared: once\ncommon: {total_ops: 5}\n"), "w.yaml:1: prepared: 'once' is not one of anew, kept");
	EXPECT_EQ(workload_error_of("trace: {timing: open}\n"), "w.yaml:1: trace.file: is missing: name the trace to replay");
	EXPECT_EQ(workload_error_of("common:\n  total_ops: 5\n  span: 0.5\n  span_bytes: 1 MiB\n"),
		  "w.yaml:4: common.span_bytes: give either span or span_bytes");
	EXPECT_EQ(workload_error_of("common:\n  total_ops: 5\n  first_zone: 3\n"),
		  "w.yaml:3: common.first_zone: needs the number of zones: give zones too");
	EXPECT_EQ(workload_error_of("common:\n  total_ops: 5\n  zone_step: 2\n"),
		  "w.yaml:3: common.zone_step: goes with first_zone: give both");
	for (const char *key : {"append: true", "durable_ratio: 0.5", "open_zones: 2", "zone_depth: 3", "zrwa: true"})
		EXPECT_NE(workload_error_of("common:\n  total_ops: 5\n  area: conventional\n  " + std::string(key) + "\n")
				  .find("w.yaml:4: common." + std::string(key).substr(0, std::string(key).find(':')) +
					": goes with sequential zones: remove it, or area: conventional"),
			  std::string::npos)
			<< key;
	EXPECT_EQ(workload_error_of("common:\n  total_ops: 5\n  record: 1 MiB\n").substr(0, 32), "w.yaml:3: common.record: '1 MiB'");
	EXPECT_EQ(workload_error_of("common:\n  total_ops: 5\n  record: 500 B\n  blocks: [{size: 4 KiB}, {size: 8 KiB}]\n"),
		  "w.yaml:3: common.record: a log has blocks of one size: give block, and not blocks");
	EXPECT_EQ(workload_error_of("common:\n  total_ops: 5\n  record: 5000 B\n  block: 512 KiB\n"),
		  "w.yaml:3: common.record: the blocks that hold a record are more than 512 KiB: make record or block smaller");
	EXPECT_EQ(workload_error_of("common:\n  total_ops: 5\n  record: 500 B\n  append: true\n").substr(0, 40),
		  "w.yaml:3: common.record: the block that ");
	EXPECT_EQ(workload_error_of("common:\n  total_ops: 5\n  zrwa: true\n  append: true\n"),
		  "w.yaml:3: common.zrwa: a zone with a random write area takes no appends: remove append");
	const ThreadSpec log =
		parse_workload("common: {total_ops: 5, record: 512 B, block: 8 KiB, zrwa: true, fua: true}\n", "w").threads[0];
	EXPECT_TRUE(log.record == 512 && log.zrwa && log.fua);
	EXPECT_EQ(workload_error_of("common:\n  total_ops: 5\n  placement: 65536\n"),
		  "w.yaml:3: common.placement: '65536' is out of range: 0 to 65535");
	EXPECT_EQ(parse_workload("common: {total_ops: 5}\nthreads: 2\neach: [{}, {placement: 3}]\n", "w").threads[1].placement, 3u);
	EXPECT_NE(workload_error_of("common: {total_ops: 1}\nthreads: 1\neach: [{}, {}]\n").find("more entries than threads"),
		  std::string::npos);
}

TEST(WorkloadConfig, AFileIsOneDocumentThatSaysSomething)
{
	for (const char *text : {"", "# nothing\n", "---\n", "~\n"})
		EXPECT_EQ(workload_error_of(text).substr(0, 32), "w.yaml:1: the file says nothing:") << text;
	EXPECT_EQ(workload_error_of("common: {total_ops: 1}\n---\ncommon: {total_ops: 2}\n").substr(0, 37),
		  "w.yaml:2: the YAML document ends here");
	EXPECT_EQ(workload_error_of(",").substr(0, 37), "w.yaml:1: the YAML document ends here")
		<< "documents without an end for YAML::LoadAll";
	EXPECT_EQ(workload_error_of("---\ncommon: {total_ops: 1}\n...\n"), "no error") << "markers around one document";
	EXPECT_EQ(workload_error_of(std::string(200000, '-') + "\n").substr(0, 9), "w.yaml:1:");
	std::string deep;
	for (int i = 0; i < 100000; i++)
		deep += "- ";
	EXPECT_EQ(workload_error_of(deep).substr(0, 33), "w.yaml:1: the nesting is too deep");
}

TEST(WorkloadConfig, TraceKeys)
{
	const Workload w = parse_workload("trace: {file: a, split: address, time_unit: 1us, skip_bad: 3}\n", "w");
	EXPECT_EQ(w.trace->split, Split::address);
	EXPECT_EQ(w.trace->time_unit_ns, 1000u);
	EXPECT_EQ(w.trace->skip_bad, 3u);
	EXPECT_EQ(w.trace->block_key, "split");
	EXPECT_EQ(parse_workload("trace: {file: a}\n", "w").trace->split, Split::automatic);
	EXPECT_EQ(parse_workload("trace: {file: a}\n", "w").trace->order, Order::trace);
	EXPECT_EQ(parse_workload("trace: {file: a, threads: 1, order: streams, think_scale: 2}\n", "w").trace->think_scale, 2);
	for (const char *keys : {"threads: 2", "threads: 1, timing: open"})
		EXPECT_EQ(workload_error_of("trace: {file: a, order: streams, " + std::string(keys) + "}\n"),
			  "w.yaml:1: trace.order: streams run beside each other in one queue, as fast as they can: give threads: 1, and no "
			  "timing");
	EXPECT_EQ(
		workload_error_of("trace: {file: a, think_scale: 2}\n"),
		"w.yaml:1: trace.think_scale: scales what the programs of a trace compute, which only order: streams replays: give that, or "
		"remove the key");
	EXPECT_EQ(workload_error_of("trace: {file: a, split: hash}\n"),
		  "w.yaml:1: trace.split: 'hash' is not one of auto, address, stream");
}

TEST(WorkloadConfig, Arbitration)
{
	Workload w = parse_workload("arbitration: {high: 8, low: 2, burst: 4}\nthreads: 3\ncommon: {total_ops: 5}\n"
				    "each: [{priority: urgent}, {priority: low}]\n",
				    "w");
	ASSERT_TRUE(w.arbitration);
	EXPECT_EQ(w.arbitration->high, 8u);
	EXPECT_EQ(w.arbitration->medium, 1u);
	EXPECT_EQ(w.arbitration->low, 2u);
	EXPECT_EQ(w.arbitration->burst, 2u) << "2^2";
	EXPECT_EQ(w.threads[0].priority, Priority::urgent);
	EXPECT_EQ(w.threads[1].priority, Priority::low);
	EXPECT_EQ(w.threads[2].priority, Priority::medium);
	const auto echo = workload_to_json(w);
	EXPECT_EQ(echo["arbitration"]["burst"], 4);
	EXPECT_EQ(echo["threads"][1]["priority"], "low");
	EXPECT_FALSE(preparation_of(w).arbitration) << "the preparation is the same with and without";
	EXPECT_FALSE(workload_to_json(parse_workload("common: {total_ops: 5}\n", "w"))["threads"][0].contains("priority"));
	EXPECT_EQ(workload_error_of("common:\n  total_ops: 5\n  priority: low\n"),
		  "w.yaml:3: common.priority: counts with weighted round robin only: give the workload's key arbitration, too");
	EXPECT_NE(workload_error_of("arbitration: {high: 257}\ncommon: {total_ops: 5}\n").find("arbitration.high"), std::string::npos);
	EXPECT_NE(workload_error_of("arbitration: {burst: 3}\ncommon: {total_ops: 5}\n").find("'3' is not one of 1, 2, 4"),
		  std::string::npos);
	EXPECT_EQ(workload_error_of("arbitration: {}\ntrace: {file: a}\n"),
		  "w.yaml:1: arbitration: the threads of a trace have no priorities: remove the key");
}

TEST(WorkloadConfig, ShrinkKeepsAtLeastOne)
{
	Workload w = parse_workload("common: {total_ops: 5}\n", "w");
	shrink(w, 8);
	EXPECT_EQ(w.threads[0].total_ops, 1u);
}

TEST(WorkloadConfig, EchoHasEveryThread)
{
	const auto echo = workload_to_json(parse_workload("threads: 2\ncommon: {total_bytes: 1 MiB}\n", "w"));
	EXPECT_EQ(echo["threads"].size(), 2u);
	EXPECT_EQ(echo["threads"][0]["total_bytes"], 1u << 20);
	EXPECT_EQ(echo["mapping"], "direct");
}

} // namespace
