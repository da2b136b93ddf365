// Vfs: SQLite's files in hzfs. It calls no function of SQLite's library, so that a loadable
// extension and a program can both use it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <functional>
#include <string>

#include "apps/hzfs/file_layer.hpp"
#include "apps/sqlite/vfs_locks.hpp"

namespace hz::sql {

class Vfs {
public:
	// `seed`: of SQLite's random numbers.
	Vfs(fs::FileLayer &layer, const std::string &name, uint64_t seed);
	Vfs(const Vfs &) = delete;
	Vfs &operator=(const Vfs &) = delete;

	// For sqlite3_vfs_register. Lives as long as this object, which lives as long as any database of it.
	sqlite3_vfs *interface() { return &vfs_; }
	fs::FileLayer &layer() { return layer_; }
	VfsLocks &locks() { return locks_; }
	uint64_t next_random();
	// How often SQLite has called since the last time.
	uint64_t take_calls() { return calls_.exchange(0); }
	void count_call() { calls_++; }

private:
	fs::FileLayer &layer_;
	std::string name_;
	sqlite3_vfs vfs_{};
	VfsLocks locks_;
	std::atomic<uint64_t> random_, calls_ = 0;
};

} // namespace hz::sql
