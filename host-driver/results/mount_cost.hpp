// What a mount cost (protocol/mount_report.h), for people and for the result.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "mount_report.h"

namespace hz::res {

// By step: device time and reads.
nlohmann::json mount_json(const hz_mount_report &report);

// "612.3 ms of device time: reach 353.7 (32768 reads of 65536 pages), …": the steps that took most of it, longest first.
std::string mount_text(const hz_mount_report &report);

} // namespace hz::res
