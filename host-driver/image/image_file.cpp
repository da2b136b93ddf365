// ImageFile: opening and looking at the header.
// SPDX-License-Identifier: BSD-3-Clause
#include "image/image_file.hpp"

#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config_check.h"
#include "session/machine/error.hpp"
#include "nand/nand_header.h"

namespace hz {

namespace {

ImageState state_of(nand_header_state state)
{
	switch (state) {
	case NAND_HEADER_GOOD: return ImageState::good;
	case NAND_HEADER_NEW: return ImageState::new_one;
	case NAND_HEADER_OTHER: return ImageState::other;
	case NAND_HEADER_DAMAGED: return ImageState::damaged;
	default: return ImageState::foreign;
	}
}

// A zero header followed by other data is a damaged one. The end of the block table is not known
// here; its first entry always belongs to it.
constexpr uint64_t formatted_at_least = HZ_NAND_HEADER_BYTES + sizeof(hz_nand_block);

} // namespace

ImageFile::ImageFile(const std::filesystem::path &file)
{
	struct stat info {};
	fd_ = open(file.c_str(), O_RDONLY | O_CLOEXEC);
	if (fd_ < 0 || fstat(fd_, &info))
		throw_errno("cannot open the NAND image " + file.string());
	if (flock(fd_, LOCK_SH | LOCK_NB)) {
		close(fd_);
		throw Error("the NAND image " + file.string() + " is in use by a machine");
	}
	bytes_ = static_cast<size_t>(info.st_size);
	if (!S_ISREG(info.st_mode) || bytes_ < 2 * HZ_NAND_HEADER_BYTES)
		return; // too small for an image, and for a mapping if it is empty
	void *base = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd_, 0);
	if (base == MAP_FAILED) {
		close(fd_);
		throw_errno("cannot map the NAND image " + file.string());
	}
	base_ = static_cast<std::byte *>(base);
	state_ = state_of(nand_header_find(reinterpret_cast<uint8_t *>(base_), bytes_, formatted_at_least, &header_, &version_));
}

ImageFile::~ImageFile()
{
	if (base_)
		munmap(base_, bytes_);
	close(fd_);
}

std::optional<hz_device_config> ImageFile::config() const
{
	hz_device_config config;
	char text[256];
	std::memcpy(&config, reinterpret_cast<const std::byte *>(header_) + HZ_NAND_CONFIG_OFFSET, sizeof(config));
	if (hz_machine_config_check(&config, text, sizeof(text)))
		return {};
	return config;
}

} // namespace hz
