// TailoredDevice: held data of a zone are always at its write pointer.
// SPDX-License-Identifier: BSD-3-Clause
#include "storage/tailored_device.hpp"

#include <algorithm>

namespace hz::store {

ZoneState TailoredDevice::state(uint32_t zone)
{
	ZoneState state = device_.state(zone);
	const auto held = held_.find(zone);
	if (held != held_.end())
		state.written = held->second.block + blocks_of(held->second.data.size());
	return state;
}

// Refused data stay held, except for the part that was written.
void TailoredDevice::send(uint32_t zone, Held &held, uint64_t blocks, Safety safety)
{
	const auto drop = [&held](uint64_t count) {
		held.data.erase(held.data.begin(), held.data.begin() + ptrdiff_t(count * block_bytes));
		held.block += count;
	};
	try {
		device_.write(zone, held.block, std::span<const std::byte>(held.data).first(blocks * block_bytes), safety);
	} catch (const DeviceError &) {
		const ZoneState now = device_.state(zone);
		if (now.writable && now.written > held.block)
			drop(std::min(now.written - held.block, blocks));
		throw;
	}
	(blocks == unit_ && held.block % unit_ == 0 ? counters_.superpages : counters_.partial)++;
	drop(blocks);
}

void TailoredDevice::write(uint32_t zone, uint64_t block, std::span<const std::byte> data, Safety safety)
{
	const auto at = held_.try_emplace(zone, Held{block, {}}).first;
	Held &held = at->second;
	if (held.block + blocks_of(held.data.size()) != block || block + blocks_of(data.size()) > shape().capacity)
		throw DeviceError("a write of a zone is not at its write pointer, or beyond its end");
	held.data.insert(held.data.end(), data.begin(), data.end());
	try {
		send_whole(zone, held, safety);
	} catch (const DeviceError &) {
		// The data of this write belong to the caller again; data held before do not.
		held.data.resize(block > held.block ? (block - held.block) * block_bytes : 0);
		if (held.data.empty())
			held_.erase(at);
		throw;
	}
	counters_.writes++;
	counters_.bytes += data.size();
	counters_.split += held.block > block && !held.data.empty();
	counters_.most_held_bytes = std::max<uint64_t>(counters_.most_held_bytes, held.data.size());
	if (held.data.empty())
		held_.erase(at);
}

// Of a durable write, all.
void TailoredDevice::send_whole(uint32_t zone, Held &held, Safety safety)
{
	while (!held.data.empty()) {
		const uint64_t there = blocks_of(held.data.size());
		const uint64_t whole = std::min(held.block - held.block % unit_ + unit_, shape().capacity) - held.block;
		if (there < whole && safety != Safety::durable)
			return;
		send(zone, held, std::min(there, whole), safety);
	}
}

void TailoredDevice::release(uint32_t zone, Safety safety)
{
	const auto held = held_.find(zone);
	if (held == held_.end())
		return;
	send(zone, held->second, blocks_of(held->second.data.size()), safety);
	held_.erase(held);
}

void TailoredDevice::read(uint32_t zone, uint64_t block, std::span<std::byte> data)
{
	const auto held = held_.find(zone);
	const uint64_t end = block + blocks_of(data.size());
	const uint64_t first = held == held_.end() ? end : std::clamp(held->second.block, block, end);
	if (first > block)
		device_.read(zone, block, data.first((first - block) * block_bytes));
	if (first == end)
		return;
	const uint64_t skipped = (first - held->second.block) * block_bytes, bytes = (end - first) * block_bytes;
	if (skipped + bytes > held->second.data.size())
		throw DeviceError("nothing was written there");
	std::copy_n(held->second.data.begin() + ptrdiff_t(skipped), bytes, data.begin() + ptrdiff_t((first - block) * block_bytes));
}

void TailoredDevice::reset(uint32_t zone)
{
	device_.reset(zone);
	held_.erase(zone);
}

void TailoredDevice::flush()
{
	while (!held_.empty())
		release(held_.begin()->first, Safety::until_flush);
	device_.flush();
}

bool TailoredDevice::overwrite(uint32_t zone, uint64_t block, std::span<const std::byte> data)
{
	release(zone, Safety::until_flush);
	return device_.overwrite(zone, block, data);
}

void TailoredDevice::copy(uint32_t zone, uint64_t block, std::span<const CopySource> from)
{
	release(zone, Safety::until_flush);
	for (const CopySource &one : from)
		release(one.zone, Safety::until_flush);
	device_.copy(zone, block, from);
}

} // namespace hz::store
