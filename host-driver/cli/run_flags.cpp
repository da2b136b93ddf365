// RunFlags: from command line words to a workload and a machine.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_flags.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "cli/options.hpp"
#include "cli/visit.hpp"
#include "config/quantity.hpp"
#include "image/image_file.hpp"
#include "session/machine/error.hpp"
#include "shm.h"

namespace hz::cli {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t quick_divisor = 8, quick_trace_records = 2000;

// A file of the user's, by a slip of the keyboard, is not emptied. One without content has nothing to lose.
void require_an_image(const std::string &file)
{
	std::error_code none;
	if (file.empty())
		throw Error("--format-image empties the file of --image: give --image too");
	if (fs::is_regular_file(file, none) && fs::file_size(file, none) && ImageFile(file).state() == ImageState::foreign)
		throw Error("--format-image would empty " + file +
			    ", which is no NAND image of this program: remove that file, or name another one with --image");
}

std::string take_clock_jitter(const std::string &text, std::string &out)
{
	const size_t colon = text.find(':');
	const uint64_t permille = colon == std::string::npos ? 1 : conf::parse_count(text.substr(colon + 1)).value_or(0);
	const bool legal = conf::parse_count(text.substr(0, colon)).value_or(0) && permille && permille <= 10000;
	if (!legal)
		return "takes a seed of at least 1, alone or with 1 to 10000 thousandths as in 7:500, not '" + text + "'";
	out = text;
	return {};
}

std::string take_namespaces(const std::string &text, std::vector<uint32_t> &out)
{
	std::set<uint64_t> met;
	out.clear();
	std::istringstream words(text + ",");
	for (std::string word; std::getline(words, word, ',');) {
		const auto nsid = conf::parse_count(word);
		if (!nsid || *nsid < 1 || *nsid > HZ_MAX_NAMESPACES || !met.insert(*nsid).second)
			return "takes numbers from 1 to " + std::to_string(HZ_MAX_NAMESPACES) + ", each once, as in 1,2,3,4, not '" + text +
			       "'";
		out.push_back(static_cast<uint32_t>(*nsid));
	}
	return {};
}

} // namespace

std::string take_tailor(const std::string &text, RunFlags &flags)
{
	const auto bytes = conf::parse_bytes(text);
	if (text != "superpage" && (!bytes.value_or(0) || *bytes % HZ_SECTOR_BYTES))
		return "takes superpage, or a multiple of 4 KiB such as 384KiB, not '" + text + "'";
	flags.iotailor = true;
	flags.tailor_sectors = bytes.value_or(0) / HZ_SECTOR_BYTES;
	return {};
}

void RunFlags::add_to(CLI::App &command)
{
	command_ = &command;
	add_workload_options(command);
	add_trace_options(command);
	add_check_options(command);
	machine.add_to(command);
	add_flag(
		command, "--format-image", format_image,
		"Begin with an empty image: what earlier runs left in the file of --image is erased. Default: it is kept, and zones that are not empty are "
		"not used");
	add_attach(command, attach);
	add_flag(command, "--overwrite", overwrite,
		 "On a running device: overwrite blocks and conventional zones even if they hold data. Default: only empty zones are used");
	command.footer("Examples:\n"
		       "  ./hartzone run --quick\n"
		       "  ./hartzone run --workload small --device small --workers 2 --seed 7 --out results\n"
		       "  ./hartzone run --trace traces/git.hzt.xz --threads 2 --queue-depth 4 --max-ops 500\n"
		       "  ./hartzone run --trace traces/sqlite-journal.hzt.xz --timestamps --time-scale 0.5 --quick\n"
		       "  ./hartzone run --trace traces/git.hzt.xz --device legacy --split stream --max-ops 500\n"
		       "  ./hartzone run --trace traces/f2fs.hzr.xz --device conzone-f2fs-patched --by-dependencies --workers 4");
}

