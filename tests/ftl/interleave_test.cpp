// The same FTL with its harts interleaved at any access to a shared word, by a seed: an order met by real threads once in a thousand
// runs, or never on this machine, comes here in each run, and again with the same seed.
// Environment: HARTZONE_TEST_SEED is the first seed, HARTZONE_TEST_ROUNDS how many follow one another.
// SPDX-License-Identifier: BSD-3-Clause
#include "host_queues.hpp"
#include "inside.h"
#include "model.hpp"

using namespace ftl_rig;

namespace {

// Some harts stand still for a few accesses, some for thousands.
void interleave(uint64_t seed) { lt_host_interleave(seed, 4u << seed % 8); }

template <typename F> void each_seed(uint64_t usual_rounds, F body)
{
	uint64_t first = environment("HARTZONE_TEST_SEED", 0), rounds = environment("HARTZONE_TEST_ROUNDS", usual_rounds);
	for (uint64_t seed = first; seed < first + rounds && !testing::Test::HasFailure(); seed++) {
		SCOPED_TRACE(testing::Message() << "HARTZONE_TEST_SEED=" << seed);
		body(seed);
	}
}
template <typename F> void each_seed(F body) { each_seed(3, body); }

// Random batches, four times until a cut; in between everything is checked.
template <typename D> void cut_batches(Rig &rig, D &driver, uint64_t seed)
{
	for (int boot = 0; boot < 4; boot++) {
		nand_policy policy{};
		policy.power_cut_op = 1 + driver.roll(300);
		policy.cut_before = driver.roll(2);
		SCOPED_TRACE(testing::Message() << "boot " << boot << " cut " << policy.power_cut_op);
		ASSERT_TRUE(rig.boot()) << rig.error;
		driver.check_recovered(); // and zones may move
		ASSERT_TRUE(rig.boot(policy)) << rig.error;
		interleave(seed + boot);
		while (!testing::Test::HasFailure() && driver.run_batch(driver.random_batch()))
			;
		ASSERT_FALSE(testing::Test::HasFailure());
	}
}

class InterleavedZones : public testing::TestWithParam<int> {};
class InterleavedConventional : public testing::TestWithParam<int> {};

} // namespace

