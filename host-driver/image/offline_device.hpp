// OfflineDevice: the firmware's own flash layers, linked into this program and mounted on an image
// in memory. No hart runs: only queries are possible. One at a time.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "device_config.h"
#include "port/ftl_namespaces.h"
#include "link.h"
#include "lt/arena.h"
#include "nand/nand_media.h"

namespace hz {

class OfflineDevice {
public:
	// Mounts; error() has the reason of a failure. Repairs the image as the firmware would.
	OfflineDevice(std::span<std::byte> image, const hz_device_config &config);
	~OfflineDevice();
	OfflineDevice(const OfflineDevice &) = delete;
	OfflineDevice &operator=(const OfflineDevice &) = delete;

	const std::string &error() const { return error_; } // empty: mounted
	bool mounted() const { return mounted_; }
	const ftl_namespaces &namespaces() const { return namespaces_; } // of a mounted device
	nand_media &media() { return media_; }                           // its block table is unset if the header was refused
	const hz_shape &shape() const { return map_.shape; }

private:
	void mount(std::span<std::byte> image);

	hz_device_config config_;
	arena arena_{};
	flash_map map_{};
	nand_media media_{};
	link_pair links_{};
	ftl_namespaces namespaces_{};
	bool mounted_ = false;
	std::string error_;
};

} // namespace hz
