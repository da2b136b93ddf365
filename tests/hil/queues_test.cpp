// I/O queues under the virtual clock: order, wrap, full completion queues, parked commands, arbitration, costs of the link model.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>

#include "rig.hpp"

namespace hil_test {

TEST(Queues, CommandsReachTheirWorkersAndWrapAroundManyTimes)
{
	Rig rig;
	rig.enable();
	auto a = rig.make_queue(1, 7), b = rig.make_queue(6, 5);
	rig.open(a);
	rig.open(b);
	for (uint32_t i = 0; i < 100; i++) {
		nvme_sqe sqe = io_sqe(NVME_IO_ZONE_APPEND, 0, 1, rig.buffer());
		sqe.cid = static_cast<uint16_t>(i + 1);
		rig.fake->script = [&](const ftl_request &) { return Answer{.result = 0x100000000ull + i}; };
		Cqe cqe = rig.io(a, sqe);
		ASSERT_EQ(cqe.cid, i + 1);
		ASSERT_EQ(cqe.status, 0);
		ASSERT_EQ(cqe.sq_head, (i + 1) % 7);
		ASSERT_EQ(cqe.dw0 | uint64_t{cqe.dw1} << 32, 0x100000000ull + i) << "the LBA that was assigned";
		ASSERT_EQ(rig.io(b, io_sqe(NVME_IO_READ, i, 1, rig.buffer())).sq_id, 6);
	}
	EXPECT_EQ(rig.fake->log[0].worker, 0u);
	EXPECT_EQ(rig.fake->log[1].worker, 1u) << "queue 6 of 4 workers";
	EXPECT_EQ(rig.clock(1).completed, 100u);
}

TEST(Queues, RequestsNameTheirQueueAndTheControllersLife)
{
	Rig rig;
	ftl_request seen{};
	rig.fake->script = [&](const ftl_request &req) {
		seen = req;
		return Answer{};
	};
	for (uint32_t life = 1; life < 4; life++) {
		rig.enable();
		for (unsigned id : {1u, 64u, 7u}) {
			auto queue = rig.make_queue(id, 4);
			rig.open(queue);
			ASSERT_EQ(rig.io(queue, io_sqe(NVME_IO_READ, 0, 1, rig.buffer())).status, 0);
			EXPECT_EQ(seen.queue, id);
			EXPECT_EQ(seen.life, life);
			rig.close(queue, rig.now());
		}
		rig.set(NVME_REG_CC, 0);
	}
}

TEST(Queues, TimeOfACommandIsTheSumOfTheModel)
{
	Rig rig;
	rig.enable();
	auto queue = rig.make_queue(1, 8);
	rig.fake->script = [](const ftl_request &) { return Answer{.service_ns = 50000, .ready_ns = 1234}; };
	rig.place(queue, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()), 20000);
	rig.open(queue);
	rig.run();
	ASSERT_EQ(rig.fake->log.size(), 1u);
	EXPECT_EQ(rig.fake->log[0].at_ns, 20000u + 100 + 300) << "arrival + doorbell + fetch";
	auto cqe = rig.peek(queue);
	ASSERT_TRUE(cqe);
	EXPECT_EQ(cqe->completed_ns, 20400u + 50000 + 1234 + 200 + 500) << "ready + completion + interrupt";
}

TEST(Queues, CompletionsAreInOrderOfTheirTimes)
{
	Rig rig;
	rig.enable();
	auto queue = rig.make_queue(1, 64);
	const uint64_t seed = 3;
	std::mt19937_64 random(seed);
	rig.fake->script = [&](const ftl_request &) {
		return Answer{.service_ns = random() % 30000, .ready_ns = random() % 2 * random() % 30000};
	};
	for (int i = 0; i < 60; i++)
		rig.place(queue, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()), 10000 + random() % 1000);
	rig.open(queue);
	rig.run();
	uint64_t before = 0;
	for (int i = 0; i < 60; i++) {
		auto cqe = rig.peek(queue);
		ASSERT_TRUE(cqe) << i;
		ASSERT_GE(cqe->completed_ns, before);
		before = cqe->completed_ns;
	}
}

