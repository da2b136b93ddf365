// Copies a sparse file and preserves its holes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

namespace hz {

// Replaces `to`. Its bytes are in the file system when this returns, not yet on its medium. Throws
// Error (no room, for example) and Interrupted, and leaves a partial file then.
void copy_sparsely(const std::filesystem::path &from, const std::filesystem::path &to);

} // namespace hz