TEST_P(InterleavedZones, QueuesShareEverything)
{
	each_seed([](uint64_t seed) {
		Rig rig(with_locks(zone_variant(GetParam()), seed + GetParam()));
		ASSERT_TRUE(rig.boot()) << rig.error;
		interleave(seed);
		contest<ZoneQueue>(rig, seed * 100, 300, lt_host_run_until_idle);
	});
}
// A flush noted a zone's landed offset, and waited for another one; then the zone was reset, and had sectors behind a unit that was not
// programmed any more. The flush took them for its goal, the reset dropped them, and the flush never ended: seeds 14 and 9.
TEST(InterleavedMap, AFlushDoesNotWaitForWhatAResetThrowsAway)
{
	for (int variant : {5, 7})
		each_seed(16, [variant](uint64_t seed) {
			Rig rig(with_locks(zone_variant(variant), seed + static_cast<uint64_t>(variant)));
			ASSERT_TRUE(rig.boot()) << rig.error;
			interleave(seed);
			contest<ZoneQueue>(rig, seed * 100, 300, lt_host_run_until_idle);
		});
}
TEST_P(InterleavedZones, ZonesLiveAndDie)
{
	each_seed([](uint64_t seed) {
		hz_device_config cfg = with_locks(zone_variant(GetParam()), seed + GetParam());
		if (!cfg.plp_bytes)
			cfg.write_buffers = 2 + static_cast<uint32_t>(seed % 5);
		if (cfg.buffer_pool_bytes && !cfg.plp_bytes)
			share_memory(cfg, static_cast<uint32_t>(seed % 50));
		use_long_zones(cfg);
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		interleave(seed);
		contest<LifeQueue>(rig, seed * 100, 200, lt_host_run_until_idle);
	});
}
TEST_P(InterleavedZones, EveryCommandSideBySide)
{
	each_seed([](uint64_t seed) {
		Rig rig(with_locks(zone_variant(GetParam()), seed + GetParam()));
		ASSERT_TRUE(rig.boot()) << rig.error;
		Driver driver(rig, seed);
		interleave(seed);
		for (int i = 0; i < 60; i++)
			ASSERT_TRUE(driver.run_batch(driver.random_batch()));
		driver.verify_all();
		EXPECT_EQ(rig.check(), "");
	});
}
TEST_P(InterleavedZones, TheControllerIsResetInTheMidstOfIt)
{
	each_seed([](uint64_t seed) {
		hz_device_config cfg = with_locks(zone_variant(GetParam()), seed + GetParam());
		cfg.max_open = 3;
		cfg.max_active = 5;
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		Driver driver(rig, seed);
		interleave(seed);
		for (int i = 0; i < 30 && !testing::Test::HasFailure(); i++) {
			driver.run_cancelled_batch(driver.random_batch(12), driver.roll(400000));
			lt_host_run_until_idle();
			driver.check_cancelled();
		}
	});
}
// A zone's writes wait for the active budget while another zone drains, and go on while later ones arrive.
TEST_P(InterleavedZones, WritesKeepTheirOrderWhenTheBudgetComesFree)
{
	each_seed(20, [](uint64_t seed) {
		hz_device_config cfg = with_locks(zone_variant(GetParam()), seed + GetParam());
		cfg.max_open = cfg.max_active = 1;
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		const auto capacity = static_cast<uint32_t>(rig.shape.zone_capacity_sectors);
		std::vector<std::unique_ptr<Request>> writes;
		Request fill(FTL_WRITE, rig.lba_of(0), capacity), pace(FTL_ZONE_REPORT, 0, 0, 0, 4096);
		auto next = [&](Request &) {
			if (writes.size() == 40)
				return;
			const auto at = static_cast<uint32_t>(writes.size());
			const bool append = at % 4 == 3;
			writes.push_back(std::make_unique<Request>(append ? FTL_APPEND : FTL_WRITE, rig.lba_of(1, append ? 0 : at), 1));
			rig.submit(*writes.back(), 1);
			rig.submit(pace, 2); // the next write comes when this has been answered
		};
		fill.then = pace.then = next;
		interleave(seed);
		rig.submit(fill);
		lt_host_run_until_idle();
		ASSERT_EQ(writes.size(), 40u);
		for (uint32_t at = 0; at < writes.size(); at++) {
			ASSERT_TRUE(writes[at]->done && writes[at]->status() == 0) << writes[at]->status() << " at " << at;
			ASSERT_EQ(writes[at]->req.result, rig.lba_of(1, at));
		}
		EXPECT_EQ(rig.check(), "");
	});
}
// Several queues want the same zone while another drains: a queue that finds no draining zone any more must not forget the waiting ones.
TEST_P(InterleavedZones, NobodyIsForgottenWhenTheBudgetComesFree)
{
	each_seed(20, [](uint64_t seed) {
		hz_device_config cfg = with_locks(zone_variant(GetParam()), seed + GetParam());
		cfg.max_open = cfg.max_active = 1;
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		Request fill(FTL_WRITE, rig.lba_of(0), static_cast<uint32_t>(rig.shape.zone_capacity_sectors));
		std::vector<std::unique_ptr<Request>> appends;
		fill.then = [&](Request &) {
			for (uint32_t i = 0; i < 24; i++) {
				appends.push_back(std::make_unique<Request>(FTL_APPEND, rig.lba_of(1), 1));
				rig.submit(*appends.back(), i % rig.cfg.worker_count);
			}
		};
		interleave(seed);
		rig.submit(fill);
		lt_host_run_until_idle();
		ASSERT_EQ(appends.size(), 24u);
		for (auto &append : appends)
			ASSERT_TRUE(append->done && append->status() == 0) << append->status();
		EXPECT_EQ(rig.check(), "");
	});
}
// Many queues open zones implicitly beyond the limit: each makes room, and no one is refused because another has not done so yet. One zone
// is opened by command and keeps its place; the others take turns.
TEST_P(InterleavedZones, ImplicitlyOpenedZonesMakeRoomForEveryone)
{
	each_seed(40, [](uint64_t seed) {
		hz_device_config cfg = with_locks(zone_variant(GetParam()), seed + GetParam());
		cfg.max_open = 3;
		cfg.max_active = 8;
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		std::vector<std::unique_ptr<Request>> commands;
		interleave(seed);
		for (uint32_t i = 0; i < 48; i++) {
			const uint32_t zone = i % 8;
			const bool opens = zone == 1 && i / 8 % 2;
			commands.push_back(std::make_unique<Request>(opens ? FTL_ZONE_OPEN : FTL_APPEND, rig.lba_of(zone), opens ? 0 : 1));
			rig.submit(*commands.back(), i % rig.cfg.worker_count);
		}
		lt_host_run_until_idle();
		for (auto &command : commands)
			ASSERT_TRUE(command->done && command->status() == 0)
				<< command->status() << " at zone " << command->req.lba / rig.shape.zone_size_sectors;
		EXPECT_EQ(rig.check(), "");
	});
}
// A reset comes when the last reader ends: either sees the other, and the reset goes on.
TEST(InterleavedReaders, TheLastOneMeetsAReset)
{
	each_seed(200, [](uint64_t seed) {
		Rig rig(zone_variant(0));
		ASSERT_TRUE(rig.boot()) << rig.error;
		Request fill(FTL_WRITE, rig.lba_of(0), static_cast<uint32_t>(rig.shape.zone_capacity_sectors)),
			first(FTL_READ, rig.lba_of(0), 1), last(FTL_READ, rig.lba_of(0), 1), reset(FTL_ZONE_RESET, rig.lba_of(0), 0);
		rig.submit(fill);
		lt_host_run_until_idle();
		const uint64_t from_ns = clock_now_ns();
		rig.submit(first);
		lt_host_run_until_idle();
		const uint64_t read_ns = first.answered_ns - from_ns;
		lt_host_clock_set(clock_now_ns() + 1000000);
		rig.submit(last);
		lt_host_run_until(clock_now_ns() + read_ns - 1);
		ASSERT_FALSE(last.done);
		lt_host_interleave(seed, 2u << seed % 4);
		lt_host_clock_set(clock_now_ns() + 1);
		rig.submit(reset, 1);
		lt_host_run_until_idle();
		ASSERT_TRUE(last.done && last.status() == 0) << last.status();
		ASSERT_TRUE(reset.done && reset.status() == 0) << reset.status();
		EXPECT_EQ(rig.check(), "");
	});
}
INSTANTIATE_TEST_SUITE_P(Kinds, InterleavedZones, testing::Range(0, zone_variants));

