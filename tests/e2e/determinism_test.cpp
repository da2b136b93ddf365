// Determinism: neither the digest nor the report of the virtual clock depends on how fast, how loaded or how scheduled the host is.
// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "config/placement.hpp"
#include "run_helper.hpp"

namespace e2e {
namespace {

// What one run is exposed to.
struct Host {
	const char *name;
	bool pinned;            // QEMU and the host threads on one core
	unsigned hogs_per_core; // busy threads
	unsigned delay_us;      // of host threads, at random
};

class Hogs {
public:
	explicit Hogs(unsigned count)
	{
		for (unsigned i = 0; i < count; i++)
			threads_.emplace_back([](std::stop_token stop) {
				for (volatile unsigned spin = 0; !stop.stop_requested();)
					spin = spin + 1;
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
		sched_getaffinity(0, sizeof(before_), &before_);
		CPU_ZERO(&one);
		for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
			if (CPU_ISSET(cpu, &before_))
				CPU_SET(cpu, &one);
		if (pinned)
			sched_setaffinity(0, sizeof(one), &one);
	}
	~Pinned() { sched_setaffinity(0, sizeof(before_), &before_); }

private:
	cpu_set_t before_;
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

} // namespace
} // namespace e2e
