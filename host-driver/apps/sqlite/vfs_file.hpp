// VfsFile: a file opened by SQLite, and its methods.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "apps/sqlite/vfs.hpp"

namespace hz::sql {

// In memory that SQLite gives; made in place by open_file(), and ended by the file's own xClose.
struct VfsFile {
	sqlite3_file base{}; // first: SQLite's pointer is to it
	Vfs *vfs = nullptr;
	fs::FileLayer::Handle handle{};
	std::shared_ptr<FileLocks> locks{};
	int held = SQLITE_LOCK_NONE;
};

// name: nullptr for a temporary file. Returns an SQLite status.
int open_file(Vfs &vfs, const char *name, sqlite3_file *place, int flags, int *flags_out);

// Converts exceptions to SQLite statuses; `otherwise`: for errors of the device.
template <typename F> int guarded(int otherwise, F function)
{
	try {
		return function();
	} catch (const store::NoSpace &) {
		return SQLITE_FULL;
	} catch (const std::exception &) {
		return otherwise;
	}
}

} // namespace hz::sql
