// VfsLocks: lock owners of a database file: SQLite's five locks, and the shared memory of its
// write-ahead log, within one program.
//
// Other programs have no access to the files, so locks are not stored on the device.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sqlite3.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace hz::sql {

// Of one file, shared by all its handles.
struct FileLocks {
	unsigned shared = 0;                         // that hold SHARED or more
	const void *reserved = nullptr;              // owner of RESERVED, PENDING or EXCLUSIVE
	bool pending = false, exclusive = false;     // that one's
	std::vector<std::unique_ptr<char[]>> memory; // regions of shared memory
	std::array<unsigned, SQLITE_SHM_NLOCK> readers{};
	std::array<const void *, SQLITE_SHM_NLOCK> writer{};
};

class VfsLocks {
public:
	std::shared_ptr<FileLocks> of(const std::string &name);
	// Each returns SQLITE_OK or SQLITE_BUSY; `held` is the holder's lock, before and after.
	int raise(FileLocks &file, const void *holder, int &held, int wanted);
	void lower(FileLocks &file, const void *holder, int &held, int wanted);
	bool is_reserved(const FileLocks &file);
	// nullptr: there is none, and it is not to be made.
	volatile void *region(FileLocks &file, size_t number, size_t bytes, bool make);
	int lock_memory(FileLocks &file, const void *holder, int first, int count, int flags);
	void drop_memory(FileLocks &file, const void *holder);

private:
	std::mutex mutex_;
	std::map<std::string, std::weak_ptr<FileLocks>> files_;
};

} // namespace hz::sql
