// The files command: updates files, or writes and removes them until a device is fragmented, in
// hzfs on its own device.
// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include "cli/command.hpp"
#include "cli/layer_flags.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/verdict.hpp"
#include "cli/visit.hpp"
#include "apps/files/files_session.hpp"
#include "results/run_facts.hpp"
#include "session/machine/error.hpp"

namespace hz::cli {

namespace {

constexpr const char *usual_device = "conzone-f2fs";

struct FilesFlags {
	MachineFlags machine;
	LayerFlags layer;
	files::FilesOptions files;
	uint64_t size_mib = 1;

	void add_to(CLI::App &command);
};

void FilesFlags::add_to(CLI::App &command)
{
	machine.device = usual_device;
	machine.add_to(command);
	command.option_defaults()->group("What to do");
	command.add_option("JOB", files.job, "update or fragment")->type_name("")->required()->check([](const std::string &word) {
		return word == files::jobs[0] || word == files::jobs[1] ? std::string() : "takes update or fragment, not '" + word + "'";
	});
	add_count(command, "--size", size_mib, 1, 65536,
		  "Size in MiB of the updated file (update), or of the large file of each iteration (fragment). Default: 1");
	add_count(command, "--count", files.count, 1, most_count, "Number of updates, or most iterations. Default: 100. E.g. --count 10");
	add_count(command, "--small-files", files.small_files, 2, 1000000,
		  "fragment: files of 128 KiB that each iteration creates; it then removes every second one. Default: 48");
	add_count(command, "--reread", files.reread, 1, 1000000,
		  "fragment: how many of the remaining files of 128 KiB each iteration reads at its end. Default: none");
	add_count(command, "--hold", files.hold, 1, 95,
		  "fragment: before an iteration remove files drawn at random, until with its files this percentage of the space is full. "
		  "Default: none are removed, and the last iteration is the last that fits. E.g. --hold 30");
	add_count(command, "--warm-up", files.warm_up, 1, most_count,
		  "update: as many updates come first and are not measured. Default: none. E.g. --warm-up 10000");
	add_count(command, "--sync-every", files.sync_every, 1, most_count,
		  "update: updates between two syncs. Default: 1. E.g. --sync-every 256");
	layer.add_to(command);
	command.option_defaults()->group("Results");
	add_text(command, "--out", files.out, "DIR", "Write DIR/files.json. E.g. --out results");
}

void require_job(const files::FilesOptions &files)
{
	const bool updates = files.job == files::jobs[0];
	if (updates && (files.reread || files.hold || files.small_files != files::FilesOptions().small_files))
		throw Error("--small-files, --reread and --hold are for fragment: leave them out");
	if (!updates && (files.sync_every > 1 || files.warm_up || files.ways.aged))
		throw Error("--sync-every, --warm-up and --aged are for update: leave them out");
}

void run(FilesFlags flags)
{
	require_writable_folder("--out", flags.files.out);
	flags.files.file_bytes = flags.size_mib << 20;
	flags.files.ways = flags.layer.ways;
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
	CLI::App *command = app.add_subcommand("files", "Update files, or fragment a device with them, and report the cost");
	flags->add_to(*command);
	command->footer(
		"The files are in hzfs, a log-structured file layer like F2FS, on a device booted for the job. The job update writes 4 KiB at random\n"
		"places of one file and syncs each write. The job fragment repeats an iteration until the space is nearly full: it creates small files,\n"
		"removes every second one, then writes, syncs and reads one large file. Times are device time; all data read are verified.\n"
		"Examples:\n"
		"  ./hartzone files --device small-mixed update --count 50\n"
		"  ./hartzone files --device small-legacy update --in-place --count 50\n"
		"  ./hartzone files --device small-mixed fragment --small-files 4 --cleaner segment=16KiB,pause=1ms --copy-offload");
	command->callback([flags] { run(*flags); });
}

} // namespace hz::cli
