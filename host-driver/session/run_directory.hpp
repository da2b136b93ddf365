// RunDirectory: every temporary file of one machine in one short-named directory, gone when its owner is gone.
#pragma once

#include <filesystem>

#include "process.hpp"

namespace hz {

class RunDirectory {
public:
	// Removes directories of dead runs first. Short, since a UNIX socket name has at most 108 bytes.
	RunDirectory();
	RunDirectory(const RunDirectory &) = delete;
	RunDirectory &operator=(const RunDirectory &) = delete;
	~RunDirectory();

	const std::filesystem::path &path() const { return path_; }

	// Where run directories live: $HARTZONE_RUN_BASE, else /dev/shm, else /tmp.
	static std::filesystem::path base();
	// Removes the directories whose owner is gone; returns how many.
	static unsigned remove_stale();

private:
	std::filesystem::path path_;
	int lock_ = -1;
	int janitor_pipe_ = -1;
	Process janitor_;
};

} // namespace hz
