// CachedDevice: blocks that may have changed are dropped before the command, so that one that fails leaves none of them.
// SPDX-License-Identifier: BSD-3-Clause
#include "storage/cached_device.hpp"

#include <algorithm>
#include <cstring>

namespace hz::store {

namespace {

// Plain blocks and those of each zone have keys of their own.
uint64_t key_of(uint32_t zone, uint64_t block) { return (uint64_t(zone) + 1) << 32 | block; }

} // namespace

// All of these blocks, or none.
bool CachedDevice::find(uint64_t key, std::span<std::byte> data)
{
	const uint64_t blocks = data.size() / block_bytes;
	for (uint64_t i = 0; i < blocks; i++)
		if (!places_.contains(key + i)) {
			counters_.misses += blocks;
			return false;
		}
	for (uint64_t i = 0; i < blocks; i++) {
		const Place place = places_.at(key + i);
		std::memcpy(data.data() + i * block_bytes, place->data.data(), block_bytes);
		blocks_.splice(blocks_.begin(), blocks_, place);
	}
	counters_.hits += blocks;
	return true;
}

void CachedDevice::keep(uint64_t key, std::span<const std::byte> data)
{
	drop(key, data.size() / block_bytes);
	for (; !data.empty(); data = data.subspan(block_bytes)) {
		blocks_.push_front({key, {data.begin(), data.begin() + block_bytes}});
		places_[key++] = blocks_.begin();
		if (blocks_.size() > most_) {
			places_.erase(blocks_.back().key);
			blocks_.pop_back();
		}
	}
}

void CachedDevice::drop(uint64_t key, uint64_t blocks)
{
	for (; blocks; blocks--, key++)
		if (const auto found = places_.find(key); found != places_.end()) {
			blocks_.erase(found->second);
			places_.erase(found);
		}
}

void CachedDevice::write(uint32_t zone, uint64_t block, std::span<const std::byte> data, Safety safety)
{
	drop(key_of(zone, block), data.size() / block_bytes);
	device_.write(zone, block, data, safety);
	keep(key_of(zone, block), data);
}

void CachedDevice::read(uint32_t zone, uint64_t block, std::span<std::byte> data)
{
	if (find(key_of(zone, block), data))
		return;
	device_.read(zone, block, data);
	keep(key_of(zone, block), data);
}

void CachedDevice::reset(uint32_t zone)
{
	drop(key_of(zone, 0), shape().capacity);
	device_.reset(zone);
}

bool CachedDevice::overwrite(uint32_t zone, uint64_t block, std::span<const std::byte> data)
{
	drop(key_of(zone, block), data.size() / block_bytes);
	if (!device_.overwrite(zone, block, data))
		return false;
	keep(key_of(zone, block), data);
	return true;
}

void CachedDevice::copy(uint32_t zone, uint64_t block, std::span<const CopySource> from)
{
	for (uint64_t to = block; const CopySource &source : from) {
		drop(key_of(zone, to), source.blocks);
		to += source.blocks;
	}
	device_.copy(zone, block, from);
}

void CachedDevice::write_plain(uint64_t block, std::span<const std::byte> data, Safety safety)
{
	drop(block, data.size() / block_bytes);
	device_.write_plain(block, data, safety);
	keep(block, data);
}

void CachedDevice::read_plain(uint64_t block, std::span<std::byte> data)
{
	if (find(block, data))
		return;
	device_.read_plain(block, data);
	keep(block, data);
}

void CachedDevice::deallocate(uint64_t block, uint64_t blocks)
{
	drop(block, blocks);
	device_.deallocate(block, blocks);
}

} // namespace hz::store
