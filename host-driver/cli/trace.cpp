// The trace command: format and contents of a trace.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <memory>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/trace_edit.hpp"
#include "cli/trace_input.hpp"
#include "inspect/trace_summary.hpp"
#include "inspect/trace_summary_text.hpp"
#include "trace/native_writer.hpp"

namespace hz::cli {

namespace {

constexpr size_t shown_records = 3;

struct LookFlags {
	TraceInputFlags input;
	bool json = false;
};

nlohmann::json findings_of(const trace::Reader &reader)
{
	const trace::Dialect &d = reader.dialect();
	const char *tool = reader.file().compression();
	nlohmann::json out = {{"file", reader.file().name()},
			      {"format", d.format->name},
			      {"format_from", trace::known_name(d.format_from)},
			      {"layout", d.format->expected},
			      {"compression", tool ? tool : "none"},
			      {"time_unit_ns", d.time_unit_ns},
			      {"time_unit_from", trace::known_name(d.unit_from)}};
	if (!d.unit_evidence.empty())
		out["time_unit_evidence"] = d.unit_evidence;
	if (d.format->events)
		out["event"] = std::string(1, d.event);
	return out;
}

void print_findings(const nlohmann::json &found)
{
	const auto text = [&found](const char *key) { return found[key].get<std::string>(); };
	std::printf("format      %s (%s): %s\ncompression %s\ntime unit   %lu ns (%s%s)\n", text("format").c_str(),
		    text("format_from").c_str(), text("layout").c_str(), text("compression").c_str(),
		    found["time_unit_ns"].get<unsigned long>(), text("time_unit_from").c_str(),
		    found.contains("time_unit_evidence") ? (": " + text("time_unit_evidence")).c_str() : "");
	if (found.contains("event"))
		std::printf("event       %s: what a request is known by\n", text("event").c_str());
}

std::string line_of(const trace::Record &record)
{
	char text[trace::longest_line];
	return {text, trace::write_line(text, record)};
}

// Names of files and streams need not be UTF-8.
void print_json(const nlohmann::json &found)
{
	std::printf("%s\n", found.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void detect(const LookFlags &flags)
{
	TraceInput input(flags.input, "reading");
	nlohmann::json found = findings_of(input.reader()), lines = nlohmann::json::array();
	for (trace::Record r; lines.size() < shown_records && input.next(r);)
		lines.push_back(line_of(r));
	found["first_records"] = lines;
	if (flags.json)
		print_json(found);
	else
		print_findings(found);
	for (size_t i = 0; !flags.json && i < lines.size(); i++)
		std::printf("%-11s %s\n", i ? "" : "begins", lines[i].get<std::string>().c_str());
	input.tell_skipped();
}

void summary(const LookFlags &flags)
{
	inspect::TraceSummary summary;
	TraceInput input(flags.input, "reading");
	for (trace::Record r; input.next(r);)
		summary.add(r);
	if (!input.records())
		throw trace::TraceError(flags.input.file + ":1: the trace holds no requests");
	nlohmann::json out = findings_of(input.reader());
	out.update(summary.to_json());
	out["left_out"] = input.reader().left_out();
	out["skipped"] = {{"count", input.reader().skipped()}, {"first", input.reader().skipped_lines()}};
	if (flags.json)
		print_json(out);
	else
		print_findings(out);
	if (!flags.json)
		std::printf("%s", inspect::summary_text(out).c_str());
	input.tell_skipped();
}

void add_look(CLI::App &trace, const char *name, const char *help, const char *footer, void (*look)(const LookFlags &))
{
	auto flags = std::make_shared<LookFlags>();
	CLI::App *command = trace.add_subcommand(name, help);
	flags->input.add_to(*command);
	add_flag(*command, "--json", flags->json, "Print JSON instead of a table");
	command->footer(footer);
	command->callback([flags, look] { look(*flags); });
}

} // namespace

void add_trace(CLI::App &app)
{
	CLI::App *trace = app.add_subcommand("trace", "Look at a trace of any format, convert, cut or scale it");
	trace->require_subcommand(1);
	trace->footer(
		"All read in one pass and constant memory. docs/reference/traces.md describes the formats and how exact each figure is.\n"
		"Examples:\n"
		"  ./hartzone trace summary traces/git.hzt.xz\n"
		"  ./hartzone trace cut traces/git.hzt.xz --records 1000 --out results/first.hzt");
	add_look(*trace, "detect", "Say what format a trace has, and what its first records mean",
		 "The records are shown as lines of the native format: time in ns, stream, operation, address and length in bytes.\n"
		 "Example: ./hartzone trace detect traces/git.hzt.xz",
		 detect);
	add_look(*trace, "summary", "Summarize a trace: operations, sizes, times, footprint and skew",
		 "Footprint and skew are of blocks of 4 KiB, in the addresses of each stream.\n"
		 "Examples:\n"
		 "  ./hartzone trace summary traces/git.hzt.xz\n"
		 "  ./hartzone trace summary traces/git.hzt.xz --json",
		 summary);
	add_trace_edits(*trace);
}

} // namespace hz::cli
