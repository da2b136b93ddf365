// Reset, shutdown and deletion with commands in flight.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "rig.hpp"

namespace hil_test {

constexpr uint64_t hour_ns = 3600000000000;

TEST(LifeCycle, ResetWaitsForReadsThatAreUnderWay)
{
	Rig rig({.virtual_clock = false});
	rig.enable();
	auto queue = rig.make_queue(1, 32);
	rig.fake->script = [](const ftl_request &req) {
		return req.op == FTL_CANCEL ? Answer{} : Answer{.service_ns = 50000000, .ready_ns = hour_ns, .under_way = true};
	};
	for (int i = 0; i < 20; i++)
		rig.place(queue, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()), 2000);
	rig.post(NVME_REG_DOORBELLS + 8, 20);
	rig.run_for(100000);
	EXPECT_EQ(rig.fake->log.size(), 20u);
	rig.post(NVME_REG_CC, cc_ready & ~1u);
	hz_link_message read{HZ_LINK_READ, 4, 7, NVME_REG_CSTS, 0};
	rig.send(&read, sizeof(read));
	lt_host_turn(0);
	auto replies = rig.received();
	ASSERT_GE(replies.size(), 2u);
	EXPECT_EQ(replies.back().value & NVME_CSTS_RDY, 1u) << "still draining";
	rig.post(NVME_REG_CC, cc_ready);
	lt_host_turn(0);
	EXPECT_EQ(rig.received().back().type, HZ_LINK_ERROR) << "CC.EN may not come back before CSTS.RDY has gone";
	rig.run_for(60000000);
	EXPECT_EQ(rig.get(NVME_REG_CSTS), 0u);
	EXPECT_FALSE(rig.peek(queue)) << "nothing is posted after a reset";
	rig.enable();
	queue = rig.make_queue(1, 32);
	EXPECT_EQ(rig.fake->log.size(), 21u);
}

// With any remaining time: commands at work, commands with data crossing the link, completions before a full queue.
class ResetUnderLoad : public testing::TestWithParam<bool> {};
TEST_P(ResetUnderLoad, IsDoneAtOnce)
{
	Rig rig({.virtual_clock = GetParam()});
	for (uint32_t life = 1; life <= 3; life++) {
		rig.enable();
		auto queue = rig.make_queue(1, 32, 4);
		rig.fake->script = [n = 0](const ftl_request &req) mutable {
			if (req.op == FTL_CANCEL)
				return Answer{};
			return n++ < 10 ? Answer{.service_ns = 100} : n % 2 ? Answer{.service_ns = hour_ns} : Answer{.ready_ns = hour_ns};
		};
		for (int i = 0; i < 30; i++)
			rig.place(queue, io_sqe(NVME_IO_WRITE_ZEROES), rig.now());
		rig.open(queue);
		rig.post(NVME_REG_DOORBELLS + 8, 30);
		rig.run_for(2000000);
		ASSERT_EQ(rig.clock(1).completed, 3u) << "the others are before a full queue";
		uint64_t begun_ns = rig.now();
		rig.post(NVME_REG_CC, cc_ready & ~1u);
		rig.run_for(hour_ns / 2);
		EXPECT_EQ(rig.get(NVME_REG_CSTS), 0u);
		auto is_cancel = [](const Submitted &s) { return s.op == FTL_CANCEL; };
		auto cancel = std::find_if(rig.fake->log.begin(), rig.fake->log.end(), is_cancel);
		ASSERT_NE(cancel, rig.fake->log.end());
		EXPECT_EQ(cancel->lba, life);
		EXPECT_LT(cancel->at_ns, begun_ns + 1000000);
		EXPECT_TRUE(rig.fake->serving.empty());
		rig.fake->log.clear();
	}
}
INSTANTIATE_TEST_SUITE_P(Clock, ResetUnderLoad, testing::Bool());

TEST(LifeCycle, ResetOfAFullQueueThatIsClosed)
{
	Rig rig;
	rig.enable();
	auto queue = rig.make_queue(1, 32, 4);
	for (int i = 0; i < 10; i++)
		rig.place(queue, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()), rig.now());
	rig.open(queue);
	rig.run_for(1000000);
	ASSERT_EQ(rig.clock(1).completed, 3u);
	rig.close(queue, rig.now());
	rig.run_for(1000000);
	rig.post(NVME_REG_CC, cc_ready & ~1u);
	rig.run_for(1000000);
	EXPECT_EQ(rig.get(NVME_REG_CSTS), 0u);
}

