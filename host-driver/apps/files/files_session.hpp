// FilesSession: runs the job of the command files on a running device, and reports.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include "apps/files/files_options.hpp"
#include "session/controller.hpp"

namespace hz::files {

inline constexpr const char *jobs[] = {"update", "fragment"};

// The device must be formatted and empty. Prints the report; returns files.json except for the
// members known only after shutdown. Throws DeviceError and Error.
nlohmann::json run(Controller &controller, const FilesOptions &options);

} // namespace hz::files
