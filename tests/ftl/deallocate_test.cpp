// Deallocation of conventional sectors: they read as zeros, now and after every power cut that follows a flush, and cost the collector
// nothing.
// SPDX-License-Identifier: BSD-3-Clause
#include "conventional_model.hpp"
#include "l2p_rig.hpp"

using namespace ftl_rig;

namespace {

uint16_t deallocate(Rig &rig, const std::vector<nvme_dsm_range> &ranges, uint8_t flags = 0)
{
	Request request(FTL_DEALLOCATE, 0, 1, flags);
	request.name_ranges(ranges);
	return rig.run(request);
}

hz_device_config config_of(bool mapped) { return mapped ? mapped_conventional_config(true) : conventional_config(true); }

} // namespace

class Deallocate : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Maps, Deallocate, testing::Bool(), [](const auto &test) { return test.param ? "Mapped" : "Flat"; });

TEST_P(Deallocate, RangesInAnyOrderOverlapping)
{
	Rig rig(config_of(GetParam()));
	ASSERT_TRUE(rig.boot()) << rig.error;
	ConventionalDriver driver(rig, 1);
	driver.fill();
	std::vector<nvme_dsm_range> ranges = {{0, 5, 300},  {0, 100, 90}, {7, 0, 2},
					      {0, 20, 180}, {0, 1, 0},    {0, 1, driver.sector_count() - 1}};
	while (ranges.size() < NVME_DSM_RANGES)
		ranges.push_back({0, 1, 200 + 2 * (ranges.size() % 30)});
	ASSERT_EQ(deallocate(rig, ranges), 0);
	for (const nvme_dsm_range &range : ranges)
		for (uint32_t i = 0; i < range.nlb; i++)
			driver.sectors[range.slba + i].write(UINT64_MAX, 0);
	driver.verify_all();
	EXPECT_GT(rig.counters().deallocated_sectors, 120u);
	EXPECT_LT(rig.counters().deallocated_sectors, 170u) << "overlapping ranges count once";
	ASSERT_EQ(rig.check(), "");
}

TEST_P(Deallocate, NothingHappensIfARangeDoesNotExist)
{
	Rig rig(config_of(GetParam()));
	ASSERT_TRUE(rig.boot()) << rig.error;
	ConventionalDriver driver(rig, 1);
	driver.fill();
	const uint64_t end = rig.shape.namespace_sectors;
	for (nvme_dsm_range bad : {nvme_dsm_range{0, 1, end}, {0, 2, end - 1}, {0, 1, UINT64_MAX}, {0, UINT32_MAX, 1}})
		EXPECT_EQ(deallocate(rig, {{0, 10, 0}, bad}), NVME_LBA_OUT_OF_RANGE | NVME_DNR);
	driver.verify_all();
	EXPECT_EQ(rig.counters().deallocated_sectors, 0u);
}

TEST_P(Deallocate, ANamespaceMayBeSmallerThanItsFlash)
{
	Rig rig(config_of(GetParam()));
	ASSERT_TRUE(rig.boot()) << rig.error;
	ConventionalDriver driver(rig, 1);
	driver.fill();
	const uint64_t end = driver.sector_count() / 2;
	auto deallocate_in = [&](const nvme_dsm_range &range) {
		Request request(FTL_DEALLOCATE, 0, 1);
		request.name_ranges({range});
		request.req.namespace_sectors = end;
		return rig.run(request);
	};
	for (nvme_dsm_range bad : {nvme_dsm_range{0, 1, end}, {0, 2, end - 1}})
		EXPECT_EQ(deallocate_in(bad), NVME_LBA_OUT_OF_RANGE | NVME_DNR);
	EXPECT_EQ(rig.counters().deallocated_sectors, 0u);
	EXPECT_EQ(deallocate_in({0, 1, end - 1}), 0);
	EXPECT_EQ(rig.counters().deallocated_sectors, 1u);
}