TEST(LifeCycle, ResetAtAnyInstantUnderLoad)
{
	const uint64_t seed = 11;
	std::mt19937_64 random(seed);
	Rig rig({.inflight = 16});
	rig.fake->script = [&](const ftl_request &) { return Answer{.service_ns = random() % 20000, .ready_ns = random() % 3000}; };
	for (int round = 0; round < 200; round++) {
		rig.enable();
		std::vector<Rig::Queue> queues;
		for (unsigned id = 1; id <= 4; id++)
			queues.push_back({id, 16, rig.buffer() + id * 8192, rig.buffer() + id * 8192 + 4096});
		for (auto &queue : queues) {
			std::memset(rig.at(queue.cq), 0, 4096);
			std::memset(static_cast<void *>(&rig.clock(queue.id)), 0, sizeof(hz_queue_clock));
			rig.clock(queue.id).turnaround_ns = 4000;
			ASSERT_EQ(rig.create_cq(queue.id, 8, queue.cq), 0);
			ASSERT_EQ(rig.create_sq(queue.id, 16, queue.sq, queue.id), 0);
			for (int i = 0; i < 15; i++)
				rig.place(queue, io_sqe(NVME_IO_WRITE, 0, 1, rig.buffer()), rig.now() + random() % 30000);
		}
		for (auto &queue : queues)
			rig.open(queue);
		rig.run_for(random() % 60000);
		if (random() % 2)
			rig.post(NVME_REG_CC, cc_ready & ~1u);
		else
			rig.hang_up();
		rig.run();
		ASSERT_EQ(rig.get(NVME_REG_CSTS), 0u) << "seed " << seed << " round " << round;
	}
	EXPECT_GT(rig.fake->log.size(), 1000u);
}

TEST(LifeCycle, ShutdownFlushesAndStops)
{
	Rig rig;
	rig.enable();
	rig.header().boot_state = HZ_BOOT_READY;
	rig.set(NVME_REG_CC, cc_ready | NVME_CC_SHN_NORMAL << NVME_CC_SHN_SHIFT);
	ASSERT_EQ(rig.fake->log.size(), 1u);
	EXPECT_EQ(rig.fake->log[0].op, FTL_FLUSH);
	EXPECT_EQ(rig.get(NVME_REG_CSTS), uint32_t{NVME_CSTS_RDY | NVME_CSTS_SHST_COMPLETE});
	EXPECT_EQ(rig.header().boot_state, uint32_t{HZ_BOOT_STOPPED});
	EXPECT_EQ(rig.fake->shut_down, 1);
	rig.hang_up();
	EXPECT_FALSE(lt_host_turn(0)) << "the loops have ended";
}

TEST(LifeCycle, ShutdownWaitsForCommandsAndTakesNoMore)
{
	Rig rig({.virtual_clock = false});
	rig.enable();
	auto queue = rig.make_queue(1, 32);
	rig.fake->script = [](const ftl_request &req) { return Answer{.service_ns = req.op == FTL_FLUSH ? 10u : 50000000u}; };
	rig.place(queue, io_sqe(NVME_IO_WRITE, 0, 1, rig.buffer()));
	rig.post(NVME_REG_DOORBELLS + 8, 1);
	rig.run_for(100000);
	uint64_t begun_ns = rig.now();
	rig.place(queue, io_sqe(NVME_IO_WRITE, 1, 1, rig.buffer()));
	rig.post(NVME_REG_CC, cc_ready | NVME_CC_SHN_ABRUPT << NVME_CC_SHN_SHIFT);
	rig.post(NVME_REG_DOORBELLS + 8, 2);
	rig.run_for(60000000);
	ASSERT_EQ(rig.fake->log.size(), 2u);
	EXPECT_EQ(rig.fake->log[1].op, FTL_FLUSH);
	EXPECT_GE(rig.fake->log[1].at_ns, begun_ns + 49000000);
	EXPECT_TRUE(rig.peek(queue)) << "the command in flight is answered";
	EXPECT_EQ(rig.header().boot_state, uint32_t{HZ_BOOT_STOPPED});
}

