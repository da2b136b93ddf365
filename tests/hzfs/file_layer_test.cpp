// hzfs: contents and names of files, what a sync costs, a device that is full, refuses writes, is damaged or too small.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "devices.hpp"
#include "apps/hzfs/sealed_block.hpp"

namespace hz::fs {
namespace {

using store::block_bytes;
using store::Bytes;
using store::Damaged;
using store::DeviceError;
using store::MemoryDevice;
using store::NoSpace;

constexpr store::DeviceShape zones{.zones = 34, .capacity = 64, .max_active = 6, .plain = 16};
constexpr store::DeviceShape block_device{.plain = 2048};

class Layer : public testing::Test {
protected:
	explicit Layer(const store::DeviceShape &shape = zones, const Options &options = {}) : device(shape), options_(options)
	{
		FileLayer::format(device);
		start();
	}
	void start() { layer = std::make_unique<FileLayer>(device, options_); }
	void cut(uint64_t kept = 0)
	{
		layer = nullptr;
		device.lose_power(kept);
		start();
	}
	void put(const std::string &name, const Bytes &data, Heat heat = Heat::warm)
	{
		FileLayer::Handle file = layer->open(name);
		if (!file)
			file = layer->create(name, heat);
		layer->write(*file, 0, data);
		layer->sync(*file);
	}
	std::string refusal()
	{
		try {
			layer = nullptr;
			start();
			return "";
		} catch (const Damaged &e) {
			return e.what();
		}
	}

