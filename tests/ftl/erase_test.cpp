// Erasing of user data (FTL_ERASE): behind it no good block has a record of user data, whatever was written, failed or was cut before.
// SPDX-License-Identifier: BSD-3-Clause
#include "conventional_model.hpp"
#include "model.hpp"

using namespace ftl_rig;

namespace {

bool is_bad(const hz_nand_block &block) { return block.flags & (HZ_BLOCK_BAD_FACTORY | HZ_BLOCK_BAD_GROWN); }

// Sectors with user data in blocks that are not bad, and such blocks half erased: their cells may still have anything.
uint64_t user_data(Rig &rig)
{
	uint64_t found = 0;
	for (uint64_t i = 0; i < rig::count_records(rig.media); i++) {
		const uint64_t sector = i % rig.media.oob_per_block;
		const hz_nand_block &block = rig.media.blocks[i / rig.media.oob_per_block];
		hz_nand_oob record{};
		if (is_bad(block))
			continue;
		if (sector == 0 && block.flags & HZ_BLOCK_ERASING)
			found++;
		if (sector < block.write_sector && nand_oob_load(&rig.media, i, &record))
			found += record.kind == HZ_OOB_DATA || record.kind == HZ_OOB_UPDATE || record.kind == HZ_OOB_WINDOW;
	}
	return found;
}

// 0xffff: power went.
uint16_t run_until_cut(Rig &rig, Request &r)
{
	rig.submit(r);
	for (const uint64_t give_up_ns = clock_now_ns() + 20000000000; !r.done && clock_now_ns() < give_up_ns;) {
		lt_host_run_until(clock_now_ns() + 1000000);
		if (lt_load(&rig.media.off))
			return 0xffff;
	}
	EXPECT_TRUE(r.done) << "op " << int(r.req.op);
	if (r.done)
		lt_host_run_until_idle();
	return r.done ? r.status() : 0xffff;
}

// What a format does, and its erase.
uint16_t wipe(Rig &rig)
{
	const uint32_t conventional = uint32_t(rig.shape.conventional_zones * rig.shape.zone_size_sectors);
	Request reset(FTL_ZONE_RESET, 0, 0, FTL_ALL_ZONES), offline(FTL_ZONE_OFFLINE, 0, 0, FTL_ALL_ZONES);
	Request free(FTL_DEALLOCATE, 0, 1, FTL_FUA), flush(FTL_FLUSH, 0, 0);
	free.name_ranges({{0, conventional, 0}});
	std::vector<Request *> steps{&reset, &offline, &free, &flush};
	for (Request *step : steps)
		if (step == &free && !conventional)
			continue;
		else if (const uint16_t status = run_until_cut(rig, *step); status && (status == 0xffff || step != &reset))
			return status;
	return 0;
}
uint16_t erase(Rig &rig)
{
	Request all(FTL_ERASE, 0, 0);
	return run_until_cut(rig, all);
}
uint16_t wipe_and_erase(Rig &rig)
{
	const uint16_t status = wipe(rig);
	return status ? status : erase(rig);
}

void expect_nothing(Rig &rig)
{
	EXPECT_EQ(user_data(rig), 0u);
	EXPECT_EQ(rig.check(), "");
	for (const auto &zone : rig.report_zones())
		if (zone.type == 2) {
			EXPECT_TRUE(zone.state >> 4 == NVME_ZS_EMPTY || zone.state >> 4 == NVME_ZS_OFFLINE) << int(zone.state >> 4);
		}
	for (uint32_t zone = 0; zone < rig.shape.zones; zone++)
		if (zone < rig.shape.conventional_zones || rig.zone_state(zone) == NVME_ZS_EMPTY) {
			EXPECT_EQ(rig.compare(zone, 0, 60, 0), "") << "zone " << zone;
		}
}

// It can be written; a start finds it as it was.
void expect_usable(Rig &rig)
{
	expect_nothing(rig);
	ASSERT_TRUE(rig.boot()) << rig.error;
	expect_nothing(rig);
	EXPECT_EQ(rig.found_damage().lost_sectors, 0u);
	const uint32_t last = rig.shape.zones - 1;
	if (last >= rig.shape.conventional_zones && rig.zone_state(last) == NVME_ZS_OFFLINE)
		return;
	EXPECT_EQ(rig.write(last, 0, 50, 7, FTL_FUA), 0);
	EXPECT_EQ(rig.compare(last, 0, 50, 7), "");
	EXPECT_EQ(rig.check(), "");
	ASSERT_EQ(wipe_and_erase(rig), 0);
	expect_nothing(rig);
}

struct Kind {
	const char *name;
	hz_device_config (*config)();
};
std::ostream &operator<<(std::ostream &out, const Kind &kind) { return out << kind.name; }

template <void change(hz_device_config &)> hz_device_config changed()
{
	hz_device_config cfg = ftl_config();
	cfg.slc_blocks_per_plane = 8;
	cfg.blocks_per_plane = 18;
	change(cfg);
	return cfg;
}
void shared(hz_device_config &cfg) { share_memory(cfg, 60); }
void narrow(hz_device_config &cfg) { use_planes(cfg, 2); }
void guarded(hz_device_config &cfg) { protect_memory(cfg, 40, 30); }
void idle(hz_device_config &cfg) { cfg.buffer_idle_ns = 200000, cfg.slc_program_sectors = 2, cfg.slc_gc = HZ_GC_FIFO; }
void by_zone(hz_device_config &cfg)
{
	use_slots(cfg, 30, HZ_SLOTS_LOCK_FREE, HZ_BUFFER_FLUSH_UNIT), cfg.l2p_kind = HZ_L2P_KIND_ZONE, cfg.l2p_zone_log = 1;
}
hz_device_config mixed() { return mapped_conventional_config(); }
hz_device_config block() { return conventional_config(true); }
hz_device_config mapped_block() { return mapped_conventional_config(true); }
hz_device_config block_in_slc()
{
	hz_device_config cfg = conventional_config(true);
	lay_out(cfg, false, true);
	return cfg;
}
hz_device_config patched_block()
{
	hz_device_config cfg = mapped_conventional_config(true);
	lay_out(cfg, true, false);
	return cfg;
}
hz_device_config cached_block()
{
	hz_device_config cfg = conventional_config(true);
	use_data_cache(cfg, 20, 9);
	return cfg;
}

const Kind kinds[] = {
	{"Plain", ftl_config},
	{"Patched", patched_config},
	{"Shared", changed<shared>},
	{"Narrow", changed<narrow>},
	{"Guarded", changed<guarded>},
	{"Idle", changed<idle>},
	{"ZoneMap", changed<by_zone>},
	{"Mixed", mixed},
	{"Block", block},
	{"MappedBlock", mapped_block},
	{"BlockInSlc", block_in_slc},
	{"PatchedBlock", patched_block},
	{"CachedBlock", cached_block},
};

// Runs random batches; false: power went.
template <typename Driver> bool work(Driver &driver, int batches)
{
	for (int i = 0; i < batches; i++)
		if (!driver.run_batch(driver.random_batch()))
			return false;
	return true;
}
bool work(Rig &rig, uint64_t seed, int batches)
{
	if (rig.shape.conventional_zones) {
		ConventionalDriver driver(rig, seed);
		return work(driver, batches);
	}
	Driver driver(rig, seed);
	return work(driver, batches);
}

class Erase : public testing::TestWithParam<Kind> {};

} // namespace

