// Addresses: every scheme is a bijection between superblock offsets and sectors, and walks the planes in the order its name says.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "flash_rig.hpp"

class Scheme : public testing::TestWithParam<uint32_t> {};

static hz_device_config odd_config(uint32_t scheme)
{
	hz_device_config cfg = rig::small_config();
	cfg.channels = 3;
	cfg.chips_per_channel = 2;
	cfg.dies_per_chip = 2;
	cfg.planes_per_die = 4;
	cfg.blocks_per_plane = 5;
	cfg.pages_per_block = 12;
	cfg.cell = HZ_CELL_TLC;
	cfg.program_pages = 3;
	cfg.slc_program_sectors = 2;
	cfg.plane_scheme = scheme;
	return cfg;
}

TEST_P(Scheme, IsABijection)
{
	rig::Rig r(odd_config(GetParam()));
	for (uint32_t superblock : {0u, 1u, 2u, 4u}) {
		uint32_t sectors = superblock < 2 ? r.map.shape.slc_superblock_sectors : r.map.shape.superblock_sectors;
		uint32_t block_sectors = superblock < 2 ? 4 * 2 : 12 * 2;
		std::set<std::pair<uint32_t, uint32_t>> seen;
		ASSERT_EQ(sectors, 48 * block_sectors);
		for (uint32_t offset = 0; offset < sectors; offset++) {
			flash_addr a = flash_addr_of(&r.map, ppa_make(&r.map, superblock, offset));
			ASSERT_EQ(a.block, superblock);
			ASSERT_LT(a.sector, block_sectors);
			ASSERT_LT(a.plane_index, 48);
			ASSERT_EQ(a.plane, a.plane_index % 4);
			ASSERT_EQ(a.die_index, a.plane_index / 4);
			ASSERT_EQ(a.channel, a.plane_index / 16);
			ASSERT_TRUE(seen.emplace(a.plane_index, a.sector).second);
		}
		ASSERT_EQ(seen.size(), sectors);
	}
}

TEST_P(Scheme, VisitsThePlanesInTheOrderOfItsName)
{
	rig::Rig r(odd_config(GetParam()));
	std::string name = hz_plane_scheme_name(GetParam());
	const std::map<char, uint32_t> size = {{'C', 3}, {'W', 2}, {'D', 2}, {'P', 4}}, weight = {{'C', 16}, {'W', 8}, {'D', 4}, {'P', 1}};
	uint32_t stride = 1;
	for (char letter : name) {
		// One step of this digit moves the flat plane by its weight, and the digits before it have come round.
		for (uint32_t step = 1; step < size.at(letter); step++)
			EXPECT_EQ(flash_addr_of(&r.map, ppa_make(&r.map, 3, stride * step * 6)).plane_index, weight.at(letter) * step)
				<< name << " " << letter;
		stride *= size.at(letter);
	}
	EXPECT_EQ(flash_addr_of(&r.map, ppa_make(&r.map, 3, 48 * 6)).sector, 6u);
}

