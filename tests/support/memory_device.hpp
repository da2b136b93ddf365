// MemoryDevice: a device in memory that keeps the rules strictly, can lose power after any command, and shows its blocks to be damaged.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "storage/bytes.hpp"
#include "storage/zoned_device.hpp"

namespace hz::store {

struct PowerLost : DeviceError {
	using DeviceError::DeviceError;
};

class MemoryDevice : public ZonedDevice {
public:
	struct Zone {
		Bytes data;
		uint64_t durable = 0; // blocks
		bool writable = true;
	};

	explicit MemoryDevice(const DeviceShape &shape) : zone(shape.zones), plain(shape.plain * block_bytes), shape_(shape) {}

	const DeviceShape &shape() const override { return shape_; }
	ZoneState state(uint32_t at) override { return {written(at), zone[at].writable}; }

	void write(uint32_t at, uint64_t block, std::span<const std::byte> data, Safety safety) override
	{
		require(zone[at].writable, "the zone is read only");
		require(block == written(at), "not at the write pointer");
		require(data.size() % block_bytes == 0 && block + data.size() / block_bytes <= shape_.capacity, "not within the zone");
		// A cut within a command leaves the blocks before it.
		for (; !data.empty(); data = data.subspan(block_bytes)) {
			step();
			zone[at].data.insert(zone[at].data.end(), data.begin(), data.begin() + block_bytes);
			if (safety == Safety::durable)
				zone[at].durable = written(at);
		}
		require(active() <= shape_.max_active || !shape_.max_active, "too many active zones");
		blocks_written++;
	}

	void read(uint32_t at, uint64_t block, std::span<std::byte> data) override
	{
		require(data.size() % block_bytes == 0 && block + data.size() / block_bytes <= written(at), "nothing was written there");
		std::copy_n(zone[at].data.begin() + ptrdiff_t(block * block_bytes), data.size(), data.begin());
	}

	bool can_overwrite() const override { return in_place_budget != 0; }
	bool overwrite(uint32_t at, uint64_t block, std::span<const std::byte> data) override
	{
		require(data.size() == block_bytes && block < written(at), "nothing was written there");
		if (in_place + 1 > in_place_budget)
			return false;
		step();
		in_place++;
		std::copy(data.begin(), data.end(), zone[at].data.begin() + ptrdiff_t(block * block_bytes));
		return true;
	}
	bool can_copy() const override { return true; }
	void copy(uint32_t at, uint64_t block, std::span<const CopySource> from) override
	{
		Bytes data;
		for (const CopySource &one : from) {
			Bytes part(one.blocks * block_bytes);
			read(one.zone, one.block, part);
			data.insert(data.end(), part.begin(), part.end());
		}
		write(at, block, data, Safety::until_flush);
		copies++;
	}

	void reset(uint32_t at) override
	{
		require(zone[at].writable, "the zone is read only");
		step();
		zone[at].data.clear();
		zone[at].durable = 0;
		in_place = 0;
		resets++;
	}

	void write_plain(uint64_t block, std::span<const std::byte> data, Safety safety) override
	{
		require(data.size() % block_bytes == 0 && block + data.size() / block_bytes <= shape_.plain, "not a plain block");
		for (; !data.empty(); data = data.subspan(block_bytes), block++) {
			step();
			put_plain(block, data.first(block_bytes), safety == Safety::durable);
		}
		blocks_written++;
	}

	void read_plain(uint64_t block, std::span<std::byte> data) override
	{
		require(data.size() % block_bytes == 0 && block + data.size() / block_bytes <= shape_.plain, "not a plain block");
		std::copy_n(plain.begin() + ptrdiff_t(block * block_bytes), data.size(), data.begin());
	}

	void deallocate(uint64_t block, uint64_t blocks) override
	{
		require(block + blocks <= shape_.plain, "not a plain block");
		step();
		for (; blocks--; block++)
			put_plain(block, Bytes(block_bytes), false);
	}

	void flush() override
	{
		step();
		for (uint32_t i = 0; i < zone.size(); i++)
			zone[i].durable = written(i);
		durable_plain_.clear();
	}

	// State after a power cut; `kept`: number of non-durable blocks that have arrived in each
	// zone anyway, and of plain blocks about that share out of three.
	void lose_power(uint64_t kept = 0)
	{
		for (uint32_t i = 0; i < zone.size(); i++)
			zone[i].data.resize(std::min(written(i), zone[i].durable + kept) * block_bytes);
		for (const auto &[block, before] : durable_plain_)
			if ((block * 2654435761u >> 7) % 3 >= kept)
				std::copy(before.begin(), before.end(), plain.begin() + ptrdiff_t(block * block_bytes));
		steps_left = UINT64_MAX;
		flush();
	}

	uint64_t written(uint32_t at) const { return zone[at].data.size() / block_bytes; }
	uint32_t active() const
	{
		return uint32_t(std::count_if(zone.begin(), zone.end(), [this](const Zone &one) {
			return !one.data.empty() && one.data.size() < shape_.capacity * block_bytes;
		}));
	}

	std::vector<Zone> zone;
	Bytes plain;                                 // as it is read
	uint64_t steps_left = UINT64_MAX, steps = 0; // blocks written, resets and flushes until the power is gone
	uint64_t resets = 0, blocks_written = 0, copies = 0;
	uint64_t in_place = 0, in_place_budget = 0; // blocks since the last reset of a zone, which gives all of it back

private:
	static void require(bool holds, const char *sentence)
	{
		if (!holds)
			throw DeviceError(sentence);
	}
	void put_plain(uint64_t block, std::span<const std::byte> data, bool durable)
	{
		const auto at = plain.begin() + ptrdiff_t(block * block_bytes);
		if (durable)
			durable_plain_.erase(block);
		else
			durable_plain_.try_emplace(block, at, at + ptrdiff_t(block_bytes));
		std::copy(data.begin(), data.end(), at);
	}
	void step()
	{
		if (!steps_left)
			throw PowerLost("the power is gone");
		steps_left--;
		steps++;
	}

	DeviceShape shape_;
	std::map<uint64_t, Bytes> durable_plain_; // blocks whose durable content differs from the current one
};

} // namespace hz::store
