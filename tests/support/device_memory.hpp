// Memory of devices created by the thousands in a test: the image of their flash, and their arena.
// New memory from the kernel costs more than all else, so each device reuses the memory of the one
// before.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "device_config.h"
#include "lt/arena.h"

namespace rig {

// Anonymous memory that is only taken when touched: a sparse image.
class Image {
public:
	explicit Image(uint64_t bytes, bool shared = false);
	~Image();
	Image(const Image &) = delete;
	void *base() const { return base_; }
	uint64_t bytes() const { return bytes_; }

private:
	uint64_t bytes_;
	void *base_;
};

// Large enough for the device to be formatted. Unprogrammed parts may hold any data, since they are
// never read.
std::shared_ptr<Image> blank_image(const hz_device_config &cfg);

// Memory of a device: its arena, which guards allocations against out-of-bounds accesses. The next
// device of that size reuses the memory with its content.
class DeviceMemory {
public:
	explicit DeviceMemory(uint64_t bytes);
	~DeviceMemory();
	DeviceMemory(const DeviceMemory &) = delete;
	// Nothing is allocated; the content is arbitrary, as in memory after power-on.
	void restart();
	arena &space() { return arena_; }

private:
	arena whole();

	std::unique_ptr<Image> memory_;
	arena arena_;
};

} // namespace rig