TEST_P(InterleavedConventional, QueuesOverwriteUnderTheCollector)
{
	each_seed([](uint64_t seed) {
		Rig rig(with_locks(page_variant(GetParam()), seed + GetParam()));
		ASSERT_NO_FATAL_FAILURE(fill_device(rig));
		ASSERT_TRUE(rig.boot()) << rig.error;
		interleave(seed);
		contest<ConventionalQueue>(rig, seed * 100, 300, lt_host_run_until_idle);
	});
}
TEST_P(InterleavedConventional, TheControllerIsResetInTheMidstOfIt)
{
	each_seed([](uint64_t seed) {
		Rig rig(with_locks(page_variant(GetParam()), seed + GetParam()));
		ConventionalDriver driver(rig, seed);
		ASSERT_TRUE(rig.boot()) << rig.error;
		driver.fill();
		interleave(seed);
		for (int i = 0; i < 30 && !testing::Test::HasFailure(); i++) {
			driver.run_cancelled_batch(driver.random_batch(12), driver.roll(400000));
			lt_host_run_until_idle();
			driver.check_cancelled();
			EXPECT_EQ(rig.check(), "");
		}
	});
}
// Power is cut in the midst of it, wherever the harts stand.
TEST_P(InterleavedConventional, BatchesAreCut)
{
	each_seed([](uint64_t seed) {
		Rig rig(with_locks(page_variant(GetParam()), seed + GetParam()));
		ConventionalDriver driver(rig, seed);
		ASSERT_TRUE(rig.boot()) << rig.error;
		driver.fill();
		cut_batches(rig, driver, seed);
	});
}
INSTANTIATE_TEST_SUITE_P(Policies, InterleavedConventional, testing::Range(0, conventional_variants));

