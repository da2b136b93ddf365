// PreparedEntry: one prepared device in the user's cache folder: its flash after an orderly
// shutdown, and the answers to the host's side of the preparation. The least recently used entries
// make room for new ones.
//
// An entry is a folder named by its key, with a lock on the folder itself: its maker holds the lock
// alone, its users share it, and only unlocked entries are removed. An entry is complete when it
// has `host`, which is written last.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "session/machine/descriptor.hpp"

namespace hz {

class PreparedEntry {
public:
	// Makes the folder if it is missing. key: 64 hexadecimal digits. While another process makes this entry, waits for it, and calls
	// `waiting` once before. Throws Error if the folder cannot be used, and Interrupted.
	PreparedEntry(const std::filesystem::path &folder, const std::string &key, const std::function<void()> &waiting);
	// One that was found stays locked, against removal, until then.
	~PreparedEntry();
	PreparedEntry(const PreparedEntry &) = delete;
	PreparedEntry &operator=(const PreparedEntry &) = delete;

	bool found() const { return found_; }
	std::filesystem::path image() const { return place_ / "flash"; }
	std::filesystem::path host_file() const { return place_ / "host"; }
	// For an existing entry. Throws Error if it is damaged; the message names the file to
	// remove.
	nlohmann::json host() const;

	// For a new entry: copies the image, writes the host's side, and removes least recently
	// used entries while all of them together exceed `most_bytes`. Throws Error if it cannot be
	// written, and Interrupted; the entry does not exist then.
	void keep(const std::filesystem::path &image, const nlohmann::json &host, uint64_t most_bytes);

private:
	void open_folder();
	bool take();
	bool share();

	std::filesystem::path folder_, place_;
	Descriptor lock_;
	bool found_ = false;
};

} // namespace hz
