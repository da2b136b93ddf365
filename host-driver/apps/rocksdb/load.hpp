// Load: runs a load on a database and counts its results.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rocksdb/db.h>

#include <string>

#include "apps/rocksdb/acked.hpp"
#include "apps/rocksdb/key_space.hpp"

namespace hz::rocks {

struct LoadCount {
	uint64_t operations = 0, syncs = 0;
	uint64_t checked = 0; // keys with a value that was written, not older than the acknowledged one
};

class Load {
public:
	Load(rocksdb::DB &db, const KeySpace &space, uint64_t sync_every, Acked &acked)
		: db_(db), space_(space), sync_every_(sync_every), acked_(acked)
	{
	}
	// Runs one of load_names. Throws Error if RocksDB refuses, or if keys lack acknowledged
	// values.
	LoadCount run(const std::string &name);

private:
	LoadCount write(uint64_t first, uint64_t operations);
	LoadCount read_random();
	LoadCount check();
	// The value's operation; throws Error for a wrong one. No value: UINT64_MAX.
	uint64_t get(uint64_t key);

	rocksdb::DB &db_;
	KeySpace space_;
	uint64_t sync_every_;
	Acked &acked_;
};

} // namespace hz::rocks
