/* Telling the format of a trace and the unit of its times from its first lines. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/dialect.hpp"

#include "trace/time_unit.hpp"

#include <algorithm>
#include <vector>

namespace hz::trace {
namespace {

constexpr size_t format_lines = 32, unit_lines = 1000;

struct Candidate {
	const Format *format;
	ParseState state;
	uint64_t records = 0, broken = 0;
};

/* Unix seconds tell a Tencent line from other rows of five numbers. */
bool plausible(const Format &format, const Record &record)
{
	return format.name != "tencent" || record.time_ns >= 100000000ull * 1000000000;
}

void try_line(Candidate &candidate, std::string_view line)
{
	Record record;
	std::string why;
	const Parsed parsed = candidate.format->parse(line, candidate.state, record, why);
	const bool fits = parsed == Parsed::record && plausible(*candidate.format, record);
	candidate.records += fits;
	candidate.broken += !fits && parsed != Parsed::skip;
}

std::string expectations()
{
	std::string out;
	for (const Format &format : formats())
		out += "\n  " + std::string(format.name) + ": " + format.expected;
	return out;
}

/* A native trace may open with comments. */
bool comment(std::string_view line) { return line.empty() || line.front() == '#'; }

/* Further lines, until `sample` has `count`, comments left out. */
void read_sample(LineSource &lines, size_t count, std::vector<std::string> &sample)
{
	std::string_view line;
	while (sample.size() < count && lines.next(line))
		if (!comment(line))
			sample.emplace_back(line);
}

const Format *format_of_header(const std::vector<std::string> &sample)
{
	for (const Format &format : formats())
		if (format.header && !sample.empty() && sample.front().starts_with(format.header))
			return &format;
	return nullptr;
}

/* The candidate with the fewest broken lines, at most `most_broken`. */
const Format &format_of_lines(const LineSource &lines, const std::vector<std::string> &sample, uint64_t most_broken)
{
	std::vector<Candidate> candidates;
	for (const Format &format : formats())
		if (!format.header) {
			candidates.push_back({&format, {}});
			candidates.back().state.time_unit_ns = std::max<uint64_t>(1, format.time_unit_ns);
			for (const std::string &line : sample)
				try_line(candidates.back(), line);
		}
	std::erase_if(candidates, [&](const Candidate &c) { return !c.records || c.broken > most_broken; });
	std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) { return a.broken < b.broken; });
	if (candidates.empty())
		lines.fail("the format is not known: the first lines fit none of" + expectations());
	if (candidates.size() > 1 && candidates[0].broken == candidates[1].broken)
		lines.fail("the lines fit both " + std::string(candidates[0].format->name) + " and " +
			   std::string(candidates[1].format->name) + ": say which with --format");
	return *candidates[0].format;
}

void choose_format(LineSource &lines, const ReaderOptions &options, std::vector<std::string> &sample, Dialect &dialect)
{
	if (options.format != "auto") {
		dialect.format_from = Known::given;
		dialect.format = find_format(options.format);
		if (!dialect.format)
			throw TraceError(lines.name() + ":1: unknown trace format '" + options.format + "': use auto, " + format_names());
		return;
	}
	read_sample(lines, format_lines, sample);
	dialect.format_from = Known::detected;
	dialect.format = format_of_header(sample);
	if (!dialect.format)
		dialect.format = &format_of_lines(lines, sample, std::min<uint64_t>(options.skip_bad, sample.size() / 2));
}

void choose_unit(LineSource &lines, const ReaderOptions &options, std::vector<std::string> &sample, Dialect &dialect)
{
	const Format &format = *dialect.format;
	if (options.time_unit_ns && format.unit_is_fixed)
		throw TraceError(lines.name() + ":1: the times of a " + std::string(format.name) + " trace are in ns: remove --time-unit");
	if (options.time_unit_ns) {
		dialect.unit_from = Known::given;
		dialect.time_unit_ns = options.time_unit_ns;
	} else if (format.time_unit_ns) {
		dialect.time_unit_ns = format.time_unit_ns;
	} else {
		read_sample(lines, unit_lines, sample);
		const UnitGuess guess = guess_vscsi_unit(sample);
		dialect.unit_from = guess.certain ? Known::detected : Known::assumed;
		dialect.time_unit_ns = guess.unit_ns;
		dialect.unit_evidence = guess.why;
	}
}

} // namespace

const char *known_name(Known known)
{
	static constexpr const char *names[] = {"given", "format", "detected", "assumed"};
	return names[size_t(known)];
}

Dialect find_dialect(LineSource &lines, const ReaderOptions &options)
{
	Dialect dialect;
	std::vector<std::string> sample;
	dialect.skip_bad = options.skip_bad;
	choose_format(lines, options, sample, dialect);
	choose_unit(lines, options, sample, dialect);
	return dialect;
}

} // namespace hz::trace
