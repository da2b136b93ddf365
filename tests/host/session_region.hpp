// A shared region in its own file, for tests of its contents.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "session/machine/region.hpp"

namespace session_test {

class RegionFile {
public:
	explicit RegionFile(uint64_t bytes = 16 << 20, bool virtual_clock = true) : region(make(bytes, virtual_clock)) {}
	~RegionFile() { std::filesystem::remove_all(folder()); }

	static std::filesystem::path folder() { return std::filesystem::path("/dev/shm") / ("hz-region-" + std::to_string(getpid())); }
	// Memory that the file takes on its host.
	uint64_t disk_bytes() const
	{
		struct stat info {};
		stat((folder() / "shm").c_str(), &info);
		return static_cast<uint64_t>(info.st_blocks) * 512;
	}
	// As text, which is compared a hundred times as fast as a row of bytes is by code that is not optimised.
	std::string content() const { return {reinterpret_cast<const char *>(region.at(0, region.bytes())), region.bytes()}; }
	bool is_zero(uint64_t from, uint64_t bytes) const
	{
		const std::byte *at = region.at(from, bytes);
		return !bytes || (at[0] == std::byte(0) && !std::memcmp(at, at + 1, bytes - 1));
	}

	hz::Region region;

private:
	static hz::Region make(uint64_t bytes, bool virtual_clock)
	{
		std::filesystem::remove_all(folder());
		std::filesystem::create_directory(folder());
		return hz::Region::create(folder() / "shm", bytes, hz_device_config{}, virtual_clock);
	}
};

} // namespace session_test
