// READ ONLY and OFFLINE zones: a device whose blocks endure one erase, used until it runs out of
// flash.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "command_case.hpp"

namespace conform {
namespace worn_zone_test {

hz_device_config short_lived()
{
	hz_device_config config = small_config();
	config.normal.endurance = 1;
	return config;
}

class WornZone : public ::testing::Test {
protected:
	static void SetUpTestSuite()
	{
		bench_ = std::make_unique<Bench>(short_lived());
		wear_out();
	}
	static void TearDownTestSuite() { bench_.reset(); }

	// Zone 5 holds data from before; zones 0 and 1 end READ ONLY, since a write found no superblock for them.
	static void wear_out()
	{
		Bench &b = *bench_;
		ASSERT_EQ(b.write(b.start(5), 24), NVME_SUCCESS);
		uint16_t status = NVME_SUCCESS;
		for (int i = 0; i < 60 && status == NVME_SUCCESS; i++) {
			status = b.status(hz::QueuePair::write(0, 24, true));
			if (status == NVME_SUCCESS) {
				ASSERT_EQ(b.send(0, NVME_ZSA_RESET), NVME_SUCCESS);
			}
		}
		ASSERT_EQ(status, NVME_WRITE_FAULT);
		ASSERT_EQ(b.status(hz::QueuePair::write(b.start(1), 1)), NVME_WRITE_FAULT);
		ASSERT_EQ(b.state(0), NVME_ZS_READ_ONLY);
		ASSERT_EQ(b.state(1), NVME_ZS_READ_ONLY);
	}
	static std::unique_ptr<Bench> bench_;
};
std::unique_ptr<Bench> WornZone::bench_;

TEST_F(WornZone, ReadOnlyRefusesEveryChange)
{
	Bench &b = *bench_;
	EXPECT_EQ(b.write(0, 1), NVME_ZONE_READ_ONLY);
	EXPECT_EQ(b.append(0, 1), NVME_ZONE_READ_ONLY);
	EXPECT_EQ(b.status(hz::QueuePair::write_zeroes(0, 1)), NVME_ZONE_READ_ONLY);
	for (auto action : {NVME_ZSA_OPEN, NVME_ZSA_CLOSE, NVME_ZSA_FINISH, NVME_ZSA_RESET})
		EXPECT_EQ(b.send(0, action), NVME_ZONE_INVALID_TRANSITION) << "action " << action;
	EXPECT_EQ(b.state(0), NVME_ZS_READ_ONLY);
}

TEST_F(WornZone, ReadOnlyCanBeRead)
{
	Bytes in(4096);
	EXPECT_EQ(bench_->run(hz::QueuePair::read(50, 1), {}, &in).status, NVME_SUCCESS);
	EXPECT_EQ(in, Bytes(4096)) << "never written";
	EXPECT_EQ(bench_->status(hz::QueuePair::read(0, 1)), NVME_UNRECOVERED_READ) << "lost with the write that failed";
	EXPECT_EQ(bench_->status(hz::QueuePair::flush()), NVME_SUCCESS);
}

TEST_F(WornZone, ReadOnlyHasNoWritePointerAndNoResources)
{
	Bench &b = *bench_;
	EXPECT_EQ(b.zone(0).write_pointer, UINT64_MAX);
	EXPECT_EQ(b.send(5, NVME_ZSA_OPEN), NVME_SUCCESS);
	EXPECT_EQ(b.send(6, NVME_ZSA_OPEN), NVME_SUCCESS);
	EXPECT_EQ(b.send(7, NVME_ZSA_OPEN), NVME_SUCCESS) << "the two read-only zones do not count";
	for (uint32_t z : {6u, 7u})
		EXPECT_EQ(b.send(z, NVME_ZSA_RESET), NVME_SUCCESS);
	EXPECT_EQ(b.send(5, NVME_ZSA_CLOSE), NVME_SUCCESS);
}

TEST_F(WornZone, FilterFindsIt)
{
	Bench &b = *bench_;
	nvme_sqe sqe = hz::QueuePair::zone_report(0, 128, false);
	sqe.cdw13 |= NVME_ZRASF_READ_ONLY << 8;
	Bytes report(128);
	ASSERT_EQ(b.run(sqe, {}, &report).status, NVME_SUCCESS);
	EXPECT_GE(static_cast<unsigned>(report[0]), 1u);
}

// The two zones that wear_out() lost, in the order of their addresses.
TEST_F(WornZone, ChangedZoneListNamesIt)
{
	nvme_sqe sqe = admin_command(*bench_, NVME_ADMIN_GET_LOG_PAGE, 1, NVME_LOG_CHANGED_ZONES | 1023u << 16);
	ASSERT_EQ(bench_->controller().admin(sqe).status, NVME_SUCCESS);
	nvme_changed_zones_log log;
	std::memcpy(&log, bench_->at(bench_->page(0)), sizeof(log));
	EXPECT_EQ(log.zones, 2u);
	EXPECT_EQ(log.start[0], bench_->start(0));
	EXPECT_EQ(log.start[1], bench_->start(1));
	ASSERT_EQ(bench_->controller().admin(sqe).status, NVME_SUCCESS);
	std::memcpy(&log, bench_->at(bench_->page(0)), sizeof(log));
	EXPECT_EQ(log.zones, 0u) << "read, so reported";
}

TEST_F(WornZone, SmartSaysThatNothingIsLeft)
{
	nvme_smart_log log = bench_->controller().log_smart();
	EXPECT_EQ(log.available_spare, 0);
	EXPECT_GT(log.percentage_used, 50);
	EXPECT_TRUE(log.critical_warning & NVME_WARNING_SPARE);
}

TEST_F(WornZone, AllZonesCommandsSkipIt)
{
	Bench &b = *bench_;
	EXPECT_EQ(b.send(0, NVME_ZSA_CLOSE, true), NVME_SUCCESS);
	EXPECT_EQ(b.state(0), NVME_ZS_READ_ONLY);
}

TEST_F(WornZone, OlderDataStayReadable)
{
	Bytes in(24 * 4096);
	ASSERT_EQ(bench_->run(hz::QueuePair::read(bench_->start(5), 24), {}, &in).status, NVME_SUCCESS);
	EXPECT_TRUE(in == pattern(bench_->start(5), 24));
}

// From here on zone 0 is OFFLINE: the last transition of its life.
TEST_F(WornZone, TurnsOfflineAndRefusesEverything)
{
	Bench &b = *bench_;
	EXPECT_EQ(b.send(0, NVME_ZSA_OFFLINE), NVME_SUCCESS);
	EXPECT_EQ(b.state(0), NVME_ZS_OFFLINE);
	EXPECT_EQ(b.send(0, NVME_ZSA_OFFLINE), NVME_SUCCESS) << "again";
	EXPECT_EQ(b.zone(0).write_pointer, UINT64_MAX);
	EXPECT_EQ(b.write(0, 1), NVME_ZONE_OFFLINE);
	EXPECT_EQ(b.append(0, 1), NVME_ZONE_OFFLINE);
	EXPECT_EQ(b.status(hz::QueuePair::write_zeroes(0, 1)), NVME_ZONE_OFFLINE);
	EXPECT_EQ(b.status(hz::QueuePair::read(0, 1)), NVME_ZONE_OFFLINE);
	for (auto action : {NVME_ZSA_OPEN, NVME_ZSA_CLOSE, NVME_ZSA_FINISH, NVME_ZSA_RESET})
		EXPECT_EQ(b.send(0, action), NVME_ZONE_INVALID_TRANSITION) << "action " << action;
}

TEST_F(WornZone, TurnsOfflineWithAllReadOnlyZones)
{
	Bench &b = *bench_;
	EXPECT_EQ(b.send(0, NVME_ZSA_OFFLINE, true), NVME_SUCCESS);
	EXPECT_EQ(b.state(1), NVME_ZS_OFFLINE);
	EXPECT_EQ(b.state(2), NVME_ZS_EMPTY);
}

TEST_F(WornZone, ReadsOverAnOfflineZoneAreRefused)
{
	Bench &b = *bench_;
	EXPECT_EQ(b.state(1), NVME_ZS_OFFLINE) << "as the case before left it";
	EXPECT_EQ(b.status(hz::QueuePair::read(b.start(2) - 1, 2)), NVME_ZONE_OFFLINE);
	EXPECT_EQ(b.status(hz::QueuePair::read(b.start(2), 2)), NVME_SUCCESS);
}

} // namespace worn_zone_test
} // namespace conform
