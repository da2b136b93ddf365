/* A trace file as a stream of records. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/reader.hpp"

namespace hz::trace {
namespace {

Dialect dialect_of_file(const std::string &path, const ReaderOptions &options)
{
	LineSource sample(path);
	return find_dialect(sample, options);
}

Dialect dialect_of_text(std::string_view text, const std::string &name, const ReaderOptions &options)
{
	LineSource sample(text, name);
	return find_dialect(sample, options);
}

/* Formats with a header have comments of their own. */
bool comment(const Format &format, std::string_view line) { return !format.header && line.starts_with('#'); }

} // namespace

Reader::Reader(const std::string &path, const Dialect &dialect) : lines_(std::make_unique<LineSource>(path)), dialect_(dialect)
{
	state_.time_unit_ns = dialect.time_unit_ns;
}

Reader::Reader(const std::string &path, const ReaderOptions &options) : Reader(path, dialect_of_file(path, options)) {}

Reader::Reader(std::string_view text, const std::string &name, const ReaderOptions &options)
	: lines_(std::make_unique<LineSource>(text, name)), dialect_(dialect_of_text(text, name, options))
{
	state_.time_unit_ns = dialect_.time_unit_ns;
}

/* Without its header line nothing of a file can be read, so that line is never passed over. */
void Reader::pass_over(const std::string &why)
{
	const std::string sentence = why + " (" + std::string(dialect_.format->name) + " lines are " + dialect_.format->expected + ")";
	const bool header_missing = dialect_.format->header && !state_.header_seen;
	if (!header_missing && skipped_ < dialect_.skip_bad) {
		skipped_++;
		if (skipped_lines_.size() < most_sentences)
			skipped_lines_.push_back(lines_->name() + ":" + std::to_string(lines_->line_number()) + ": " + sentence);
		return;
	}
	if (dialect_.skip_bad && !header_missing)
		lines_->fail(sentence + ", after " + std::to_string(skipped_) + " such lines that --skip-bad let pass");
	lines_->fail(header_missing ? sentence : sentence + ": repair the line, or let --skip-bad pass over it");
}

bool Reader::next(Record &record)
{
	std::string_view line;
	while (lines_->next(line)) {
		if (line.empty() || comment(*dialect_.format, line))
			continue;
		record = Record{};
		std::string why;
		const Parsed parsed = dialect_.format->parse(line, state_, record, why);
		if (parsed == Parsed::error)
			pass_over(why);
		if (parsed == Parsed::record)
			return true;
	}
	if (dialect_.format->header && !state_.header_seen)
		lines_->fail("the file has no '" + std::string(dialect_.format->header) + "' line");
	return false;
}

} // namespace hz::trace