TEST(Queues, AnEntryCrossesBehindItsDataAndItsQueuesEarlierOnes)
{
	Rig rig;
	rig.enable();
	auto a = rig.make_queue(1, 8), b = rig.make_queue(2, 8);
	rig.fake->script = [&](const ftl_request &req) {
		return Answer{.service_ns = 1000 + req.lba, .ready_ns = req.lba % 999 == 1 ? 900000u : 0u};
	};
	for (uint64_t lba : {1, 2, 1000})
		rig.place(a, io_sqe(NVME_IO_READ, lba, 1, rig.buffer()), 20000);
	rig.place(b, io_sqe(NVME_IO_READ, 3, 1, rig.buffer()), 20000);
	rig.place(b, io_sqe(0x55), 30000);
	for (auto *queue : {&a, &b})
		rig.open(*queue);
	rig.run();
	EXPECT_LT(rig.now(), 900000u) << "nobody waits for the link";
	const auto first = rig.peek(a), second = rig.peek(a), other = rig.peek(b), refused = rig.peek(b);
	ASSERT_TRUE(first && second && other && refused);
	EXPECT_GT(first->completed_ns, 900000u);
	EXPECT_EQ(second->completed_ns, first->completed_ns);
	EXPECT_LT(other->completed_ns, 50000u) << "another queue's entries cross by themselves";
	EXPECT_EQ(refused->status, dnr(NVME_INVALID_OPCODE));
	EXPECT_LT(refused->completed_ns, 50000u) << "it has no data, though a command before it in its place had";
}

TEST(Queues, DecodingErrorsCompleteWithTheirStatusAndAreLogged)
{
	Rig rig;
	rig.enable();
	auto queue = rig.make_queue(1, 8);
	rig.open(queue);
	EXPECT_EQ(rig.io(queue, io_sqe(0x55)).status, dnr(NVME_INVALID_OPCODE));
	EXPECT_EQ(rig.io(queue, io_sqe(NVME_IO_READ, 1ull << 40, 1, rig.buffer())).status, dnr(NVME_LBA_OUT_OF_RANGE));
	EXPECT_EQ(rig.io(queue, io_sqe(NVME_IO_READ, 0, 1, 0)).status, NVME_DATA_TRANSFER_ERROR);
	rig.fake->script = [](const ftl_request &) { return Answer{.status = NVME_ZONE_FULL | NVME_DNR}; };
	EXPECT_EQ(rig.io(queue, io_sqe(NVME_IO_WRITE, 0, 1, rig.buffer())).status, dnr(NVME_ZONE_FULL));
	EXPECT_EQ(rig.fake->log.size(), 1u) << "illegal commands do not reach the FTL";
}

TEST(Queues, EmptyPoolLeavesCommandsInTheirQueue)
{
	Rig rig({.inflight = 3, .hils = 1}); // with a part of the pool each
	rig.enable();
	auto queue = rig.make_queue(1, 64);
	for (uint64_t i = 0; i < 50; i++)
		rig.place(queue, io_sqe(NVME_IO_READ, i, 1, rig.buffer()), 2000);
	rig.open(queue);
	rig.run_for(1900);
	EXPECT_EQ(rig.fake->log.size(), 3u);
	rig.run();
	ASSERT_EQ(rig.fake->log.size(), 50u);
	for (uint64_t i = 0; i < 50; i++)
		EXPECT_EQ(rig.fake->log[i].lba, i);
}

// A completion queue smaller than the number of outstanding commands: completions wait, at a device time independent of the host.
TEST(Queues, FullCompletionQueueParksCompletionsUntilTheHostCanHaveRead)
{
	std::vector<uint64_t> times[2];
	for (int slow = 0; slow < 2; slow++) {
		Rig rig;
		rig.enable();
		auto queue = rig.make_queue(1, 32, 4);
		for (int i = 0; i < 20; i++)
			rig.place(queue, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()), 5000);
		int calls = 0;
		auto host = [&] {
			if (slow && ++calls % 7)
				return;
			while (auto cqe = rig.peek(queue, 4))
				times[slow].push_back(cqe->completed_ns);
			rig.publish(queue);
		};
		rig.open(queue);
		rig.on_poll = host;
		rig.on_host_wait = [&] {
			host();
			return times[slow].size() < 20;
		};
		for (int i = 0; i < 40 && times[slow].size() < 20; i++)
			rig.run();
		ASSERT_EQ(times[slow].size(), 20u);
	}
	EXPECT_EQ(times[0], times[1]);
	EXPECT_EQ(times[0][2], times[0][0]);
	EXPECT_EQ(times[0][3], times[0][0] + 4000 + 700) << "turn-around of the first, then completion and interrupt";
}

