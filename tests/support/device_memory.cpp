// Memory of devices that follow one another by the thousands in a test: the image of their flash, and their arena.
// SPDX-License-Identifier: BSD-3-Clause
#include "device_memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

#include "lt/arch.h"
#include "nand_image.h"
#include "tuple.h"

namespace rig {

Image::Image(uint64_t bytes, bool shared) : bytes_(bytes)
{
	base_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base_ == MAP_FAILED)
		abort();
	madvise(base_, bytes, MADV_HUGEPAGE); // thousands of images begin blank, and adjacent data are written together
}

Image::~Image() { munmap(base_, bytes_); }

namespace {

struct UsedImage {
	hz_nand_layout layout;
	std::unique_ptr<Image> image;
};

// Oldest first.
std::deque<UsedImage> &used_images()
{
	thread_local std::deque<UsedImage> all;
	return all;
}

bool same(const hz_nand_layout &a, const hz_nand_layout &b)
{
	return a.data_offset == b.data_offset && a.tuples_offset == b.tuples_offset && a.image_bytes == b.image_bytes &&
	       a.data_blocks == b.data_blocks && a.data_sectors == b.data_sectors;
}

// All but the data, which are lost: no sector has the first and the last word that some device has written there.
void make_blank(uint8_t *image, const hz_nand_layout &layout, uint64_t sectors)
{
	constexpr uint64_t nobodys = 0x5ca1ab1e0ddba11;
	uint8_t *const data = image + layout.data_offset, *const end = data + sectors * HZ_SECTOR_BYTES;
	std::memset(image, 0, layout.data_offset);
	for (uint8_t *at = data; at < end; at += HZ_SECTOR_BYTES) {
		std::memcpy(at, &nobodys, sizeof(nobodys));
		std::memcpy(at + HZ_SECTOR_BYTES - sizeof(nobodys), &nobodys, sizeof(nobodys));
	}
	if (layout.tuples_offset)
		std::memset(end, 0, sectors * HZ_TUPLE_BYTES);
	std::memset(image + layout.header_copy_offset, 0, HZ_NAND_HEADER_BYTES);
}

uint64_t stored_sectors(const hz_device_config &cfg, const hz_nand_layout &layout)
{
	const uint64_t planes = uint64_t(cfg.channels) * cfg.chips_per_channel * cfg.dies_per_chip * cfg.planes_per_die;
	return planes * layout.data_blocks * layout.data_sectors;
}

std::unique_ptr<Image> used_image(const hz_device_config &cfg, const hz_nand_layout &layout)
{
	auto &used = used_images();
	for (auto one = used.begin(); one != used.end(); ++one)
		if (same(one->layout, layout)) {
			std::unique_ptr<Image> image = std::move(one->image);
			used.erase(one);
			make_blank(static_cast<uint8_t *>(image->base()), layout, stored_sectors(cfg, layout));
			return image;
		}
	return nullptr;
}

void give_back(const hz_nand_layout &layout, std::unique_ptr<Image> image)
{
	constexpr size_t most = 4;
	auto &used = used_images();
	used.push_back({layout, std::move(image)});
	if (used.size() > most)
		used.pop_front();
}

} // namespace

std::shared_ptr<Image> blank_image(const hz_device_config &cfg)
{
	constexpr uint64_t largest = 32 << 20; // of a larger one little is touched
	hz_nand_layout layout;
	hz_nand_layout_of(&cfg, &layout);
	if (layout.image_bytes > largest)
		return std::make_shared<Image>(layout.image_bytes);
	std::unique_ptr<Image> image = used_image(cfg, layout);
	if (!image)
		image = std::make_unique<Image>(layout.image_bytes);
	return {image.release(), [layout](Image *one) { give_back(layout, std::unique_ptr<Image>(one)); }};
}

namespace {

struct Spare : std::vector<std::unique_ptr<Image>> {
	~Spare()
	{
		for (const auto &one : *this)
			lt_guard(one->base(), one->bytes(), 0); // outstanding loans are guarded
	}
};

Spare &spare_of(uint64_t bytes)
{
	thread_local std::map<uint64_t, Spare> all;
	return all[bytes];
}

std::unique_ptr<Image> take(uint64_t bytes)
{
	Spare &spare = spare_of(bytes);
	if (spare.empty())
		return std::make_unique<Image>(bytes);
	std::unique_ptr<Image> memory = std::move(spare.back());
	spare.pop_back();
	return memory;
}

} // namespace

DeviceMemory::DeviceMemory(uint64_t bytes) : memory_(take(bytes)), arena_(whole()) {}

DeviceMemory::~DeviceMemory()
{
	restart();
	spare_of(memory_->bytes()).push_back(std::move(memory_));
}

void DeviceMemory::restart()
{
	lt_guard(memory_->base(), arena_.used, 0);
	arena_ = whole();
}

arena DeviceMemory::whole() { return arena_of(memory_->base(), memory_->bytes(), LT_CACHE_LINE); }

} // namespace rig
