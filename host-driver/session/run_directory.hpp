// RunDirectory: every temporary file of one machine in one short-named directory, gone when its owner is gone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "process.hpp"

namespace hz {

class RunDirectory {
public:
	// In a folder with room for `wanted` bytes where there is one. Removes directories of dead runs first. Short, since a UNIX
	// socket name has at most 108 bytes.
	explicit RunDirectory(uint64_t wanted = 0);
	RunDirectory(const RunDirectory &) = delete;
	RunDirectory &operator=(const RunDirectory &) = delete;
	~RunDirectory();

	const std::filesystem::path &path() const { return path_; }

	// Where run directories live: $HARTZONE_RUN_BASE alone, or /dev/shm and /tmp.
	static std::vector<std::filesystem::path> bases();
	// The first of these with so much room, else the one with most.
	static std::filesystem::path base(uint64_t wanted);
	// Removes the directories whose owner is gone; returns how many.
	static unsigned remove_stale();

private:
	std::filesystem::path path_;
	int lock_ = -1;
	int janitor_pipe_ = -1;
	Process janitor_;
};

} // namespace hz
