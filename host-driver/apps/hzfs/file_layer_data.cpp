// FileLayer: reads, writes and sizes, by way of pages in memory.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <numeric>

#include "apps/hzfs/file_layer.hpp"

namespace hz::fs {

using store::block_bytes;
using store::blocks_of;

// Counts a file's blocks after the write: data blocks without holes, and its maps.
void FileLayer::require_space(const File &file, uint64_t offset, uint64_t bytes) const
{
	const uint64_t end = blocks_of(offset + bytes);
	if (end > most_file_blocks || offset + bytes < offset)
		throw store::NoSpace("a file has at most " + std::to_string(most_file_blocks) + " blocks of 4 KiB");
	uint64_t more = 0;
	for (uint64_t block = offset / block_bytes; block < end; block++)
		more += !file.at(uint32_t(block)) && !file.dirty.contains(uint32_t(block));
	more += File::maps_for(std::max<size_t>(end, file.blocks.size())) - file.maps.size();
	if (more && used_ + more > most_blocks())
		throw store::NoSpace("the device is full: files may have " + std::to_string(most_blocks()) + " blocks");
}

void FileLayer::grow(File &file, uint64_t size)
{
	const size_t maps = File::maps_for(blocks_of(size));
	used_ += maps - file.maps.size();
	file.blocks.resize(blocks_of(size));
	file.maps.resize(maps);
	file.size = size;
	file.changed = true;
}

void FileLayer::read_block(const File &file, uint32_t block, std::span<std::byte> data)
{
	if (const auto found = file.dirty.find(block); found != file.dirty.end())
		std::memcpy(data.data(), found->second->data.data(), block_bytes);
	else if (file.at(block))
		main_.read(file.at(block), data);
	else
		std::memset(data.data(), 0, block_bytes);
}

Page &FileLayer::page_of(File &file, uint32_t block, bool overwritten)
{
	if (const auto found = file.dirty.find(block); found != file.dirty.end()) {
		found->second->moved = false;
		return *found->second;
	}
	auto page = std::make_unique<Page>();
	if (!overwritten)
		read_block(file, block, page->data);
	used_ += !file.at(block);
	dirty_like(file)++;
	return *(file.dirty[block] = std::move(page));
}

void FileLayer::write(File &file, uint64_t offset, std::span<const std::byte> data)
{
	const Lock lock(mutex_);
	background(false);
	require_space(file, offset, data.size());
	while (!data.empty()) {
		if (std::accumulate(dirty_, dirty_ + heats, uint64_t(0)) >= options_.dirty_blocks)
			write_back_all();
		const size_t skipped = offset % block_bytes, bytes = std::min(data.size(), block_bytes - skipped);
		const uint32_t block = uint32_t(offset / block_bytes);
		if (offset + bytes > file.size)
			grow(file, offset + bytes);
		Page &page = page_of(file, block, bytes == block_bytes);
		std::memcpy(page.data.data() + skipped, data.data(), bytes);
		offset += bytes;
		data = data.subspan(bytes);
	}
}

// Number of blocks from this one on, up to a limit, that are contiguous in a section and have no
// page in memory.
uint32_t FileLayer::row_of(const File &file, uint32_t block, uint32_t most) const
{
	const Address first = file.at(block);
	uint32_t count = 1;
	for (; count < most; count++)
		if (!first || file.at(block + count) != first + count || main_.section_of(first) != main_.section_of(first + count) ||
		    file.dirty.contains(block + count))
			break;
	return file.dirty.contains(block) ? 1 : count;
}

size_t FileLayer::read(const File &file, uint64_t offset, std::span<std::byte> data)
{
	const Lock lock(mutex_);
	background(true);
	const size_t all = offset < file.size ? size_t(std::min<uint64_t>(data.size(), file.size - offset)) : 0;
	store::Bytes row;
	for (size_t done = 0; done < all;) {
		const size_t skipped = (offset + done) % block_bytes;
		const uint32_t block = uint32_t((offset + done) / block_bytes);
		const uint32_t count = row_of(file, block, uint32_t(blocks_of(skipped + all - done)));
		row.resize(count * block_bytes);
		if (count > 1)
			main_.read(file.at(block), row);
		else
			read_block(file, block, row);
		const size_t bytes = std::min(all - done, row.size() - skipped);
		std::memcpy(data.data() + done, row.data() + skipped, bytes);
		done += bytes;
	}
	return all;
}

// Truncate the in-memory state; the caller has released the blocks, or keeps them as superseded.
void FileLayer::cut_off(File &file, uint64_t size)
{
	const size_t left = blocks_of(size);
	for (size_t block = left; block < file.blocks.size(); block++)
		used_ -= file.blocks[block] || file.dirty.contains(uint32_t(block));
	const auto first = file.dirty.lower_bound(uint32_t(left));
	dirty_like(file) -= uint64_t(std::distance(first, file.dirty.end()));
	file.dirty.erase(first, file.dirty.end());
	const size_t maps = File::maps_for(left);
	used_ -= file.maps.size() - maps;
	file.changed_maps.erase(file.changed_maps.lower_bound(uint32_t(maps)), file.changed_maps.end());
	file.blocks.resize(left);
	file.maps.resize(maps);
	file.size = size;
}

void FileLayer::resize(File &file, uint64_t size)
{
	const Lock lock(mutex_);
	if (size == file.size)
		return;
	if (size > file.size) {
		require_space(file, size, 0);
		return grow(file, size);
	}
	const size_t left = blocks_of(size);
	const uint32_t last = uint32_t(size / block_bytes);
	if (size % block_bytes && (file.at(last) || file.dirty.contains(last))) {
		auto &data = page_of(file, last, false).data;
		std::fill(data.begin() + ptrdiff_t(size % block_bytes), data.end(), std::byte(0));
	}
	for (size_t block = left; block < file.blocks.size(); block++)
		if (file.blocks[block])
			file.superseded.push_back(file.blocks[block]);
	for (size_t map = File::maps_for(left); map < file.maps.size(); map++)
		if (file.maps[map])
			file.superseded.push_back(file.maps[map]);
	cut_off(file, size);
	if (left > direct_blocks)
		file.changed_maps.insert(uint32_t(File::maps_for(left) - 1));
	file.changed = true;
}

} // namespace hz::fs
