// Memory of devices that follow one another by the thousands in a test: the image of their flash, and their arena. The kernel takes longer
// for new memory than all else they do, so the next device gets what the one before it had.
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

// As large as the device's image must be, for it to format. What was never programmed may hold any data, as nobody looks at them.
std::shared_ptr<Image> blank_image(const hz_device_config &cfg);

// Memory of a device: its arena, which guards what it gives against those who touch its neighbours. The next device of that size gets the
// memory with what is in it.
class DeviceMemory {
public:
	explicit DeviceMemory(uint64_t bytes);
	~DeviceMemory();
	DeviceMemory(const DeviceMemory &) = delete;
	// Nothing is taken; what is in it is any bytes, as in memory that power has come back to.
	void restart();
	arena &space() { return arena_; }

private:
	arena whole();

	std::unique_ptr<Image> memory_;
	arena arena_;
};

} // namespace rig
