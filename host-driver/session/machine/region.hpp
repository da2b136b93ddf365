// Region: the shared-memory file that the device sees as ivshmem #0, header and device config at its start.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "device_config.h"
#include "shm.h"

namespace hz {

constexpr uint64_t host_page_bytes = 4096; // alignment of queues, data and PRPs in the region

// "Bus address" of the device = byte offset into the region.
using BusAddress = uint64_t;

class Region {
public:
	// Creates the file (bytes: a power of two, at least 8 MiB) and fills header and device config.
	static Region create(const std::filesystem::path &file, uint64_t bytes, const hz_device_config &config, bool virtual_clock);
	// Maps a region that another process created.
	static Region attach(const std::filesystem::path &file);
	Region(Region &&other) noexcept;
	Region(const Region &) = delete;
	Region &operator=(const Region &) = delete;
	~Region();

	hz_shm_header &header() const;
	const hz_device_config &config() const;
	// The firmware's allocations; complete once it is ready or has failed.
	const hz_memory_ledger &memory() const;
	hz_queue_clock &queue_clock(unsigned qid) const;
	bool virtual_clock() const { return header().virtual_clock != 0; }

	uint64_t bytes() const { return bytes_; }
	// Requires that [bus, bus + length) lies inside the region.
	std::byte *at(BusAddress bus, uint64_t length = 1) const;

	// Zeroes whole pages and gives their memory back to the host.
	void clear(BusAddress bus, uint64_t length) const;

	// Wakes a HIL that sleeps on the host bell.
	void ring_bell() const;

private:
	Region() = default;
	std::byte *base_ = nullptr;
	uint64_t bytes_ = 0;
};

} // namespace hz
