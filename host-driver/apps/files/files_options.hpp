// FilesOptions: options of the command files, and of the file layer.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "apps/hzfs/stack/layer_ways.hpp"

namespace hz::files {

struct FilesOptions {
	std::string job;               // update, fragment
	uint64_t file_bytes = 1 << 20; // size of the file that is updated, or written and read after each iteration
	uint64_t count = 100;          // updates, or iterations at most
	uint64_t small_files = 48;     // per iteration, 128 KiB each; every second one is removed
	uint64_t hold = 0;             // fragment: percent of the space that files may have; 0: all of it
	uint64_t reread = 0;           // of the remaining ones, read in each iteration
	uint64_t warm_up = 0;          // updates before the measured ones
	uint64_t sync_every = 1;       // updates
	uint64_t seed = 1;
	fs::LayerWays ways;
	std::string out; // a folder, or nothing
};

} // namespace hz::files
