/* The summary of a trace as a table. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace hz::inspect {

/* `summary`: of TraceSummary. */
std::string summary_text(const nlohmann::json &summary);

} // namespace hz::inspect
