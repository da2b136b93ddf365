// Flash time of reads at mount: one under way on each die, commands and data on the channel's bus, against formulas derived here.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "flash_rig.hpp"
#include "tsu/tsu_mount.h"
#include "tsu/tsu_report.h"

using rig::command_ns;
using rig::Rig;

namespace {

constexpr uint64_t slc_read_ns = 20000;

class MountRig : public Rig {
public:
	using Rig::Rig;
	nand_status read(uint32_t plane, uint32_t block, uint32_t sector, uint32_t sectors)
	{
		return tsu_read_now(tsu, ppa(plane, block, sector), sectors, nullptr, 0, oob_.data());
	}
	void records(uint32_t plane, uint32_t block, uint32_t sector, uint32_t sectors, bool side_by_side = false)
	{
		tsu_records_now(tsu, ppa(plane, block, sector), sectors, side_by_side, oob_.data());
	}
	// Both copies of the records cross.
	uint64_t records_ns(uint32_t sectors) const
	{
		const uint64_t bytes = sectors * 2 * sizeof(hz_nand_oob);
		return (bytes * 1000000000 + cfg.channel_bytes_per_s / 2) / cfg.channel_bytes_per_s;
	}
	// Until all reads have ended.
	uint64_t elapsed_ns()
	{
		tsu_await_reads(tsu);
		return clock_now_ns() - 1000;
	}

private:
	std::vector<hz_oob> oob_ = std::vector<hz_oob>(64);
};

// Planes of different dies: plane n is die n.
hz_device_config dies_config(uint32_t channels, uint32_t chips)
{
	hz_device_config cfg = rig::small_config();
	cfg.channels = channels;
	cfg.chips_per_channel = chips;
	return cfg;
}

} // namespace

TEST(MountTime, ReadsOfOneDieFollowOneAnother)
{
	MountRig r(rig::small_config());
	for (int i = 0; i < 3; i++)
		r.read(0, 0, i, 1);
	EXPECT_EQ(r.elapsed_ns(), 3 * (command_ns + slc_read_ns + r.transfer_ns(1)));
	r.read(0, 3, 0, 2);
	r.read(0, 3, 2, 2);
	EXPECT_EQ(r.elapsed_ns(), 3 * (command_ns + slc_read_ns + r.transfer_ns(1)) + 2 * (command_ns + r.transfer_ns(2)) + 56200 + 71500);
}

TEST(MountTime, AReadOfSeveralPagesSensesEach)
{
	MountRig r(rig::small_config());
	r.read(0, 3, 1, 4); // pages 0, 1, 2 with 1, 2, 1 sectors
	EXPECT_EQ(r.elapsed_ns(), 3 * command_ns + 56200 + 71500 + 56200 + r.transfer_ns(4));
}

TEST(MountTime, DiesOfOneChannelShareOnlyItsBus)
{
	MountRig r(dies_config(1, 2));
	for (uint32_t plane : {0, 1})
		r.read(plane, 3, 0, 2);
	EXPECT_EQ(r.elapsed_ns(), command_ns + 56200 + 2 * r.transfer_ns(2));
}

// The shorter read has the bus first, though it began later.
TEST(MountTime, DataCrossInTheOrderOfReadiness)
{
	MountRig r(dies_config(1, 2));
	r.read(0, 3, 0, 2);
	r.read(1, 0, 0, 1);
	r.read(1, 0, 1, 1); // waits for the end of the one before
	EXPECT_EQ(clock_now_ns() - 1000, 2 * command_ns + slc_read_ns + r.transfer_ns(1));
	EXPECT_EQ(r.elapsed_ns(), command_ns + 2 * (command_ns + slc_read_ns + r.transfer_ns(1)) + r.transfer_ns(2));
}

TEST(MountTime, ChannelsWorkSideBySide)
{
	MountRig r(dies_config(2, 1));
	for (uint32_t plane : {0, 1, 0, 1})
		r.read(plane, 3, 0, 2);
	EXPECT_EQ(r.elapsed_ns(), 2 * (command_ns + 56200 + r.transfer_ns(2)));
}

