// The sqlite command: SQLite's shell on files in a device, one booted for it or one that is up.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <fstream>
#include <memory>

#include "cli/child.hpp"
#include "cli/command.hpp"
#include "cli/layer_flags.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/power_cut.hpp"
#include "cli/verdict.hpp"
#include "cli/visit.hpp"
#include "config/quantity.hpp"
#include "results/run_facts.hpp"
#include "session/machine/error.hpp"
#include "session/machine/locate.hpp"
#include "session/machine/process.hpp"
#include "apps/sqlite/sqlite_options.hpp"

namespace hz::cli {

namespace {

constexpr const char *sqlite_device = "conzone-f2fs";

struct SqliteFlags {
	VisitFlags visit;
	PowerCutFlag power_cut;
	LayerFlags layer;
	sql::SqliteOptions sqlite;

	void add_to(CLI::App &command);
};

std::string take_compute(const std::string &text, sql::SqliteOptions &out)
{
	constexpr std::string_view fixed = "fixed:";
	out.measured = text == "measured";
	out.compute_ns = 0;
	if (out.measured || text == "none")
		return {};
	const auto time = text.starts_with(fixed) ? conf::parse_duration_ns(text.substr(fixed.size())) : std::nullopt;
	if (!time || *time > 1000000000)
		return "takes none, measured, or fixed: and the time of a call up to 1s such as fixed:20us, not '" + text + "'";
	out.compute_ns = *time;
	return {};
}

void SqliteFlags::add_to(CLI::App &command)
{
	visit.machine.device = sqlite_device;
	visit.add_to(command);
	power_cut.add_to(command, "With --image the next call mounts the files again.");
	command.option_defaults()->group("SQLite");
	add_option(
		command, "--compute", "none|fixed:TIME|measured",
		"What SQLite's own work takes of device time: nothing, so much for each call to its files, or the processor time that it "
		"took, which is another in each run. Default: none. E.g. --compute fixed:20us",
		[this](const std::string &text) { return take_compute(text, sqlite); });
	layer.add_to(command);
	command.option_defaults()->group("Results");
	add_flag(command, "--stats", sqlite.stats, "Print the device's counters at the end");
	add_text(command, "--out", sqlite.out, "DIR", "Write DIR/sqlite.json. E.g. --out results");
	add_text(command, "--record", sqlite.record, "FILE", "Write the commands to the device as a native trace");
}

// Quoted for a dot-command of SQLite's shell.
std::string quoted(const std::string &word)
{
	if (word.find_first_of("'\n") != std::string::npos)
		throw Error("SQLite's shell takes no file name with a quotation mark or a line break: " + word);
	return "'" + word + "'";
}

// The shell opens its FILE before it loads anything, so that is one in memory, and ours is opened when ours is loaded.
std::vector<std::string> shell_words(const std::vector<std::string> &words)
{
	if (words.empty() || words.front().starts_with("-"))
		throw Error("say which database: FILE, then SQL or options of sqlite3, such as test.db \"select 1\"");
	if (find_program("sqlite3").empty())
		throw Error("sqlite3 is not installed: ./hartzone setup of the source tree installs it, as does apt-get install sqlite3");
	std::vector<std::string> all{"sqlite3", "-bail",
				     "-init",   "/dev/null",
				     "-cmd",    ".load " + quoted(locate_sqlite_extension().string()),
				     "-cmd",    ".open " + quoted(words.front()),
				     ":memory:"};
	all.insert(all.end(), words.begin() + 1, words.end());
	return all;
}

void run(SqliteFlags flags, const std::vector<std::string> &words)
{
	const std::vector<std::string> shell = shell_words(words);
	const std::string folder = flags.visit.folder();
	if (!folder.empty() && !flags.power_cut.text.empty())
		throw Error("--power-cut-at is for a device of our own: leave it out, or --attach");
	if (flags.layer.ways.copy_offload && !flags.sqlite.record.empty())
		throw Error("a trace cannot express copies inside the device: leave out --record or --copy-offload");
	flags.sqlite.ways = flags.layer.ways;
	require_writable_folder("--out", flags.sqlite.out);
	MachineOptions machine;
	if (folder.empty())
		machine = flags.visit.machine.options();
	flags.power_cut.apply(machine);
	Visit visit = folder.empty() ? Visit(machine) : Visit(flags.visit);
	if (flags.visit.machine.seed)
		flags.sqlite.seed = flags.visit.machine.seed;
	// The shell's process does not know how the machine ended.
	const auto complete = [&] {
		if (flags.sqlite.out.empty())
			return;
		const std::string path = flags.sqlite.out + "/sqlite.json";
		nlohmann::json result = nlohmann::json::parse(std::ifstream(path), nullptr, false);
		if (!result.is_object())
			return;
		add_verdict(result, visit.machine(), machine);
		res::write_result(result, path);
	};
	try {
		visit.run({.words = shell, .settings = {std::string(sql::options_variable) + "=" + nlohmann::json(flags.sqlite).dump()}});
		complete();
	} catch (const PowerCut &) {
		say_power_cut(machine);
	}
}

} // namespace

void add_sqlite(CLI::App &app)
{
	auto flags = std::make_shared<SqliteFlags>();
	CLI::App *command = app.add_subcommand("sqlite", "Run SQLite's shell on files in a device");
	flags->add_to(*command);
	command->prefix_command();
	command->footer(
		"Behind these options: FILE, then SQL or options of sqlite3; without SQL it is read from the terminal or a pipe. The files lie in\n"
		"hzfs, a log-structured layer of files, which needs conventional zones or a block device. What SQLite syncs is durable. SQLite is\n"
		"one thread, so under the virtual clock a run is the same each time: the digest is that of all commands with their times.\n"
		"Examples:\n"
		"  ./hartzone sqlite --device small-mixed --stats test.db \"create table t(v); insert into t values(1); select * from t\"\n"
		"  ./hartzone sqlite --device small-legacy --in-place test.db \"pragma journal_mode=wal; create table t(v)\"");
	command->callback([flags, command] { run(*flags, command->remaining()); });
}

} // namespace hz::cli
