// The media: stored data, refusals, and the state after a power cut.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>

#include "damage.hpp"
#include "flash_rig.hpp"

using rig::Rig;
using rig::Txn;

namespace {

struct Sectors {
	std::vector<uint8_t> bytes;
	std::vector<uint8_t *> pages;
	std::vector<hz_oob> oob;
	sgl list{};

	explicit Sectors(uint32_t count, uint8_t fill = 0) : bytes(count * 4096ull, fill), oob(count)
	{
		for (uint32_t i = 0; i < count; i++) {
			pages.push_back(bytes.data() + i * 4096ull);
			oob[i] = {100 + i, 7 + i, {3}, HZ_OOB_DATA, 2, 0};
		}
		list = {pages.data(), 0, static_cast<uint32_t>(bytes.size())};
	}
};

nand_status program(Rig &r, uint32_t block, uint32_t sector, uint32_t count, uint8_t fill = 0x5a)
{
	Sectors s(count, fill);
	return r.media.nand.ops->program(&r.media.nand, r.addr(0, block, sector), count, &s.list, 0, s.oob.data());
}

nand_status erase(Rig &r, uint32_t block) { return r.media.nand.ops->erase(&r.media.nand, r.addr(0, block, 0)); }

nand_status read(Rig &r, uint32_t block, uint32_t sector, uint32_t count, Sectors *out = nullptr)
{
	Sectors s(count);
	nand_status status = r.media.nand.ops->read(&r.media.nand, r.addr(0, block, sector), count, &s.list, 0, s.oob.data());
	if (out)
		*out = s, out->list.memory = nullptr;
	return status;
}

} // namespace

TEST(Media, KeepsDataAndOobOverARestartAndForgetsThemOnErase)
{
	hz_device_config cfg = rig::small_config();
	std::mt19937_64 random(42);
	Sectors wrote(2), got(2);
	for (auto &byte : wrote.bytes)
		byte = static_cast<uint8_t>(random());
	auto first = std::make_unique<Rig>(cfg);
	auto image = first->image();
	ASSERT_EQ(first->media.nand.ops->program(&first->media.nand, first->addr(0, 4, 0), 2, &wrote.list, 0, wrote.oob.data()), NAND_OK);
	first.reset();
	Rig second(cfg, nullptr, image);
	ASSERT_EQ(second.mount_error, nullptr);
	ASSERT_EQ(read(second, 4, 0, 2, &got), NAND_OK);
	EXPECT_EQ(got.bytes, wrote.bytes);
	EXPECT_EQ(got.oob[1].lpa, 8u);
	EXPECT_EQ(got.oob[1].sequence, 101u);
	EXPECT_EQ(got.oob[1].generation, 3u);
	EXPECT_EQ(got.oob[1].kind, HZ_OOB_DATA);
	EXPECT_EQ(got.oob[1].stream, 2);
	ASSERT_EQ(erase(second, 4), NAND_OK);
	ASSERT_EQ(read(second, 4, 0, 2, &got), NAND_OK);
	EXPECT_EQ(got.oob[0].kind, HZ_OOB_ERASED);
	EXPECT_EQ(got.bytes, std::vector<uint8_t>(8192, 0));
	EXPECT_EQ(second.media.nand.ops->block(&second.media.nand, second.addr(0, 4, 0))->erase_count, 1u);
}

TEST(Media, KeepsThePowerHistoryInTheImage)
{
	const hz_device_config cfg = rig::small_config();
	std::shared_ptr<rig::Image> image;
	auto history_of = [](Rig &r) {
		nand_history out;
		r.media.nand.ops->history(&r.media.nand, &out);
		return out;
	};
	for (bool shuts_down : {true, false, true}) {
		Rig r(cfg, nullptr, image);
		image = r.image();
		r.media.nand.ops->shut_down(&r.media.nand, shuts_down);
	}
	Rig fourth(cfg, nullptr, image);
	EXPECT_EQ(history_of(fourth).power_cycles, 4u);
	EXPECT_EQ(history_of(fourth).unsafe_shutdowns, 1u);
	fourth.media.nand.ops->shut_down(&fourth.media.nand, true);
	fourth.media.nand.ops->power_off(&fourth.media.nand);
	fourth.media.nand.ops->shut_down(&fourth.media.nand, false);
	EXPECT_EQ(history_of(*std::make_unique<Rig>(cfg, nullptr, image)).unsafe_shutdowns, 1u) << "nothing is recorded without power";
	fourth.media.header->powered_ns = 7200000000000ull;
	nand_header_store(&fourth.media);
	EXPECT_GE(history_of(*std::make_unique<Rig>(cfg, nullptr, image)).powered_ns, 7200000000000ull);
}

