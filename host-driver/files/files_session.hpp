// FilesSession: the job of the command files on a device that is up, and its report.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "files/files_options.hpp"
#include "session/controller.hpp"

namespace hz::files {

inline constexpr const char *jobs[] = {"update", "fragment"};

// The device is formatted; nothing may be on it. Prints, writes files.json, throws what is in the way.
void run(Controller &controller, const FilesOptions &options);

} // namespace hz::files
