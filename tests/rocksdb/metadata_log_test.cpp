// The metadata log: replay, rolls from zone to zone, and its handling of records that are torn,
// damaged, foreign or misplaced.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "memory_device.hpp"
#include "apps/rocksdb/store/metadata_log.hpp"

namespace hz::store {
namespace {

constexpr uint64_t log_capacity = 8;

Bytes content_of(uint64_t number, size_t bytes = 100)
{
	Bytes content(bytes);
	for (size_t i = 0; i < bytes; i++)
		content[i] = std::byte(number * 7 + i);
	return content;
}

struct MetadataLogTest : testing::Test {
	MemoryDevice device{{.zones = 5, .capacity = log_capacity, .max_active = 2}};

	void SetUp() override { MetadataLog(device).format(content_of(0)); }

	std::vector<Bytes> replayed()
	{
		std::vector<Bytes> all;
		MetadataLog(device).replay([&](std::span<const std::byte> one) { all.emplace_back(one.begin(), one.end()); });
		return all;
	}

	// The log so far, ready to go on.
	MetadataLog opened()
	{
		MetadataLog log(device);
		log.replay([](std::span<const std::byte>) {});
		return log;
	}

	std::string refusal()
	{
		try {
			replayed();
		} catch (const Damaged &e) {
			return e.what();
		}
		return "";
	}

	uint32_t log_zone()
	{
		for (uint32_t i = 0; i < MetadataLog::zones; i++)
			if (device.written(i))
				return i;
		return UINT32_MAX;
	}
};

TEST_F(MetadataLogTest, ReplaysWhatWasAppended)
{
	MetadataLog log = opened();
	EXPECT_TRUE(log.append(content_of(1)));
	EXPECT_TRUE(log.append(content_of(2, 3 * block_bytes)));
	EXPECT_EQ(replayed(), (std::vector<Bytes>{content_of(0), content_of(1), content_of(2, 3 * block_bytes)}));
}

TEST_F(MetadataLogTest, AFullZoneIsRefusedAndRolls)
{
	MetadataLog log = opened();
	const uint32_t first = log_zone();
	for (uint64_t i = 1; i < log_capacity; i++)
		EXPECT_TRUE(log.append(content_of(i)));
	EXPECT_FALSE(log.append(content_of(99)));
	log.roll(content_of(50));
	EXPECT_TRUE(log.append(content_of(51)));
	EXPECT_EQ(replayed(), (std::vector<Bytes>{content_of(50), content_of(51)}));
	EXPECT_NE(log_zone(), first);
	EXPECT_EQ(device.written(first), 0u);
}

// A cut at every step of two rolls: the log is the old one or the new one, and can go on.
TEST_F(MetadataLogTest, ACutAtAnyStepOfARoll)
{
	for (uint64_t at = 0; at < 12; at++) {
		device = MemoryDevice({.zones = 5, .capacity = log_capacity, .max_active = 2});
		MetadataLog(device).format(content_of(0));
		MetadataLog log = opened();
		device.steps_left = at;
		uint64_t done = 0;
		try {
			for (const uint64_t next : {1, 2}) {
				log.roll(content_of(next, 2 * block_bytes));
				done = next;
			}
		} catch (const PowerLost &) {
		}
		device.lose_power();
		const auto found = replayed();
		ASSERT_EQ(found.size(), 1u);
		EXPECT_TRUE(found[0] == content_of(done, done ? 2 * block_bytes : 100) || found[0] == content_of(done + 1, 2 * block_bytes))
			<< at;
		MetadataLog again = opened();
		again.roll(content_of(9));
		EXPECT_EQ(replayed(), std::vector<Bytes>{content_of(9)}) << at;
	}
}

TEST_F(MetadataLogTest, ATornRecordEndsTheLog)
{
	MetadataLog log = opened();
	EXPECT_TRUE(log.append(content_of(1)));
	device.steps_left = 2;
	EXPECT_THROW(log.append(content_of(2, 3 * block_bytes)), PowerLost);
	device.lose_power();
	EXPECT_EQ(replayed().size(), 2u);
}

// Any changed bit of acknowledged data is damage: header, content, first record or last.
TEST_F(MetadataLogTest, ADamagedRecordIsRefused)
{
	MetadataLog log = opened();
	EXPECT_TRUE(log.append(content_of(1)));
	Bytes &data = device.zone[log_zone()].data;
	const size_t record = 40 + 100; // header and content
	for (size_t start = 0; start < data.size(); start += block_bytes)
		for (size_t at = start; at < start + record; at++) {
			data[at] ^= std::byte(1);
			EXPECT_NE(refusal(), "") << at;
			data[at] ^= std::byte(1);
		}
	EXPECT_EQ(replayed().size(), 2u);
}

TEST_F(MetadataLogTest, RecordsInAWrongPlaceAreRefused)
{
	MetadataLog log = opened();
	for (uint64_t i = 1; i < 4; i++)
		EXPECT_TRUE(log.append(content_of(i)));
	Bytes &data = device.zone[log_zone()].data;
	std::swap_ranges(data.begin() + block_bytes, data.begin() + 2 * block_bytes, data.begin() + 2 * block_bytes);
	EXPECT_NE(refusal().find("has record 2 of generation 1 where 1 of 1 was expected"), std::string::npos) << refusal();
	data.erase(data.begin(), data.begin() + block_bytes);
	EXPECT_NE(refusal().find("the log begins with record"), std::string::npos) << refusal();
}

TEST_F(MetadataLogTest, AnEmptyOrForeignDeviceIsReported)
{
	device = MemoryDevice({.zones = 5, .capacity = log_capacity, .max_active = 2});
	EXPECT_NE(refusal().find("holds no files"), std::string::npos) << refusal();
	device.write(1, 0, Bytes(block_bytes, std::byte(0x5a)), Safety::durable);
	EXPECT_NE(refusal().find("another program wrote there"), std::string::npos) << refusal();
	MetadataLog(device).format(content_of(3));
	EXPECT_EQ(replayed(), std::vector<Bytes>{content_of(3)});
}

TEST_F(MetadataLogTest, AReadOnlyZoneIsPassedOver)
{
	MetadataLog log = opened();
	device.zone[(log_zone() + 1) % MetadataLog::zones].writable = false;
	log.roll(content_of(1));
	log.roll(content_of(2));
	EXPECT_EQ(replayed(), std::vector<Bytes>{content_of(2)});
}

TEST_F(MetadataLogTest, ASnapshotBeyondAZoneIsRefused)
{
	MetadataLog log = opened();
	EXPECT_THROW(log.roll(content_of(1, log_capacity * block_bytes)), NoSpace);
	EXPECT_EQ(replayed().size(), 1u);
}

} // namespace
} // namespace hz::store
