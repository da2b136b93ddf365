// FilesSession: the job of the command files on a device that is up, and its report.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include "apps/files/files_options.hpp"
#include "session/controller.hpp"

namespace hz::files {

inline constexpr const char *jobs[] = {"update", "fragment"};

// The device is formatted; nothing may be on it. Prints; returns files.json but for what only the end of the machine tells. Throws what is in
// the way.
nlohmann::json run(Controller &controller, const FilesOptions &options);

} // namespace hz::files