TEST(Queues, RoundRobinIsFairAmongQueuesThatHaveCommands)
{
	Rig rig({.inflight = 1, .hils = 1});
	rig.enable();
	std::vector<Rig::Queue> queues;
	for (unsigned id = 1; id <= 5; id++) {
		queues.push_back(rig.make_queue(id, 64));
		rig.clock(id).turnaround_ns = 1000000000; // the answers have no reader here
		for (int i = 0; i < 40; i++)
			rig.place(queues.back(), io_sqe(NVME_IO_READ, id, 1, rig.buffer()), 2000);
	}
	for (auto &queue : queues)
		rig.open(queue);
	rig.run();
	ASSERT_EQ(rig.fake->log.size(), 200u);
	for (size_t i = 5; i < 200; i++)
		EXPECT_EQ(rig.fake->log[i].lba, rig.fake->log[i - 5].lba) << i;
}

TEST(Queues, ArbitrationBurstIsHonoured)
{
	Rig rig({.inflight = 1, .hils = 1});
	rig.enable();
	rig.set_feature(NVME_FEAT_ARBITRATION, 2);
	auto a = rig.make_queue(1, 64), b = rig.make_queue(2, 64);
	rig.clock(1).turnaround_ns = rig.clock(2).turnaround_ns = 1000000000; // the answers have no reader here
	for (int i = 0; i < 16; i++) {
		rig.place(a, io_sqe(NVME_IO_READ, 1, 1, rig.buffer()), 2000);
		rig.place(b, io_sqe(NVME_IO_READ, 2, 1, rig.buffer()), 2000);
	}
	rig.open(a);
	rig.open(b);
	rig.run();
	ASSERT_EQ(rig.fake->log.size(), 32u);
	for (size_t i = 4; i < 28; i++)
		EXPECT_NE(rig.fake->log[i].lba, rig.fake->log[i - 4].lba) << i;
}

// Queues by priority and id, all full from the same moment on; the order in which they are fetched.
class WeightedQueues : public ::testing::TestWithParam<unsigned> { // HIL harts; the queues are those of the last one
protected:
	struct Sender {
		unsigned id;
		nvme_queue_priority priority;
	};
	static std::vector<uint64_t> order(unsigned hils, const std::vector<Sender> &senders, uint32_t arbitration, uint32_t cc,
					   unsigned commands = 24)
	{
		Rig rig({.inflight = hils, .hils = hils});
		rig.enable(16, cc);
		rig.set_feature(NVME_FEAT_ARBITRATION, arbitration);
		std::vector<Rig::Queue> queues;
		for (auto &sender : senders)
			queues.push_back(
				rig.make_queue(sender.id + hils - 1, 64, 0, NVME_QUEUE_CONTIGUOUS | sender.priority << NVME_QPRIO_SHIFT));
		for (auto &queue : queues) {
			rig.clock(queue.id).turnaround_ns = 1000000000; // the answers have no reader here
			for (unsigned i = 0; i < commands; i++)
				rig.place(queue, io_sqe(NVME_IO_READ, queue.id - (hils - 1), 1, rig.buffer()), 200000);
		}
		for (auto &queue : queues)
			rig.open(queue);
		rig.run();
		std::vector<uint64_t> fetched;
		for (auto &entry : rig.fake->log)
			fetched.push_back(entry.lba);
		EXPECT_EQ(fetched.size(), senders.size() * commands);
		return fetched;
	}
	// How many of the first `among` commands come from queue `id`.
	static long of(const std::vector<uint64_t> &order, uint64_t id, long among)
	{
		return std::count(order.begin(), order.begin() + among, id);
	}
	static constexpr uint32_t weighted = NVME_CC_AMS_WEIGHTED << NVME_CC_AMS_SHIFT;
	static constexpr uint32_t weights = 3u << 24 | 1u << 16 | 0u << 8; // 0's based: high 4, medium 2, low 1
};

