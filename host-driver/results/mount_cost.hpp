// Cost of a mount (protocol/mount_report.h), as text and for the result.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "mount_report.h"

namespace hz::res {

// By step: device time and reads.
nlohmann::json mount_json(const hz_mount_report &report);

// "612.3 ms of device time: reach 353.7 (32768 reads of 65536 pages), …": the longest steps, in
// descending order.
std::string mount_text(const hz_mount_report &report);

} // namespace hz::res