TEST_P(Erase, LeavesNothing)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		Rig rig(GetParam().config());
		ASSERT_TRUE(rig.boot()) << rig.error;
		ASSERT_TRUE(work(rig, seed, 40));
		EXPECT_GT(user_data(rig), 0u);
		ASSERT_EQ(wipe_and_erase(rig), 0);
		expect_usable(rig);
		ASSERT_FALSE(HasFailure());
	}
}

// A format without it leaves copies behind: they are what it is for.
TEST(EraseOf, AWipeAloneLeavesCopies)
{
	for (const Kind &kind : kinds) {
		if (std::string(kind.name) == "Guarded" || std::string(kind.name) == "CachedBlock")
			continue; /* all of it may still be in RAM */
		Rig rig(kind.config());
		ASSERT_TRUE(rig.boot()) << rig.error;
		ASSERT_TRUE(work(rig, 1, 40));
		ASSERT_EQ(wipe(rig), 0);
		EXPECT_GT(user_data(rig), 0u) << kind.name;
	}
}

namespace {

// The same start, cut at one flash operation after the other. The next one has a whole device, and the erase that it begins again
// leaves nothing. fill: writes data to the device.
template <typename Fill> void erase_with_cuts(const hz_device_config &config, Fill fill)
{
	Rig rig(config);
	uint64_t cut = 1;
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (bool more = true; more && !testing::Test::HasFailure(); cut++) {
		SCOPED_TRACE(testing::Message() << "cut " << cut);
		nand_policy policy{};
		ASSERT_NO_FATAL_FAILURE(fill(rig));
		policy.power_cut_op = cut;
		policy.cut_before = cut % 2;
		ASSERT_TRUE(rig.boot(policy)) << rig.error;
		more = wipe_and_erase(rig) == 0xffff;
		ASSERT_TRUE(rig.boot()) << rig.error;
		EXPECT_EQ(rig.check(), "");
		ASSERT_EQ(wipe_and_erase(rig), 0);
		expect_nothing(rig);
		EXPECT_EQ(ftl_in_place_sectors(rig.ftl), 0u);
	}
	EXPECT_GT(cut, 20u);
}

} // namespace

