// The rocksdb command: RocksDB on the zones of a new or a running device.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/power_cut.hpp"
#include "cli/visit.hpp"
#include "apps/rocksdb/load_options.hpp"
#include "session/machine/error.hpp"
#include "session/machine/locate.hpp"

namespace hz::cli {

namespace {

struct RocksdbFlags {
	VisitFlags visit;
	PowerCutFlag power_cut;
	rocks::LoadOptions load;
	uint64_t memtable_mib = 64;

	void add_to(CLI::App &command);
};

std::string check_load(const std::string &word)
{
	const auto *end = std::end(rocks::load_names);
	return std::find(std::begin(rocks::load_names), end, word) != end
		       ? ""
		       : "takes fillseq, overwrite, readrandom or check, one after the other, not '" + word + "'";
}

void RocksdbFlags::add_to(CLI::App &command)
{
	visit.add_to(command);
	power_cut.add_to(command, "With --image the next call mounts the files again, and check verifies them.");
	command.option_defaults()->group("The load");
	add_namespace(command, load.nsid);
	command.add_option("LOAD", load.loads, "fillseq, overwrite, readrandom, check: one after the other")
		->type_name("")
		->required()
		->check(check_load);
	add_count(command, "--keys", load.keys, 1, most_count, "Keys of 100 bytes, with values of 800. Default: 10000. E.g. --keys 1000");
	add_count(command, "--sync-every", load.sync_every, 1, most_count,
		  "Sync every N-th write, which makes it and all earlier ones durable. Default: no sync until the load's end");
	add_count(command, "--memtable", memtable_mib, 1, 1024,
		  "MiB that RocksDB gathers before it writes a table; tables are as large. Default: 64");
	command.option_defaults()->group("Results and checks");
	add_text(command, "--out", load.out, "DIR", "Write DIR/rocksdb.json. E.g. --out results");
	add_text(command, "--record", load.record, "FILE",
		 "Write the commands to the device as a native trace, which run --trace FILE --mapping direct replays");
	add_text(command, "--acked", load.acked, "FILE", "Record acknowledged durable writes in this file; check in a later call reads it");
}

void require_order(const rocks::LoadOptions &load)
{
	const std::vector<std::string> &loads = load.loads;
	if (!load.record.empty() && loads.front() != "fillseq")
		throw Error("--record: a replay begins with empty zones, so the loads begin with fillseq");
	if (std::find(loads.begin() + 1, loads.end(), "fillseq") != loads.end())
		throw Error("fillseq empties the device and fills it: it comes first, or not at all");
}

void run(RocksdbFlags flags)
{
	require_order(flags.load);
	const std::string folder = flags.visit.folder();
	if (!folder.empty() && !flags.power_cut.text.empty())
		throw Error("--power-cut-at is for a device of our own: leave it out, or --attach");
	const std::string program = locate_rocksdb().string();
	require_writable_folder("--out", flags.load.out);
	MachineOptions machine;
	if (folder.empty())
		machine = flags.visit.machine.options();
	flags.power_cut.apply(machine);
	Visit visit = folder.empty() ? Visit(machine) : Visit(flags.visit);
	flags.load.run_directory = visit.machine().run_directory().string();
	flags.load.memtable_bytes = flags.memtable_mib << 20;
	if (flags.visit.machine.seed)
		flags.load.seed = flags.visit.machine.seed;
	try {
		visit.run({.words = {program, nlohmann::json(flags.load).dump()}, .settings = {}});
	} catch (const PowerCut &) {
		return say_power_cut(machine);
	}
	if (!flags.power_cut.text.empty())
		std::printf("the loads ended before the power cut at %s\n", flags.power_cut.text.c_str());
}

} // namespace

void add_rocksdb(CLI::App &app)
{
	auto flags = std::make_shared<RocksdbFlags>();
	CLI::App *command = app.add_subcommand("rocksdb", "Run RocksDB on the zones of a device");
	flags->add_to(*command);
	command->footer(
		"fillseq empties the device and writes each key in turn, overwrite writes as many keys at random, readrandom reads as many, and\n"
		"check reads every key: each has a value that was written to it, and none older than what was acknowledged as durable. RocksDB's\n"
		"log, manifest and the list of its files are written durably (FUA), its tables to zones by their expected lifetime. Times are the\n"
		"device's.\n"
		"Examples:\n"
		"  ./hartzone rocksdb --device small fillseq check --keys 1000\n"
		"  ./hartzone rocksdb --device small --image db.img --power-cut-at 300 fillseq --keys 1000 --sync-every 1 --acked db.acked\n"
		"  ./hartzone rocksdb --device small --image db.img check --keys 1000 --acked db.acked");
	command->callback([flags] { run(*flags); });
}

} // namespace hz::cli
