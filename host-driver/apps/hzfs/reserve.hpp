// Reserve: sections that files may not fill, so that the cleaner always gets on.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace hz::fs {

// Empty sections that only the cleaner may begin: for data that it moves, their maps, and inodes.
inline uint32_t reserve(unsigned logs) { return logs > 2 ? 3 : 2; }
// Sections open for logs, plus one: then the full sections together have at least one section of
// dead blocks.
inline uint32_t kept_sections(unsigned logs) { return logs + reserve(logs) + 1; }

} // namespace hz::fs
