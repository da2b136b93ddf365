// RunRecorded: the steps of a run with recorded commands.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_recorded.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "cli/run_workload.hpp"
#include "fabrics/repeat.hpp"
#include "results/timeline.hpp"
#include "session/controller.hpp"

namespace hz::cli {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The workload entry of a result: only its file.
nlohmann::json workload_of(const std::string &file)
{
	wl::Workload workload;
	workload.name = std::filesystem::path(file).filename().string();
	workload.file = file;
	workload.trace.emplace();
	workload.trace->file = file;
	workload.verify = false;
	nlohmann::json echo = wl::workload_to_json(workload);
	echo["as_recorded"] = true;
	return echo;
}

nlohmann::json json_of(const fabrics::RepeatFigures &figures, const fabrics::RecordHead &head)
{
	return {{"device", head.device},
		{"workers", head.workers},
		{"commands", figures.commands},
		{"differ", figures.differ},
		{"furthest_ns", figures.furthest_ns},
		{"moved_arrivals", figures.moved},
		{"first_difference", figures.first_difference},
		{"digest", figures.digest},
		{"recorded_digest", figures.recorded_digest}};
}

void say(const fabrics::RepeatFigures &figures)
{
	const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
	if (figures.same())
		std::printf("the device did the same as when it was recorded, to the nanosecond: digest %s of %llu commands\n",
			    figures.digest.c_str(), number(figures.commands));
	else if (figures.differ)
		std::printf("%llu of %llu commands ended otherwise than recorded, the furthest %llu ns apart; the first: %s\n",
			    number(figures.differ), number(figures.commands), number(figures.furthest_ns),
			    figures.first_difference.c_str());
	else
		std::printf("%llu commands ended as recorded, as far as the recording goes: its end is missing\n",
			    number(figures.commands));
	if (figures.moved)
		std::printf("%llu commands arrived later than recorded, because their queue was full\n", number(figures.moved));
}

res::RunFacts facts_of(Machine &machine, const std::string &file)
{
	res::RunFacts facts;
	facts.device = machine.config();
	facts.workload = workload_of(file);
	facts.seed = machine.config().seed;
	facts.mount_ns = machine.region().header().mount_ns;
	facts.mount = machine.region().header().mount;
	return facts;
}

void account(res::RunFacts &facts, const fabrics::Repeat &repeat, Controller &controller)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	facts.queues = repeat.accounts();
	for (const res::QueueAccount &queue : facts.queues) {
		first_ns = std::min(first_ns, queue.first_arrival_ns);
		last_ns = std::max(last_ns, queue.last_completion_ns);
		facts.mapping.emplace_back();
	}
	facts.elapsed_ns = last_ns > first_ns ? last_ns - first_ns : 0;
	static_cast<res::DeviceFigures &>(facts) = res::figures_of(controller);
}

} // namespace

res::RunFacts run_recorded(MachineOptions options, const fabrics::Recording &recording, const std::string &file)
{
	const auto start = Clock::now();
	options.shm_bytes = std::max(options.shm_bytes, fabrics::Repeat::shared_bytes(recording.head));
	auto machine = Machine::launch(options);
	res::RunFacts facts = facts_of(*machine, file);
	Controller controller(*machine);
	controller.enable();
	fabrics::Repeat repeat(controller, recording);
	const auto begun = Clock::now();
	repeat.run([&] { machine->kill(); });
	facts.replay_wall_s = seconds_since(begun);
	account(facts, repeat, controller);
	repeat.delete_queues();
	controller.shutdown();
	controller.disconnect();
	machine->require_exit(std::chrono::milliseconds(60000));
	facts.as_recorded = json_of(repeat.figures(), recording.head);
	say(repeat.figures());
	facts.software = software_of(options, machine->qemu_greeting());
	facts.plugin_report = machine->plugin_report();
	facts.timeline = machine->plugin_timeline();
	facts.wall_s = seconds_since(start);
	return facts;
}

} // namespace hz::cli