class InterleavedUnits : public testing::TestWithParam<int> {};
TEST_P(InterleavedUnits, QueuesShareEverything)
{
	each_seed([](uint64_t seed) {
		Rig rig(with_locks(units_variant(GetParam()), seed + GetParam()));
		ASSERT_NO_FATAL_FAILURE(fill_device(rig));
		ASSERT_TRUE(rig.boot()) << rig.error;
		interleave(seed);
		contest<ConventionalQueue, ZoneQueue>(rig, seed * 100, 300, lt_host_run_until_idle);
	});
}
TEST_P(InterleavedUnits, BatchesAreCut)
{
	each_seed([](uint64_t seed) {
		Rig rig(with_locks(units_variant(GetParam()), seed + GetParam()));
		ASSERT_NO_FATAL_FAILURE(fill_device(rig));
		UnitsDriver driver(rig, seed);
		cut_batches(rig, driver, seed);
	});
}
INSTANTIATE_TEST_SUITE_P(Layouts, InterleavedUnits, testing::Range(0, units_variants));

// A round of the map's log gets its sequence numbers, is stopped before it merges, and meanwhile a zone is collected, reset and rewritten.
// The round then writes places younger than its number.
TEST(InterleavedMap, AZoneIsResetBetweenNumberAndMerge)
{
	hz_device_config cfg = mapped_conventional_config(true);
	cfg.l2p_cache_bytes *= 8;
	cfg.l2p_shards = 2;
	cfg.conventional_gc = HZ_GC_GREEDY;
	cfg.lock_kind[HZ_LC_L2P] = LT_LOCK_TICKET;
	cfg.harts = 5; // the last one, without a role, is this test
	Rig rig(cfg);
	ASSERT_NO_FATAL_FAILURE(fill_device(rig));
	uint64_t tag = 100;
	for (int round = 0; round < 20; round++, tag += 100) // so that victims hold nothing else
		ASSERT_EQ(rig.write(1, 0, 40, tag), 0);
	ASSERT_EQ(rig.shut_down_cleanly(), 0);
	lt_host_interleave(1, UINT32_MAX);
	ASSERT_EQ(rig.write(0, 0, 1, 7), 0);
	ASSERT_EQ(rig.write(1, 0, 40, tag), 0);
	rig_merge_map(rig.ftl);
	lt_host_run_until(clock_now_ns() + 1000); // the copies are being read
	lt_lock *held = rig_map_lock(rig.ftl, rig.lba_of(0));
	lt_lock_node node;
	lt_host_set_hart(4);
	lt_lock_acquire(held, &node);
	uint64_t resets = rig_backing_resets(rig.ftl);
	for (int round = 0; round < 40; round++, tag += 100)
		ASSERT_EQ(rig.write(1, 0, 40, tag, 0, 1), 0); // the log is worker 0's
	EXPECT_GT(rig_backing_resets(rig.ftl), resets);
	lt_lock_release(held, &node);
	lt_host_set_hart(0);
	lt_host_run_until_idle();
	for (int round = 0; round < 2; round++) {
		ASSERT_EQ(rig.write(1, 0, 40, tag), 0);
		rig_merge_map(rig.ftl);
		lt_host_run_until_idle();
		EXPECT_EQ(rig.check(), "");
	}
	EXPECT_EQ(rig.compare(1, 0, 40, tag), "");
}

