// SqliteOptions: what the command tells the extension that SQLite's shell loads, as JSON in the variable HARTZONE_SQLITE; without it these.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

#include "apps/hzfs/stack/layer_ways.hpp"

namespace hz::sql {

inline constexpr const char *options_variable = "HARTZONE_SQLITE";

struct SqliteOptions {
	uint64_t seed = 1;       // of the random numbers that SQLite is given
	fs::LayerWays ways;      // of the layer of files
	bool measured = false;   // the program's own processor time passes on the device
	uint64_t compute_ns = 0; // that a call of SQLite's to its files takes, unless it is measured
	bool stats = false;      // say at the end what the device did
	std::string record, out; // files, or nothing; out: a folder
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SqliteOptions, seed, ways, measured, compute_ns, stats, record, out)

} // namespace hz::sql
