/* Splitting a line into fields and reading numbers from them; errors as sentences. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hz::trace {

struct FieldList {
	static constexpr size_t limit = 20;
	std::string_view field[limit];
	size_t count = 0; /* limit + 1: there were more */
};

/* Fields between commas, spaces around each removed. */
FieldList split_commas(std::string_view line);
/* Fields between runs of spaces and tabs. */
FieldList split_spaces(std::string_view line);

/* Whole field as a number, else empty. */
std::optional<uint64_t> to_unsigned(std::string_view field, int base = 10);
/* "12", "12.5", "12.000001": × factor (at most 1e9), rounded down to whole units. */
std::optional<uint64_t> to_scaled(std::string_view field, uint64_t factor);
bool same_word(std::string_view field, std::string_view word); /* ignoring case */
bool blank_line(std::string_view line);                        /* spaces and tabs only, or nothing */

/* "field 4 'x': expected …" */
std::string field_error(size_t number, std::string_view field, const char *expected);

} // namespace hz::trace
