// The files command: files that are updated, or written and removed until a device is fragmented, in hzfs on a device of its own.
// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <sstream>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/verdict.hpp"
#include "cli/visit.hpp"
#include "config/quantity.hpp"
#include "files/files_session.hpp"
#include "results/run_facts.hpp"
#include "session/error.hpp"

namespace hz::cli {

namespace {

constexpr const char *usual_device = "conzone-f2fs";
constexpr uint64_t most_percent = 100;

struct FilesFlags {
	MachineFlags machine;
	files::FilesOptions files;
	uint64_t size_mib = 1, aged_percent = 0;

	void add_to(CLI::App &command);
};

bool take_share(const std::string &value, double &out)
{
	const auto percent = conf::parse_count(value);
	out = double(percent.value_or(0)) / 100;
	return percent && *percent <= most_percent;
}

bool take_number(const std::string &value, uint32_t &out)
{
	const auto number = conf::parse_count(value);
	out = uint32_t(number.value_or(0));
	return number && *number >= 1 && *number <= 65536;
}

bool take_pause(const std::string &value, uint64_t &out)
{
	const auto time = conf::parse_duration_ns(value);
	out = time.value_or(0);
	return time && *time <= 60000000000;
}

// By the names that Linux has for them.
bool take_knob(const std::string &name, const std::string &value, hz::fs::CleanerKnobs &knobs)
{
	if (name == "gc_no_zoned_gc_percent")
		return take_share(value, knobs.no_gc);
	if (name == "gc_boost_zoned_gc_percent")
		return take_share(value, knobs.boost);
	if (name == "gc_valid_thresh_ratio")
		return take_share(value, knobs.valid);
	if (name == "migration_window_granularity")
		return take_number(value, knobs.window);
	if (name == "gc_boost_gc_multiple")
		return take_number(value, knobs.boost_multiple);
	if (name == "gc_boost_gc_greedy") {
		knobs.boost_greedy = value == "1";
		return value == "0" || value == "1";
	}
	if (name == "pause")
		return take_pause(value, knobs.pause_ns);
	if (name == "boost_pause")
		return take_pause(value, knobs.boost_pause_ns);
	const auto bytes = name == "segment" ? conf::parse_bytes(value) : std::nullopt;
	knobs.segment_blocks = uint32_t(bytes.value_or(0) / 4096);
	return bytes && *bytes >= 4096 && *bytes <= (1u << 30) && *bytes % 4096 == 0;
}

std::string take_cleaner(const std::string &text, std::optional<hz::fs::CleanerKnobs> &out)
{
	out.reset();
	if (text == "off")
		return {};
	out.emplace();
	if (text == "on")
		return {};
	std::istringstream words(text + ",");
	for (std::string word; std::getline(words, word, ',');) {
		const size_t equals = word.find('=');
		if (equals == std::string::npos || !take_knob(word.substr(0, equals), word.substr(equals + 1), *out))
			return "takes off, on, or knobs with legal values such as gc_no_zoned_gc_percent=70,segment=64KiB, not '" + word +
			       "'";
	}
	return {};
}

void FilesFlags::add_to(CLI::App &command)
{
	machine.device = usual_device;
	machine.add_to(command);
	command.option_defaults()->group("What to do");
	command.add_option("JOB", files.job, "update or fragment")->type_name("")->required()->check([](const std::string &word) {
		return word == files::jobs[0] || word == files::jobs[1] ? std::string() : "takes update or fragment, not '" + word + "'";
	});
	add_count(command, "--size", size_mib, 1, 65536,
		  "MiB of the file that is updated, or of the large one of each iteration. Default: 1");
	add_count(command, "--count", files.count, 1, most_count, "Updates, or iterations at most. Default: 100. E.g. --count 10");
	add_count(command, "--small-files", files.small_files, 2, 1000000,
		  "fragment: files of 128 KiB that an iteration makes, and of which it removes every second one. Default: 48");
	add_count(command, "--reread", files.reread, 1, 1000000,
		  "fragment: files of 128 KiB, of those that are left, that an iteration reads at its end. Default: none");
	add_count(command, "--sync-every", files.sync_every, 1, most_count,
		  "update: updates for each sync. Default: 1. E.g. --sync-every 256");
	add_count(
		command, "--aged", aged_percent, 1, 95,
		"update: before, files of 128 KiB are made and every second one removed until they have so many percent of the room. Default: "
		"none. E.g. --aged 50");
	command.option_defaults()->group("The layer of files");
	add_flag(
		command, "--in-place", files.in_place,
		"A sync of up to 8 blocks overwrites them where they lie, as F2FS does: on a block device, or on zones with a budget for it "
		"(zones.in_place). Without: they go to the log");
	add_flag(
		command, "--slack", files.slack,
		"Where few sections are empty, data go to dead blocks of full ones instead of having those emptied, as F2FS does (SSR): on a "
		"block device");
	add_option(
		command, "--cleaner", "off|on|KNOB=VALUE,...",
		"Clean in the background, in the phases of ZUFS, with the knobs of Linux: gc_no_zoned_gc_percent (60), gc_boost_zoned_gc_percent (25), "
		"gc_valid_thresh_ratio (95), migration_window_granularity (3 segments), gc_boost_gc_multiple (5), gc_boost_gc_greedy (1), and segment "
		"(2MiB), pause (20ms), boost_pause (10ms). Default: off, sections are emptied when room is needed. E.g. --cleaner on, --cleaner "
		"segment=64KiB,pause=1ms",
		[this](const std::string &text) { return take_cleaner(text, files.cleaner); });
	add_flag(command, "--iotailor", files.iotailor,
		 "On zones: what is written to each waits in host memory until it is a superpage, or is synced, as IOTailor of ZMS does; "
		 "commands have up to 512 KiB then, else 128");
	add_flag(command, "--copy-offload", files.copy_offload, "On zones: the device itself moves what is cleaned (NVMe Copy)");
	command.option_defaults()->group("Results");
	add_text(command, "--out", files.out, "DIR", "Write DIR/files.json. E.g. --out results");
}

void require_job(const files::FilesOptions &files)
{
	const bool updates = files.job == files::jobs[0];
	if (updates && files.reread)
		throw Error("--reread is for fragment: leave it out");
	if (!updates && (files.sync_every > 1 || files.aged > 0))
		throw Error("--sync-every and --aged are for update: leave them out");
}

void run(FilesFlags flags)
{
	require_writable_folder("--out", flags.files.out);
	flags.files.file_bytes = flags.size_mib << 20;
	flags.files.aged = double(flags.aged_percent) / 100;
	require_job(flags.files);
	if (flags.machine.seed)
		flags.files.seed = flags.machine.seed;
	const MachineOptions machine = flags.machine.options();
	Visit visit(machine);
	nlohmann::json result = files::run(visit.controller(), flags.files);
	visit.end();
	if (flags.files.out.empty())
		return;
	add_verdict(result, visit.machine(), machine);
	res::write_result(result, flags.files.out + "/files.json");
}

} // namespace

void add_files(CLI::App &app)
{
	auto flags = std::make_shared<FilesFlags>();
	CLI::App *command = app.add_subcommand("files", "Update files, or fragment a device with them, and say what it cost");
	flags->add_to(*command);
	command->footer(
		"The files lie in hzfs, a log-structured layer of files as F2FS, on a device that is booted for it. update: 4 KiB somewhere in a file,\n"
		"each synced. fragment: iterations of small files, of which every second one is removed, and a large one that is written, synced, read\n"
		"back and kept, until files have hardly room. Times are the device's; what is read is checked.\n"
		"Examples:\n"
		"  ./hartzone files --device small-mixed update --count 50\n"
		"  ./hartzone files --device small-legacy update --in-place --count 50\n"
		"  ./hartzone files --device small-mixed fragment --small-files 4 --cleaner segment=16KiB,pause=1ms --copy-offload");
	command->callback([flags] { run(*flags); });
}

} // namespace hz::cli