// Superblocks on a part of the planes: together they and the SLC ones are every sector of the device, each once.
TEST_P(Scheme, CoversTheDeviceWithSuperblocksOnAPartOfThePlanes)
{
	for (uint32_t planes : {1u, 3u, 16u, 48u}) {
		hz_device_config cfg = odd_config(GetParam());
		cfg.superblock_planes = planes;
		rig::Rig whole(odd_config(GetParam())), r(cfg);
		const hz_shape &shape = r.map.shape;
		std::set<std::tuple<uint32_t, uint32_t, uint32_t>> seen;
		ASSERT_EQ(shape.normal_superblocks, 3 * 48 / planes);
		for (uint32_t superblock = 0; superblock < 2 + shape.normal_superblocks; superblock++) {
			const uint32_t sectors = superblock < 2 ? shape.slc_superblock_sectors : shape.superblock_sectors;
			std::set<uint32_t> columns;
			ASSERT_EQ(flash_planes_of(&r.map, superblock), superblock < 2 ? 48 : planes);
			for (uint32_t offset = 0; offset < sectors; offset++) {
				flash_addr a = flash_addr_of(&r.map, ppa_make(&r.map, superblock, offset));
				ASSERT_LT(a.sector, superblock < 2 ? 8u : 24u);
				ASSERT_EQ(a.block < 2, superblock < 2);
				ASSERT_TRUE(seen.emplace(a.plane_index, a.block, a.sector).second);
				columns.insert(a.plane_index);
			}
			ASSERT_EQ(columns.size(), superblock < 2 ? 48 : planes);
			if (superblock < 2)
				continue;
			// The group's columns in the order of the scheme: a superblock's blocks on
			// all planes.
			const uint32_t groups = 48 / planes, group = (superblock - 2) % groups;
			for (uint32_t column = 0; column < planes; column++) {
				flash_addr a = flash_addr_of(&r.map, ppa_make(&r.map, superblock, column * 6));
				flash_addr b = flash_addr_of(&whole.map, ppa_make(&whole.map, 2, (group * planes + column) * 6));
				ASSERT_EQ(a.plane_index, b.plane_index);
				ASSERT_EQ(a.block, 2 + (superblock - 2) / groups);
				ASSERT_EQ(a.sector, 0u);
			}
		}
		ASSERT_EQ(seen.size(), 48u * (2 * 8 + 3 * 24));
	}
}

// With rain superblocks, their parity and the SLC ones are every sector of the device, each once; a stripe has a unit of each die.
TEST_P(Scheme, WithRainEachStripeIsOnAllDies)
{
	hz_device_config cfg = odd_config(GetParam());
	cfg.rain = HZ_ON;
	rig::Rig r(cfg);
	const hz_shape &shape = r.map.shape;
	const uint32_t dies = 48 / cfg.planes_per_die;
	std::set<std::tuple<uint32_t, uint32_t, uint32_t>> seen;
	std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::set<uint32_t>> stripes; // superblock, sector of the block, plane → dies
	std::set<uint32_t> parity_dies;
	ASSERT_EQ(shape.superblock_planes, 48 - cfg.planes_per_die);
	for (uint32_t superblock = 2; superblock < 2 + shape.normal_superblocks; superblock++) {
		ASSERT_EQ(flash_blocks_of(&r.map, superblock), 48u);
		for (uint32_t offset = 0; offset < 48 * 24; offset++) {
			const bool data = offset < shape.superblock_sectors;
			const ppa_t ppa = data ? ppa_make(&r.map, superblock, offset)
					       : ppa_make(&r.map, flash_parity_of(&r.map, superblock), offset - shape.superblock_sectors);
			const flash_addr a = flash_addr_of(&r.map, ppa);
			ASSERT_EQ(a.block, superblock);
			ASSERT_TRUE(seen.emplace(a.plane_index, a.block, a.sector).second);
			ASSERT_TRUE(stripes[std::make_tuple(superblock, a.sector, a.plane)].insert(a.die_index).second);
			if (!data)
				parity_dies.insert(a.die_index);
			if (!data || offset % 6)
				continue;
			const struct flash_stripe_at at = flash_stripe_at(&r.map, superblock, offset);
			ASSERT_EQ(at.row, a.sector / 6);
			ASSERT_EQ(at.plane, a.plane);
			ASSERT_EQ(flash_block_of(&r.map, superblock, at.column, 6), ppa_make(&r.map, superblock, at.column * 6));
		}
	}
	ASSERT_EQ(seen.size(), 48u * 3 * 24);
	ASSERT_EQ(parity_dies.size(), std::min(3u, dies)) << "of three superblocks each on another die";
	for (const auto &[stripe, on] : stripes)
		ASSERT_EQ(on.size(), dies);
}

INSTANTIATE_TEST_SUITE_P(All, Scheme, testing::Range(0u, 24u), [](const auto &param) { return hz_plane_scheme_name(param.param); });

