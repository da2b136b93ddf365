// SqliteOptions: parameters of the extension for SQLite's shell, as JSON in the variable
// HARTZONE_SQLITE; these are the defaults.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

#include "apps/hzfs/stack/layer_ways.hpp"

namespace hz::sql {

inline constexpr const char *options_variable = "HARTZONE_SQLITE";

struct SqliteOptions {
	uint64_t seed = 1;       // seed of SQLite's random numbers
	fs::LayerWays ways;      // of the layer of files
	bool measured = false;   // the program's own processor time passes on the device
	uint64_t compute_ns = 0; // cost of a file call of SQLite, unless measured
	bool stats = false;      // report the device's work at the end
	std::string record, out; // files, or nothing; out: a folder
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SqliteOptions, seed, ways, measured, compute_ns, stats, record, out)

} // namespace hz::sql
