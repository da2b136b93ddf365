/* Detects the format of a trace and its time unit from its beginning. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/dialect.hpp"

#include "trace/field_scanner.hpp"
#include "trace/time_unit.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace hz::trace {
namespace {

constexpr size_t sample_items = 32, unit_lines = 1000;

struct Candidate {
	const Format *format;
	ParseState state;
	uint64_t records = 0, broken = 0;
	uint64_t last_ns = 0;
};

Candidate candidate_of(const Format &format)
{
	Candidate c{&format, {}};
	c.state.time_unit_ns = std::max<uint64_t>(1, format.time_unit_ns);
	if (format.events)
		c.state.event = ParseState::any_event;
	return c;
}

/* Rules for fields that several formats share: the time of a Tencent line is Unix seconds,
 * DiskSim's have a fraction and MQSim's have none, and the times of a binary trace without a
 * version or magic number never decrease, and its objects are accessed again later or never. */
bool plausible(const Candidate &c, std::string_view item, const Record &record)
{
	if (c.format->name == "tencent")
		return record.time_ns >= 100000000ull * 1000000000;
	const bool fraction = item.substr(0, item.find_first_of(" \t")).find('.') != item.npos;
	if (c.format->name == "disksim" || c.format->name == "mqsim")
		return fraction == (c.format->name == "disksim");
	if (c.format->name != "oracle-general")
		return true;
	int64_t next;
	memcpy(&next, item.data() + 16, sizeof(next));
	return record.time_ns >= c.last_ns && next >= -1 && next < 1ll << 48;
}

void try_item(Candidate &c, std::string_view item)
{
	Record record;
	std::string why;
	const Parsed parsed = c.format->parse(item, c.state, record, why);
	const bool fits = parsed == Parsed::record && plausible(c, item, record);
	c.last_ns = record.time_ns;
	c.records += fits;
	c.broken += !fits && parsed != Parsed::skip;
}

std::string expectations(bool binary)
{
	std::string out;
	for (const Format &format : formats())
		if (binary == (format.record_bytes != 0))
			out += "\n  " + std::string(format.name) + ": " + format.expected;
	return out;
}

/* A native trace may open with comments. */
bool comment(std::string_view line) { return blank_line(line) || line.front() == '#'; }

/* Further lines, until `sample` has `count`, comments left out. */
void read_sample(TraceFile &file, size_t count, std::vector<std::string> &sample)
{
	std::string_view line;
	while (sample.size() < count && file.next_line(line))
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

void leave_the_fitting(std::vector<Candidate> &candidates, uint64_t most_broken)
{
	std::erase_if(candidates, [&](const Candidate &c) { return !c.records || c.broken > most_broken; });
}

/* The candidate with the fewest broken items, at most `most_broken`. */
const Format &best(const TraceFile &file, std::vector<Candidate> candidates, uint64_t most_broken, bool binary)
{
	leave_the_fitting(candidates, most_broken);
	std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) { return a.broken < b.broken; });
	if (candidates.empty())
		file.fail(std::string("the format is not known: the first ") + (binary ? "records" : "lines") + " fit none of" +
			  expectations(binary));
	if (candidates.size() > 1 && candidates[0].broken == candidates[1].broken)
		file.fail(std::string("the ") + (binary ? "records" : "lines") + " fit both " + std::string(candidates[0].format->name) +
			  " and " + std::string(candidates[1].format->name) + ": say which with --format");
	return *candidates[0].format;
}

std::vector<Candidate> try_lines(const std::vector<std::string> &sample, bool any_time)
{
	std::vector<Candidate> candidates;
	for (const Format &format : formats())
		if (!format.header && !format.record_bytes) {
			candidates.push_back(candidate_of(format));
			candidates.back().state.any_time = any_time;
			for (const std::string &line : sample)
				try_item(candidates.back(), line);
		}
	return candidates;
}

/* Lines with invalid times alone still determine the format; its reader reports the line. */
const Format &format_of_lines(const TraceFile &file, const std::vector<std::string> &sample, uint64_t most_broken)
{
	const uint64_t most = std::min<uint64_t>(most_broken, sample.size() / 2);
	std::vector<Candidate> candidates = try_lines(sample, false), with_any_time = try_lines(sample, true);
	leave_the_fitting(candidates, most);
	leave_the_fitting(with_any_time, most);
	if (candidates.empty() && with_any_time.size() == 1)
		return *with_any_time[0].format;
	return best(file, candidates.empty() ? try_lines(sample, false) : candidates, most, false);
}

