// RocksDB's file system: maps its calls to the store and decides which files are durable.
//
// The write-ahead log (.log), MANIFEST, CURRENT, OPTIONS and IDENTITY are written durably; tables
// (.sst) by RocksDB's lifetime hint, and a sync makes them durable by a Flush. RocksDB's LOG is not
// kept: it is not needed after a crash.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rocksdb/file_system.h>

#include <memory>

#include "apps/rocksdb/store/store.hpp"

namespace hz::rocks {

// The store must live longer than the file system and everything that was opened by it.
std::shared_ptr<rocksdb::FileSystem> make_file_system(store::Store &store);

} // namespace hz::rocks
