// Load: what is done with a database, and what came of it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rocksdb/db.h>

#include <string>

#include "apps/rocksdb/acked.hpp"
#include "apps/rocksdb/key_space.hpp"

namespace hz::rocks {

struct LoadCount {
	uint64_t operations = 0, syncs = 0;
	uint64_t checked = 0; // keys whose value was one that was written, and not older than what was acknowledged
};

class Load {
public:
	Load(rocksdb::DB &db, const KeySpace &space, uint64_t sync_every, Acked &acked)
		: db_(db), space_(space), sync_every_(sync_every), acked_(acked)
	{
	}
	// One of load_names, to its end. Throws Error for what RocksDB refuses, and for keys that are not as they were promised.
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
