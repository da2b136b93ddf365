// Parity over the dies of a superblock: sectors of a page, or of a whole die, are rebuilt from the rest of their stripes; in rows that are
// being written, rows that ended early, after power cuts, and while zones move.
// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"
#include "tsu/tsu_report.h"

using namespace ftl_rig;

namespace {

hz_device_config rain_config(void (*change)(hz_device_config &) = nullptr)
{
	hz_device_config cfg = ftl_config();
	use_rain(cfg);
	if (change)
		change(cfg);
	return cfg;
}

class Rain : public testing::Test {
protected:
	explicit Rain(void (*change)(hz_device_config &) = nullptr) : r(rain_config(change)) { EXPECT_TRUE(r.boot()) << r.error; }

	uint32_t capacity() const { return static_cast<uint32_t>(r.shape.zone_capacity_sectors); }
	uint32_t row() const { return r.shape.superpage_sectors; }
	void fill(uint32_t zone, uint64_t tag, uint32_t sectors = 0)
	{
		ASSERT_EQ(r.write(zone, 0, sectors ? sectors : capacity(), tag), 0);
		lt_host_run_until_idle();
	}
	void lose(uint32_t zone, uint32_t offset) { rig::flip_data(r.media, r.record_at(zone, offset)); }
	// Number, from 1, of the die of the sector.
	uint32_t die_of(uint32_t zone, uint32_t offset) { return flash_addr_of(&r.map, rig_place_of(r.ftl, zone, offset)).die_index + 1u; }
	uint32_t dies() const { return r.shape.planes / r.cfg.planes_per_die; }

