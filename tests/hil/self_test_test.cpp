// Device self-test: what it reads, its results, and what ends or interrupts it.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>

#include "namespaces.h"
#include "rig.hpp"

namespace hil_test {

struct SelfTest : testing::Test {
	SelfTest() : rig(options())
	{
		rig.fake->history.powered_ns = 7 * 3600000000000ull;
		rig.enable();
	}
	static Options options()
	{
		Options o;
		o.namespaces = 3;
		o.virtual_clock = false; // time runs by itself
		return o;
	}
	uint16_t begin(uint32_t which, uint32_t nsid = NVME_NSID_ALL)
	{
		return rig.status_of(admin_sqe(NVME_ADMIN_DEVICE_SELF_TEST, which, 0, 0, nsid));
	}
	nvme_self_test_log log()
	{
		EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, (sizeof(nvme_self_test_log) / 4 - 1) << 16 | NVME_LOG_SELF_TEST,
						  0, rig.buffer())),
			  0);
		return rig.page<nvme_self_test_log>();
	}
	nvme_self_test_result finish()
	{
		for (int i = 0; i < 2000 && log().current; i++)
			rig.run_for(1000000);
		EXPECT_EQ(log().current, 0);
		return log().result[0];
	}
	uint64_t sectors(uint32_t nsid)
	{
		hz_shape shape;
		hz_namespace_shape(&rig.cfg, nsid - 1, &shape);
		return shape.namespace_sectors;
	}
	// Verifies of a namespace, in order.
	std::vector<Submitted> verifies(uint32_t nsid)
	{
		std::vector<Submitted> all;
		std::ranges::copy_if(rig.fake->log, std::back_inserter(all),
				     [&](const Submitted &s) { return s.op == FTL_VERIFY && s.number == nsid - 1; });
		return all;
	}
	void slow()
	{
		rig.fake->script = [](const ftl_request &) { return Answer{.service_ns = 10000000}; };
	}
	void fast()
	{
		rig.fake->script = [](const ftl_request &) { return Answer{}; };
	}
	void disable()
	{
		rig.set(NVME_REG_CC, 0);
		for (int i = 0; i < 20; i++)
			rig.run();
		ASSERT_EQ(rig.get(NVME_REG_CSTS) & NVME_CSTS_RDY, 0u);
	}

	Rig rig;
};

TEST_F(SelfTest, IsOffered)
{
	ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_IDENTIFY, NVME_CNS_CONTROLLER, 0, rig.buffer())), 0);
	const auto &id = rig.page<nvme_identify_controller>();
	EXPECT_TRUE(id.oacs & NVME_OACS_SELF_TEST);
	EXPECT_EQ(id.dsto, NVME_DSTO_ONE_TEST);
	EXPECT_EQ(id.edstt, 1);
	const auto page = log();
	EXPECT_EQ(page.current | page.percent, 0);
	for (const auto &result : page.result)
		EXPECT_EQ(result.status, NVME_SELF_TEST_UNUSED);
}

TEST_F(SelfTest, AnExtendedOneReadsEverySector)
{
	ASSERT_EQ(begin(NVME_SELF_TEST_EXTENDED), 0);
	const auto result = finish();
	EXPECT_EQ(result.status, NVME_SELF_TEST_EXTENDED << 4);
	EXPECT_EQ(result.power_on_hours[0], 7u);
	EXPECT_EQ(result.valid | result.segment, 0);
	for (uint32_t nsid = 1; nsid <= 3; nsid++) {
		uint64_t next = 0;
		for (const Submitted &s : verifies(nsid)) {
			EXPECT_EQ(s.lba, next);
			EXPECT_EQ(s.flags, FTL_INSIDE);
			next += s.sectors;
		}
		EXPECT_EQ(next, sectors(nsid));
	}
}

TEST_F(SelfTest, AShortOneReadsPiecesOfItsNamespaceOnly)
{
	ASSERT_EQ(begin(NVME_SELF_TEST_SHORT, 2), 0);
	EXPECT_EQ(finish().status, NVME_SELF_TEST_SHORT << 4);
	EXPECT_TRUE(verifies(1).empty() && verifies(3).empty());
	const auto all = verifies(2);
	EXPECT_GE(all.size(), 2u);
	EXPECT_LE(all.size(), 17u);
	EXPECT_GE(all.back().lba + all.back().sectors, sectors(2) - sectors(2) / 16) << "up to the end";
}