// Two harts are dealt the queues by turns.
INSTANTIATE_TEST_SUITE_P(Harts, WeightedQueues, ::testing::Values(1u, 2u), ::testing::PrintToStringParamName());

TEST_P(WeightedQueues, EachPrioritySendsItsWeight)
{
	auto fetched = order(GetParam(), {{1, NVME_QPRIO_LOW}, {3, NVME_QPRIO_MEDIUM}, {5, NVME_QPRIO_HIGH}}, weights, weighted);
	for (long round = 1; round <= 6; round++) {
		EXPECT_EQ(of(fetched, 5, 7 * round), 4 * round);
		EXPECT_EQ(of(fetched, 3, 7 * round), 2 * round);
		EXPECT_EQ(of(fetched, 1, 7 * round), round);
	}
}

TEST_P(WeightedQueues, UrgentOnesComeBeforeAllOthers)
{
	auto fetched = order(GetParam(), {{1, NVME_QPRIO_HIGH}, {3, NVME_QPRIO_URGENT}, {5, NVME_QPRIO_URGENT}}, weights, weighted);
	EXPECT_EQ(of(fetched, 1, 48), 0);
	EXPECT_LE(std::abs(of(fetched, 3, 24) - of(fetched, 5, 24)), 1) << "in turn among themselves";
}

TEST_P(WeightedQueues, QueuesOfAPriorityTakeTurnsByTheBurst)
{
	auto fetched = order(GetParam(), {{1, NVME_QPRIO_HIGH}, {3, NVME_QPRIO_HIGH}, {5, NVME_QPRIO_LOW}}, weights | 1, weighted);
	const uint64_t first = fetched[0], other = 4 - first;
	const std::vector<uint64_t> round{first, first, other, other, 5};
	for (size_t i = 0; i < 30; i++)
		EXPECT_EQ(fetched[i], round[i % 5]) << i;
}

TEST_P(WeightedQueues, APriorityWithoutCommandsGivesItsShareAway)
{
	auto fetched = order(GetParam(), {{1, NVME_QPRIO_LOW}, {3, NVME_QPRIO_LOW}}, weights, weighted);
	for (size_t i = 2; i < 48; i++)
		EXPECT_EQ(fetched[i], fetched[i - 2]) << i;
}

TEST_P(WeightedQueues, RoundRobinKnowsNoPriorities)
{
	auto fetched = order(GetParam(), {{1, NVME_QPRIO_LOW}, {3, NVME_QPRIO_URGENT}}, weights, 0);
	for (size_t i = 2; i < 48; i++)
		EXPECT_EQ(fetched[i], fetched[i - 2]) << i;
}

TEST(Queues, EqualArrivalsAreTakenInQueueOrderFromTheTurnOn)
{
	Rig rig({.hils = 1});
	rig.enable();
	std::vector<Rig::Queue> queues;
	for (unsigned id : {9, 3, 64, 1})
		queues.push_back(rig.make_queue(id, 8));
	for (auto &queue : queues)
		rig.place(queue, io_sqe(NVME_IO_READ, queue.id, 1, rig.buffer()), 30000);
	for (auto &queue : queues)
		rig.open(queue);
	rig.run();
	std::vector<uint64_t> order;
	for (auto &entry : rig.fake->log)
		order.push_back(entry.lba);
	EXPECT_EQ(order.size(), 4u);
	EXPECT_EQ(order, (std::vector<uint64_t>{3, 9, 64, 1})) << "the turn begins behind queue 1";
}