	Rig r;
};

TEST_F(Rain, ADieOfASuperblockHasItsParity)
{
	EXPECT_EQ(r.shape.superblock_planes, 4u);
	EXPECT_EQ(r.shape.parity_planes, 2u);
	EXPECT_EQ(capacity(), 96u);
	fill(0, 100), fill(1, 300), fill(2, 500);
	std::set<uint32_t> used;
	for (uint32_t zone = 0; zone < 3; zone++) {
		std::set<uint32_t> of_zone;
		for (uint32_t offset = 0; offset < capacity(); offset++)
			of_zone.insert(die_of(zone, offset));
		EXPECT_EQ(of_zone.size(), dies() - 1);
		used.insert(of_zone.begin(), of_zone.end());
	}
	EXPECT_EQ(used.size(), dies()) << "parity takes turns on the dies";
	EXPECT_EQ(r.counters().parity_sectors, 3u * 48);
	EXPECT_EQ(r.check(), "");
}

TEST_F(Rain, AnUnreadableSectorIsRebuiltAndItsZoneMoves)
{
	fill(1, 100);
	const uint64_t before = r.record_at(1, 40);
	lose(1, 40);
	EXPECT_EQ(r.compare(1, 40, 1, 140), "");
	EXPECT_EQ(r.counters().rebuilt_reads, 1u);
	lt_host_run_until_idle();
	EXPECT_EQ(r.counters().refreshed_rebuilt, 1u);
	EXPECT_EQ(r.counters().rebuilt_moves, 1u);
	EXPECT_NE(r.record_at(1, 40), before) << "another superblock";
	EXPECT_EQ(r.compare(1, 0, capacity(), 100), "");
	EXPECT_EQ(r.counters().rebuilt_reads, 1u) << "its cells are good";
	EXPECT_EQ(r.counters().rebuild_failures, 0u);
	EXPECT_EQ(r.check(), "");
	ASSERT_TRUE(r.boot()) << r.error;
	EXPECT_EQ(r.compare(1, 0, capacity(), 100), "");
}

TEST_F(Rain, EachSectorCanBeRebuilt)
{
	fill(1, 100);
	for (uint32_t offset = 0; offset < capacity(); offset++) {
		lose(1, offset);
		ASSERT_EQ(r.compare(1, offset, 1, 100 + offset), "") << offset;
		lt_host_run_until_idle();
	}
	EXPECT_EQ(r.counters().rebuilt_reads, capacity());
	EXPECT_EQ(r.check(), "");
}

TEST_F(Rain, TwoLostSectorsOfAStripeStayLost)
{
	fill(1, 100);
	lose(1, 0), lose(1, 6); // planes 0 of two dies
	EXPECT_NE(die_of(1, 0), die_of(1, 6));
	Request read(FTL_READ, r.lba_of(1, 0), 1);
	EXPECT_EQ(r.run(read), NVME_UNRECOVERED_READ);
	EXPECT_EQ(r.counters().rebuild_failures, 1u);
	EXPECT_EQ(r.compare(1, 1, 5, 101), "");
	EXPECT_EQ(r.compare(1, 7, 17, 107), "");
	EXPECT_EQ(r.counters().refresh_failures, 0u);
}

TEST_F(Rain, WholePagesAreReadTogether)
{
	fill(1, 100);
	lose(1, 0), lose(1, 7), lose(1, 8), lose(1, 9), lose(1, 90); // 0 and 7 are of the same pages, but not of the same number there
	EXPECT_EQ(r.compare(1, 0, capacity(), 100), "");
	EXPECT_EQ(r.counters().rebuilt_reads, 5u);
	EXPECT_EQ(r.counters().rebuild_failures, 0u);
}

TEST_F(Rain, AReadThatFailsOnceIsRepeated)
{
	fill(1, 100);
	r.cfg.fail_read_at = 1;
	ASSERT_TRUE(r.boot()) << r.error;
	for (uint32_t at = 1; at < 200 && !r.counters().parity_read_sectors; at++) {
		r.cfg.fail_read_at = at;
		ASSERT_TRUE(r.boot()) << r.error;
		ASSERT_EQ(r.compare(1, 40, 1, 140), "");
	}
	EXPECT_GT(r.counters().parity_read_sectors, 0u) << "the host's read failed";
	EXPECT_EQ(r.counters().rebuilt_reads, 0u);
}

// A die fails: whole rows are there, whichever die it is.
TEST_F(Rain, ADeadDieCostsNoData)
{
	fill(0, 100), fill(1, 300);
	ASSERT_EQ(r.write(2, 0, 2 * row(), 500), 0);
	lt_host_run_until_idle();
	for (uint32_t die = 1; die <= dies(); die++) {
		r.cfg.failed_die = die;
		EXPECT_EQ(r.compare(0, 0, capacity(), 100), "") << die;
		EXPECT_EQ(r.compare(1, 0, capacity(), 300), "") << die;
		EXPECT_EQ(r.compare(2, 0, 2 * row(), 500), "") << die;
	}
	EXPECT_GT(r.counters().rebuilt_reads, 2 * capacity()) << "each sector is on one of the dies";
	EXPECT_EQ(r.counters().rebuild_failures, 0u);
	EXPECT_EQ(r.counters().refreshed_rebuilt, 0u) << "no superblock is without the dead die";
}

TEST_F(Rain, ADieIsDeadAtTheStart)
{
	fill(0, 100), fill(1, 300);
	ASSERT_EQ(r.shut_down_cleanly(), 0);
	for (uint32_t die = 1; die <= dies(); die++) {
		r.cfg.failed_die = die;
		ASSERT_TRUE(r.boot()) << r.error;
		EXPECT_EQ(r.compare(0, 0, capacity(), 100), "") << die;
		EXPECT_EQ(r.compare(1, 0, capacity(), 300), "") << die;
		EXPECT_EQ(r.counters().rebuild_failures, 0u);
	}
}

// The zone table has both copies of a page on planes of different dies, whatever the plane scheme.
TEST_F(Rain, ADeadDieAtTheStartTakesNoZoneTable)
{
	for (uint32_t scheme = 0; scheme < 24; scheme++)
		for (uint32_t die = 1; die <= dies(); die++)
			for (uint32_t resets = 0; resets < 4; resets++) {
				SCOPED_TRACE(testing::Message() << "scheme " << scheme << " die " << die << " resets " << resets);
				hz_device_config cfg = rain_config();
				cfg.plane_scheme = scheme;
				Rig each(cfg);
				ASSERT_TRUE(each.boot()) << each.error;
				for (uint32_t i = 0; i < resets; i++) {
					ASSERT_EQ(each.write(1, 0, 6, 50), 0);
					ASSERT_EQ(each.run_op(FTL_ZONE_RESET, 1), 0);
				}
				ASSERT_EQ(each.write(1, 0, capacity(), 100), 0);
				lt_host_run_until_idle();
				each.cfg.failed_die = die;
				ASSERT_TRUE(each.boot()) << each.error;
				ASSERT_EQ(each.compare(1, 0, capacity(), 100), "");
			}
}

// The collector of the SLC region is nearly always at work.
class RainCollected : public Rain {
protected:
	RainCollected() : Rain([](hz_device_config &cfg) { cfg.slc_gc = HZ_GC_FIFO, cfg.slc_gc_low = 6; }) {}