TEST(Media, RefusesWhatFlashCannotDo)
{
	Rig r(rig::small_config());
	auto refused = [&](nand_status status, const char *word) {
		EXPECT_EQ(status, NAND_REFUSED);
		ASSERT_FALSE(r.refusals.empty());
		EXPECT_NE(r.refusals.back().find(word), std::string::npos) << r.refusals.back();
		r.refusals.clear();
	};
	refused(program(r, 4, 2, 2), "gap");
	ASSERT_EQ(program(r, 4, 0, 2), NAND_OK);
	refused(program(r, 4, 0, 2), "since the erase");
	refused(program(r, 4, 2, 1), "whole program unit");
	refused(program(r, 4, 2, 4), "whole program unit");
	ASSERT_EQ(program(r, 0, 0, 1), NAND_OK);
	refused(program(r, 0, 1, 2), "across a page");
	for (uint32_t sector = 1; sector < 16; sector++)
		ASSERT_EQ(program(r, 0, sector, 1), NAND_OK);
	refused(program(r, 0, 16, 1), "beyond the end");
	refused(read(r, 0, 16, 1), "beyond the end");
	refused(read(r, 4, 31, 2), "beyond the end");
	r.media.nand.ops->retire(&r.media.nand, r.addr(0, 4, 0));
	refused(program(r, 4, 2, 2), "bad block");
	refused(erase(r, 4), "bad block");
	EXPECT_EQ(read(r, 4, 0, 2), NAND_OK);
	Sectors s(2);
	s.oob[1].kind = HZ_OOB_ERASED;
	refused(r.media.nand.ops->program(&r.media.nand, r.addr(0, 5, 0), 2, &s.list, 0, s.oob.data()), "erased");
	EXPECT_EQ(nand_media_operations(&r.media), 17u);
}

TEST(MediaDeathTest, WithoutAPolicyARefusalStopsTheRun)
{
	Rig r(rig::small_config());
	r.media.policy.refused = nullptr;
	EXPECT_DEATH(program(r, 4, 2, 2), "gap");
}

TEST(Media, RefusesAnImageOfAnotherGeometryOrSize)
{
	hz_device_config cfg = rig::small_config();
	auto image = Rig(cfg).image();
	cfg.pages_per_block = 32;
	EXPECT_NE(std::string(Rig(cfg, nullptr, image).mount_error).find("pages_per_block 16"), std::string::npos);
	auto small = std::make_shared<rig::Image>(4096);
	EXPECT_NE(std::string(Rig(cfg, nullptr, small).mount_error).find("needs"), std::string::npos);
	std::memset(small->base(), 7, 64);
	EXPECT_NE(std::string(Rig(cfg, nullptr, small).mount_error).find("magic"), std::string::npos);
}

// SLC blocks hold tables, so their data are kept; those of normal blocks are not.
TEST(Media, TimingOnlyKeepsOobAndTheDataOfSlcBlocks)
{
	hz_device_config cfg = rig::small_config();
	cfg.media_mode = HZ_MEDIA_TIMING_ONLY;
	Rig r(cfg);
	Sectors got(2, 1);
	hz_device_config store = rig::small_config();
	EXPECT_LT(hz_nand_image_bytes(&cfg), hz_nand_image_bytes(&store));
	ASSERT_EQ(program(r, 4, 0, 2, 0x77), NAND_OK);
	ASSERT_EQ(read(r, 4, 0, 2, &got), NAND_OK);
	EXPECT_EQ(got.bytes, std::vector<uint8_t>(8192, 0));
	EXPECT_EQ(got.oob[1].lpa, 8u);
	ASSERT_EQ(program(r, 0, 0, 2, 0x55), NAND_OK);
	ASSERT_EQ(program(r, cfg.slc_blocks_per_plane - 1, 0, 2, 0x66), NAND_OK);
	ASSERT_EQ(read(r, 0, 0, 2, &got), NAND_OK);
	EXPECT_EQ(got.bytes[0], 0x55);
	ASSERT_EQ(read(r, cfg.slc_blocks_per_plane - 1, 0, 2, &got), NAND_OK);
	EXPECT_EQ(got.bytes[0], 0x66);
	EXPECT_EQ(got.oob[0].flags & HZ_OOB_ZERO, 0);
}

