/* The summary of a trace as a table. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/trace_summary_text.hpp"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

namespace hz::inspect {
namespace {

__attribute__((format(printf, 2, 3))) void add_text(std::string &out, const char *format, ...)
{
	char text[256];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	out += text;
}

std::string in_units(double bytes)
{
	static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	size_t unit = 0;
	for (; bytes >= 1024 && unit + 1 < std::size(units); unit++)
		bytes /= 1024;
	char text[40];
	snprintf(text, sizeof(text), "%.*f %s", unit ? 1 : 0, bytes, units[unit]);
	return text;
}

std::string in_units(const nlohmann::json &bytes) { return in_units(bytes.get<double>()); }

void add_operations(std::string &out, const nlohmann::json &operations, double records)
{
	add_text(out, "\n%-10s %14s %7s %12s %10s %10s %10s %11s\n", "operation", "records", "part", "bytes", "p50 size", "p99 size",
		 "max size", "sequential");
	for (const auto &[name, kind] : operations.items()) {
		add_text(out, "%-10s %14" PRIu64 " %5.1f %%", name.c_str(), kind["records"].get<uint64_t>(),
			 100 * kind["records"].get<double>() / records);
		if (kind.contains("size_bytes"))
			add_text(out, " %12s %10s %10s %10s %9.1f %%", in_units(kind["bytes"]).c_str(),
				 in_units(kind["size_bytes"]["p50"]).c_str(), in_units(kind["size_bytes"]["p99"]).c_str(),
				 in_units(kind["size_bytes"]["max"]).c_str(), 100 * kind["sequential_part"].get<double>());
		out += "\n";
	}
}

void add_marks(std::string &out, const nlohmann::json &marks)
{
	const char *head = "\nmarks      ";
	for (const auto &[name, records] : marks.items()) {
		add_text(out, "%s %s %" PRIu64, head, name.c_str(), records.get<uint64_t>());
		head = ",";
	}
	out += marks.empty() ? "" : "\n";
}

void add_footprint(std::string &out, const nlohmann::json &f)
{
	add_text(out, "\nfootprint   %s touched, %s read, %s written, in blocks of 4 KiB", in_units(f["touched_bytes"]).c_str(),
		 in_units(f["read_bytes"]).c_str(), in_units(f["written_bytes"]).c_str());
	add_text(out, f["method"] == "bitmap" ? " (exact)\n" : " (estimated, +-%.1f %%)\n", 100 * f["standard_error"].get<double>());
	add_text(out, "            addresses up to %s; each written byte is written %.2f times\n", in_units(f["address_end"]).c_str(),
		 f["rewrites"].get<double>());
}

void add_skew(std::string &out, const nlohmann::json &skew)
{
	const bool exact = skew["method"] == "exact";
	for (const nlohmann::json &h : skew["hottest"]) {
		add_text(out, "%-11s the hottest %2.0f %% of the touched blocks take %5.1f %% of the accesses",
			 &h == &skew["hottest"][0] ? "skew" : "", 100 * h["blocks_part"].get<double>(),
			 100 * h["accesses_part"].get<double>());
		add_text(out, exact ? "\n" : " (+-%.1f)\n", 100 * h["standard_error"].get<double>());
	}
	if (!exact)
		add_text(out, "            from a sample of %" PRIu64 " blocks, %.3g %% of all\n", skew["sampled_blocks"].get<uint64_t>(),
			 100 * skew["sampled_part"].get<double>());
}

} // namespace

std::string summary_text(const nlohmann::json &s)
{
	std::string out;
	const nlohmann::json &time = s["time"];
	add_text(out, "records     %" PRIu64 " in %s%" PRIu64 " streams\n", s["records"].get<uint64_t>(),
		 s["streams_exact"] ? "" : "about ", s["streams"].get<uint64_t>());
	add_text(out, "time        %.3f s, %.1f records a second, %" PRIu64 " in the busiest second", time["span_ns"].get<double>() / 1e9,
		 time["records_per_second"].get<double>(), time["busiest_second_records"].get<uint64_t>());
	if (time["backward_steps"] > 0)
		add_text(out, "; %" PRIu64 " times it goes back", time["backward_steps"].get<uint64_t>());
	add_text(out, "\nalignment   %" PRIu64 " reads and writes are no whole blocks of 4 KiB\n", s["unaligned_records"].get<uint64_t>());
	add_operations(out, s["operations"], s["records"].get<double>());
	add_marks(out, s["marks"]);
	add_footprint(out, s["footprint"]);
	add_skew(out, s["skew"]);
	return out;
}

} // namespace hz::inspect
