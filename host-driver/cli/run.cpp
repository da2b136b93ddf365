// The run command: replays a workload or trace and reports the device's behaviour.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_workload.hpp"

#include <cstdio>
#include <exception>
#include <memory>

#include "cli/called.hpp"
#include "cli/command.hpp"
#include "cli/one_core.hpp"
#include "cli/output.hpp"
#include "cli/power_cut.hpp"
#include "cli/run_flags.hpp"
#include "cli/run_recorded.hpp"
#include "dump_size.h"
#include "report/run_report.hpp"
#include "results/timeline.hpp"
#include "session/machine/error.hpp"
#include "version.hpp"

namespace hz::cli {

namespace {

// Races found before the run failed: the further lines of the failure message.
void report_races_before(const std::string &words)
{
	const size_t at = words.find("\nrace: ");
	if (at != std::string::npos)
		throw Error("the race check found unsynchronised accesses of two harts:" + words.substr(at));
}

std::string result_file(const std::string &out) { return out + "/result.json"; }
std::string report_file(const std::string &out) { return out + "/report.html"; }

// The result for programs, and next to it the page for people.
void write_outcome(const std::string &out, const nlohmann::json &result)
{
	if (out.empty())
		return;
	res::write_result(result, result_file(out));
	res::write_whole(rep::run_report(result), report_file(out));
}

// Work of the capacitors, for a device that has any.
nlohmann::json kept_json(const hz_device_config &config, const hz_dump_report &kept)
{
	hz_shape shape;
	hz_shape_of(&config, &shape);
	return {
		{"worst_case_uj", hz_dump_energy_pj(&config, &shape, hz_dump_sectors(&config, &shape)) / 1000000},
		{"lost_ns", kept.lost_ns},
		{"took_ns", kept.took_ns},
		{"energy_uj", kept.energy_pj / 1000000},
		{"bytes", kept.sectors * HZ_SECTOR_BYTES},
		{"programs", kept.programs},
		{"failed_programs", kept.failed_programs},
		{"programs_in_place", kept.in_place},
		{"capacitors_empty", kept.empty != 0},
	};
}

// The outcome that the user asked for, so no failure; the next boot on the image recovers.
void report_power_cut(const MachineOptions &machine, const PowerCut &cut, const std::string &out)
{
	const hz_dump_report &kept = cut.kept();
	nlohmann::json at;
	if (machine.power_cut_op)
		at["operation"] = machine.power_cut_op;
	else
		at["device_ns"] = machine.power_cut_ns;
	if (kept.lost_ns)
		at["kept"] = kept_json(machine.config, kept);
	nlohmann::json result = {{"schema", result_schema}, {"software", software_of(machine, cut.qemu_greeting())}, {"power_cut", at}};
	result.update(res::verdict_of(cut.plugin_report()));
	write_outcome(out, result);
	std::printf("the power was cut at %s, as asked; %s\n", power_cut_place(machine).c_str(),
		    machine.nand_image.empty() ? "the temporary image is gone, --image keeps one"
					       : as_called("./hartzone verify --image " + machine.nand_image.string() +
							   " recovers and checks what was acknowledged")
							 .c_str());
	say_kept(kept);
}

// A failed run leaves a result file too, so that an older one is not mistaken for its outcome. It
// reports the first failure.
void write_failure(const std::string &out, const std::string &why)
{
	try {
		write_outcome(out, {{"schema", result_schema}, {"error", why}});
	} catch (const std::exception &) {
	}
}

// The table, and the files of --out.
nlohmann::json report(const res::RunFacts &facts, const std::string &out)
{
	nlohmann::json result = res::result_json(facts);
	std::fputs(res::result_table(result).c_str(), stdout);
	write_outcome(out, result);
	return result;
}

void require_sound(const nlohmann::json &result)
{
	if (!result["violations"].empty())
		throw Error("the run broke " + std::to_string(result["violations"].size()) +
			    " of its own rules: " + result["violations"][0].get<std::string>());
	if (const uint64_t failed = result["failed_commands"]["count"].get<uint64_t>())
		throw Error(std::to_string(failed) +
			    " commands failed, the first: " + result["failed_commands"]["first"].get<std::string>());
}

void write_timeline(const res::RunFacts &facts, const std::string &file)
{
	if (file.empty())
		return;
	const res::Timeline timeline = res::timeline_of(facts, facts.timeline);
	res::write_whole(timeline.json, file);
	std::printf("timeline: %llu spans in %s, which ui.perfetto.dev opens\n", static_cast<unsigned long long>(timeline.shown),
		    file.c_str());
	if (timeline.left_out)
		std::printf("timeline: the latest %llu spans of harts, dies or commands are left out: there is room for a smaller run\n",
			    static_cast<unsigned long long>(timeline.left_out));
}

void report_races(const res::RunFacts &facts)
{
	const std::vector<std::string> races = res::races_of(facts);
	for (const std::string &race : races)
		std::printf("race: %s\n", race.c_str());
	if (!races.empty())
		throw Error("the race check found " + std::to_string(races.size()) + " unsynchronised accesses of two harts");
	std::printf("the race check found nothing\n");
}

void say_what(const wl::Workload &workload, const hz_device_config &device)
{
	std::printf("%s on %s: %zu threads, %u workers\n", workload.name.c_str(), device.name, workload.thread_count(),
		    device.worker_count);
	flush_output();
}

// For both kinds of device.
template <class Work> res::RunFacts facts_of(const std::string &out, Work work)
{
	try {
		return work();
	} catch (const PowerCut &) {
		throw;
	} catch (const std::exception &e) {
		write_failure(out, e.what());
		throw;
	}
}

// Independent of the way of measuring.
void report_all(const RunFlags &flags, const res::RunFacts &facts)
{
	if (!facts.prepared_key.empty())
		std::printf("prepared device %.8s: %s\n", facts.prepared_key.c_str(), facts.prepared_story.c_str());
	const nlohmann::json result = report(facts, flags.out);
	std::exception_ptr timeline_error; // a broken rule is the worse news
	try {
		write_timeline(facts, flags.timeline);
	} catch (...) {
		timeline_error = std::current_exception();
	}
	require_sound(result);
	if (timeline_error)
		std::rethrow_exception(timeline_error);
	if (!facts.interrupted.empty())
		throw Interrupted("interrupted; the result so far is " +
				  (flags.out.empty() ? "above" : "in " + flags.out + "/result.json"));
}

void run_attached(const RunFlags &flags, const std::string &folder)
{
	const wl::Workload workload = flags.load();
	require_writable_folder("--out", flags.out);
	const auto machine = Machine::attach(folder);
	say_what(workload, machine->config());
	report_all(flags, facts_of(flags.out, [&] { return run_workload_on(*machine, flags.overwrite, workload, workload.name); }));
}

// The measurement on our own machine, which may end with a power cut.
void run_own(const RunFlags &flags, const MachineOptions &machine, const std::function<res::RunFacts()> &measure)
{
	res::RunFacts facts;
	try {
		facts = facts_of(flags.out, measure);
	} catch (const PowerCut &cut) {
		report_power_cut(machine, cut, flags.out);
		return report_races_before(cut.what());
	}
	report_all(flags, facts);
	if (flags.race_check)
		report_races(facts);
	if (!flags.power_cut.text.empty())
		std::printf("the run ended before the power cut at %s\n", flags.power_cut.text.c_str());
}

// `trace` is the file that the workload names, or empty.
void prepare_outputs(const RunFlags &flags, const MachineOptions &machine, const std::string &trace)
{
	const NamedFile console = {"--console", flags.machine.console}, timeline = {"--timeline", flags.timeline},
			record = {"--record", flags.record};
	for (const NamedFile &written : {console, timeline, record}) {
		flags.require_apart_from_inputs(written);
		require_apart(written, {{"trace.file of the workload", trace}});
		if (!flags.out.empty())
			require_apart(written, {{"--out", result_file(flags.out)}, {"--out", report_file(flags.out)}});
	}
	require_apart(timeline, {console});
	require_apart(record, {console, timeline});
	require_writable_folder("--out", flags.out);
	require_writable_file("--timeline", flags.timeline);
	require_writable_file("--record", flags.record);
	stay_on_one_core(machine);
}

void repeat(const RunFlags &flags)
{
	flags.check_repeat();
	fabrics::Recording recording = fabrics::read_recording(flags.trace);
	if (flags.max_ops)
		recording.cut(flags.max_ops);
	std::optional<std::vector<fabrics::Wait>> waits;
	if (flags.by_dependencies)
		waits = fabrics::waits_of(recording, flags.trace);
	const MachineOptions machine = flags.machine_options();
	std::printf("%s, recorded on %s with %u workers, on %s: %zu commands, %u workers\n", flags.trace.c_str(),
		    recording.head.device.c_str(), recording.head.workers, machine.config.name, recording.commands.size(),
		    machine.config.worker_count);
	flush_output();
	prepare_outputs(flags, machine, "");
	run_own(flags, machine, [&] { return run_recorded(machine, {recording, flags.trace, waits, flags.record}); });
}

void run(RunFlags flags)
{
	if (flags.repeats())
		return repeat(flags);
	if (!flags.record.empty())
		throw Error("--record writes down how a recording was repeated: give --by-dependencies, too");
	if (fabrics::is_recording(flags.trace))
		throw Error("--trace " + flags.trace +
			    " is a recording of ./hartzone serve --record: add --as-recorded or --by-dependencies");
	if (const std::string folder = flags.folder(); !folder.empty())
		return run_attached(flags, folder);
	const wl::Workload workload = flags.load();
	const MachineOptions machine = flags.machine_options();
	say_what(workload, machine.config);
	prepare_outputs(flags, machine, workload.trace ? workload.trace->file : "");
	run_own(flags, machine, [&] { return run_workload(machine, workload, workload.name); });
}

} // namespace

void add_run(CLI::App &app)
{
	auto flags = std::make_shared<RunFlags>();
	CLI::App *command = app.add_subcommand(
		"run", "Boot a device, replay a workload or a recorded trace on it, read everything back, and report");
	flags->add_to(*command);
	command->callback([flags] { run(*flags); });
}

} // namespace hz::cli
