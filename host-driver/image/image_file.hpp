// ImageFile: a NAND image as a private mapping; repairs and writes in memory leave the file
// unchanged.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

#include "nand_image.h"

namespace hz {

enum class ImageState {
	good,    // the header can be believed
	new_one, // nothing was ever written
	foreign, // not an image of this program
	other,   // of another format version
	damaged, // an image, but its header cannot be believed in either copy
};

class ImageFile {
public:
	// Throws Error if the file cannot be read, or is in use by a machine.
	explicit ImageFile(const std::filesystem::path &file);
	~ImageFile();
	ImageFile(const ImageFile &) = delete;
	ImageFile &operator=(const ImageFile &) = delete;

	ImageState state() const { return state_; }
	uint32_t version() const { return version_; }             // of another format version
	const hz_nand_header &header() const { return *header_; } // good only
	// The device config of the last start; empty if this program does not know the record's
	// format. Good images only.
	std::optional<hz_device_config> config() const;
	std::span<std::byte> bytes() const { return {base_, bytes_}; }

private:
	int fd_ = -1;
	std::byte *base_ = nullptr;
	size_t bytes_ = 0;
	ImageState state_ = ImageState::foreign;
	uint32_t version_ = 0;
	const hz_nand_header *header_ = nullptr;
};

} // namespace hz