	// Power may go in it.
	static void ask(Rig &rig, ftl_op op, uint32_t zone, uint32_t at = 0, uint32_t sectors = 0, uint64_t tag = 0, uint8_t flags = 0)
	{
		Request request(op, rig.lba_of(zone, at), sectors, flags);
		for (uint32_t i = 0; i < sectors; i++)
			fill_sector(request.pages[i], tag + i);
		rig.submit(request);
		lt_host_run_until_idle();
	}
	static hz_log_flash flash_of(const Rig &rig)
	{
		hz_log_flash flash{};
		tsu_report(rig.tsu, &flash);
		return flash;
	}
	// Zone 1 has a record that must not be lost. Its copies are the last ones in a superblock after so many more records; single durable
	// sectors make the collector run. False: power went before the end of zone 1.
	static bool work(Rig &rig, uint32_t resets)
	{
		const uint32_t capacity = static_cast<uint32_t>(rig.shape.zone_capacity_sectors);
		ask(rig, FTL_WRITE, 1, 0, 6, 50), ask(rig, FTL_ZONE_RESET, 1), ask(rig, FTL_WRITE, 1, 0, capacity, 100);
		if (lt_load(&rig.media.off))
			return false;
		for (uint32_t i = 0; i < resets; i++)
			ask(rig, FTL_WRITE, 4, 0, 6, 50), ask(rig, FTL_ZONE_RESET, 4);
		for (uint32_t i = 0; i < 60; i++)
			ask(rig, FTL_WRITE, 2, i, 1, 1000 + i, FTL_FUA);
		return true;
	}
	// Whichever die is dead at the start, zone 1 is whole.
	static void expect_table(Rig &rig)
	{
		const std::vector<uint8_t> saved(rig.bytes(), rig.bytes() + rig.image_bytes());
		for (uint32_t die = 1; die <= rig.shape.planes / rig.cfg.planes_per_die; die++) {
			std::memcpy(rig.bytes(), saved.data(), saved.size());
			rig.cfg.failed_die = die;
			ASSERT_TRUE(rig.boot()) << rig.error;
			EXPECT_EQ(rig.compare(1, 0, static_cast<uint32_t>(rig.shape.zone_capacity_sectors), 100), "") << "die " << die;
		}
		rig.cfg.failed_die = 0;
		std::memcpy(rig.bytes(), saved.data(), saved.size());
	}
};

TEST_F(RainCollected, ADeadDieAtTheStartTakesNoZoneTable)
{
	uint64_t moved = 0;
	for (uint32_t scheme = 0; scheme < 24; scheme++)
		for (uint32_t resets = 22; resets < 25; resets++) {
			SCOPED_TRACE(testing::Message() << "scheme " << scheme << ", " << resets << " resets");
			hz_device_config cfg = r.cfg;
			cfg.plane_scheme = scheme;
			cfg.slc_gc_low = 1;
			uint64_t programs;
			{
				Rig idle(cfg);
				ASSERT_TRUE(idle.boot()) << idle.error;
				EXPECT_TRUE(work(idle, resets));
				EXPECT_EQ(idle.counters().slc_gc_sectors, 0u);
				programs = flash_of(idle).program_sectors[HZ_CAUSE_MAP];
			}
			cfg.slc_gc_low = r.cfg.slc_gc_low;
			Rig each(cfg);
			ASSERT_TRUE(each.boot()) << each.error;
			EXPECT_TRUE(work(each, resets));
			EXPECT_EQ(flash_of(each).program_sectors[HZ_CAUSE_MAP], programs) << "the collector brings them apart by itself";
			moved += each.counters().slc_gc_sectors;
			ASSERT_EQ(each.check(), "");
			expect_table(each);
		}
	EXPECT_GT(moved, 20u);
}

// Table pages of the map lie between the copies: a batch has them, too, and only the copy is programmed once more.
TEST_F(RainCollected, AnotherSectorOfTheBatchIsCopiedOnce)
{
	uint64_t again = 0;
	for (uint32_t scheme = 8; scheme < 24; scheme += 4)
		for (uint32_t resets = 4; resets < 24; resets++) {
			SCOPED_TRACE(testing::Message() << "scheme " << scheme << ", " << resets << " resets");
			hz_device_config cfg = r.cfg;
			cfg.plane_scheme = scheme;
			cfg.l2p_cache_bytes = 16 * HZ_MAP_ENTRY_BYTES;
			cfg.slc_blocks_per_plane += 4, cfg.blocks_per_plane += 4, cfg.slc_gc_low = 10;
			Rig each(cfg);
			ASSERT_TRUE(each.boot()) << each.error;
			for (uint32_t zone : {0, 3, 5})
				ask(each, FTL_WRITE, zone, 0, capacity(), 1000 * (zone + 1));
			EXPECT_TRUE(work(each, resets));
			const uint64_t unread = each.counters().slc_gc_sectors - flash_of(each).read_sectors[HZ_CAUSE_GC];
			EXPECT_LE(unread, 2u * cfg.planes_per_die);
			again += unread;
			ASSERT_EQ(each.check(), "");
			expect_table(each);
			ASSERT_TRUE(each.boot()) << each.error;
			for (uint32_t zone : {0, 3, 5})
				EXPECT_EQ(each.compare(zone, 0, capacity(), 1000 * (zone + 1)), "");
		}
	EXPECT_GT(again, 0u);
}

TEST_F(RainCollected, ADeadDieAfterAPowerCutTakesNoZoneTable)
{
	uint64_t cuts = 0;
	r.cfg.plane_scheme = 8;
	for (uint64_t op = 1; !HasFailure(); op++) {
		SCOPED_TRACE(testing::Message() << "cut " << op);
		Rig cut(r.cfg);
		nand_policy policy{};
		policy.power_cut_op = op, policy.cut_before = op % 2;
		ASSERT_TRUE(cut.boot(policy)) << cut.error;
		const bool written = work(cut, 23);
		if (!lt_load(&cut.media.off))
			break;
		if (!written)
			continue;
		cuts++;
		expect_table(cut);
		ASSERT_TRUE(cut.boot()) << cut.error;
		ASSERT_EQ(cut.check(), "");
		expect_table(cut);
	}
	EXPECT_GT(cuts, 200u);
}

// Of a row that is being written, the parity is in memory.
TEST_F(Rain, ARowIsProtectedWhileItIsWritten)
{
	for (uint32_t sectors = 6; sectors < row(); sectors += 6) {
		SCOPED_TRACE(sectors);
		ASSERT_EQ(r.run_op(FTL_ZONE_RESET, 3), 0);
		ASSERT_EQ(r.write(3, 0, row() + sectors, 700), 0);
		lt_host_run_until_idle();
		for (uint32_t die = 1; die <= dies(); die++) {
			r.cfg.failed_die = die;
			EXPECT_EQ(r.compare(3, 0, row() + sectors, 700), "") << die;
		}
		r.cfg.failed_die = 0;
	}
	EXPECT_GT(r.counters().rebuilt_reads, 0u);
	EXPECT_EQ(r.counters().rebuild_failures, 0u);
}

// After a start, and after another zone had the buffer, the row's units are read back, and its parity is right.
TEST_F(Rain, ARowGoesOnWithAnotherBuffer)
{
	ASSERT_EQ(r.write(0, 0, 12, 100), 0);
	lt_host_run_until_idle();
	ASSERT_TRUE(r.boot()) << r.error;
	const uint32_t found = static_cast<uint32_t>(r.report_zones()[0].write_pointer - r.lba_of(0));
	ASSERT_EQ(found, 12u);
	ASSERT_EQ(r.write(0, 12, capacity() - 12, 112), 0);
	lt_host_run_until_idle();
	EXPECT_EQ(r.counters().parity_read_sectors, 12u);
	EXPECT_EQ(r.check(), "");
	for (uint32_t die = 1; die <= dies(); die++) {
		r.cfg.failed_die = die;
		EXPECT_EQ(r.compare(0, 0, capacity(), 100), "") << die;
	}
}

// The unit that is read back is lost: then its row has no parity, and no wrong one.
TEST_F(Rain, ARowWithALostUnitHasNoParity)
{
	ASSERT_EQ(r.write(0, 0, 12, 100), 0);
	lt_host_run_until_idle();
	lose(0, 3);
	ASSERT_TRUE(r.boot()) << r.error;
	ASSERT_EQ(r.write(0, 12, capacity() - 12, 112), 0);
	lt_host_run_until_idle();
	EXPECT_EQ(r.compare(0, 4, capacity() - 4, 104), "");
	Request read(FTL_READ, r.lba_of(0, 3), 1);
	EXPECT_EQ(r.run(read), NVME_UNRECOVERED_READ);
	lose(0, 13);
	Request other(FTL_READ, r.lba_of(0, 13), 1);
	EXPECT_EQ(r.run(other), NVME_UNRECOVERED_READ) << "a sector of the same stripe";
	lose(0, row() + 1);
	EXPECT_EQ(r.compare(0, row() + 1, 1, 101 + row()), "") << "the next row is whole";
}

TEST_F(Rain, AFinishedZoneIsProtectedToItsEnd)
{
	uint32_t zone = 0;
	for (uint32_t sectors : {3u, 6u, 12u, 23u, 24u, 29u, 30u, 95u}) {
		SCOPED_TRACE(sectors);
		ASSERT_EQ(r.run_op(FTL_ZONE_RESET, zone), 0);
		ASSERT_EQ(r.write(zone, 0, sectors, 1000), 0);
		ASSERT_EQ(r.run_op(FTL_ZONE_FINISH, zone), 0);
		for (int start = 0; start < 2; start++) {
			for (uint32_t die = 1; die <= dies(); die++) {
				r.cfg.failed_die = die;
				EXPECT_EQ(r.compare(zone, 0, sectors, 1000), "") << die;
			}
			r.cfg.failed_die = 0;
			EXPECT_EQ(r.check(), "");
			ASSERT_TRUE(r.boot()) << r.error;
			EXPECT_EQ(r.zone_state(zone), NVME_ZS_FULL);
		}
		lose(zone, sectors - 1);
		EXPECT_EQ(r.compare(zone, 0, sectors, 1000), "");
		lt_host_run_until_idle();
		EXPECT_EQ(r.counters().refreshed_rebuilt, 1u) << "and it moves with the parity of its last row";
		for (uint32_t die = 1; die <= dies(); die++) {
			r.cfg.failed_die = die;
			EXPECT_EQ(r.compare(zone, 0, sectors, 1000), "") << die;
		}
		r.cfg.failed_die = 0;
		zone = (zone + 1) % 5;
	}
}

// Its data are good, but its last row is without parity: it moves.
TEST_F(Rain, AFinishedZoneMovesIfItsParityFails)
{
	ASSERT_EQ(r.write(1, 0, row() + 12, 100), 0);
	lt_host_run_until_idle();
	const uint32_t before = rig_place_of(r.ftl, 1, 0);
	r.cfg.fail_program_at = 1; // from now on
	ASSERT_EQ(r.run_op(FTL_ZONE_FINISH, 1), 0);
	lt_host_run_until_idle();
	EXPECT_NE(rig_place_of(r.ftl, 1, 0), before);
	EXPECT_EQ(r.check(), "");
	for (uint32_t die = 1; die <= dies(); die++) {
		r.cfg.failed_die = die;
		EXPECT_EQ(r.compare(1, 0, row() + 12, 100), "") << die;
	}
}

TEST_F(Rain, CompareAndVerifyAreRebuiltToo)
{
	fill(1, 100);
	r.cfg.failed_die = die_of(1, 40);
	Request verify(FTL_VERIFY, r.lba_of(1), capacity()), same(FTL_COMPARE, r.lba_of(1, 40), 1), other(FTL_COMPARE, r.lba_of(1, 40), 1);
	fill_sector(same.pages[0], 140), fill_sector(other.pages[0], 141);
	EXPECT_EQ(r.run(verify), 0);
	EXPECT_EQ(r.run(same), 0);
	EXPECT_EQ(r.run(other), NVME_COMPARE_FAILURE);
}

TEST_F(Rain, AMarkIsRebuiltAsAMark)
{
	ASSERT_EQ(r.write(1, 0, 40, 100), 0);
	Request mark(FTL_WRITE_UNCORRECTABLE, r.lba_of(1, 40), 1);
	ASSERT_EQ(r.run(mark), 0);
	ASSERT_EQ(r.write(1, 41, capacity() - 41, 141), 0);
	lt_host_run_until_idle();
	for (uint32_t die = 1; die <= dies(); die++) {
		r.cfg.failed_die = die;
		Request read(FTL_READ, r.lba_of(1, 40), 1);
		EXPECT_EQ(r.run(read), NVME_HZ_MARKED) << die;
		EXPECT_EQ(r.compare(1, 0, 40, 100), "") << die;
		EXPECT_EQ(r.compare(1, 41, capacity() - 41, 141), "") << die;
	}
	r.cfg.failed_die = 0;
	lose(1, 39); // the zone moves, and its mark with it
	EXPECT_EQ(r.compare(1, 39, 1, 139), "");
	lt_host_run_until_idle();
	EXPECT_EQ(r.counters().refreshed_rebuilt, 1u);
	Request read(FTL_READ, r.lba_of(1, 40), 1);
	EXPECT_EQ(r.run(read), NVME_HZ_MARKED);
	EXPECT_EQ(r.check(), "");
}

// A failed program moves the zone: its unreadable sectors are rebuilt on the way.
TEST_F(Rain, AFailedProgramMovesWhatIsRebuilt)
{
	ASSERT_EQ(r.write(1, 0, 60, 100), 0);
	lt_host_run_until_idle();
	lose(1, 7);
	const uint32_t before = rig_place_of(r.ftl, 1, 0);
	r.cfg.fail_program_at = 1; // from now on
	ASSERT_EQ(r.write(1, 60, 12, 160), 0);
	lt_host_run_until_idle();
	EXPECT_NE(rig_place_of(r.ftl, 1, 0), before);
	EXPECT_EQ(r.counters().rebuilt_moves, 1u);
	EXPECT_EQ(r.compare(1, 0, 72, 100), "");
	EXPECT_EQ(r.check(), "");
	for (uint32_t die = 1; die <= dies(); die++) {
		r.cfg.failed_die = die;
		EXPECT_EQ(r.compare(1, 0, 72, 100), "") << die;
	}
}

// A cut may leave a row's parity on flash without its last unit, or with a torn one: what is rebuilt then is right, or it is not rebuilt.
TEST_F(Rain, AfterAPowerCutNothingIsRebuiltWrong)
{
	uint64_t rebuilt = 0, cuts = 0;
	for (uint32_t before = 0; before < 2; before++)
		for (uint64_t op = 1; op < 60; op++) {
			SCOPED_TRACE(testing::Message() << "cut " << op << (before ? " before" : " inside"));
			hz_device_config cfg = rain_config();
			cfg.slow_die = 1 + op % 3, cfg.slow_percent = 1000;
			cfg.flush_unit_planes = 1 + op % 2;
			cfg.slc_blocks_per_plane += 2, cfg.blocks_per_plane += 2;
			Rig cut(cfg);
			nand_policy policy{};
			policy.power_cut_op = op, policy.cut_before = before;
			ASSERT_TRUE(cut.boot(policy)) << cut.error;
			Request a(FTL_WRITE, cut.lba_of(0), 60), b(FTL_WRITE, cut.lba_of(1), 48);
			for (uint32_t i = 0; i < 60; i++)
				fill_sector(a.pages[i], 100 + i);
			for (uint32_t i = 0; i < 48; i++)
				fill_sector(b.pages[i], 300 + i);
			cut.submit(a), cut.submit(b, 1);
			lt_host_run_until_idle();
			cuts += lt_load(&cut.media.off);
			ASSERT_TRUE(cut.boot()) << cut.error;
			ASSERT_EQ(cut.check(), "");
			auto report = cut.report_zones();
			for (uint32_t zone = 0; zone < 2; zone++)
				for (uint32_t at = 0; at < report[zone].write_pointer - report[zone].start; at++)
					for (uint32_t die = 0; die <= 3; die++) {
						cut.cfg.failed_die = die;
						Request read(FTL_READ, cut.lba_of(zone, at), 1);
						if (cut.run(read) == 0)
							ASSERT_TRUE(sector_is(read.pages[0], (zone ? 300 : 100) + at))
								<< "zone " << zone << " sector " << at << " die " << die;
						else
							ASSERT_NE(die, 0u);
					}
			rebuilt += cut.counters().rebuilt_reads;
		}
	EXPECT_GT(cuts, 50u);
	EXPECT_GT(rebuilt, 100u);
}

TEST_F(Rain, OffItRebuildsNothing)
{
	hz_device_config cfg = rain_config();
	cfg.rain = HZ_OFF;
	Rig off(cfg);
	ASSERT_TRUE(off.boot()) << off.error;
	EXPECT_EQ(off.shape.superblock_planes, 6u);
	ASSERT_EQ(off.write(1, 0, 144, 100), 0);
	lt_host_run_until_idle();
	rig::flip_data(off.media, off.record_at(1, 40));
	Request read(FTL_READ, off.lba_of(1, 40), 1);
	EXPECT_EQ(off.run(read), NVME_UNRECOVERED_READ);
	EXPECT_EQ(off.counters().parity_sectors, 0u);
}

TEST_F(Rain, AnImageKeepsWhatItWasMadeWith)
{
	r.cfg.rain = HZ_OFF;
	EXPECT_FALSE(r.boot());
	EXPECT_NE(std::string(r.error).find("made with rain, but the device config has none"), std::string::npos) << r.error;
	hz_device_config cfg = rain_config();
	cfg.rain = HZ_OFF;
	Rig off(cfg);
	ASSERT_TRUE(off.boot()) << off.error;
	off.cfg.rain = HZ_ON;
	EXPECT_FALSE(off.boot());
	EXPECT_NE(std::string(off.error).find("made without rain, but the device config has it"), std::string::npos) << off.error;
}

// Random writes of whole units, finishes and resets, starts, and a die that dies at a random moment and comes back: whole rows, and ends of
// full zones, read as written, whichever die is dead.
TEST(RainRandom, ADieMayDieAtAnyTime)
{
	const uint64_t first = environment("HARTZONE_TEST_SEED", 1), rounds = environment("HARTZONE_TEST_ROUNDS", 12);
	for (uint64_t seed = first; seed < first + rounds && !testing::Test::HasFailure(); seed++) {
		SCOPED_TRACE(testing::Message() << "HARTZONE_TEST_SEED=" << seed);
		std::mt19937_64 dice(seed);
		hz_device_config cfg = rain_config();
		cfg.write_buffers = 1 + dice() % 3;
		cfg.flush_unit_planes = dice() % 2 ? 2 : 1;
		cfg.slc_blocks_per_plane += 2, cfg.blocks_per_plane += 2;
		cfg.plane_scheme = dice() % 24;
		cfg.zone_capacity_sectors = dice() % 2 ? 96 : 78;
		cfg.l2p_kind = dice() % HZ_L2P_KINDS;
		Rig r(cfg);
		ASSERT_TRUE(r.boot()) << r.error;
		std::vector<std::vector<uint64_t>> zones(4);
		std::vector<bool> full(4);
		uint64_t tag = 1000;
		for (int step = 0; step < 60 && !testing::Test::HasFailure(); step++) {
			SCOPED_TRACE(testing::Message() << "step " << step);
			const uint32_t zone = static_cast<uint32_t>(dice() % zones.size());
			auto &tags = zones[zone];
			const uint32_t unit = cfg.flush_unit_planes * r.shape.unit_sectors;
			const uint32_t room = static_cast<uint32_t>(cfg.zone_capacity_sectors - tags.size()), what = dice() % 10;
			if (what == 0) {
				ASSERT_EQ(r.run_op(FTL_ZONE_RESET, zone), 0);
				tags.clear(), full[zone] = false;
			} else if (what == 1 && !tags.empty()) {
				ASSERT_EQ(r.run_op(FTL_ZONE_FINISH, zone), 0);
				full[zone] = true;
			} else if (what == 2) {
				ASSERT_TRUE(r.boot()) << r.error;
			} else if (room && !full[zone]) {
				const uint32_t sectors = std::min<uint32_t>(room, unit * (1 + dice() % 5));
				ASSERT_EQ(r.write(zone, static_cast<uint32_t>(tags.size()), sectors, tag), 0);
				for (uint32_t i = 0; i < sectors; i++)
					tags.push_back(tag++);
				full[zone] = tags.size() == cfg.zone_capacity_sectors;
			}
			lt_host_run_until_idle();
			ASSERT_EQ(r.check(), "");
			r.cfg.failed_die = dice() % 4;
			for (uint32_t z = 0; z < zones.size(); z++)
				for (uint32_t at = 0; at < zones[z].size(); at += 6) {
					const uint32_t open = full[z] ? UINT32_MAX
								      : zones[z].size() / r.shape.superpage_sectors *
										r.shape.superpage_sectors;
					Request read(FTL_READ, r.lba_of(z, at), std::min<uint32_t>(6, zones[z].size() - at));
					if (at >= open && r.run(read) == NVME_UNRECOVERED_READ)
						continue; // its row's parity went with the buffer
					ASSERT_EQ(r.compare(z, at, read.req.sectors, zones[z][at]), "")
						<< "zone " << z << " sector " << at << " die " << r.cfg.failed_die;
				}
			r.cfg.failed_die = 0;
		}
	}
}

} // namespace