TEST(Addresses, AreRightForTheLargestDevice)
{
	hz_device_config cfg = rig::small_config();
	cfg.channels = 64;
	cfg.chips_per_channel = 16;
	cfg.planes_per_die = 4;
	cfg.page_bytes = 16384;
	cfg.pages_per_block = 1536;
	cfg.cell = HZ_CELL_TLC;
	cfg.program_pages = 3;
	cfg.blocks_per_plane = 32;
	cfg.media_mode = HZ_MEDIA_TIMING_ONLY;
	rig::DeviceMemory memory(1 << 20); // for the map alone: media of this size take long to make
	flash_map map{};
	flash_map_init(&map, &memory.space(), &cfg);
	const uint32_t unit = 12, planes = 4096;
	for (uint64_t offset = 0; offset < map.shape.superblock_sectors; offset += 9973) {
		flash_addr a = flash_addr_of(&map, ppa_make(&map, 31, static_cast<uint32_t>(offset)));
		ASSERT_EQ(a.plane_index, offset / unit % planes);
		ASSERT_EQ(a.sector, offset / unit / planes * unit + offset % unit);
		ASSERT_EQ(a.block, 31u);
	}
}

// The addresses of each namespace are its window, each sector once; the windows have nothing in common, and the table of owners agrees.
TEST_P(Scheme, NamespacesShareNoSector)
{
	hz_device_config cfg = odd_config(GetParam());
	cfg.blocks_per_plane = 9;
	cfg.slc_blocks_per_plane = 3;
	cfg.namespaces = 5;
	const uint32_t channels[] = {hz_range_word(0, 1), hz_range_word(0, 1), hz_range_word(2, 2), hz_range_word(2, 2),
				     hz_range_word(2, 2)};
	const uint32_t dies[] = {0, 0, hz_range_word(0, 0), hz_range_word(1, 1), hz_range_word(1, 1)};
	std::copy_n(channels, 5, cfg.namespace_channels);
	std::copy_n(dies, 5, cfg.namespace_dies);
	rig::DeviceMemory memory(16 << 20);
	std::set<std::tuple<uint32_t, uint32_t, uint32_t>> seen;
	hz_window windows[5];
	for (uint32_t number = 0; number < 5; number++)
		hz_window_of(&cfg, number, &windows[number]);
	for (uint32_t number = 0; number < 5; number++) {
		hz_device_config own;
		flash_map map;
		hz_namespace_config(&cfg, number, &own);
		flash_map_init_window(&map, &memory.space(), &own, &cfg, &windows[number]);
		EXPECT_EQ(map.shape.planes, number < 2 ? 2u * 2 * 2 * 4 : 1u * 2 * 1 * 4);
		for (uint32_t superblock = 0; superblock < map.shape.slc_superblocks + map.shape.normal_superblocks; superblock++) {
			const bool slc = superblock < map.shape.slc_superblocks;
			const uint32_t sectors = slc ? map.shape.slc_superblock_sectors : map.shape.superblock_sectors;
			for (uint32_t offset = 0; offset < sectors; offset++) {
				const flash_addr a = flash_addr_of(&map, ppa_make(&map, superblock, offset));
				ASSERT_EQ(hz_window_at(&cfg, windows, a.plane_index, a.block), number);
				ASSERT_EQ(a.block < cfg.slc_blocks_per_plane, slc);
				ASSERT_EQ(a.die_index, a.plane_index / 4);
				ASSERT_EQ(a.plane, a.plane_index % 4);
				ASSERT_EQ(a.channel, a.plane_index / 16);
				ASSERT_TRUE(seen.emplace(a.plane_index, a.block, a.sector).second);
			}
		}
	}
	EXPECT_EQ(hz_nvm_set(&cfg, 0), 1u);
	EXPECT_EQ(hz_nvm_set(&cfg, 1), 1u);
	EXPECT_EQ(hz_nvm_set(&cfg, 2), 2u);
	EXPECT_EQ(hz_nvm_set(&cfg, 4), 3u);
}
