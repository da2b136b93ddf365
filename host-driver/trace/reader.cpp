/* A trace file as a stream of records. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/reader.hpp"

#include <utility>

namespace hz::trace {
namespace {

Dialect dialect_of_file(const std::string &path, const ReaderOptions &options)
{
	TraceFile sample(path);
	return find_dialect(sample, options);
}

Dialect dialect_of_content(std::string_view content, const std::string &name, const ReaderOptions &options)
{
	TraceFile sample(content, name);
	return find_dialect(sample, options);
}

/* Formats with a header have comments of their own. */
bool comment(const Format &format, std::string_view line) { return !format.header && line.starts_with('#'); }

const char *item_word(const Format &format) { return format.record_bytes ? "record" : "line"; }

} // namespace

Reader::Reader(const std::string &path, const Dialect &dialect) : file_(std::make_unique<TraceFile>(path)), dialect_(dialect)
{
	state_ = first_state(dialect_);
}

Reader::Reader(const std::string &path, const ReaderOptions &options) : Reader(path, dialect_of_file(path, options)) {}

Reader::Reader(std::string_view content, const std::string &name, const ReaderOptions &options)
	: file_(std::make_unique<TraceFile>(content, name)), dialect_(dialect_of_content(content, name, options))
{
	state_ = first_state(dialect_);
}

/* Without its header line a file cannot be parsed, so that line is never skipped. */
void Reader::pass_over(const std::string &why)
{
	const std::string word = item_word(*dialect_.format);
	const std::string sentence = why + " (" + std::string(dialect_.format->name) + " " + word + "s are " + dialect_.format->expected +
				     ")";
	const bool header_missing = dialect_.format->header && !state_.header_seen;
	if (!header_missing && skipped_ < dialect_.skip_bad) {
		skipped_++;
		if (skipped_lines_.size() < most_sentences)
			skipped_lines_.push_back(file_->name() + ":" + std::to_string(file_->number()) + ": " + sentence);
		return;
	}
	if (dialect_.skip_bad && !header_missing)
		file_->fail(sentence + ", after " + std::to_string(skipped_) + " such " + word + "s that --skip-bad let pass");
	file_->fail(header_missing ? sentence : sentence + ": repair the " + word + ", or let --skip-bad pass over it");
}

bool Reader::next_item(std::string_view &item)
{
	const Format &format = *dialect_.format;
	if (format.record_bytes)
		return file_->next_record(format.record_bytes, item);
	while (file_->next_line(item))
		if (!blank_line(item) && !comment(format, item))
			return true;
	return false;
}

bool Reader::next(Record &record)
{
	std::string_view item;
	std::string why;
	while (next_item(item)) {
		record = Record{};
		const Parsed parsed = dialect_.format->parse(item, state_, record, why);
		if (state_.payload_bytes)
			file_->skip(std::exchange(state_.payload_bytes, 0));
		if (parsed == Parsed::record)
			return true;
		if (parsed == Parsed::error)
			pass_over(why);
		why.clear();
	}
	if (dialect_.format->header && !state_.header_seen)
		file_->fail("the file has no '" + std::string(dialect_.format->header) + "' line");
	return false;
}

} // namespace hz::trace