// Sequential zones: their part of the range stays.
TEST(DeallocateZoned, SequentialZonesKeepTheirData)
{
	Rig rig(conventional_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	Request write(FTL_WRITE, rig.lba_of(4), 8);
	for (auto *page : write.pages)
		fill_sector(page, 9);
	ASSERT_EQ(rig.run(write), 0);
	ConventionalDriver driver(rig, 1);
	driver.fill();
	ASSERT_EQ(deallocate(rig, {{0, static_cast<uint32_t>(rig.shape.namespace_sectors), 0}}), 0);
	Request read(FTL_READ, rig.lba_of(4), 8), gone(FTL_READ, 0, 8);
	ASSERT_EQ(rig.run(read), 0);
	ASSERT_EQ(rig.run(gone), 0);
	EXPECT_TRUE(sector_is(read.pages[7], 9));
	EXPECT_TRUE(sector_is(gone.pages[0], 0));
	EXPECT_EQ(rig.counters().deallocated_sectors, driver.sector_count());
}

// After the flush no mount finds them again: neither a full scan, nor one after the collector has moved everything.
TEST_P(Deallocate, NeverComesBackAfterAFlush)
{
	for (bool durable : {false, true}) {
		Rig rig(config_of(GetParam()));
		ASSERT_TRUE(rig.boot()) << rig.error;
		ConventionalDriver driver(rig, 1);
		driver.fill();
		driver.fill(48);
		ASSERT_TRUE(driver.run_batch({{FTL_FLUSH, 0, 0}}));
		ASSERT_TRUE(driver.run_batch({{FTL_DEALLOCATE, 50, 200, static_cast<uint8_t>(durable ? FTL_FUA : 0)}}));
		ASSERT_TRUE(durable || driver.run_batch({{FTL_FLUSH, 0, 0}}));
		ASSERT_TRUE(driver.run_batch({{FTL_WRITE, 60, 20}}));
		const uint32_t cache = rig.cfg.l2p_cache_bytes;
		for (int boot = 0; boot < 6; boot++) {
			rig.cfg.l2p_cache_bytes = boot % 3 == 1 ? 0 : cache; // the map in RAM: everything is scanned
			ASSERT_TRUE(rig.boot()) << rig.error;
			driver.check_recovered();
			ASSERT_FALSE(HasFailure());
			for (int i = 0; i < 10; i++)
				ASSERT_TRUE(driver.run_batch({{FTL_WRITE, 260 + driver.roll(100), 40}, {FTL_WRITE, driver.roll(20), 20}}));
			ASSERT_EQ(rig.check(), "");
		}
		EXPECT_GT(rig.counters().conventional_gc_runs, 0u);
	}
}

// The purpose: deallocated sectors are not copied.
TEST_P(Deallocate, TheCollectorGains)
{
	uint64_t copied[2];
	for (bool trims : {false, true}) {
		Rig rig(config_of(GetParam()));
		ASSERT_TRUE(rig.boot()) << rig.error;
		ConventionalDriver driver(rig, 1);
		driver.fill();
		for (int i = 0; i < 200; i++) {
			uint32_t at = driver.roll(driver.sector_count() - 16);
			ASSERT_TRUE(!trims || driver.run_batch({{FTL_DEALLOCATE, driver.roll(driver.sector_count()), 32}}));
			ASSERT_TRUE(driver.run_batch({{FTL_WRITE, at, 16}}));
		}
		driver.verify_all();
		ASSERT_EQ(rig.check(), "");
		copied[trims] = rig.counters().conventional_gc_sectors;
	}
	EXPECT_LT(copied[1] * 4, copied[0]) << "less than a quarter of the copies";
}

// Many deallocations among random operations, cut again and again.
class DeallocateChain : public testing::TestWithParam<int> {};

TEST_P(DeallocateChain, OfCuts)
{
	const auto seed = static_cast<uint64_t>(GetParam());
	hz_device_config cfg = seed % 2 ? mapped_conventional_config(seed % 3) : conventional_config(seed % 3);
	cfg.conventional_buffers = 1 + seed % 3;
	cfg.slc_program_sectors = 1 + seed / 2 % 2;
	Rig rig(cfg);
	ConventionalDriver driver(rig, seed);
	driver.deallocations = 30;
	ASSERT_TRUE(rig.boot()) << rig.error;
	driver.fill();
	for (int boot = 0; boot < 25; boot++) {
		nand_policy policy{};
		policy.power_cut_op = 1 + driver.roll(150);
		policy.cut_before = driver.roll(2);
		SCOPED_TRACE(testing::Message() << "boot " << boot << " cut " << policy.power_cut_op);
		rig.cfg.l2p_cache_bytes = boot % 5 == 4 ? 0 : cfg.l2p_cache_bytes;
		ASSERT_TRUE(rig.boot(policy)) << rig.error;
		driver.check_recovered();
		while (!HasFailure() && driver.run_batch(driver.random_batch()))
			;
		ASSERT_FALSE(HasFailure());
	}
}
INSTANTIATE_TEST_SUITE_P(Seeds, DeallocateChain, testing::Range(1, 13));

// hartzone.h promises it, with any map: the map of zones has no part for conventional sectors.
TEST(DeallocateSequential, ChangesNothing)
{
	hz_device_config of_zones = ftl_config();
	of_zones.l2p_kind = HZ_L2P_KIND_ZONE;
	for (const hz_device_config &cfg : {ftl_config(), map_config(), of_zones, conventional_config()}) {
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		const uint32_t zone = rig.shape.conventional_zones;
		ASSERT_EQ(rig.write(zone, 0, 30, 1), 0);
		for (uint8_t flags : {0, int(FTL_FUA)})
			EXPECT_EQ(deallocate(rig, {{0, 8, rig.lba_of(zone)}, {0, 0, rig.lba_of(zone, 3)}, {0, 90, rig.lba_of(zone, 20)}},
					     flags),
				  0);
		EXPECT_EQ(deallocate(rig, {{0, 1, rig.shape.namespace_sectors}}), NVME_LBA_OUT_OF_RANGE | NVME_DNR);
		EXPECT_EQ(rig.compare(zone, 0, 30, 1), "");
		EXPECT_EQ(rig.counters().deallocated_sectors, 0u);
		EXPECT_EQ(rig.check(), "");
	}
}
