// The file system that RocksDB gets: its calls as those of the store, and which files are durable.
//
// The write-ahead log (.log), MANIFEST, CURRENT, OPTIONS and IDENTITY are written durably; tables (.sst) by the lifetime that RocksDB tells
// and made durable by a Flush when they are synced. RocksDB's LOG, of which nothing is needed after a crash, is not kept.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rocksdb/file_system.h>

#include <memory>

#include "apps/rocksdb/store/store.hpp"

namespace hz::rocks {

// The store must live longer than the file system and everything that was opened by it.
std::shared_ptr<rocksdb::FileSystem> make_file_system(store::Store &store);

} // namespace hz::rocks