void RunFlags::add_workload_options(CLI::App &command)
{
	static constexpr std::string_view mappings[] = {"log", "direct"};
	static constexpr std::string_view preparations[] = {"anew", "kept"};
	command.option_defaults()->group("What to do");
	add_text(
		command, "--workload", workload, "FILE|NAME",
		"What to do: a YAML file, or the name of one in configs/workloads (docs/reference/config.md has every key). Default: default, a recording of "
		"SQLite. E.g. --workload mixed");
	add_text(
		command, "--trace", trace, "FILE",
		"Replay this recording instead, plain or compressed by xz, gzip or zstd (docs/reference/traces.md). E.g. --trace traces/git.hzt.xz");
	add_count(command, "--threads", threads, 1, HZ_MAX_IO_QUEUES,
		  "Host threads, one NVMe queue pair each. Default: the workload's, 4 for a trace. E.g. --threads 2");
	add_option(
		command, "--namespaces", "NSID[,NSID]...",
		"Namespaces of the device that the threads are dealt to in turn: each thread works on one. Default: the workload's, 1. E.g. "
		"--namespaces 1,2,3,4",
		[this](const std::string &text) { return take_namespaces(text, namespaces); });
	add_count(command, "--queue-depth", queue_depth, 1, HZ_MAX_QUEUE_DEPTH - 1,
		  "Commands under way per thread. Default: the workload's, 8 for a trace. E.g. --queue-depth 32");
	add_choice(
		command, "--mapping", mapping, mappings,
		"direct: commands go to the device as they are. log: block operations go to a log of zones that this program keeps and collects. "
		"Default: the workload's; for a trace log on zones, direct on a block device");
	add_option(
		command, "--iotailor", "superpage|SIZE",
		"Split and group the writes to each sequential zone into superpages, of the device's size or this one, as IOTailor of ZMS does; an "
		"incomplete superpage waits in host memory (docs/reference/config.md). Default: the workload's, none. E.g. --iotailor superpage",
		[this](const std::string &text) { return take_tailor(text, *this); });
	add_choice(
		command, "--prepared", prepared, preparations,
		"anew: this run writes the workload's prefill or preload. kept: the first run writes it, shuts the device down and keeps its flash; "
		"each run with an equal preparation starts that flash (docs/reference/config.md). Default: the workload's, anew");
	add_flag(command, "--quick", quick, "A smaller run for a first look: an eighth of a workload, 2000 records of a trace");
	add_flag(command, "--no-verify", no_verify,
		 "Write zeros instead of a pattern, and check nothing that is read: less work for the host");
	add_count(
		command, "--ahead", ahead, 0, wl::most_ahead,
		"Commands that a thread gives the device before they arrive, where they depend on nothing that is under way: less waiting of "
		"device and host for each other, and the same figures unless a write fails. Default: 32. E.g. --ahead 0");
}

void RunFlags::add_trace_options(CLI::App &command)
{
	static constexpr std::string_view splits[] = {"auto", "address", "stream"};
	command.option_defaults()->group("Traces");
	reading.add_to(command);
	add_count(command, "--max-ops", max_ops, 1, most_count, "Replay at most N records. Default: all. E.g. --max-ops 1000");
	add_choice(
		command, "--split", split, splits,
		"How records are divided among the threads. stream: each process, disk or file of the trace has one thread. address: each part of the "
		"address space has one. Default: auto, by stream if that occupies all threads. E.g. --split stream");
	add_flag(command, "--timestamps", timestamps, "Replay by the trace's timestamps. Default: as fast as the queue depth allows");
	add_flag(
		command, "--as-recorded", as_recorded,
		"The file of --trace is a recording of ./hartzone serve --record: each of its commands is repeated in its queue, at its arrival; the "
		"result says whether the device did the same, to the nanosecond");
	add_flag(
		command, "--by-dependencies", by_dependencies,
		"The same, but each command arrives as long after the completions that it waited for as when it was recorded: on the same device at its "
		"arrival, on a faster one earlier, on a slower one later (docs/linux.md)");
	add_text(
		command, "--record", record, "FILE",
		"With --by-dependencies: write the recording with the times and answers of this device to this file, which can be repeated in turn. "
		"E.g. --record results/faster.hzr");
	add_real(command, "--time-scale", time_scale, 1e-6, 1e6,
		 "Device time per trace time, with --timestamps: 0.1 is ten times as fast as recorded. Default: 1. E.g. --time-scale 0.1");
}

