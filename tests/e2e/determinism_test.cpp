// Determinism: neither the digest nor the report of the virtual clock depends on how fast, how loaded or how scheduled the host is.
// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "config/placement.hpp"
#include "run_helper.hpp"

namespace e2e {
namespace {

// Disturbances of one run.
struct Host {
	const char *name;
	bool pinned;            // QEMU and the host threads on one core
	unsigned hogs_per_core; // busy threads
	unsigned delay_us;      // of host threads, at random
};

// Threads that alternate between load and sleep for random times: each start takes a core from
// another thread, unlike a steady load.
class Hogs {
public:
	explicit Hogs(unsigned count)
	{
		for (unsigned i = 0; i < count; i++)
			threads_.emplace_back([i](std::stop_token stop) {
				using namespace std::chrono;
				for (std::minstd_rand random(i + 1); !stop.stop_requested();) {
					const auto end = steady_clock::now() + microseconds(random() % 4000);
					while (steady_clock::now() < end)
						continue;
					std::this_thread::sleep_for(microseconds(random() % 4000));
				}
			});
	}

private:
	std::vector<std::jthread> threads_;
};

class Pinned {
public:
	explicit Pinned(bool pinned)
	{
		cpu_set_t one;
		CPU_ZERO(&one);
		for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
			if (CPU_ISSET(cpu, &before_))
				CPU_SET(cpu, &one);
		if (pinned)
			sched_setaffinity(0, sizeof(one), &one);
	}
	~Pinned() { sched_setaffinity(0, sizeof(before_), &before_); }

private:
	cpu_set_t before_ = cores();
};

// The report but for its account of the host.
std::string clock_report(const hz::res::RunFacts &facts)
{
	nlohmann::json report = nlohmann::json::parse(facts.plugin_report);
	EXPECT_EQ(report.erase("host"), 1u);
	return report.dump(1);
}

std::string outcome_under(const Host &host, const hz::MachineOptions &machine, const hz::wl::Workload &workload)
{
	SCOPED_TRACE(host.name);
	Hogs hogs(host.hogs_per_core * std::max(1u, std::thread::hardware_concurrency()));
	Pinned pinned(host.pinned);
	if (host.delay_us)
		setenv("HARTZONE_TEST_DELAY_US", std::to_string(host.delay_us).c_str(), 1);
	const hz::res::RunFacts facts = good_run(machine, workload);
	unsetenv("HARTZONE_TEST_DELAY_US");
	return hz::res::digest_of(facts) + "\n" + clock_report(facts);
}

constexpr Host hosts[] = {
	{"again", false, 0, 0},
	{"pinned to one core", true, 0, 0},
	{"hogs on all cores", false, 1, 0},
	{"host threads slowed", false, 0, 300},
	{"all at once", true, 1, 300},
};

void expect_one_outcome(const hz::MachineOptions &machine, const hz::wl::Workload &workload)
{
	const std::string first = outcome_under({"first", false, 0, 0}, machine, workload);
	for (const Host &host : hosts)
		EXPECT_EQ(outcome_under(host, machine, workload), first) << host.name;
}

TEST(Determinism, EightWorkersReadWriteAndReset)
{
	hz::MachineOptions machine = crash_machine();
	hz::conf::place_roles(machine.config, 1, 8);
	const hz::wl::Workload workload = churn(8, 150);
	EXPECT_GT(good_run(machine, workload).ftl.zone_resets, 8u);
	expect_one_outcome(machine, workload);
}

TEST(Determinism, TheDefaultRun)
{
	hz::MachineOptions machine;
	machine.config = hz::conf::load_device(std::string(HZ_TREE) + "/configs/devices/default.yaml");
	hz::wl::Workload workload = hz::wl::load_workload(std::string(HZ_TREE) + "/configs/workloads/default.yaml");
	workload.trace->max_ops = 1000;
	expect_one_outcome(machine, workload);
}

// Commands that the device has before they arrive save the host work, and change nothing else.
struct Foreseen {
	const char *name, *device, *what;
	unsigned hils;
	const char *mapping = "mapping: direct\n";
	unsigned resets = 0; // of zones at least
};

class CommandsAhead : public testing::TestWithParam<Foreseen> {};
TEST_P(CommandsAhead, AreTheSameInDeviceTime)
{
	const Foreseen &run = GetParam();
	hz::MachineOptions machine;
	machine.config = hz::conf::load_device(std::string(HZ_TREE) + run.device);
	machine.config.hil_count = run.hils;
	hz::conf::place_roles(machine.config, 1, 3);
	const std::string common = "seed: 5\nthreads: 3\ncommon:\n  pattern: random\n  block: 4 KiB\n  queue_depth: 4\n";
	hz::wl::Workload workload = hz::wl::parse_workload(run.mapping + common + run.what, "foreseen");
	workload.ahead = 0;
	EXPECT_GE(good_run(machine, workload).ftl.zone_resets, run.resets);
	const std::string later = outcome_under({"ahead 0", false, 0, 0}, machine, workload);
	for (const uint32_t ahead : {3u, 32u})
		for (const unsigned delay_us : {0u, 300u}) {
			workload.ahead = ahead;
			EXPECT_EQ(outcome_under({"ahead", false, 0, delay_us}, machine, workload), later) << ahead;
		}
}
constexpr char foreseen_reads[] = "  read_ratio: 1\n  prefill: 0.5\n  total_ops: 400\n  think: 2us\n  think_distribution: exponential\n";
constexpr char foreseen_mix[] = "  read_ratio: 0.5\n  trim_ratio: 0.1\n  flush_every: 20\n  span: 0.2\n  prefill: 0.5\n  total_ops: 400\n";
constexpr char foreseen_log[] = "  read_ratio: 0.4\n  trim_ratio: 0.1\n  flush_every: 20\n  prefill: 0.7\n  total_ops: 900\n";
constexpr char foreseen_resets[] = "  read_ratio: 0\n  flush_every: 20\n  total_ops: 900\n";
INSTANTIATE_TEST_SUITE_P(All, CommandsAhead,
			 testing::Values(Foreseen{"OnALog", "/tests/e2e/crash.yaml", foreseen_log, 1, "mapping: log\n", 6},
					 Foreseen{"Reads", "/tests/e2e/crash.yaml", foreseen_reads, 1},
					 Foreseen{"ReadsThroughThreeInterfaces", "/tests/e2e/crash.yaml", foreseen_reads, 3},
					 Foreseen{"Writes", "/tests/e2e/crash.yaml", "  read_ratio: 0\n  total_ops: 400\n", 1},
					 Foreseen{"WritesThatReset", "/tests/e2e/crash.yaml", foreseen_resets, 1, "mapping: direct\n", 6},
					 Foreseen{"Overwrites", "/configs/devices/small-legacy.yaml", foreseen_mix, 1},
					 Foreseen{"OverwritesThroughTwoInterfaces", "/configs/devices/small-legacy.yaml", foreseen_mix, 2}),
			 [](const auto &i) { return i.param.name; });

} // namespace
} // namespace e2e
