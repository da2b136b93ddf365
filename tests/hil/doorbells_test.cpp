// Doorbells under the real clock: registers and shadow buffer, EventIdx, nonsense values, completion queue heads.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "rig.hpp"

namespace hil_test {

struct Doorbells : testing::Test {
	Doorbells() : rig({.virtual_clock = false}) { rig.enable(); }
	void use_shadow()
	{
		rig.shadow = rig.allocate(4096);
		rig.events = rig.allocate(4096);
		nvme_sqe sqe = admin_sqe(NVME_ADMIN_DBBUF, 0, 0, rig.shadow);
		sqe.prp2 = rig.events;
		ASSERT_EQ(rig.status_of(sqe), 0);
	}
	void expect_event(unsigned information)
	{
		rig.await_event();
		auto cqe = rig.reap_admin();
		ASSERT_TRUE(cqe);
		EXPECT_EQ(cqe->dw0, information << 8 | NVME_LOG_ERROR << 16);
	}
	void clear_events()
	{
		EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, NVME_LOG_ERROR | 15 << 16, 0, rig.buffer(), NVME_NSID_ALL)), 0);
	}
	static constexpr uint32_t tail(unsigned q) { return 0x1000 + q * 8; }
	static constexpr uint32_t head(unsigned q) { return 0x1004 + q * 8; }
	Rig rig;
};

TEST_F(Doorbells, RegisterTailFetches)
{
	auto queue = rig.make_queue(1, 8);
	for (uint32_t i = 0; i < 30; i++) {
		rig.place(queue, io_sqe(NVME_IO_READ, i, 1, rig.buffer()));
		rig.set(tail(1), (i + 1) % 8);
		ASSERT_TRUE(rig.peek(queue)) << i;
		rig.set(head(1), (i + 1) % 8);
	}
	EXPECT_EQ(rig.fake->log.size(), 30u);
}

TEST_F(Doorbells, NoEntryBeforeItsDataHaveCrossedTheLink)
{
	auto queue = rig.make_queue(1, 8);
	rig.fake->script = [](const ftl_request &) { return Answer{.service_ns = 50000, .ready_ns = 30000}; };
	rig.place(queue, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()));
	rig.post(tail(1), 1);
	rig.run_for(70000);
	EXPECT_FALSE(rig.peek(queue));
	rig.run_for(20000);
	EXPECT_TRUE(rig.peek(queue));
}

TEST_F(Doorbells, ShadowTailFetchesWithoutARegister)
{
	use_shadow();
	auto queue = rig.make_queue(2, 8);
	for (uint32_t i = 0; i < 30; i++) {
		rig.place(queue, io_sqe(NVME_IO_READ, i, 1, rig.buffer()));
		rig.publish(queue);
		rig.run();
		ASSERT_TRUE(rig.peek(queue)) << i;
		rig.publish(queue);
	}
	for (int i = 0; i < 300; i++)
		rig.run();
	EXPECT_EQ(rig.at<uint32_t>(rig.events)[4], 30u % 8) << "asleep: ring me when you pass this";
}

TEST_F(Doorbells, NonexistentQueueRaisesAnEvent)
{
	rig.set(tail(5), 1);
	expect_event(NVME_AEN_ERROR_INVALID_DOORBELL_REGISTER);
	rig.set(head(64), 1);
	rig.await_event();
	EXPECT_FALSE(rig.reap_admin()) << "masked until the log page is read";
	rig.place_admin(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, NVME_LOG_ERROR | 15 << 16 | 1 << 15, 0, rig.buffer(), NVME_NSID_ALL));
	rig.ring_admin();
	ASSERT_TRUE(rig.reap_admin());
	EXPECT_FALSE(rig.reap_admin()) << "read with 'retain'";
	clear_events();
	EXPECT_TRUE(rig.reap_admin());
}

TEST_F(Doorbells, ImpossibleTailBreaksTheQueueOnly)
{
	auto bad = rig.make_queue(1, 8), good = rig.make_queue(2, 8);
	rig.place(bad, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()));
	rig.set(tail(1), 8);
	expect_event(NVME_AEN_ERROR_INVALID_DOORBELL_VALUE);
	rig.set(tail(1), 1);
	rig.run();
	EXPECT_FALSE(rig.peek(bad)) << "ignored until deleted";
	rig.place(good, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()));
	rig.set(tail(2), 1);
	EXPECT_TRUE(rig.peek(good));
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_DELETE_SQ, 1)), 0);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_DELETE_CQ, 1)), 0);
	bad = rig.make_queue(1, 8);
	rig.place(bad, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()));
	rig.set(tail(1), 1);
	EXPECT_TRUE(rig.peek(bad));
}

TEST_F(Doorbells, ImpossibleShadowValuesBreakTheQueue)
{
	use_shadow();
	rig.make_queue(1, 8);
	auto other = rig.make_queue(2, 8);
	rig.at<uint32_t>(rig.shadow)[2] = 0xffffffff;
	rig.run();
	expect_event(NVME_AEN_ERROR_INVALID_DOORBELL_VALUE);
	rig.place(other, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()));
	rig.publish(other);
	rig.run();
	EXPECT_TRUE(rig.peek(other));
}

TEST_F(Doorbells, ImpossibleAdminValuesAreIgnoredAndReported)
{
	rig.set(tail(0), 32);
	expect_event(NVME_AEN_ERROR_INVALID_DOORBELL_VALUE);
	clear_events();
	rig.set(head(0), 31);
	expect_event(NVME_AEN_ERROR_INVALID_DOORBELL_VALUE);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_ABORT)), 0);
}

TEST_F(Doorbells, FullCompletionQueueWaitsForTheHead)
{
	auto queue = rig.make_queue(1, 16, 4);
	for (uint32_t i = 0; i < 10; i++)
		rig.place(queue, io_sqe(NVME_IO_READ, i, 1, rig.buffer()));
	rig.set(tail(1), 10);
	rig.run();
	EXPECT_EQ(rig.fake->log.size(), 10u) << "all are in the device";
	unsigned got = 0;
	for (int round = 0; round < 10; round++) {
		while (auto cqe = rig.peek(queue, 4)) {
			EXPECT_EQ(cqe->cid, got);
			got++;
		}
		EXPECT_LE(got, 3u * (round + 1));
		rig.set(head(1), got % 4);
		rig.run();
	}
	EXPECT_EQ(got, 10u);
}

TEST_F(Doorbells, ImpossibleHeadIsReportedAndNothingIsPosted)
{
	auto queue = rig.make_queue(1, 16, 4);
	for (uint32_t i = 0; i < 5; i++)
		rig.place(queue, io_sqe(NVME_IO_READ, i, 1, rig.buffer()));
	rig.set(head(1), 9);
	rig.set(tail(1), 5);
	rig.run();
	expect_event(NVME_AEN_ERROR_INVALID_DOORBELL_VALUE);
	unsigned got = 0;
	while (rig.peek(queue, 4))
		got++;
	EXPECT_EQ(got, 3u);
	rig.set(NVME_REG_CC, 0);
	EXPECT_EQ(rig.get(NVME_REG_CSTS), 0u) << "parked completions do not hold up a reset";
}

} // namespace hil_test