/* The first whole records of `head` in this format. */
void try_records(Candidate &c, std::string_view head)
{
	for (size_t i = 0; i < sample_items && head.size() >= c.format->record_bytes; i++) {
		try_item(c, head.substr(0, c.format->record_bytes));
		const size_t length = c.format->record_bytes + std::exchange(c.state.payload_bytes, 0);
		head.remove_prefix(std::min(head.size(), length));
	}
}

const Format &format_of_records(const TraceFile &file, std::string_view head, uint64_t most_broken)
{
	std::vector<Candidate> candidates;
	for (const Format &format : formats())
		if (format.record_bytes) {
			candidates.push_back(candidate_of(format));
			try_records(candidates.back(), head);
		}
	return best(file, std::move(candidates), std::min<uint64_t>(most_broken, sample_items / 2), true);
}

void choose_format(TraceFile &file, const ReaderOptions &options, std::vector<std::string> &sample, Dialect &dialect)
{
	if (options.format != "auto") {
		dialect.format_from = Known::given;
		dialect.format = find_format(options.format);
		if (!dialect.format)
			throw TraceError(file.name() + ":1: unknown trace format '" + options.format + "': use auto, " + format_names());
		return;
	}
	dialect.format_from = Known::detected;
	const std::string_view head = file.head();
	if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff"))
		throw TraceError(file.name() + ":1: the text is UTF-16: iconv -f UTF-16 -t UTF-8 makes one of it that can be read");
	if (head.find('\0') != head.npos) {
		dialect.format = &format_of_records(file, head, options.skip_bad);
		return;
	}
	read_sample(file, sample_items, sample);
	if (sample.empty())
		throw TraceError(file.name() + ":1: the file has no line but blank ones and comments: a trace has a line for each request");
	dialect.format = format_of_header(sample);
	if (!dialect.format)
		dialect.format = &format_of_lines(file, sample, options.skip_bad);
}

/* The first of the format's events found in the sample lines, or in the records of the first 4 KiB. */
void choose_event(TraceFile &file, std::vector<std::string> &sample, Dialect &dialect)
{
	const Format &format = *dialect.format;
	const std::string head(format.events && format.record_bytes ? file.head() : std::string_view());
	if (format.events && !format.record_bytes)
		read_sample(file, unit_lines, sample);
	for (const char *event = format.events; event && *event; event++) {
		Candidate c = candidate_of(format);
		c.state.event = *event;
		try_records(c, head);
		for (const std::string &line : sample)
			try_item(c, line);
		dialect.event = *event;
		if (c.records)
			return;
	}
	dialect.event = 'Q';
}

void choose_unit(TraceFile &file, const ReaderOptions &options, std::vector<std::string> &sample, Dialect &dialect)
{
	const Format &format = *dialect.format;
	if (options.time_unit_ns && format.unit_is_fixed)
		throw TraceError(file.name() + ":1: the times of a " + std::string(format.name) + " trace are in ns: remove --time-unit");
	if (options.time_unit_ns) {
		dialect.unit_from = Known::given;
		dialect.time_unit_ns = options.time_unit_ns;
	} else if (format.time_unit_ns) {
		dialect.time_unit_ns = format.time_unit_ns;
	} else {
		read_sample(file, unit_lines, sample);
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

Dialect find_dialect(TraceFile &file, const ReaderOptions &options)
{
	Dialect dialect;
	std::vector<std::string> sample;
	dialect.skip_bad = options.skip_bad;
	if (file.head().empty())
		throw TraceError(file.name() + ":1: the file is empty: a trace has a line or a record for each request");
	choose_format(file, options, sample, dialect);
	choose_event(file, sample, dialect);
	choose_unit(file, options, sample, dialect);
	return dialect;
}

ParseState first_state(const Dialect &dialect)
{
	ParseState state;
	state.time_unit_ns = dialect.time_unit_ns;
	state.event = dialect.event;
	return state;
}

} // namespace hz::trace
