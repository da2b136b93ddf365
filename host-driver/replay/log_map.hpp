/* Logical → device map of the log mapping. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/sparse_table.hpp"

namespace hz::replay {

struct LogEntry {
	uint64_t location = UINT64_MAX; /* device LBA of the newest completed write; all ones: unmapped */
	uint64_t version = 0;           /* of that write */
	uint64_t issued_version = 0;    /* of the newest write handed out */
	uint32_t writers = 0;           /* writes of this sector under way */

	bool mapped() const { return location != UINT64_MAX; }
};

using LogMap = SparseTable<LogEntry>;

} // namespace hz::replay
