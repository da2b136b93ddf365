/* Detects the time unit of a vscsi trace. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/time_unit.hpp"

#include "trace/field_scanner.hpp"

#include <algorithm>
#include <cstdio>

namespace hz::trace {
namespace {

constexpr uint64_t second = 1000000000, microsecond = 1000;
constexpr uint64_t year_2100_s = 4102444800; /* as Unix time */
constexpr uint64_t least_requests = 16;      /* for an average */
constexpr double shortest_gap_us = 1.0, longest_gap_s = 60.0;

struct Times {
	uint64_t count = 0, first = UINT64_MAX, last = 0;
	bool fraction = false;

	void add(std::string_view field)
	{
		const auto value = to_scaled(field, 1);
		if (!value)
			return;
		fraction |= field.find('.') != field.npos;
		first = std::min(first, *value);
		last = std::max(last, *value);
		count++;
	}
};

std::string in_words(double gap)
{
	char text[64];
	snprintf(text, sizeof(text), "%.3g units between requests on average", gap);
	return text;
}

} // namespace

UnitGuess guess_vscsi_unit(std::span<const std::string> lines)
{
	Times times;
	for (const std::string &line : lines) {
		const FieldList f = split_commas(line);
		if (f.count == 5)
			times.add(f.field[1]);
	}
	if (times.fraction)
		return {second, true, "times with a fraction"};
	if (times.count && times.last > year_2100_s)
		return {microsecond, true, "times beyond the year 2100 if they were seconds"};
	if (times.count < least_requests)
		return {second, false, "too few requests to tell"};
	const double gap = double(times.last - times.first) / double(times.count - 1);
	if (gap < shortest_gap_us)
		return {second, true, in_words(gap)};
	return {gap > longest_gap_s ? microsecond : second, gap > longest_gap_s, in_words(gap)};
}

} // namespace hz::trace