TEST_P(Erase, PowerMayGoAtAnyOperation)
{
	erase_with_cuts(GetParam().config(), [](Rig &rig) { ASSERT_TRUE(work(rig, 3, 6)); });
}

// Random write areas: their copies go with their zones.
TEST(EraseOf, WindowsLeaveNothing)
{
	hz_device_config cfg = ftl_config();
	cfg.slc_blocks_per_plane = 12, cfg.blocks_per_plane = 22;
	cfg.zrwa_count = 2, cfg.zrwa_sectors = 16, cfg.zrwa_flush_sectors = 4;
	erase_with_cuts(cfg, [](Rig &rig) {
		for (uint32_t zone : {0u, 1u}) {
			ASSERT_EQ(rig.run_op(FTL_ZONE_OPEN, zone, FTL_ZRWA), 0);
			ASSERT_EQ(rig.write(zone, 3, 20, 1000), 0);
		}
		ASSERT_GT(user_data(rig), 0u);
	});
}

// Wherever one operation fails: its block is bad and may keep its data, the rest of its superblock may not.
TEST_P(Erase, AnyOneOperationMayFail)
{
	uint64_t operations = 60;
	for (uint64_t fail = 1; fail <= operations; fail += 3) {
		SCOPED_TRACE(testing::Message() << "operation " << fail << " fails");
		Rig rig(GetParam().config());
		nand_policy policy{};
		policy.fail_op = fail;
		ASSERT_TRUE(rig.boot(policy)) << rig.error;
		ASSERT_TRUE(work(rig, 3, 6));
		ASSERT_EQ(wipe_and_erase(rig), 0);
		operations = nand_media_operations(&rig.media);
		expect_usable(rig);
		ASSERT_FALSE(HasFailure());
	}
	EXPECT_GT(operations, 60u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Erase, testing::ValuesIn(kinds), [](const auto &test) { return test.param.name; });

// A zone that cannot be written any more goes offline with its data, and a record keeps it so.
TEST(EraseOf, OfflineZonesLoseTheirData)
{
	hz_device_config cfg = ftl_config();
	cfg.normal.endurance = 1;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot());
	ASSERT_EQ(rig.write(6, 0, 50, 900, FTL_FUA), 0);
	for (int i = 0; i < 64 && rig.zone_state(7) != NVME_ZS_READ_ONLY; i++)
		if (!rig.write(7, 0, 24, 70, FTL_FUA))
			rig.run_op(FTL_ZONE_RESET, 7);
	ASSERT_EQ(rig.zone_state(7), NVME_ZS_READ_ONLY);
	ASSERT_EQ(wipe_and_erase(rig), 0);
	EXPECT_EQ(rig.zone_state(7), NVME_ZS_OFFLINE);
	expect_nothing(rig);
	for (int start = 0; start < 2; start++) {
		ASSERT_TRUE(rig.boot()) << rig.error;
		EXPECT_EQ(rig.zone_state(7), NVME_ZS_OFFLINE);
		expect_nothing(rig);
		ASSERT_EQ(rig.shut_down_cleanly(), 0);
	}
}
