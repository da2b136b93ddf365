// The page about a run, derived from its result alone.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace hz::rep {

// Pictures, tables, configuration and provenance of a result.json (docs/reference/results.md), also of one that only says why the run failed, or
// where its power was cut.
std::string run_report(const nlohmann::json &result);

} // namespace hz::rep
