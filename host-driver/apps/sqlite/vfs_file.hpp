// VfsFile: a file that SQLite has open, and the functions by which it uses it.
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

// name: nullptr for a file without one. Returns a status of SQLite.
int open_file(Vfs &vfs, const char *name, sqlite3_file *place, int flags, int *flags_out);

// What a function of ours throws, as SQLite says it; `otherwise`: for what the device refuses.
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
