// Page: parts become HTML as they come.
// SPDX-License-Identifier: BSD-3-Clause
#include "report/page.hpp"

#include "report_style.hpp"

#include <algorithm>

namespace hz::rep {

namespace {

// Length in bytes of the UTF-8 character at the begin; 0 if invalid.
size_t utf8_length(std::string_view text)
{
	const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
	const size_t length = byte(0) < 0x80                      ? 1
			      : byte(0) >= 0xc2 && byte(0) < 0xe0 ? 2
			      : byte(0) >= 0xe0 && byte(0) < 0xf0 ? 3
			      : byte(0) >= 0xf0 && byte(0) < 0xf5 ? 4
								  : 0;
	if (!length || length > text.size())
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((byte(i) & 0xc0) != 0x80)
			return 0;
	return length;
}

std::string entity(std::string_view character)
{
	switch (character.front()) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	default: return std::string(character);
	}
}

// Has a word that may be broken to fit, such as a hash or a path: numbers stay whole.
bool is_long(const std::string &cell)
{
	constexpr size_t whole = 24;
	for (size_t begin = 0, end; begin < cell.size(); begin = end + 1) {
		end = std::min(cell.find(' ', begin), cell.size());
		if (end - begin > whole)
			return true;
	}
	return false;
}

std::string cells(const std::string &kind, const Row &row)
{
	std::string out = "<tr>";
	for (const std::string &cell : row)
		out += "<" + kind + (is_long(cell) ? " class=\"long\"" : "") + ">" + escaped(cell) + "</" + kind + ">";
	return out + "</tr>\n";
}

} // namespace

std::string escaped(std::string_view text)
{
	std::string out;
	while (!text.empty()) {
		const size_t length = utf8_length(text);
		out += length ? entity(text.substr(0, length)) : "?";
		text.remove_prefix(length ? length : 1);
	}
	return out;
}

Page::Page(const std::string &title, const std::string &subtitle)
	: title_(title), body_("<h1>" + escaped(title) + "</h1>\n<p class=\"sub\">" + escaped(subtitle) + "</p>\n")
{
}

void Page::heading(const std::string &text) { body_ += "<h2>" + escaped(text) + "</h2>\n"; }

void Page::text(const std::string &text) { body_ += "<p>" + escaped(text) + "</p>\n"; }

void Page::list(const std::vector<std::string> &lines)
{
	body_ += "<ul>\n";
	for (const std::string &line : lines)
		body_ += "<li>" + escaped(line) + "</li>\n";
	body_ += "</ul>\n";
}

void Page::table(const Row &header, const std::vector<Row> &rows)
{
	body_ += "<table><thead>" + cells("th", header) + "</thead><tbody>\n";
	for (const Row &row : rows)
		body_ += cells("td", row);
	body_ += "</tbody></table>\n";
}

void Page::folded_table(const std::string &title, const Row &header, const std::vector<Row> &rows)
{
	body_ += "<details><summary>" + escaped(title) + "</summary>\n";
	table(header, rows);
	body_ += "</details>\n";
}

void Page::picture(const std::string &svg, const std::string &caption)
{
	body_ += "<figure>" + svg + "<figcaption>" + escaped(caption) + "</figcaption></figure>\n";
}

std::string Page::html() const
{
	return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(title_) + "</title><style>" + style +
	       "</style></head><body>\n" + body_ + "</body></html>\n";
}

} // namespace hz::rep