TEST(LifeCycle, FailedFlushIsNoCleanStop)
{
	Rig rig;
	rig.enable();
	rig.fake->script = [](const ftl_request &) { return Answer{.status = NVME_WRITE_FAULT}; };
	rig.set(NVME_REG_CC, cc_ready | NVME_CC_SHN_NORMAL << NVME_CC_SHN_SHIFT);
	EXPECT_EQ(rig.get(NVME_REG_CSTS), uint32_t{NVME_CSTS_RDY | NVME_CSTS_CFS | NVME_CSTS_SHST_COMPLETE});
	EXPECT_NE(rig.header().boot_state, uint32_t{HZ_BOOT_STOPPED});
	EXPECT_EQ(rig.fake->shut_down, 0) << "as the enable left it";
}

TEST(LifeCycle, AnEnabledControllerIsNoLongerShutDown)
{
	Rig rig;
	rig.enable();
	rig.set(NVME_REG_CC, cc_ready | NVME_CC_SHN_NORMAL << NVME_CC_SHN_SHIFT);
	rig.set(NVME_REG_CC, 0);
	EXPECT_EQ(rig.fake->shut_down, 1);
	rig.enable();
	EXPECT_EQ(rig.fake->shut_down, 0);
}

TEST(LifeCycle, ShutdownOfADisabledControllerFlushesToo)
{
	Rig rig;
	rig.set(NVME_REG_CC, NVME_CC_SHN_NORMAL << NVME_CC_SHN_SHIFT);
	EXPECT_EQ(rig.get(NVME_REG_CSTS), uint32_t{NVME_CSTS_SHST_COMPLETE});
	EXPECT_EQ(rig.header().boot_state, uint32_t{HZ_BOOT_STOPPED});
}

TEST(LifeCycle, AResetDuringTheFlushWaitsForItAndFlushesNoSecondTime)
{
	Rig rig;
	rig.enable();
	rig.fake->script = [](const ftl_request &req) { return Answer{.service_ns = req.op == FTL_FLUSH ? 1000000u : 1000u}; };
	rig.post(NVME_REG_CC, cc_ready | NVME_CC_SHN_NORMAL << NVME_CC_SHN_SHIFT);
	lt_host_turn(0);
	rig.post(NVME_REG_CC, 0);
	rig.run();
	const auto flushes = [&] {
		return std::count_if(rig.fake->log.begin(), rig.fake->log.end(), [](const Submitted &s) { return s.op == FTL_FLUSH; });
	};
	EXPECT_EQ(flushes(), 1);
	EXPECT_EQ(rig.get(NVME_REG_CSTS), 0u);
	EXPECT_EQ(rig.fake->shut_down, 1);
}

TEST(LifeCycle, HostThatLeavesDuringTheFlushEndsTheRunWhenItIsDone)
{
	Rig rig;
	rig.enable();
	rig.post(NVME_REG_CC, cc_ready | NVME_CC_SHN_NORMAL << NVME_CC_SHN_SHIFT);
	lt_host_turn(0);
	EXPECT_NE(rig.header().boot_state, uint32_t{HZ_BOOT_STOPPED});
	rig.hang_up();
	rig.run();
	EXPECT_EQ(rig.header().boot_state, uint32_t{HZ_BOOT_STOPPED});
	EXPECT_FALSE(lt_host_turn(0));
}

TEST(LifeCycle, DeleteWaitsForWhatIsInFlight)
{
	Rig rig({.virtual_clock = false});
	rig.enable();
	auto queue = rig.make_queue(1, 32);
	rig.fake->script = [](const ftl_request &) { return Answer{.service_ns = 50000000}; };
	for (int i = 0; i < 5; i++)
		rig.place(queue, io_sqe(NVME_IO_WRITE, 0, 1, rig.buffer()), 2000);
	rig.post(NVME_REG_DOORBELLS + 8, 5);
	rig.run_for(100000);
	rig.place_admin(admin_sqe(NVME_ADMIN_DELETE_SQ, 1));
	rig.post(NVME_REG_DOORBELLS, 3);
	lt_host_turn(0);
	EXPECT_FALSE(rig.reap_admin(false));
	rig.run_for(60000000);
	auto cqe = rig.reap_admin();
	ASSERT_TRUE(cqe);
	EXPECT_EQ(cqe->status, 0);
	for (int i = 0; i < 5; i++)
		EXPECT_TRUE(rig.peek(queue)) << "they were answered before";
}

} // namespace hil_test