TEST(Queues, SharedCompletionQueueServesTwoSubmissionQueues)
{
	Rig rig({.virtual_clock = false});
	rig.enable();
	auto a = rig.make_queue(1, 16);
	uint64_t ring = rig.allocate(4096);
	ASSERT_EQ(rig.create_sq(2, 16, ring, 1), 0);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_DELETE_CQ, 1)), dnr(NVME_QUEUE_DELETION));
	rig.at<nvme_sqe>(ring)[0] = io_sqe(NVME_IO_READ, 0, 1, rig.buffer());
	rig.set(0x1000 + 16, 1);
	rig.run();
	auto cqe = rig.peek(a);
	ASSERT_TRUE(cqe);
	EXPECT_EQ(cqe->sq_id, 2);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_DELETE_SQ, 1)), 0);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_DELETE_CQ, 1)), dnr(NVME_QUEUE_DELETION));
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_DELETE_SQ, 2)), 0);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_DELETE_CQ, 1)), 0);
}

TEST(Queues, SleepingHostIsWokenOnce)
{
	Rig rig;
	rig.enable();
	auto queue = rig.make_queue(3, 8);
	rig.clock(3).waiters = 1;
	for (int i = 0; i < 4; i++)
		rig.place(queue, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()), 5000);
	rig.open(queue);
	rig.run();
	EXPECT_EQ(rig.woken, std::vector<unsigned>{3});
	EXPECT_EQ(rig.clock(3).waiters, 0u);
}

/* Each HIL hart has one command inside the device, so the next ones wait in their queue. */
struct Abort : testing::Test {
	static Options one_each()
	{
		Options o;
		o.virtual_clock = false; // time runs by itself
		o.inflight = o.hils;
		return o;
	}
	Abort() : rig(one_each())
	{
		rig.enable();
		rig.fake->script = [](const ftl_request &req) { return Answer{.service_ns = req.life ? 5000000u : 1000u}; };
		id = rig.options.hils; // of the last hart, the first one's if it is alone
		queue = rig.make_queue(id, 16);
		rig.open(queue);
	}
	void send(std::initializer_list<uint16_t> cids)
	{
		for (uint16_t cid : cids) {
			nvme_sqe sqe = io_sqe(NVME_IO_READ, cid, 1, rig.buffer());
			sqe.cid = cid;
			rig.place(queue, sqe);
		}
		rig.post(NVME_REG_DOORBELLS + 8 * id, queue.submitted);
		rig.run_for(600000);
	}
	void abort(uint16_t cid)
	{
		rig.place_admin(admin_sqe(NVME_ADMIN_ABORT, uint32_t(cid) << 16 | id));
		rig.post_admin();
		rig.run_for(600000);
	}
	// Completions of the queue, in order.
	std::vector<std::pair<uint16_t, uint16_t>> seen()
	{
		std::vector<std::pair<uint16_t, uint16_t>> all;
		while (auto cqe = rig.peek(queue))
			all.emplace_back(cqe->cid, cqe->status);
		return all;
	}
	uint16_t remove() { return rig.status_of(admin_sqe(NVME_ADMIN_DELETE_SQ, id)); }
	// LBAs that the device was asked for.
	std::vector<uint64_t> asked()
	{
		std::vector<uint64_t> all;
		for (const Submitted &s : rig.fake->log)
			if (s.op == FTL_READ)
				all.push_back(s.lba);
		return all;
	}
	using Seen = std::vector<std::pair<uint16_t, uint16_t>>;
	Rig rig;
	unsigned id = 0;
	Rig::Queue queue{};
};

TEST_F(Abort, WhatWaitsInItsQueueEndsUnfetched)
{
	send({11, 12, 13});
	EXPECT_EQ(asked(), std::vector<uint64_t>{11});
	abort(12);
	EXPECT_FALSE(rig.reap_admin()) << "answered behind the command";
	rig.run_for(30000000);
	EXPECT_EQ(seen(), (Seen{{11, 0}, {12, NVME_ABORT_REQUESTED}, {13, 0}}));
	EXPECT_EQ(asked(), (std::vector<uint64_t>{11, 13}));
	auto answer = rig.reap_admin();
	ASSERT_TRUE(answer);
	EXPECT_EQ(answer->status, 0);
	EXPECT_EQ(answer->dw0, 0u) << "aborted";
}

