// RunRecorded: the steps of a run with recorded commands.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_recorded.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "cli/run_workload.hpp"
#include "fabrics/repeat.hpp"
#include "replay/progress.hpp"
#include "results/timeline.hpp"
#include "session/controller.hpp"

namespace hz::cli {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The workload entry of a result: only its file.
nlohmann::json workload_of(const std::string &file, bool dependent)
{
	wl::Workload workload;
	workload.name = std::filesystem::path(file).filename().string();
	workload.file = file;
	workload.trace.emplace();
	workload.trace->file = file;
	workload.verify = false;
	nlohmann::json echo = wl::workload_to_json(workload);
	echo[dependent ? "by_dependencies" : "as_recorded"] = true;
	return echo;
}

// Null at the recorded arrivals.
nlohmann::json dependencies_of(const fabrics::Recording &recording, const std::optional<std::vector<fabrics::Wait>> &waits)
{
	if (!waits)
		return nullptr;
	const fabrics::WaitFigures figures = fabrics::figures_of(recording, *waits);
	return {{"commands", figures.commands}, {"completions", figures.completions}, {"think_ns", figures.think_ns}};
}

nlohmann::json json_of(const fabrics::RepeatFigures &figures, const fabrics::RecordHead &head, nlohmann::json dependencies)
{
	return {{"replay", dependencies.is_null() ? "arrivals" : "dependencies"},
		{"dependencies", std::move(dependencies)},
		{"device", head.device},
		{"workers", head.workers},
		{"commands", figures.commands},
		{"differ", figures.differ},
		{"furthest_ns", figures.furthest_ns},
		{"moved_arrivals", figures.moved},
		{"recorded_elapsed_ns", figures.recorded_ns},
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
		std::printf("%llu commands arrived later than they should, because their queue was full\n", number(figures.moved));
}

void say_time(const nlohmann::json &dependencies, uint64_t elapsed_ns, uint64_t recorded_ns)
{
	if (dependencies.is_null())
		return;
	std::printf("%llu commands waited for %llu completions; all took %.6f s of device time, and %.6f s when they were recorded\n",
		    dependencies["commands"].get<unsigned long long>(), dependencies["completions"].get<unsigned long long>(),
		    double(elapsed_ns) / 1e9, double(recorded_ns) / 1e9);
}

res::RunFacts facts_of(Machine &machine, const std::string &file, bool dependent)
{
	res::RunFacts facts;
	facts.device = machine.config();
	facts.workload = workload_of(file, dependent);
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

void record(const RepeatJob &job, const fabrics::Repeat &repeat, const hz_device_config &device)
{
	if (job.record.empty())
		return;
	fabrics::RecordHead head = job.recording.head;
	head.device = device.name;
	head.workers = device.worker_count;
	fabrics::Recorder(job.record, head).write_all(repeat.repeated(head));
	std::printf("%s: digest %s\n", job.record.c_str(), repeat.figures().digest.c_str());
}

} // namespace

res::RunFacts run_recorded(MachineOptions options, const RepeatJob &job)
{
	const auto start = Clock::now();
	options.shm_bytes = std::max(options.shm_bytes, fabrics::Repeat::shared_bytes(job.recording.head));
	auto machine = Machine::launch(options);
	res::RunFacts facts = facts_of(*machine, job.file, job.waits.has_value());
	Controller controller(*machine);
	controller.enable();
	fabrics::Repeat repeat(controller, job.recording, job.waits);
	const auto begun = Clock::now();
	replay::Progress progress("repeating " + std::filesystem::path(job.file).filename().string());
	repeat.run([&] { machine->kill(); },
		   [&](uint64_t done) { progress.show(static_cast<uint32_t>(done * 1000000 / job.recording.commands.size())); });
	facts.replay_wall_s = seconds_since(begun);
	account(facts, repeat, controller);
	repeat.delete_queues();
	controller.shutdown();
	controller.disconnect();
	machine->require_exit(std::chrono::milliseconds(60000));
	facts.as_recorded = json_of(repeat.figures(), job.recording.head, dependencies_of(job.recording, job.waits));
	say(repeat.figures());
	record(job, repeat, machine->config());
	say_time(facts.as_recorded["dependencies"], facts.elapsed_ns, repeat.figures().recorded_ns);
	facts.software = software_of(options, machine->qemu_greeting());
	facts.plugin_report = machine->plugin_report();
	facts.timeline = machine->plugin_timeline();
	facts.wall_s = seconds_since(start);
	return facts;
}

} // namespace hz::cli