TEST(Media, ProgramsWithoutDataReadAsZeros)
{
	Rig r(rig::small_config());
	Sectors s(2), got(2, 1);
	ASSERT_EQ(program(r, 4, 0, 2, 0x77), NAND_OK);
	ASSERT_EQ(erase(r, 4), NAND_OK);
	ASSERT_EQ(r.media.nand.ops->program(&r.media.nand, r.addr(0, 4, 0), 2, nullptr, 0, s.oob.data()), NAND_OK);
	ASSERT_EQ(read(r, 4, 0, 2, &got), NAND_OK);
	EXPECT_EQ(got.bytes, std::vector<uint8_t>(8192, 0));
}

TEST(Media, WearsOut)
{
	hz_device_config cfg = rig::small_config();
	cfg.normal.endurance = 3;
	Rig r(cfg);
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(erase(r, 4), NAND_OK);
	EXPECT_EQ(erase(r, 4), NAND_ERASE_FAILED);
	EXPECT_EQ(program(r, 4, 0, 2), NAND_REFUSED);
}

TEST(Media, FaultsComeByRateTheSameWayEachTime)
{
	hz_device_config cfg = rig::small_config();
	cfg.blocks_per_plane = 1000;
	cfg.factory_bad_ppb = 100000000;
	cfg.program_fail_ppb = 200000000;
	cfg.erase_fail_ppb = 50000000;
	cfg.read_fail_ppb = 100000000;
	std::vector<int> runs[2];
	int bad = 0, programs = 0, erases = 0, reads = 0;
	for (auto &run : runs) {
		Rig r(cfg);
		for (uint32_t block = 2; block < 1000; block++) {
			if (r.media.nand.ops->block(&r.media.nand, r.addr(0, block, 0))->flags) {
				bad++;
				continue;
			}
			int erased = erase(r, block), programmed = erased ? 0 : program(r, block, 0, 2);
			int fetched = erased || programmed ? 0 : read(r, block, 0, 2);
			erases += erased == NAND_ERASE_FAILED, programs += programmed == NAND_PROGRAM_FAILED;
			reads += fetched == NAND_UNCORRECTABLE;
			run.insert(run.end(), {erased, programmed, fetched});
		}
	}
	EXPECT_EQ(runs[0], runs[1]);
	EXPECT_NEAR(bad / 2, 100, 35);
	EXPECT_NEAR(erases / 2, 45, 25);
	EXPECT_NEAR(programs / 2, 171, 45);
	EXPECT_NEAR(reads / 2, 68, 30);
}

TEST(Media, AFailedProgramLeavesNothingThatReadsWellInFull)
{
	nand_policy policy{};
	policy.fail_op = 2;
	Rig r(rig::small_config(), &policy);
	Sectors got(2);
	ASSERT_EQ(program(r, 4, 0, 2), NAND_OK);
	EXPECT_EQ(program(r, 4, 2, 2), NAND_PROGRAM_FAILED);
	EXPECT_EQ(read(r, 4, 2, 2, &got), NAND_UNCORRECTABLE);
	EXPECT_EQ(got.oob[1].kind, HZ_OOB_ERASED);
	EXPECT_EQ(read(r, 4, 0, 2), NAND_OK);
}

TEST(Media, AFailedDieAnswersNothingRight)
{
	hz_device_config cfg = rig::small_config();
	cfg.failed_die = 1;
	Rig r(cfg);
	EXPECT_EQ(program(r, 4, 0, 2), NAND_PROGRAM_FAILED);
	EXPECT_EQ(read(r, 5, 0, 2), NAND_UNCORRECTABLE);
	EXPECT_EQ(erase(r, 5), NAND_ERASE_FAILED);
}

