// FilesOptions: what the command files is to do, and how the layer of files works.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "apps/hzfs/stack/layer_ways.hpp"

namespace hz::files {

struct FilesOptions {
	std::string job;               // update, fragment
	uint64_t file_bytes = 1 << 20; // of the file that is updated, or written and read after each iteration
	uint64_t count = 100;          // updates, or iterations at most
	uint64_t small_files = 48;     // of an iteration, 128 KiB each, of which every second one is removed
	uint64_t reread = 0;           // of those that are left, read in each iteration
	uint64_t sync_every = 1;       // updates
	double aged = 0;               // part of the room that small files have before the first update
	uint64_t seed = 1;
	fs::LayerWays ways;
	std::string out; // a folder, or nothing
};

} // namespace hz::files
