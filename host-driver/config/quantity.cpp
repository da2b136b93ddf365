/* Numbers with units: one decimal scanner, then a table of units per kind. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/quantity.hpp"

#include <charconv>
#include <cmath>
#include <span>

namespace hz::conf {
namespace {

struct Unit {
	std::string_view name;
	uint64_t factor;
};
constexpr Unit byte_units[] = {
	{"", 1},      {"B", 1},        {"KiB", 1ull << 10}, {"MiB", 1ull << 20},   {"GiB", 1ull << 30}, {"TiB", 1ull << 40},
	{"KB", 1000}, {"MB", 1000000}, {"GB", 1000000000},  {"TB", 1000000000000},
};
constexpr Unit time_units[] = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};

/* Exact decimal: value * 10^-decimals, so that 937.5us needs no floating point. */
struct Decimal {
	uint64_t value = 0;
	uint64_t scale = 1;
	size_t length = 0; /* characters used */
};

bool push_digit(uint64_t &value, char digit)
{
	const uint64_t d = uint64_t(digit - '0');
	if (value > (UINT64_MAX - d) / 10)
		return false;
	value = value * 10 + d;
	return true;
}

std::optional<Decimal> scan_decimal(std::string_view text)
{
	Decimal out;
	bool digits = false, point = false;
	for (; out.length < text.size(); out.length++) {
		const char c = text[out.length];
		if (c == '_' && digits)
			continue;
		if (c == '.' && !point) {
			point = true;
			continue;
		}
		if (c < '0' || c > '9')
			break;
		digits = true;
		if (!push_digit(out.value, c))
			return std::nullopt;
		if (point && (out.scale *= 10) > 1000000000)
			return std::nullopt;
	}
	if (!digits)
		return std::nullopt;
	return out;
}

std::optional<uint64_t> with_unit(std::string_view text, std::span<const Unit> units)
{
	const auto number = scan_decimal(text);
	if (!number)
		return std::nullopt;
	std::string_view name = text.substr(number->length);
	while (!name.empty() && name.front() == ' ')
		name.remove_prefix(1);
	for (const Unit &unit : units) {
		if (unit.name != name)
			continue;
		const unsigned __int128 scaled = (unsigned __int128)number->value * unit.factor;
		if (scaled % number->scale != 0 || scaled / number->scale > UINT64_MAX)
			return std::nullopt;
		return uint64_t(scaled / number->scale);
	}
	return std::nullopt;
}

std::string in_units(uint64_t value, std::span<const Unit> units)
{
	std::string out = std::to_string(value);
	for (const Unit &unit : units)
		if (value && value % unit.factor == 0)
			out = std::to_string(value / unit.factor) + " " + std::string(unit.name);
	return out;
}

} // namespace

std::optional<uint64_t> parse_bytes(std::string_view text) { return with_unit(text, byte_units); }

std::optional<uint64_t> parse_duration_ns(std::string_view text) { return with_unit(text, time_units); }

std::optional<uint64_t> parse_count(std::string_view text)
{
	const auto number = scan_decimal(text);
	if (!number || number->length != text.size() || number->scale != 1)
		return std::nullopt;
	return number->value;
}

std::optional<double> parse_real(std::string_view text)
{
	double value = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
		return std::nullopt;
	return value;
}

std::string bytes_text(uint64_t bytes) { return in_units(bytes, std::span(byte_units).subspan(2, 4)); }

std::string duration_text(uint64_t ns) { return in_units(ns, std::span(time_units).subspan(1)); }

} // namespace hz::conf