// One body under a cut at every operation, inside and just before it: earlier operations are whole,
// the cut one is old, torn or a prefix, later ones do not exist.
static void cut_at(uint64_t op, bool before)
{
	nand_policy policy{};
	static bool lost;
	lost = false;
	policy.power_cut_op = op;
	policy.cut_before = before;
	policy.power_lost = [](void *) { lost = true; };
	policy.refused = [](void *, const char *rule) { FAIL() << rule; };
	hz_device_config cfg = rig::small_config();
	auto r = std::make_unique<Rig>(cfg, &policy);
	uint64_t done = 0;
	for (uint32_t sector = 0; sector < 8; sector += 2)
		done += program(*r, 4, sector, 2, static_cast<uint8_t>(sector + 1)) == NAND_OK;
	done += erase(*r, 4) == NAND_OK;
	done += program(*r, 4, 0, 2, 0x99) == NAND_OK;
	ASSERT_EQ(done, op - 1);
	ASSERT_TRUE(lost);
	ASSERT_EQ(read(*r, 4, 0, 2), NAND_POWER_OFF);
	auto image = r->image();
	r.reset();
	Rig again(cfg, nullptr, image);
	const hz_nand_block *block = again.media.nand.ops->block(&again.media.nand, again.addr(0, 4, 0));
	if (op == 5 && !before) {
		EXPECT_TRUE(block->flags & HZ_BLOCK_ERASING);
		EXPECT_EQ(read(again, 4, 0, 2), NAND_UNCORRECTABLE);
		EXPECT_EQ(erase(again, 4), NAND_OK);
		return;
	}
	uint32_t whole = op <= 5 ? 2 * (static_cast<uint32_t>(op) - 1) : 0;
	for (uint32_t sector = 0; sector < whole; sector += 2) {
		Sectors got(2);
		ASSERT_EQ(read(again, 4, sector, 2, &got), NAND_OK);
		EXPECT_EQ(got.bytes, std::vector<uint8_t>(8192, static_cast<uint8_t>(sector + 1)));
	}
	EXPECT_EQ(block->write_sector, whole + (before ? 0 : 2));
	EXPECT_EQ(read(again, 4, whole, 2), before ? NAND_OK : NAND_UNCORRECTABLE);
}

TEST(Media, PowerCutAtEveryOperation)
{
	for (uint64_t op = 1; op <= 6; op++)
		for (bool before : {false, true}) {
			SCOPED_TRACE(testing::Message() << "cut at operation " << op << (before ? " before" : " inside"));
			cut_at(op, before);
		}
}

// A unit torn by a power cut holds a prefix, often an empty one, and never all.
TEST(Media, ATornProgramLeavesABeginning)
{
	hz_device_config cfg = rig::small_config();
	cfg.cell = HZ_CELL_QLC;
	cfg.program_pages = 4;
	cfg.normal = {{85000, 86000, 87000, 88000}, {2500000}, 3500000, 0};
	uint32_t longest = 0;
	for (uint32_t block = 2; block < 8; block++)
		for (uint32_t erases = 0; erases < 5; erases++) {
			nand_policy policy{};
			policy.power_cut_op = erases + 1;
			auto image = std::make_shared<rig::Image>(hz_nand_image_bytes(&cfg));
			{
				Rig r(cfg, &policy, image);
				for (uint32_t i = 0; i < erases; i++)
					ASSERT_EQ(erase(r, block), NAND_OK);
				ASSERT_EQ(program(r, block, 0, 8, 0x77), NAND_POWER_OFF);
			}
			Rig r(cfg, nullptr, image);
			uint32_t good = 0;
			Sectors got(1);
			while (good < 8 && read(r, block, good, 1, &got) == NAND_OK && got.oob[0].kind == HZ_OOB_DATA) {
				ASSERT_EQ(got.bytes, std::vector<uint8_t>(4096, 0x77));
				ASSERT_EQ(got.oob[0].lpa, 7 + good);
				good++;
			}
			longest = std::max(longest, good);
			ASSERT_LT(good, 8u);
			for (uint32_t i = good; i < 8; i++)
				ASSERT_EQ(read(r, block, i, 1), NAND_UNCORRECTABLE) << i;
		}
	EXPECT_GT(longest, 3u) << "some are long";
}

TEST(Media, WithoutAPolicyPowerStays)
{
	const hz_device_config cfg = rig::small_config();
	Rig r(cfg);
	nand_media media;
	ASSERT_EQ(nand_media_init(&media, &cfg, &r.map, r.image()->base(), r.image()->bytes(), nullptr), nullptr);
	EXPECT_EQ(media.nand.power_cut_ns, 0u);
}

