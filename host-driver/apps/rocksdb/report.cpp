// Report: times are the device's; the host's own work takes none of it.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/rocksdb/report.hpp"

#include <cstdio>

namespace hz::rocks {

namespace {

using nlohmann::json;

double seconds(const store::DeviceAccount &device) { return double(device.end_ns - device.begin_ns) / 1e9; }
double mib(uint64_t bytes) { return double(bytes) / (1 << 20); }
uint64_t user_bytes(const LoadReport &report) { return report.count.operations * (key_bytes + value_bytes); }

// Rate of device operations; a load served from RocksDB's own memory has none.
json rate(const LoadReport &report)
{
	const store::DeviceAccount &device = report.device;
	if (report.name == "check" || device.end_ns <= device.begin_ns)
		return nullptr;
	return mib(user_bytes(report)) / seconds(device);
}

} // namespace

json json_of(const LoadReport &report)
{
	return {{"load", report.name},
		{"operations", report.count.operations},
		{"syncs", report.count.syncs},
		{"checked_keys", report.count.checked},
		{"user_bytes", user_bytes(report)},
		{"elapsed_ns", report.device.end_ns - report.device.begin_ns},
		{"mib_s", rate(report)},
		{"device", store::json_of(report.device)},
		{"zones",
		 {{"total_bytes", report.space.total * store::block_bytes},
		  {"alive_bytes", report.space.alive * store::block_bytes},
		  {"dead_bytes", report.space.dead * store::block_bytes},
		  {"collected_bytes", report.collected_blocks * store::block_bytes}}}};
}

std::string table_of(const LoadReport &report)
{
	char line[200];
	const json mib_s = rate(report);
	std::string out = report.name + ": " + std::to_string(report.count.operations) + " operations";
	std::snprintf(line, sizeof(line), ", %.3f s of the device", seconds(report.device));
	out += line;
	if (!mib_s.is_null()) {
		std::snprintf(line, sizeof(line), ", %.1f MiB/s", mib_s.get<double>());
		out += line;
	}
	if (report.count.checked)
		out += "; " + std::to_string(report.count.checked) + " keys are as promised";
	return out + "\n" + store::table_of(report.device);
}

} // namespace hz::rocks
