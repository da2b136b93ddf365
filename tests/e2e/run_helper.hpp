// Runs of the main job as a library call, on the crash device with a chosen placement of roles.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include "cli/run_workload.hpp"
#include "config/device_yaml.hpp"

namespace e2e {

// 8 threads of reads, writes, flushes and resets on small zones, a thread per zone.
inline hz::wl::Workload churn(unsigned threads, unsigned operations)
{
	return hz::wl::parse_workload("name: churn\nmapping: direct\nseed: 3\nthreads: " + std::to_string(threads) + R"(
common:
  read_ratio: 0.4
  pattern: random
  zones: 1
  blocks:
    - {size: 4 KiB, weight: 1}
    - {size: 16 KiB, weight: 1}
    - {size: 64 KiB, weight: 1}
  queue_depth: 4
  flush_every: 16
  think: 2us
  think_distribution: exponential
  total_ops: )" + std::to_string(operations) + "\n",
				      "churn");
}

inline hz::MachineOptions crash_machine()
{
	hz::MachineOptions machine;
	machine.config = hz::conf::load_device(std::string(HZ_TREE) + "/tests/e2e/crash.yaml");
	return machine;
}

// Where the calling thread may run.
inline cpu_set_t cores()
{
	cpu_set_t allowed;
	EXPECT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	return allowed;
}

// The run, its books and its data; where its caller runs is the caller's affair.
inline hz::res::RunFacts good_run(const hz::MachineOptions &machine, const hz::wl::Workload &workload)
{
	const cpu_set_t before = cores();
	hz::res::RunFacts facts = hz::cli::run_workload(machine, workload, workload.name);
	const cpu_set_t after = cores();
	EXPECT_TRUE(CPU_EQUAL(&before, &after)) << "the run has chosen other cores for its caller";
	const nlohmann::json result = hz::res::result_json(facts);
	EXPECT_EQ(result["violations"], nlohmann::json::array());
	EXPECT_EQ(result["totals"]["errors"], nlohmann::json::array());
	EXPECT_GT(result["read_back"]["bytes"].get<uint64_t>(), 0u);
	EXPECT_EQ(result["deterministic"].get<bool>(), machine.virtual_clock) << result["deterministic_reason"];
	return facts;
}

} // namespace e2e