TEST_F(SelfTest, OfTheControllerAloneReadsNothing)
{
	ASSERT_EQ(begin(NVME_SELF_TEST_EXTENDED, 0), 0);
	EXPECT_EQ(log().result[0].status, NVME_SELF_TEST_EXTENDED << 4);
	rig.fake->health.spare_percent = 1;
	tell_watch(*rig.fake);
	rig.run();
	ASSERT_EQ(begin(NVME_SELF_TEST_SHORT, 0), 0);
	const auto page = log();
	EXPECT_EQ(page.result[0].status, NVME_SELF_TEST_SHORT << 4 | NVME_SELF_TEST_FAILED);
	EXPECT_EQ(page.result[0].segment, 1) << "a critical warning";
	EXPECT_EQ(page.result[0].valid, 0);
	EXPECT_EQ(page.result[1].status, NVME_SELF_TEST_EXTENDED << 4);
	for (uint32_t nsid = 1; nsid <= 3; nsid++)
		EXPECT_TRUE(verifies(nsid).empty());
}

TEST_F(SelfTest, TheSectorThatFailsIsNamed)
{
	rig.fake->script = [this](const ftl_request &req) {
		const bool bad = rig.fake->log.back().number == 1 && req.lba <= 333 && 333 < req.lba + req.sectors;
		return Answer{.status = uint16_t(bad ? NVME_UNRECOVERED_READ : 0)};
	};
	ASSERT_EQ(begin(NVME_SELF_TEST_EXTENDED), 0);
	const auto result = finish();
	EXPECT_EQ(result.status, NVME_SELF_TEST_EXTENDED << 4 | NVME_SELF_TEST_FAILED);
	EXPECT_EQ(result.segment, 2);
	EXPECT_EQ(result.valid, NVME_SELF_TEST_NSID | NVME_SELF_TEST_LBA | NVME_SELF_TEST_SCT | NVME_SELF_TEST_SC);
	EXPECT_EQ(result.nsid, 2u);
	EXPECT_EQ(result.failing_lba[0], 333u);
	EXPECT_EQ(result.failing_lba[1], 0u);
	EXPECT_EQ(result.sct, 2);
	EXPECT_EQ(result.sc, 0x81);
	EXPECT_TRUE(verifies(3).empty()) << "it ends there";
}

/* A zone that is offline, or a sector that the host has marked, is no failure of the media, and a failure that a repetition does not show
 * is none either. */
TEST_F(SelfTest, OtherFailuresAreNone)
{
	rig.fake->script = [](const ftl_request &req) {
		if (req.lba < 128)
			return Answer{.status = NVME_ZONE_OFFLINE | NVME_DNR};
		if (req.lba == 384)
			return Answer{.status = NVME_HZ_MARKED};
		return Answer{.status = uint16_t(req.lba == 256 && req.sectors > 1 ? NVME_UNRECOVERED_READ : 0)};
	};
	ASSERT_EQ(begin(NVME_SELF_TEST_EXTENDED, 1), 0);
	EXPECT_EQ(finish().status, NVME_SELF_TEST_EXTENDED << 4);
}

TEST_F(SelfTest, OneAtATimeAndItsProgressIsReported)
{
	slow();
	ASSERT_EQ(begin(NVME_SELF_TEST_EXTENDED, 3), 0);
	EXPECT_EQ(begin(NVME_SELF_TEST_SHORT), dnr(NVME_SELF_TEST_RUNS));
	auto page = log();
	EXPECT_EQ(page.current, NVME_SELF_TEST_EXTENDED);
	const uint8_t before = page.percent;
	rig.run_for(50000000);
	page = log();
	EXPECT_GT(page.percent, before);
	EXPECT_LT(page.percent, 100);
	ASSERT_EQ(begin(NVME_SELF_TEST_ABORT), 0);
	page = log();
	EXPECT_EQ(page.current, 0);
	EXPECT_EQ(page.result[0].status, NVME_SELF_TEST_EXTENDED << 4 | NVME_SELF_TEST_ABORTED);
	ASSERT_EQ(begin(NVME_SELF_TEST_ABORT), 0) << "there is none, and no result of it";
	EXPECT_EQ(log().result[1].status, NVME_SELF_TEST_UNUSED);
	fast();
	ASSERT_EQ(begin(NVME_SELF_TEST_SHORT, 1), 0) << "while the last piece of the other one is still being read";
	EXPECT_EQ(finish().status, NVME_SELF_TEST_SHORT << 4);
}

TEST_F(SelfTest, AResetEndsAShortOne)
{
	slow();
	ASSERT_EQ(begin(NVME_SELF_TEST_SHORT), 0);
	disable();
	fast();
	rig.enable();
	const auto page = log();
	EXPECT_EQ(page.current, 0);
	EXPECT_EQ(page.result[0].status, NVME_SELF_TEST_SHORT << 4 | NVME_SELF_TEST_RESET);
}

