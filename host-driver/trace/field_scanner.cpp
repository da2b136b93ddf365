/* Splitting a line into fields. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/field_scanner.hpp"

#include <charconv>
#include <cctype>

namespace hz::trace {
namespace {

bool blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text)
{
	while (!text.empty() && blank(text.front()))
		text.remove_prefix(1);
	while (!text.empty() && blank(text.back()))
		text.remove_suffix(1);
	return text;
}

void add(FieldList &list, std::string_view field)
{
	if (list.count < FieldList::limit)
		list.field[list.count] = field;
	if (list.count <= FieldList::limit)
		list.count++;
}

} // namespace

FieldList split_commas(std::string_view line)
{
	FieldList out;
	for (;;) {
		const size_t comma = line.find(',');
		add(out, trimmed(line.substr(0, comma)));
		if (comma == line.npos)
			return out;
		line.remove_prefix(comma + 1);
	}
}

FieldList split_spaces(std::string_view line)
{
	FieldList out;
	for (line = trimmed(line); !line.empty(); line = trimmed(line)) {
		size_t length = 0;
		while (length < line.size() && !blank(line[length]))
			length++;
		add(out, line.substr(0, length));
		line.remove_prefix(length);
	}
	return out;
}

std::optional<uint64_t> to_unsigned(std::string_view field, int base)
{
	uint64_t value = 0;
	const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value, base);
	if (error != std::errc() || end != field.data() + field.size())
		return std::nullopt;
	return value;
}

std::optional<uint64_t> to_scaled(std::string_view field, uint64_t factor)
{
	const size_t point = field.find('.');
	const auto whole = to_unsigned(field.substr(0, point));
	if (!whole || *whole > UINT64_MAX / factor)
		return std::nullopt;
	uint64_t value = *whole * factor, unit = factor;
	for (size_t i = point; point != field.npos && ++i < field.size();) {
		if (field[i] < '0' || field[i] > '9')
			return std::nullopt;
		unit /= 10;
		const uint64_t part = uint64_t(field[i] - '0') * unit;
		if (value > UINT64_MAX - part)
			return std::nullopt;
		value += part;
	}
	return value;
}

bool blank_line(std::string_view line) { return trimmed(line).empty(); }

bool same_word(std::string_view field, std::string_view word)
{
	if (field.size() != word.size())
		return false;
	for (size_t i = 0; i < field.size(); i++)
		if (std::tolower(static_cast<unsigned char>(field[i])) != std::tolower(static_cast<unsigned char>(word[i])))
			return false;
	return true;
}

std::string field_error(size_t number, std::string_view field, const char *expected)
{
	std::string shown(field.substr(0, 40));
	for (char &c : shown) /* terminal control characters */
		c = std::iscntrl(static_cast<unsigned char>(c)) ? '?' : c;
	return "field " + std::to_string(number) + " '" + shown + "': expected " + expected;
}

} // namespace hz::trace
