// RunDirectory: every temporary file of one machine in one directory with an unpredictable name,
// removed with its owner.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "descriptor.hpp"
#include "process.hpp"

namespace hz {

class RunDirectory {
public:
	// In a folder with room for `wanted` bytes, if there is one; accessible to this user only.
	// Removes directories of dead runs first.
	explicit RunDirectory(uint64_t wanted = 0);
	RunDirectory(const RunDirectory &) = delete;
	RunDirectory &operator=(const RunDirectory &) = delete;
	~RunDirectory();

	const std::filesystem::path &path() const { return path_; }

	// Where run directories live: $HARTZONE_RUN_BASE alone, or /dev/shm and /tmp. Throws Error when the variable names no folder.
	static std::vector<std::filesystem::path> bases();
	// The first of these with enough room, else the one with most.
	static std::filesystem::path base(uint64_t wanted);
	// Removes directories of dead owners; returns their number.
	static unsigned remove_stale();
	// This user's directories with a living owner, sorted.
	static std::vector<std::filesystem::path> living();

private:
	void lock();
	void start_janitor();

	std::filesystem::path path_;
	Descriptor lock_;
	Process janitor_;
	Descriptor janitor_pipe_; // it works when this is closed
};

} // namespace hz
