// LoadOptions: parameters of the program that contains RocksDB, as JSON in its only argument.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace hz::rocks {

struct LoadOptions {
	std::string run_directory; // of the device
	uint32_t nsid = 1;
	std::vector<std::string> loads;  // one after the other: load_names
	uint64_t keys = 10000, seed = 1; // keys that there are
	uint64_t sync_every = 0;         // writes between two that are synced; 0: none is
	uint64_t memtable_bytes = 64 << 20;
	std::string record, acked, out; // files, or nothing; out: a folder
};
inline constexpr const char *load_names[] = {"fillseq", "overwrite", "readrandom", "check"};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LoadOptions, run_directory, nsid, loads, keys, seed, sync_every, memtable_bytes, record, acked, out)

} // namespace hz::rocks
