/* A trace file as a stream of records. */
#include "trace/reader.hpp"

namespace hz::trace {
namespace {

constexpr int sample_lines = 32;

struct Candidate {
	const Format *format;
	ParseState state;
	uint64_t records = 0;
	bool alive = true;
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
	if (parsed == Parsed::error || (parsed == Parsed::record && !plausible(*candidate.format, record)))
		candidate.alive = false;
	candidate.records += parsed == Parsed::record;
}

std::string expectations()
{
	std::string out;
	for (const Format &format : formats())
		out += "\n  " + std::string(format.name) + ": " + format.expected;
	return out;
}

bool starts_with_header(std::string_view line, const Format &format)
{
	return format.header && line.starts_with(format.header);
}

/* A native trace may open with comments. */
bool comment(std::string_view line) { return line.empty() || line.front() == '#'; }

} // namespace

const Format &detect_format(LineSource &lines)
{
	std::vector<Candidate> candidates;
	for (const Format &format : formats())
		if (!format.header)
			candidates.push_back({&format, {}});
	std::string_view line;
	for (int count = 0; count < sample_lines && lines.next(line);) {
		if (comment(line))
			continue;
		for (const Format &format : formats())
			if (count == 0 && starts_with_header(line, format))
				return format;
		for (Candidate &candidate : candidates)
			if (candidate.alive)
				try_line(candidate, line);
		count++;
	}
	const Format *found = nullptr;
	for (const Candidate &candidate : candidates) {
		if (!candidate.alive || !candidate.records)
			continue;
		if (found)
			lines.fail("the lines fit both " + std::string(found->name) + " and " + std::string(candidate.format->name) +
				   ": say which with --format");
		found = candidate.format;
	}
	if (!found)
		lines.fail("the format is not known: the first lines fit none of" + expectations());
	return *found;
}

const Format &Reader::choose(LineSource &sample, const ReaderOptions &options)
{
	if (options.format == "auto")
		return detect_format(sample);
	const Format *format = find_format(options.format);
	if (!format)
		throw TraceError(sample.name() + ":1: unknown trace format '" + options.format + "': use auto, " + format_names());
	return *format;
}

Reader::Reader(const std::string &path, const ReaderOptions &options) : lines_(std::make_unique<LineSource>(path))
{
	LineSource sample(path);
	format_ = &choose(sample, options);
	state_.time_unit_ns = options.time_unit_ns;
}

Reader::Reader(std::string_view text, const std::string &name, const ReaderOptions &options)
	: lines_(std::make_unique<LineSource>(text, name))
{
	LineSource sample(text, name);
	format_ = &choose(sample, options);
	state_.time_unit_ns = options.time_unit_ns;
}

bool Reader::next(Record &record)
{
	std::string_view line;
	while (lines_->next(line)) {
		if (line.empty())
			continue;
		record = Record{};
		std::string why;
		const Parsed parsed = format_->parse(line, state_, record, why);
		if (parsed == Parsed::error)
			lines_->fail(why + " (" + std::string(format_->name) + " lines are " + format_->expected + ")");
		if (parsed == Parsed::record)
			return true;
	}
	if (format_->header && !state_.header_seen)
		lines_->fail("the file has no '" + std::string(format_->header) + "' line");
	return false;
}

} // namespace hz::trace