TEST_F(Abort, WhatHasBegunGoesOn)
{
	send({11, 12});
	for (uint16_t cid : {11, 99}) {
		abort(cid);
		auto answer = rig.reap_admin();
		ASSERT_TRUE(answer);
		EXPECT_EQ(answer->status, 0);
		EXPECT_EQ(answer->dw0, 1u) << "not aborted";
	}
	rig.run_for(30000000);
	EXPECT_EQ(seen(), (Seen{{11, 0}, {12, 0}}));
}

TEST_F(Abort, OneAtATime)
{
	send({11, 12, 13});
	abort(12);
	abort(13);
	auto refused = rig.reap_admin();
	ASSERT_TRUE(refused);
	EXPECT_EQ(refused->status, NVME_ABORT_LIMIT);
	rig.run_for(30000000);
	EXPECT_EQ(seen(), (Seen{{11, 0}, {12, NVME_ABORT_REQUESTED}, {13, 0}}));
	ASSERT_TRUE(rig.reap_admin());
	send({14, 15});
	abort(15);
	rig.run_for(30000000);
	EXPECT_EQ(seen(), (Seen{{14, 0}, {15, NVME_ABORT_REQUESTED}})) << "and then the next one";
}

TEST_F(Abort, TheEndOfTheQueueEndsIt)
{
	send({11, 12});
	abort(12);
	rig.place_admin(admin_sqe(NVME_ADMIN_DELETE_SQ, id));
	rig.post_admin();
	rig.run_for(30000000);
	std::vector<uint32_t> answers;
	while (auto cqe = rig.reap_admin())
		answers.push_back(cqe->status);
	EXPECT_EQ(answers, (std::vector<uint32_t>{0, 0})) << "both commands have ended";
	ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_DELETE_CQ, id)), 0);
	queue = rig.make_queue(id, 16);
	rig.open(queue);
	send({21, 22});
	rig.run_for(30000000);
	EXPECT_EQ(seen(), (Seen{{21, 0}, {22, 0}})) << "nothing of it is left to a new queue";
}

TEST_F(Abort, AResetEndsIt)
{
	send({11, 12});
	abort(12);
	rig.set(NVME_REG_CC, 0);
	for (int i = 0; i < 20; i++)
		rig.run();
	ASSERT_EQ(rig.get(NVME_REG_CSTS) & NVME_CSTS_RDY, 0u);
	rig.enable();
	EXPECT_FALSE(rig.reap_admin());
	queue = rig.make_queue(id, 16);
	rig.open(queue);
	send({21, 22});
	abort(22);
	rig.run_for(30000000);
	EXPECT_EQ(seen(), (Seen{{21, 0}, {22, NVME_ABORT_REQUESTED}}));
}

TEST_F(Abort, AShutdownEndsIt)
{
	send({11, 12});
	abort(12);
	rig.set(NVME_REG_CC, cc_ready | NVME_CC_SHN_NORMAL << NVME_CC_SHN_SHIFT);
	for (int i = 0; i < 20; i++)
		rig.run();
	EXPECT_EQ(rig.get(NVME_REG_CSTS) & NVME_CSTS_SHST_MASK, unsigned(NVME_CSTS_SHST_COMPLETE));
}

/* Under the virtual clock a command is there from its arrival on. */
TEST(AbortInTime, WhatHasNotArrivedIsNotThere)
{
	Rig rig({.inflight = usual_hils()});
	rig.enable();
	rig.fake->script = [](const ftl_request &req) { return Answer{.service_ns = req.life ? 5000000u : 1000u}; };
	Rig::Queue queue = rig.make_queue(1, 16);
	nvme_sqe sqe = io_sqe(NVME_IO_READ, 0, 1, rig.buffer());
	sqe.cid = 31;
	rig.place(queue, sqe, rig.now() + 1000000000);
	rig.open(queue, rig.now());
	EXPECT_EQ(rig.admin(admin_sqe(NVME_ADMIN_ABORT, 31u << 16 | 1)).dw0, 1u);
}

} // namespace hil_test
