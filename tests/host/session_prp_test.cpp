// Property tests of PRP building: walking the result as a device does gives the bytes back, whatever offset and length.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>
#include <unistd.h>

#include "session/machine/error.hpp"
#include "session/nvme/prp.hpp"

namespace {

using hz::BusAddress;

constexpr uint64_t page = 4096;

struct RegionFile {
	std::filesystem::path path = std::filesystem::temp_directory_path() / ("hz-prp-" + std::to_string(getpid()));
	hz::Region region = hz::Region::create(path, 16 << 20, hz_device_config{}, false);
	~RegionFile() { std::filesystem::remove(path); }
};

uint64_t word_at(const hz::Region &region, BusAddress where)
{
	uint64_t value;
	std::memcpy(&value, region.at(where, 8), 8);
	return value;
}

// Pages of a transfer as the specification lets a controller find them; also counts the list entries that it read.
std::vector<BusAddress> walk(const hz::Region &region, hz::PrpPair pair, uint64_t bytes, uint64_t &entries)
{
	std::vector<BusAddress> segments{pair.prp1};
	entries = 0;
	uint64_t left = bytes - std::min(bytes, page - pair.prp1 % page);
	if (left && left <= page) {
		segments.push_back(pair.prp2);
		return segments;
	}
	BusAddress list = pair.prp2;
	while (left) {
		bool last_slot = list % page == page - 8;
		uint64_t entry = word_at(region, list);
		if (last_slot && left > page) {
			list = entry;
			continue;
		}
		entries++;
		segments.push_back(entry);
		left -= std::min(left, page);
		list += 8;
	}
	return segments;
}

TEST(Prp, RandomTransfersAreFoundByTheDevice)
{
	uint64_t seed = std::random_device{}();
	SCOPED_TRACE("seed " + std::to_string(seed));
	std::mt19937_64 random(seed);
	RegionFile file;
	for (int round = 0; round < 4000; round++) {
		uint64_t offset = random() % (page / 4) * 4;
		uint64_t bytes = random() % 8 == 0 ? 1 + random() % (4 << 20) : 1 + random() % (512 << 10);
		uint64_t count = (offset + bytes + page - 1) / page;
		std::vector<BusAddress> pages(count);
		for (auto &p : pages)
			p = (1024 + random() % 2048) * page;
		BusAddress list = HZ_SHM_HEAP_OFFSET + random() % 512 * 8;
		auto pair = hz::build_prps(file.region, pages, offset, bytes, list);
		uint64_t entries;
		auto found = walk(file.region, pair, bytes, entries);
		pages[0] += offset;
		ASSERT_EQ(found, pages) << "offset " << offset << " bytes " << bytes << " list " << list;
		ASSERT_EQ(entries, hz::prp_list_entries(offset, bytes));
	}
}

TEST(Prp, BoundariesOfTheTwoEmbeddedEntries)
{
	RegionFile file;
	BusAddress data = HZ_SHM_HEAP_OFFSET + 16 * page, list = HZ_SHM_HEAP_OFFSET;
	auto one = hz::build_prps(file.region, data, page, list);
	EXPECT_EQ(one.prp1, data);
	EXPECT_EQ(one.prp2, 0u);
	auto two = hz::build_prps(file.region, data, page + 4, list);
	EXPECT_EQ(two.prp2, data + page);
	auto offset = hz::build_prps(file.region, data + 8, page, list);
	EXPECT_EQ(offset.prp1, data + 8);
	EXPECT_EQ(offset.prp2, data + page);
	auto three = hz::build_prps(file.region, data, 2 * page + 4, list);
	EXPECT_EQ(three.prp2, list);
	EXPECT_EQ(word_at(file.region, list), data + page);
	EXPECT_EQ(word_at(file.region, list + 8), data + 2 * page);
	EXPECT_EQ(hz::build_prps(file.region, data, 0, list).prp1, 0u);
}

TEST(Prp, RefusesWhatADeviceWouldRefuse)
{
	RegionFile file;
	BusAddress data = HZ_SHM_HEAP_OFFSET + 16 * page;
	EXPECT_THROW(hz::build_prps(file.region, data + 2, page, HZ_SHM_HEAP_OFFSET), hz::Error);
	EXPECT_THROW(hz::build_prps(file.region, data, 4 * page, HZ_SHM_HEAP_OFFSET + 4), hz::Error);
	EXPECT_THROW(hz::build_prps(file.region, data, 4 * page, (16 << 20) - 8), hz::Error);
}

TEST(Region, RefusesAddressesOutside)
{
	RegionFile file;
	EXPECT_THROW(file.region.at(16 << 20, 1), hz::Error);
	EXPECT_THROW(file.region.at(~0ull, 2), hz::Error);
	EXPECT_NO_THROW(file.region.at((16 << 20) - 1, 1));
}

TEST(Region, AttachSharesTheFileAndRefusesAnother)
{
	RegionFile file;
	auto other = hz::Region::attach(file.path);
	file.region.at(HZ_SHM_HEAP_OFFSET, 1)[0] = std::byte{42};
	EXPECT_EQ(other.at(HZ_SHM_HEAP_OFFSET, 1)[0], std::byte{42});
	file.region.header().magic = 1;
	EXPECT_THROW(hz::Region::attach(file.path), hz::Error);
	EXPECT_THROW(hz::Region::create(file.path, 12 << 20, hz_device_config{}, false), hz::Error);
}

} // namespace