TEST(MountTime, OneSlowDieIsWaitedFor)
{
	hz_device_config cfg = dies_config(2, 1);
	cfg.slow_die = 2;
	cfg.slow_percent = 300;
	MountRig r(cfg);
	for (uint32_t plane : {0, 1})
		r.read(plane, 3, 0, 2);
	EXPECT_EQ(r.elapsed_ns(), command_ns + 3 * 56200 + r.transfer_ns(2));
}

TEST(MountTime, RetriesTakeTime)
{
	hz_device_config cfg = rig::small_config();
	cfg.read_retry_ppb = 1000000000;
	cfg.read_retries = 2;
	MountRig r(cfg);
	r.read(0, 3, 0, 2);
	EXPECT_EQ(r.elapsed_ns(), command_ns + 3 * 56200 + r.transfer_ns(2));
}

TEST(MountTime, HasNoSpreadAndCountsNoRetries)
{
	hz_device_config cfg = rig::small_config();
	cfg.normal_sigma.read_ns[0] = 20000;
	cfg.read_retry_ppb = 1000000000;
	cfg.read_retries = 2;
	MountRig r(cfg);
	r.read(0, 3, 0, 2);
	EXPECT_EQ(r.elapsed_ns(), command_ns + 3 * 56200 + r.transfer_ns(2));
	hz_log_flash log;
	tsu_report(r.tsu, &log);
	EXPECT_EQ(log.read_retries, 0u);
}

TEST(MountTime, OfRecordsTheBytesOfRecordsCross)
{
	MountRig r(rig::small_config());
	r.records(0, 3, 1, 4); // pages 0, 1, 2
	EXPECT_EQ(r.elapsed_ns(), 3 * command_ns + 56200 + 71500 + 56200 + r.records_ns(1) + r.records_ns(2) + r.records_ns(1));
	EXPECT_LT(r.records_ns(4), r.transfer_ns(1) / 20);
	const struct tsu_mount_reads reads = tsu_mount_reads(r.tsu);
	EXPECT_EQ(reads.senses, 3u);
	EXPECT_EQ(reads.pages, 3u);
	EXPECT_EQ(reads.bytes, 4 * 2 * sizeof(hz_nand_oob));
}

// The hart waits for the third read of a die only: the second one begins when the first has ended.
TEST(MountTime, OneReadOfRecordsWaitsForTheDie)
{
	MountRig r(rig::small_config());
	const uint64_t one_ns = command_ns + slc_read_ns + r.records_ns(1);
	for (uint64_t waited : {0, 0, 1, 2}) {
		r.records(0, 0, 0, 1);
		EXPECT_EQ(clock_now_ns() - 1000, waited * one_ns);
	}
	EXPECT_EQ(r.elapsed_ns(), 4 * one_ns);
}

TEST(MountTime, PlanesReadTheSamePageSideBySide)
{
	hz_device_config cfg = rig::small_config();
	cfg.planes_per_die = 2;
	MountRig r(cfg);
	const uint64_t two_ns = 2 * command_ns + slc_read_ns + r.records_ns(2), one_ns = command_ns + slc_read_ns + r.records_ns(1);
	r.records(0, 0, 0, 1, true);
	r.records(1, 0, 0, 1, true);
	EXPECT_EQ(r.elapsed_ns(), two_ns);
	r.records(0, 0, 0, 1, true);
	r.records(1, 0, 2, 1, true); // another page
	EXPECT_EQ(r.elapsed_ns(), two_ns + 2 * one_ns);
	r.records(0, 0, 0, 1, true);
	r.records(1, 1, 0, 1, true); // another block
	r.records(1, 1, 1, 1, true); // the same plane
	EXPECT_EQ(r.elapsed_ns(), two_ns + 5 * one_ns);
	r.records(0, 0, 0, 1, false);
	r.records(1, 0, 0, 1, false);
	EXPECT_EQ(r.elapsed_ns(), two_ns + 7 * one_ns);
	EXPECT_EQ(tsu_mount_reads(r.tsu).senses, 8u);
	EXPECT_EQ(tsu_mount_reads(r.tsu).pages, 9u);
}

