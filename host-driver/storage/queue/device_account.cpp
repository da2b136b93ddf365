// DeviceAccount: times are the device's.
// SPDX-License-Identifier: BSD-3-Clause
#include "storage/queue/device_account.hpp"

#include <cstdio>

namespace hz::store {

void add(DeviceAccount &account, const DeviceAccount &later)
{
	for (size_t i = 0; i < commands; i++) {
		account.of[i].bytes += later.of[i].bytes;
		account.of[i].latency.merge(later.of[i].latency);
	}
	if (!account.end_ns)
		account.begin_ns = later.begin_ns;
	if (later.end_ns)
		account.end_ns = later.end_ns;
}

nlohmann::json json_of(const DeviceAccount &account)
{
	nlohmann::json all = nlohmann::json::object();
	for (size_t i = 0; i < commands; i++) {
		const CommandAccount &one = account.of[i];
		all[std::string(command_names[i])] = {{"count", one.latency.count()},
						      {"bytes", one.bytes},
						      {"latency_ns",
						       {{"mean", one.latency.mean()},
							{"p50", one.latency.quantile(0.5)},
							{"p99", one.latency.quantile(0.99)},
							{"max", one.latency.max()}}}};
	}
	return all;
}

std::string table_of(const DeviceAccount &account)
{
	char line[200];
	std::snprintf(line, sizeof(line), "  %-14s %9s %10s %10s %10s %10s %10s\n", "command", "count", "MiB", "mean us", "p50 us",
		      "p99 us", "max us");
	std::string out = line;
	for (size_t i = 0; i < commands; i++) {
		const CommandAccount &one = account.of[i];
		if (!one.latency.count())
			continue;
		std::snprintf(line, sizeof(line), "  %-14s %9llu %10.1f %10.1f %10.1f %10.1f %10.1f\n", command_names[i].data(),
			      static_cast<unsigned long long>(one.latency.count()), double(one.bytes) / (1 << 20), one.latency.mean() / 1e3,
			      double(one.latency.quantile(0.5)) / 1e3, double(one.latency.quantile(0.99)) / 1e3,
			      double(one.latency.max()) / 1e3);
		out += line;
	}
	return out;
}

} // namespace hz::store