void RunFlags::add_check_options(CLI::App &command)
{
	command.option_defaults()->group("Results and checks");
	power_cut.add_to(command, "With --image the next start recovers, and ./hartzone verify checks the result.");
	add_flag(command, "--race-check", race_check,
		 "Report unsynchronised accesses of two harts to the same word, and fail if there are any");
	add_option(
		command, "--clock-jitter", "SEED[:PERMILLE]",
		"Perturb the schedule: delay each hart at random by 100 (PERMILLE) thousandths of its own time on average. Another seed, another "
		"interleaving; the same seed, the same run. For tests, not for figures. E.g. --clock-jitter 7, --clock-jitter 7:500",
		[this](const std::string &text) { return take_clock_jitter(text, clock_jitter); });
	add_text(
		command, "--timeline", timeline, "FILE",
		"Write what each hart, each die and each command did when, for ui.perfetto.dev and other viewers of trace events. Changes no "
		"figure. E.g. --timeline run.trace.json");
	add_text(
		command, "--out", out, "FOLDER",
		"Write result.json there (docs/reference/results.md) and report.html, a page with pictures of it, and make the folder if it is missing. "
		"Default: only the table. E.g. --out results");
}

// Without --workload, a trace is replayed as with an empty `trace:` section.
wl::Workload RunFlags::base() const
{
	if (trace.empty() || !workload.empty())
		return wl::load_workload(find_config("--workload", workload.empty() ? "default" : workload, "configs/workloads"));
	wl::Workload w;
	w.trace.emplace();
	return w;
}

void RunFlags::apply_trace(wl::Workload &w) const
{
	if (!trace.empty() && !w.trace)
		throw Error("--trace: the workload " + workload + " generates its commands and replays no trace: leave one of the two out");
	if (!w.trace)
		return refuse_without_trace();
	if (!trace.empty()) { // the workload file's properties of its own trace do not apply to another one
		w.trace->file = trace;
		w.trace->format = "auto";
		w.trace->time_unit_ns = 0;
		w.name = fs::path(trace).filename().string();
		w.file = trace;
	}
	if (!reading.format.empty())
		w.trace->format = reading.format;
	if (reading.time_unit_ns)
		w.trace->time_unit_ns = reading.time_unit_ns;
	if (reading.skip_bad)
		w.trace->skip_bad = reading.skip_bad;
	if (!split.empty()) {
		w.trace->split = split == "stream" ? wl::Split::stream : split == "address" ? wl::Split::address : wl::Split::automatic;
		w.trace->block_key = "--split";
	}
	if (timestamps)
		w.trace->timing = wl::Timing::open;
	if (time_scale > 0 && w.trace->timing != wl::Timing::open)
		throw Error("--time-scale stretches timestamps: give --timestamps too");
	if (time_scale > 0)
		w.trace->time_scale = time_scale;
	if (max_ops)
		w.trace->max_ops = max_ops;
	else if (quick)
		w.trace->max_ops = w.trace->max_ops ? std::min(w.trace->max_ops, quick_trace_records) : quick_trace_records;
}

void RunFlags::refuse_without_trace() const
{
	const struct {
		bool given;
		const char *name;
	} options[] = {{!reading.format.empty(), "--format"}, {reading.time_unit_ns != 0, "--time-unit"},
		       {reading.skip_bad != 0, "--skip-bad"}, {max_ops != 0, "--max-ops"},
		       {!split.empty(), "--split"},           {timestamps, "--timestamps"},
		       {time_scale > 0, "--time-scale"}};
	for (const auto &option : options)
		if (option.given)
			throw Error(std::string(option.name) + " is for traces, and the workload " + workload +
				    " replays none: leave it out");
}

void RunFlags::apply_threads(wl::Workload &w) const
{
	if (threads && w.trace)
		w.trace->threads = static_cast<uint32_t>(threads);
	if (threads && !w.trace)
		w.threads.resize(threads, w.threads.front());
	if (queue_depth && w.trace)
		w.trace->queue_depth = static_cast<uint32_t>(queue_depth);
	for (wl::ThreadSpec &t : w.threads)
		t.queue_depth = queue_depth ? static_cast<uint32_t>(queue_depth) : t.queue_depth;
}

void RunFlags::apply_prepared(wl::Workload &w) const
{
	if (prepared.empty())
		return;
	w.keep_prepared = prepared == "kept";
	if (w.keep_prepared && !wl::prepares(w))
		throw Error("--prepared: the workload " + workload +
			    " writes nothing before its measurement: leave it out, or give the workload a prefill");
	if (w.trace && (w.trace->block_key.empty() || w.trace->block_key == "prepared"))
		w.trace->block_key = w.keep_prepared ? "--prepared" : "";
}