// The answers of one die come back between those of the other, on their shared bus, and none waits for the slow one.
TEST(MountTime, ASlowDieHoldsUpNoOther)
{
	hz_device_config cfg = dies_config(1, 2);
	cfg.slow_die = 1;
	cfg.slow_percent = 350;
	MountRig r(cfg);
	const uint64_t quick_ns = command_ns + slc_read_ns + r.records_ns(1);
	r.records(0, 0, 0, 1);
	for (int i = 0; i < 3; i++)
		r.records(1, 0, 0, 1);
	EXPECT_EQ(clock_now_ns() - 1000, command_ns + quick_ns) << "the third read of the quick die waits until its second begins";
	EXPECT_EQ(r.elapsed_ns(), command_ns + slc_read_ns * 350 / 100 + r.records_ns(1));
}

// A read of data takes its turn behind the requested records.
TEST(MountTime, DataAreReadBehindRecords)
{
	MountRig r(rig::small_config());
	const uint64_t records_ns = command_ns + slc_read_ns + r.records_ns(1);
	r.records(0, 0, 0, 1);
	r.records(0, 0, 0, 1);
	r.read(0, 0, 0, 1);
	EXPECT_EQ(clock_now_ns() - 1000, 2 * records_ns);
	EXPECT_EQ(r.elapsed_ns(), 2 * records_ns + command_ns + slc_read_ns + r.transfer_ns(1));
}

// As if the same reads had gone through the queues: the accounts of the dies and channels are the same too.
TEST(MountTime, IsThatOfTheSameReadsAfterMount)
{
	MountRig r(dies_config(2, 3));
	for (uint32_t plane = 0; plane < 6; plane++)
		r.read(plane, 3, 0, 2);
	uint64_t took = r.elapsed_ns();
	hz_log_flash log;
	tsu_report(r.tsu, &log);
	EXPECT_EQ(log.version, 1u);
	EXPECT_EQ(log.dies, 6u);
	EXPECT_EQ(log.channel_busy_ns[0], 3 * (command_ns + r.transfer_ns(2)));
	for (uint32_t die = 0; die < 6; die++) {
		tsu_account account;
		tsu_die_account(r.tsu, die, &account);
		EXPECT_EQ(account.busy_ns + account.idle_ns, account.elapsed_ns);
		EXPECT_GE(account.busy_ns, command_ns + 56200 + r.transfer_ns(2));
	}

	Rig later(dies_config(2, 3));
	std::vector<rig::Txn *> list;
	for (uint32_t plane = 0; plane < 6; plane++)
		list.push_back(&later.read(plane, 3, 0, 2));
	later.submit_list(list);
	EXPECT_EQ(lt_host_run_until_idle() - 1000, took);
}

TEST(MountTime, NothingIsReadAndNothingIsTimedAfterwards)
{
	MountRig r(rig::small_config());
	EXPECT_EQ(r.elapsed_ns(), 0u);
	EXPECT_FALSE(tsu_block_now(r.tsu, r.ppa(0, 4, 0))->flags & HZ_BLOCK_BAD_GROWN);
	EXPECT_EQ(r.elapsed_ns(), 0u);
	r.read(0, 3, 0, 2);
	tsu_mounted(r.tsu);
	uint64_t mounted_ns = clock_now_ns();
	EXPECT_EQ(mounted_ns - 1000, command_ns + 56200 + r.transfer_ns(2));
	r.read(0, 3, 0, 2);
	tsu_await_reads(r.tsu);
	EXPECT_EQ(clock_now_ns(), mounted_ns);
	EXPECT_GE(r.run(r.Rig::read(0, 3, 0, 2)).txn.start_ns, mounted_ns);
}

// On a clock that cannot be charged, mount waits.
TEST(MountTime, PassesOnARealClockToo)
{
	hz_device_config cfg = rig::small_config();
	cfg.slc.read_ns[0] = 3000000;
	MountRig r(cfg, nullptr, nullptr, false);
	uint64_t begin_ns = clock_now_ns();
	r.read(0, 0, 0, 1);
	tsu_await_reads(r.tsu);
	EXPECT_GE(clock_now_ns() - begin_ns, 3000000u);
	lt_host_clock_test(1000);
}
