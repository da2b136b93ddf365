// DeviceAccount: number, bytes and latency of a store's commands to its device, by kind; as table
// and JSON.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <string_view>

#include "results/histogram.hpp"

namespace hz::store {

enum class Command : uint8_t { read, write, durable_write, flush, reset, deallocate, copy, in_place };
inline constexpr size_t commands = 8;
inline constexpr std::array<std::string_view, commands> command_names = {"read",  "write",      "durable write", "flush",
									 "reset", "deallocate", "copy",          "in place"};

struct CommandAccount {
	uint64_t bytes = 0;
	res::Histogram latency; // ns; its count is that of the commands
};
struct DeviceAccount {
	std::array<CommandAccount, commands> of;
	uint64_t begin_ns = 0, end_ns = 0; // arrival of the first command, completion of the last
};

// Adds later counters.
void add(DeviceAccount &account, const DeviceAccount &later);
nlohmann::json json_of(const DeviceAccount &account);
// A line for each kind of command that occurred, below a title line.
std::string table_of(const DeviceAccount &account);

} // namespace hz::store