TEST(Media, AReadThatNeedsNoRetryIsNotLost)
{
	Rig r(rig::small_config());
	ASSERT_EQ(program(r, 4, 0, 2), NAND_OK);
	bool lost = true;
	EXPECT_EQ(r.media.nand.ops->read_retries(&r.media.nand, r.addr(0, 4, 0), 2, 0, &lost), 0u);
	EXPECT_FALSE(lost);
}

TEST(Media, AWriterKilledInsideAProgramLeavesATornSector)
{
	Rig r(rig::small_config());
	ASSERT_EQ(program(r, 4, 0, 2), NAND_OK);
	// State of the image when the process dies after the second sector's data but before its
	// record.
	nand_oob_erase(&r.media, rig::record_of(r.media, r.addr(0, 4, 1)), 1);
	Sectors got(2);
	EXPECT_EQ(read(r, 4, 0, 2, &got), NAND_UNCORRECTABLE);
	EXPECT_EQ(got.oob[0].kind, HZ_OOB_DATA);
	EXPECT_EQ(got.oob[1].kind, HZ_OOB_ERASED);
}

// The data are lost, the record is not: a reader learns which sector it was.
TEST(Media, EveryChangedBitOfASectorIsNoticed)
{
	Rig r(rig::small_config());
	Sectors got(1, 1);
	ASSERT_EQ(program(r, 4, 0, 2), NAND_OK);
	const uint64_t record = rig::record_of(r.media, r.addr(0, 4, 0));
	for (uint32_t bit = 0; bit < 4096 * 8; bit += 7) {
		rig::flip_data(r.media, record, bit);
		ASSERT_EQ(read(r, 4, 0, 1, &got), NAND_UNCORRECTABLE) << bit;
		ASSERT_EQ(got.oob[0].kind, HZ_OOB_DATA);
		ASSERT_EQ(got.oob[0].lpa, 7u);
		ASSERT_TRUE(got.oob[0].flags & HZ_OOB_LOST);
		ASSERT_EQ(got.bytes, std::vector<uint8_t>(4096, 0)) << "no damaged data are handed out";
		rig::flip_data(r.media, record, bit);
	}
	EXPECT_EQ(read(r, 4, 0, 1), NAND_OK);
}

// Any bit of either copy of a record: the other one is enough, and the damaged first copy is written again.
TEST(Media, EveryChangedBitOfARecordIsRepaired)
{
	Rig r(rig::small_config());
	Sectors got(2);
	ASSERT_EQ(program(r, 4, 0, 2), NAND_OK);
	const uint64_t record = rig::record_of(r.media, r.addr(0, 4, 1));
	for (hz_nand_oob *copies : {r.media.oob, r.media.oob_copy})
		for (uint32_t bit = 0; bit < sizeof(hz_nand_oob) * 8; bit++) {
			reinterpret_cast<uint8_t *>(&copies[record])[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
			ASSERT_EQ(read(r, 4, 0, 2, &got), NAND_OK) << bit;
			ASSERT_EQ(got.oob[1].lpa, 8u);
			ASSERT_EQ(got.oob[1].sequence, 101u);
			copies[record] = (copies == r.media.oob ? r.media.oob_copy : r.media.oob)[record];
		}
	EXPECT_EQ(lt_load(&r.media.repaired), sizeof(hz_nand_oob) * 8);
	rig::lose_record(r.media, record);
	EXPECT_EQ(read(r, 4, 0, 2, &got), NAND_UNCORRECTABLE);
	EXPECT_EQ(got.oob[1].kind, HZ_OOB_ERASED);
}

TEST(Media, ASectorCanBeProgrammedAsLost)
{
	Rig r(rig::small_config());
	Sectors s(2, 0x11), got(2, 1);
	s.oob[0].flags = HZ_OOB_LOST;
	ASSERT_EQ(r.media.nand.ops->program(&r.media.nand, r.addr(0, 4, 0), 2, &s.list, 0, s.oob.data()), NAND_OK);
	EXPECT_EQ(read(r, 4, 0, 2, &got), NAND_UNCORRECTABLE);
	EXPECT_EQ(got.oob[0].kind, HZ_OOB_DATA);
	EXPECT_EQ(got.oob[0].flags, HZ_OOB_LOST);
	EXPECT_EQ(got.oob[1].flags, 0);
	EXPECT_EQ(got.bytes[0], 0);
	EXPECT_EQ(got.bytes[4096], 0x11);
}