TEST_F(SelfTest, AnExtendedOneGoesOnAfterAReset)
{
	slow();
	ASSERT_EQ(begin(NVME_SELF_TEST_EXTENDED, 1), 0);
	rig.run_for(50000000);
	disable();
	fast();
	const uint64_t next = rig.fake->controller.self_test.lba;
	EXPECT_GT(next, 0u);
	const size_t before = verifies(1).size();
	rig.enable();
	EXPECT_EQ(finish().status, NVME_SELF_TEST_EXTENDED << 4);
	EXPECT_EQ(verifies(1).at(before).lba, next);
}

/* What the image says at a start behind a loss of power: the record as it stood. */
TEST_F(SelfTest, ALossOfPowerEndsAShortOneAndInterruptsAnExtendedOne)
{
	for (uint32_t which : {NVME_SELF_TEST_SHORT, NVME_SELF_TEST_EXTENDED}) {
		slow();
		ASSERT_EQ(begin(which, 1), 0);
		rig.run_for(30000000);
		const hz_nand_controller at_the_cut = rig.fake->controller;
		EXPECT_EQ(at_the_cut.self_test.running.status, which << 4);
		disable();
		rig.fake->controller = at_the_cut;
		const size_t before = verifies(1).size();
		fast();
		rig.enable();
		EXPECT_EQ(finish().status, which << 4 | (which == NVME_SELF_TEST_SHORT ? NVME_SELF_TEST_RESET : NVME_SELF_TEST_PASSED));
		EXPECT_EQ(verifies(1).size() > before, which == NVME_SELF_TEST_EXTENDED);
	}
}

TEST_F(SelfTest, AShutdownWaitsForThePieceBeingRead)
{
	slow();
	ASSERT_EQ(begin(NVME_SELF_TEST_EXTENDED), 0);
	rig.set(NVME_REG_CC, cc_ready | NVME_CC_SHN_NORMAL << NVME_CC_SHN_SHIFT);
	for (int i = 0; i < 200 && !rig.fake->log.back().flags; i++)
		rig.run();
	for (int i = 0; i < 200; i++)
		rig.run();
	EXPECT_EQ(rig.get(NVME_REG_CSTS) & NVME_CSTS_SHST_MASK, unsigned(NVME_CSTS_SHST_COMPLETE));
	EXPECT_EQ(std::ranges::count_if(rig.fake->log, [](const Submitted &s) { return s.op == FTL_VERIFY; }), 1);
	EXPECT_EQ(rig.fake->controller.self_test.running.status, NVME_SELF_TEST_EXTENDED << 4) << "it goes on at the next start";
}

TEST_F(SelfTest, EndsWithTheDataOfItsNamespace)
{
	rig.fake->script = [](const ftl_request &req) { return Answer{.service_ns = req.op == FTL_VERIFY ? 1000000000u : 1000u}; };
	ASSERT_EQ(begin(NVME_SELF_TEST_EXTENDED, 2), 0);
	ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_FORMAT_NVM, 0, 0, 0, 1)), 0);
	EXPECT_EQ(log().current, NVME_SELF_TEST_EXTENDED) << "another namespace";
	ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_FORMAT_NVM, 0, 0, 0, 2)), 0);
	EXPECT_EQ(log().result[0].status, NVME_SELF_TEST_EXTENDED << 4 | NVME_SELF_TEST_FORMATTED);
	ASSERT_EQ(begin(NVME_SELF_TEST_SHORT), 0);
	ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_NAMESPACE_MANAGEMENT, 1, 0, 0, 3)), 0);
	EXPECT_EQ(log().result[0].status, NVME_SELF_TEST_SHORT << 4 | NVME_SELF_TEST_REMOVED);
}

TEST_F(SelfTest, TheLogHasTheLastTwenty)
{
	for (int i = 0; i < 23; i++)
		ASSERT_EQ(begin(i % 2 ? NVME_SELF_TEST_SHORT : NVME_SELF_TEST_EXTENDED, 0), 0);
	const auto page = log();
	for (int i = 0; i < NVME_SELF_TEST_RESULTS; i++)
		EXPECT_EQ(page.result[i].status >> 4, i % 2 ? NVME_SELF_TEST_SHORT : NVME_SELF_TEST_EXTENDED);
}

TEST_F(SelfTest, WhatIsRefused)
{
	EXPECT_EQ(begin(NVME_SELF_TEST_NONE), bad_field);
	EXPECT_EQ(begin(3), bad_field);
	EXPECT_EQ(begin(0xe), bad_field) << "there is no vendor's test";
	EXPECT_EQ(begin(NVME_SELF_TEST_SHORT, 4), dnr(NVME_INVALID_NAMESPACE));
	ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_NAMESPACE_MANAGEMENT, 1, 0, 0, 2)), 0);
	EXPECT_EQ(begin(NVME_SELF_TEST_SHORT, 2), bad_field);
	EXPECT_EQ(log().result[0].status, NVME_SELF_TEST_UNUSED);
}

} // namespace hil_test