	MemoryDevice device;
	Options options_;
	std::unique_ptr<FileLayer> layer;
};

class BlockLayer : public Layer {
protected:
	BlockLayer() : Layer(block_device, {.in_place = true}) {}
};

TEST_F(Layer, FilesAreWhatWasWritten)
{
	const Bytes all = some_bytes(700 * block_bytes + 5, 1); // with a map
	put("a", all);
	for (int i = 0; i < 2; i++) {
		FileLayer::Handle file = layer->open("a");
		for (const size_t at : {size_t(0), size_t(4095), direct_blocks * block_bytes - 50, all.size() - 1, all.size()}) {
			Bytes part(100);
			const size_t have = std::min<size_t>(part.size(), all.size() - at);
			EXPECT_EQ(layer->read(*file, at, part), have);
			EXPECT_TRUE(std::equal(part.begin(), part.begin() + ptrdiff_t(have), all.begin() + ptrdiff_t(at)));
		}
		EXPECT_TRUE(content_of(*layer, "a") == all);
		file.reset();
		cut();
	}
	EXPECT_EQ(layer->names(), std::set<std::string>{"a"});
	EXPECT_EQ(layer->create("a", Heat::hot), nullptr);
	EXPECT_EQ(layer->create("", Heat::hot), nullptr);
	EXPECT_FALSE(layer->remove("b"));
	EXPECT_FALSE(layer->rename("b", "c"));
}

TEST_F(Layer, WhatWasNeverWrittenIsZero)
{
	const FileLayer::Handle file = layer->create("a", Heat::warm);
	layer->write(*file, 800 * block_bytes + 10, some_bytes(20, 1));
	layer->write(*file, 3, some_bytes(2, 2));
	layer->sync(*file);
	EXPECT_EQ(layer->space().used, 2u + 1 + 1) << "blocks, inode, map";
	Bytes expected(800 * block_bytes + 30);
	std::ranges::copy(some_bytes(20, 1), expected.end() - 20);
	std::ranges::copy(some_bytes(2, 2), expected.begin() + 3);
	EXPECT_TRUE(content_of(*layer, "a") == expected);
	layer->resize(*file, 4);
	layer->resize(*file, 900 * block_bytes);
	layer->sync(*file);
	Bytes cut_off(900 * block_bytes);
	std::copy_n(expected.begin(), 4, cut_off.begin());
	EXPECT_TRUE(content_of(*layer, "a") == cut_off);
	layer->resize(*file, 0);
	layer->sync(*file);
	EXPECT_EQ(layer->space().used, 1u);
}

TEST_F(Layer, ARemovedFileIsReadByThoseWhoHaveIt)
{
	const Bytes data = some_bytes(30000, 3);
	put("a", data);
	FileLayer::Handle file = layer->open("a");
	EXPECT_TRUE(layer->remove("a"));
	put("a", some_bytes(10, 4));
	Bytes found(data.size());
	EXPECT_EQ(layer->read(*file, 0, found), data.size());
	EXPECT_TRUE(found == data);
	const uint64_t used = layer->space().used;
	file.reset();
	EXPECT_LT(layer->space().used, used);
	EXPECT_EQ(content_of(*layer, "a"), some_bytes(10, 4));
}

TEST_F(Layer, ASyncOfABlockIsTwoDurableWrites)
{
	put("a", some_bytes(block_bytes, 1), Heat::hot);
	put("b", some_bytes(64 * block_bytes, 1));
	const uint64_t writes = device.blocks_written, steps = device.steps;
	put("a", some_bytes(block_bytes, 2));
	EXPECT_EQ(device.blocks_written, writes + 2);
	EXPECT_EQ(device.steps, steps + 2) << "no flush";
	EXPECT_EQ(layer->counters().node_blocks, 3u);
	layer->sync(*layer->open("a"));
	EXPECT_EQ(device.steps, steps + 2) << "nothing has changed";
}

TEST_F(Layer, HotWarmAndColdDataLieApart)
{
	for (const Heat heat : {Heat::hot, Heat::warm, Heat::cold})
		put(std::to_string(int(heat)), some_bytes(5 * block_bytes, 1), heat);
	EXPECT_EQ(device.active(), 4u) << "and the inodes";
}

TEST_F(Layer, AFullDeviceSaysSoAndTakesDataAgain)
{
	const Bytes data = some_bytes(8 * block_bytes, 4);
	int files = 0;
	const auto fill = [&] {
		for (;; files++)
			put("f" + std::to_string(files), data);
	};
	EXPECT_THROW(fill(), NoSpace);
	EXPECT_GT(files, 150);
	for (int round = 0; round < 6; round++)
		for (int i = round % 2; i < files; i += 2) {
			put("f" + std::to_string(i), some_bytes(data.size(), uint64_t(i + round)));
			ASSERT_FALSE(HasFatalFailure());
		}
	EXPECT_GT(layer->counters().moved_blocks, 0u);
	for (int i = 0; i < files; i++)
		ASSERT_TRUE(content_of(*layer, "f" + std::to_string(i)) == some_bytes(data.size(), uint64_t(i + (i % 2 ? 5 : 4)))) << i;
	EXPECT_TRUE(layer->remove("f0"));
	EXPECT_TRUE(layer->remove("f1"));
	EXPECT_NO_THROW(put("again", data));
	EXPECT_THROW(layer->write(*layer->create("large", Heat::warm), 0, some_bytes(300 * block_bytes, 1)), NoSpace);
	EXPECT_EQ(layer->size(*layer->open("large")), 0u) << "and nothing was written";
}

TEST_F(Layer, AZoneThatBecomesReadOnlyLosesNothing)
{
	const Bytes old = some_bytes(9000, 1), data = some_bytes(9000, 2);
	put("a", old);
	for (uint32_t i = 0; i < zones.zones; i++) {
		if (!device.written(i))
			continue;
		device.zone[i].writable = false;
		EXPECT_THROW(put("a", some_bytes(9000, i + 3)), DeviceError);
		EXPECT_NO_THROW(layer->sync(*layer->open("a")));
		EXPECT_TRUE(content_of(*layer, "a") == some_bytes(9000, i + 3));
		cut();
		EXPECT_TRUE(content_of(*layer, "a") == some_bytes(9000, i + 3));
		device.zone[i].writable = true;
		if (i > 3)
			break;
	}
}

TEST_F(Layer, DamageIsReported)
{
	put("a", some_bytes(600 * block_bytes, 1));
	layer->sync_all();
	put("b", some_bytes(100, 2));
	put("c", some_bytes(100, 3));
	layer = nullptr;
	unsigned inodes = 0, maps = 0;
	for (auto &zone : device.zone)
		for (size_t at = 0; at < zone.data.size(); at += block_bytes) {
			const auto block = std::span(zone.data).subspan(at, block_bytes);
			const auto inode = decode_inode(block);
			inodes += inode.has_value();
			maps += decode_pointers(block).has_value();
			if (!inode && !decode_pointers(block))
				continue;
			MemoryDevice kept = device;
			block[100] ^= std::byte(1);
			EXPECT_NE(refusal().find("damaged"), std::string::npos) << (inode ? inode->name : "map");
			device = kept;
		}
	EXPECT_EQ(inodes, 3u);
	EXPECT_EQ(maps, 1u);
	for (size_t block = 0; block < 4; block++) {
		MemoryDevice kept = device;
		device.plain[block * block_bytes + 50] ^= std::byte(1);
		if (std::ranges::any_of(std::span(kept.plain).subspan(block * block_bytes, block_bytes),
					[](std::byte one) { return one != std::byte(0); }) &&
		    block < 3) {
			EXPECT_NE(refusal().find("damaged"), std::string::npos) << block;
		}
		device = kept;
	}
	EXPECT_EQ(refusal(), "");
}

TEST_F(Layer, LostDurableDataAreReported)
{
	put("a", some_bytes(9000, 1));
	layer = nullptr;
	for (auto &zone : device.zone)
		if (zone.data.size() == 3 * block_bytes)
			zone.data.resize(block_bytes);
	EXPECT_NE(refusal().find("durable data were lost"), std::string::npos) << refusal();
}

TEST_F(Layer, NamesAndNumbersHaveLimits)
{
	EXPECT_THROW(layer->create(std::string(most_name + 1, 'x'), Heat::warm), NoSpace);
	EXPECT_NE(layer->create(std::string(most_name, 'x'), Heat::warm), nullptr);
	const FileLayer::Handle file = layer->create("a", Heat::warm);
	EXPECT_THROW(layer->resize(*file, (most_file_blocks + 1) * block_bytes), NoSpace);
	EXPECT_THROW(layer->write(*file, UINT64_MAX - 5, some_bytes(10, 1)), NoSpace);
	EXPECT_EQ(layer->size(*file), 0u);
	const auto fill = [&] {
		for (int i = 0;; i++)
			layer->create("n" + std::to_string(i), Heat::warm);
	};
	EXPECT_THROW(fill(), NoSpace);
}

TEST(Devices, ThatAreTooSmallOrForeignAreRefused)
{
	const auto sentence = [](const store::DeviceShape &shape) -> std::string {
		MemoryDevice device(shape);
		try {
			FileLayer::format(device);
			return "";
		} catch (const DeviceError &e) {
			return e.what();
		}
	};
	EXPECT_NE(sentence({.zones = 12, .capacity = 96, .max_active = 6}).find("conventional zones"), std::string::npos);
	EXPECT_NE(sentence({.zones = 5, .capacity = 96, .max_active = 6, .plain = 9}).find("hzfs needs 6"), std::string::npos);
	EXPECT_NE(sentence({.zones = 12, .capacity = 96, .max_active = 1, .plain = 9}).find("1 active zones: hzfs needs 2"),
		  std::string::npos);
	EXPECT_EQ(sentence({.zones = 6, .capacity = 96, .max_active = 2, .plain = 9}), "");
	EXPECT_EQ(sentence({.plain = 64}), "");
	EXPECT_NE(sentence({.plain = 30}), "");
	MemoryDevice device(zones);
	EXPECT_TRUE(FileLayer::is_blank(device));
	EXPECT_THROW(FileLayer layer(device), Damaged);
	device.write(3, 0, some_bytes(block_bytes, 1), store::Safety::durable);
	EXPECT_FALSE(FileLayer::is_blank(device));
	FileLayer::format(device);
	EXPECT_FALSE(FileLayer::is_blank(device));
	MemoryDevice other({.zones = 40, .capacity = 64, .max_active = 6, .plain = 16});
	other.plain = device.plain;
	EXPECT_THROW(FileLayer layer(other), Damaged);
}

TEST_F(BlockLayer, FewBlocksGoWhereTheyLie)
{
	put("a", some_bytes(20 * block_bytes, 1));
	const Counters before = layer->counters();
	const uint64_t steps = device.steps;
	const FileLayer::Handle file = layer->open("a");
	layer->write(*file, 2 * block_bytes, some_bytes(2 * block_bytes, 5));
	layer->sync(*file);
	EXPECT_EQ(layer->counters().in_place_blocks, before.in_place_blocks + 2);
	EXPECT_EQ(layer->counters().node_blocks, before.node_blocks);
	EXPECT_EQ(device.steps, steps + 2);
	put("a", some_bytes(20 * block_bytes, 6));
	EXPECT_EQ(layer->counters().in_place_blocks, before.in_place_blocks + 2) << "many go to the log";
	EXPECT_TRUE(content_of(*layer, "a") == some_bytes(20 * block_bytes, 6));
}

// Stale data beyond the inode's end of file would be read when the file grows later.
TEST_F(BlockLayer, AFileThatHasGrownWithinABlockIsWrittenElsewhere)
{
	put("a", some_bytes(100, 1));
	device.steps_left = 1; // its data arrive, its inode does not
	EXPECT_THROW(put("a", some_bytes(200, 1)), store::PowerLost);
	cut();
	const FileLayer::Handle file = layer->open("a");
	ASSERT_EQ(layer->size(*file), 100u);
	layer->resize(*file, 200);
	Bytes expected = some_bytes(100, 1);
	expected.resize(200);
	EXPECT_TRUE(content_of(*layer, "a") == expected);
}

TEST_F(BlockLayer, DeadSectionsAreDeallocated)
{
	put("a", some_bytes(500 * block_bytes, 1));
	EXPECT_TRUE(layer->remove("a"));
	uint64_t zeros = 0;
	for (size_t at = 0; at < device.plain.size(); at += block_bytes)
		zeros += std::ranges::all_of(std::span(device.plain).subspan(at, block_bytes),
					     [](std::byte one) { return one == std::byte(0); });
	EXPECT_GT(zeros, 1900u);
}

class SlackLayer : public Layer {
protected:
	SlackLayer() : Layer(block_device, {.slack = true}) {}
};

// Scattered blocks of a nearly full device are overwritten: dead blocks take the new data, and
// nothing is moved.
TEST_F(SlackLayer, DeadBlocksTakeData)
{
	const uint64_t blocks = layer->space().total * 9 / 10;
	put("a", some_bytes(blocks * block_bytes, 1));
	Bytes expected = some_bytes(blocks * block_bytes, 1);
	for (uint64_t round = 0; round < 6; round++)
		for (uint64_t block = round % 2; block < blocks; block += 40) {
			const FileLayer::Handle file = layer->open("a");
			const Bytes data = some_bytes(block_bytes, block + round);
			layer->write(*file, block * block_bytes, data);
			std::ranges::copy(data, expected.begin() + ptrdiff_t(block * block_bytes));
			layer->sync(*file);
		}
	const Counters counters = layer->counters();
	EXPECT_GT(counters.slack_blocks, 50u);
	EXPECT_EQ(counters.moved_blocks, 0u);
	EXPECT_TRUE(content_of(*layer, "a") == expected);
	cut();
	EXPECT_TRUE(content_of(*layer, "a") == expected);
}

// Filling gaps costs order, so it waits until sections are few.
TEST_F(SlackLayer, DataGoToEmptySectionsWhileThereAreMany)
{
	put("a", some_bytes(300 * block_bytes, 1));
	for (uint64_t round = 0; round < 3; round++) {
		const FileLayer::Handle file = layer->open("a");
		for (uint64_t block = 0; block < 300; block += 3)
			layer->write(*file, block * block_bytes, some_bytes(block_bytes, round));
		layer->sync(*file);
	}
	EXPECT_EQ(layer->counters().slack_blocks, 0u);
}

TEST_F(Layer, ZonesHaveNoSlack)
{
	layer = nullptr;
	EXPECT_THROW(FileLayer(device, {.slack = true}), store::DeviceError);
}

} // namespace
} // namespace hz::fs
