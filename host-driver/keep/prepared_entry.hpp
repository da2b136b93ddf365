// PreparedEntry: one prepared device in the user's folder of them: its flash after an orderly shutdown, and what the host's side of the
// preparation was answered. Devices that were used longest ago make room for new ones.
//
// An entry is a folder that its key names, with a lock on the folder itself: whoever makes it holds it alone, those who use it share it, and
// only what nobody holds is removed. It is complete when `host` is there, which is written last.
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
	// Of one that was found. Throws Error if it is damaged; the words say which file to remove.
	nlohmann::json host() const;

	// Of one that was not found: copies the image, notes the host's side, and removes those used longest ago while all of them together have
	// more than `most_bytes`. Throws Error if it cannot be written, and Interrupted; the entry is not there then.
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