wl::Workload RunFlags::load() const
{
	wl::Workload w = base();
	if (quick)
		wl::shrink(w, quick_divisor);
	apply_trace(w);
	apply_threads(w);
	if (!mapping.empty()) {
		w.mapping = mapping == "log" ? wl::Mapping::log : wl::Mapping::direct;
		w.mapping_given = true;
	}
	apply_prepared(w);
	if (iotailor && !w.tailor)
		w.tailor.emplace();
	if (iotailor)
		w.tailor->unit = tailor_sectors;
	if (!namespaces.empty())
		w.namespaces = namespaces;
	if (machine.seed)
		w.seed = machine.seed;
	if (no_verify)
		w.verify = false;
	if (ahead != UINT64_MAX)
		w.ahead = uint32_t(ahead);
	return w;
}

void RunFlags::check_repeat() const
{
	static const std::set<std::string> fit = {"--as-recorded", "--by-dependencies", "--record",     "--trace",        "--max-ops",
						  "--out",         "--timeline",        "--race-check", "--clock-jitter", "--power-cut-at",
						  "--format-image"};
	const std::string name = as_recorded ? "--as-recorded" : "--by-dependencies";
	if (as_recorded && by_dependencies)
		throw Error("--as-recorded and --by-dependencies are two ways to repeat a recording: leave one out");
	if (as_recorded && !record.empty())
		throw Error("--record has no effect with --as-recorded: what waited for what is known with --by-dependencies only");
	if (trace.empty())
		throw Error(name + " repeats a recording: name it with --trace");
	if (machine.clock != "virtual")
		throw Error(name + " repeats device time: leave out --clock real");
	for (const CLI::Option *option : command_->get_options())
		if (option->count() && !fit.count(option->get_name()) && !machine.gives(option->get_name()))
			throw Error(option->get_name() + " has no effect with " + name +
				    ", which repeats each command as it was: leave it out");
}

// The seed is the workload's too.
std::string RunFlags::given_for_new_device() const
{
	const struct {
		bool given;
		const char *name;
	} options[] = {{!power_cut.text.empty(), "--power-cut-at"},
		       {race_check, "--race-check"},
		       {!clock_jitter.empty(), "--clock-jitter"},
		       {!timeline.empty(), "--timeline"},
		       {format_image, "--format-image"}};
	for (const auto &option : options)
		if (option.given)
			return option.name;
	return machine.given("--seed");
}

std::string RunFlags::folder() const
{
	const std::string found = attach_folder(attach, given_for_new_device());
	if (overwrite && found.empty())
		throw Error("--overwrite is for a device that is up already: give --attach too, or leave it out");
	return found;
}

void RunFlags::require_apart_from_inputs(const NamedFile &written) const
{
	require_apart(written, {{"--device", find_config("--device", machine.device, "configs/devices")},
				{"--workload", workload.empty() ? "" : find_config("--workload", workload, "configs/workloads")},
				{"--trace", trace},
				{"--image", machine.image},
				{"--firmware", machine.firmware}});
}

MachineOptions RunFlags::machine_options() const
{
	MachineOptions o = machine.options();
	if (format_image)
		require_an_image(machine.image);
	o.format_image = format_image;
	power_cut.apply(o);
	const auto tell_plugin = [&o](const char *flag, const std::string &word) {
		if (!o.virtual_clock)
			throw Error(std::string(flag) + " needs --clock virtual: it is the virtual clock's plugin that does it");
		o.plugin_options += (o.plugin_options.empty() ? "" : ",") + word;
	};
	if (race_check)
		tell_plugin("--race-check", "race-check=on");
	if (!clock_jitter.empty())
		tell_plugin("--clock-jitter", "jitter=" + clock_jitter);
	if (!timeline.empty() && !o.virtual_clock)
		throw Error("--timeline needs --clock virtual: only device time says what happened when");
	if (!timeline.empty() && !power_cut.text.empty())
		throw Error("--timeline shows a measurement that ends: leave out --power-cut-at");
	if (ahead != UINT64_MAX && !o.virtual_clock)
		throw Error("--ahead needs --clock virtual: under the real clock a command arrives when it is given");
	if (ahead != UINT64_MAX && !o.nand_image.empty())
		throw Error("--ahead has no effect with --image: a command is noted in the image's record when it arrives");
	o.timeline = !timeline.empty();
	return o;
}

} // namespace hz::cli