// A round of the map's log is stopped between its look at the list of dirty pages and the locks for taking a page out of it. A read
// meanwhile must find the changes: the page has no copy yet.
TEST(InterleavedMap, ATablePageIsReadWhileTheLogChoosesIt)
{
	hz_device_config cfg = mapped_conventional_config(true);
	cfg.lock_kind[HZ_LC_ZONE] = LT_LOCK_TICKET;
	cfg.harts = 5; // the last one, without a role, is this test
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	lt_host_interleave(1, UINT32_MAX);
	ASSERT_EQ(rig.write(0, 0, 1, 7), 0);
	lt_lock *held = rig_zone_lock(rig.ftl, 0);
	lt_lock_node node;
	lt_host_set_hart(4);
	lt_lock_acquire(held, &node);
	rig_merge_map(rig.ftl);
	lt_host_run_until(clock_now_ns() + 1000);
	Request read(FTL_READ, rig.lba_of(0), 1);
	EXPECT_EQ(rig.run(read, 1), 0); // worker 0 has the log's round, and waits
	EXPECT_TRUE(sector_is(read.pages[0], 7));
	lt_lock_release(held, &node);
	lt_host_set_hart(0);
	lt_host_run_until_idle();
	EXPECT_EQ(rig.check(), "");
}

// A reader has looked up a place, and stands still. Meanwhile its sector is written elsewhere, and another sector to that place: under the
// lock of the zone behind it the reader sees that, and asks the map again, with and without the map's lock.
TEST(InterleavedMap, AReaderComesToAPlaceThatHoldsAnotherSector)
{
	for (const uint32_t lookups : {HZ_LOOKUPS_LOCKED, HZ_LOOKUPS_UNLOCKED}) {
		SCOPED_TRACE(testing::Message() << "lookups " << lookups);
		hz_device_config cfg = conventional_config();
		cfg.conventional_streams = 1;
		cfg.l2p_lookups = lookups;
		cfg.lock_kind[HZ_LC_ZONE] = cfg.lock_kind[HZ_LC_L2P] = LT_LOCK_TICKET;
		cfg.harts = 5; // the last one, without a role, is this test
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		ASSERT_EQ(rig.write(0, 0, 1, 7), 0);
		ASSERT_EQ(rig.shut_down_cleanly(), 0);
		const uint32_t place = rig_conventional_place(rig.ftl, 0);
		auto of_another = [&] {
			for (uint32_t i = 0; i < 8; i++)
				if (rig_conventional_place(rig.ftl, rig.lba_of(1, i)) == place)
					return true;
			return false;
		};
		lt_lock *gate = rig_zone_lock(rig.ftl, 5); // of a zone without commands
		lt_lock_node node;
		rig_wait_after_look_ups(rig.ftl, gate);
		lt_host_interleave(1, UINT32_MAX);
		lt_host_set_hart(4);
		lt_lock_acquire(gate, &node);
		Request read(FTL_READ, rig.lba_of(0), 1);
		rig.submit(read, 1);
		lt_host_run_until(clock_now_ns() + 1000);
		ASSERT_FALSE(read.done);
		for (uint64_t round = 0; round < 1000 && !of_another(); round++) {
			ASSERT_EQ(rig.write(0, 0, 1, 8), 0);
			ASSERT_EQ(rig.write(1, 0, 8, 100 * (round + 1)), 0);
		}
		ASSERT_TRUE(of_another());
		lt_lock_release(gate, &node);
		lt_host_set_hart(0);
		lt_host_run_until_idle();
		ASSERT_TRUE(read.done && read.status() == 0);
		EXPECT_TRUE(sector_is(read.pages[0], 8));
		EXPECT_EQ(rig.check(), "");
	}
}
