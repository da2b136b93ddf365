// Copy of a file that is mostly holes: they stay holes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

namespace hz {

// What `to` held is gone. Its bytes are in the file system when this returns, not yet on its medium. Throws Error (no room, for one) and
// Interrupted, and leaves a part of a file then.
void copy_sparsely(const std::filesystem::path &from, const std::filesystem::path &to);

} // namespace hz
