// The commands that derive a trace from another one: convert, cut, scale. All write the native
// format.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/trace_edit.hpp"

#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/trace_input.hpp"
#include "config/quantity.hpp"
#include "inspect/trace_edit.hpp"
#include "session/machine/error.hpp"
#include "trace/native_writer.hpp"

namespace hz::cli {

namespace {

struct EditFlags {
	TraceInputFlags input;
	std::string out;
	inspect::TraceEdit edit;
};

void write(const EditFlags &flags)
{
	if (flags.out != "-")
		require_writable_folder("--out", std::filesystem::absolute(flags.out).parent_path());
	TraceInput input(flags.input, "converting");
	inspect::EditedTrace edited(input, flags.edit);
	trace::NativeWriter writer(flags.out);
	try {
		for (trace::Record r; edited.next(r);)
			writer.put(r);
	} catch (const inspect::EditError &e) {
		input.reader().file().fail(e.what());
	}
	if (!writer.records())
		throw trace::TraceError(flags.input.file + ": none of its " + std::to_string(input.records()) +
					" records is left: no trace was written");
	writer.finish();
	input.tell_skipped();
	if (flags.out != "-")
		std::printf("%" PRIu64 " records in %s\n", writer.records(), flags.out.c_str());
}

CLI::App *add_edit(CLI::App &trace, const char *name, const char *help, const char *footer, const std::shared_ptr<EditFlags> &flags)
{
	CLI::App *command = trace.add_subcommand(name, help);
	flags->input.add_to(*command);
	add_text(
		*command, "--out", flags->out, "FILE",
		"The new trace, in the native format; its folder is made if it is missing. A file that exists is refused. - is standard output, e.g. for a compressor. "
		"E.g. --out results/new.hzt");
	command->footer(footer);
	command->callback([flags, name = std::string(name)] {
		if (flags->out.empty())
			throw Error("trace " + name + " writes a trace: say where with --out FILE, or --out - for standard output");
		write(*flags);
	});
	return command;
}

void add_moment(CLI::App &command, const std::string &name, uint64_t &out, const std::string &help)
{
	add_option(command, name, "TIME", help, [&out](const std::string &text) {
		const auto time = conf::parse_duration_ns(text);
		const bool unit = text.find_first_not_of("0123456789") != text.npos || text == "0";
		if (!time || !unit)
			return "takes a time such as 10s, 250ms or 0, not '" + text + "'";
		out = *time;
		return std::string();
	});
}

void add_cut(CLI::App &trace)
{
	auto flags = std::make_shared<EditFlags>();
	CLI::App *command = add_edit(
		trace, "cut", "Keep a part of a trace, by time, by number, or both",
		"Times count from the first record of the trace; --skip and --records apply to the records that remain.\n"
		"Examples:\n"
		"  ./hartzone trace cut traces/git.hzt.xz --from 100ms --to 200ms --out results/part.hzt\n"
		"  ./hartzone trace cut traces/git.hzt.xz --skip 1000 --records 500 --out results/some.hzt",
		flags);
	add_moment(*command, "--from", flags->edit.from_ns, "Drop records before this time. Default: 0. E.g. --from 10s");
	add_moment(*command, "--to", flags->edit.to_ns, "Drop records at this time or later. Default: the end. E.g. --to 20s");
	add_count(*command, "--skip", flags->edit.skip, 0, most_count, "Drop the first N records. Default: 0. E.g. --skip 1000");
	add_count(*command, "--records", flags->edit.records, 1, most_count, "Keep at most N records. Default: all. E.g. --records 500");
}

void add_scale(CLI::App &trace)
{
	auto flags = std::make_shared<EditFlags>();
	CLI::App *command = add_edit(
		trace, "scale", "Stretch or shrink the times of a trace, or its addresses",
		"Addresses are scaled by whole chunks of 1 MiB: data within a chunk stay adjacent, and chunks may overlap.\n"
		"Examples:\n"
		"  ./hartzone trace scale traces/git.hzt.xz --time 0.1 --out results/fast.hzt\n"
		"  ./hartzone trace scale traces/git.hzt.xz --addresses 0.25 --out results/dense.hzt",
		flags);
	add_real(*command, "--time", flags->edit.time_scale, 1e-6, 1e6,
		 "New time per old time, from the first record on: 0.1 is ten times as fast. Default: 1. E.g. --time 0.1");
	add_real(*command, "--addresses", flags->edit.address_scale, 1e-6, 1e6,
		 "New address per old address: 0.25 fits a trace to a quarter of the space. Default: 1. E.g. --addresses 0.25");
}

} // namespace

void add_trace_edits(CLI::App &trace)
{
	add_edit(trace, "convert", "Write a trace of any format in the native one",
		 "Nothing is rounded: addresses and lengths are written in bytes, times in ns as the trace has them.\n"
		 "Examples:\n"
		 "  ./hartzone trace convert traces/git.hzt.xz --out results/git.hzt\n"
		 "  ./hartzone trace convert traces/git.hzt.xz --out - | zstd > results/git.hzt.zst",
		 std::make_shared<EditFlags>());
	add_cut(trace);
	add_scale(trace);
}

} // namespace hz::cli
