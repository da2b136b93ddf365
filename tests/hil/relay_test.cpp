// Several HIL harts: the hart of each queue pair, and its reports to the first one. All other tests, run with several, show that the host
// sees no difference.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <map>

#include "rig.hpp"

extern "C" {
#include "hil/queue/relay.h"
}

namespace hil_test {

class Relay : public testing::TestWithParam<bool> {
protected:
	// Opens a queue with commands of no host time; under the real clock the doorbell is rung at once.
	Cqe io(Rig::Queue &queue, const nvme_sqe &sqe)
	{
		rig.place(queue, sqe, rig.now());
		rig.publish(queue);
		ring(queue);
		rig.run_for(3000000);
		auto cqe = rig.peek(queue);
		if (!cqe)
			throw std::logic_error("the command did not complete");
		rig.publish(queue);
		rig.set(NVME_REG_DOORBELLS + queue.id * 8 + 4, queue.consumed % queue.depth);
		return *cqe;
	}

	void ring(const Rig::Queue &queue) { rig.post(NVME_REG_DOORBELLS + queue.id * 8, queue.submitted % queue.depth); }

	Rig rig{{.virtual_clock = GetParam(), .harts = 5, .hils = 3}};
};
INSTANTIATE_TEST_SUITE_P(Clock, Relay, testing::Bool());

TEST_P(Relay, QueuePairsAreDealtAmongTheHarts)
{
	rig.enable();
	std::map<unsigned, unsigned> served;
	rig.fake->script = [&](const ftl_request &req) {
		served[req.queue] = req.reply_to->hart;
		return Answer{};
	};
	for (unsigned id = 1; id <= 7; id++) {
		auto queue = rig.make_queue(id, 8);
		rig.open(queue);
		EXPECT_EQ(io(queue, io_sqe(NVME_IO_READ, 0, 1, rig.buffer())).status, 0);
		rig.close(queue, rig.now());
	}
	EXPECT_EQ(served, (std::map<unsigned, unsigned>{{1, 0}, {2, 1}, {3, 2}, {4, 0}, {5, 1}, {6, 2}, {7, 0}}));
}

TEST_P(Relay, ASubmissionQueueGoesToTheHartOfItsCompletionQueue)
{
	rig.enable();
	unsigned hart = 99;
	rig.fake->script = [&](const ftl_request &req) {
		hart = req.reply_to->hart;
		return Answer{};
	};
	auto queue = rig.make_queue(3, 8);
	Rig::Queue other{1, 8, rig.allocate(4096), queue.cq};
	std::memset(static_cast<void *>(&rig.clock(1)), 0, sizeof(hz_queue_clock));
	ASSERT_EQ(rig.create_sq(1, 8, other.sq, 3), 0);
	rig.place(other, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()), rig.now());
	rig.open(other);
	ring(other);
	rig.run_for(3000000);
	EXPECT_EQ(hart, 2u);
	auto cqe = rig.peek(queue);
	ASSERT_TRUE(cqe);
	EXPECT_EQ(cqe->sq_id, 1);
}

TEST_P(Relay, ErrorsAndCountsOfAllHartsAreInTheLogs)
{
	rig.enable();
	rig.fake->script = [](const ftl_request &req) { return Answer{.status = req.lba == 5 ? uint16_t{NVME_WRITE_FAULT} : uint16_t{0}}; };
	for (unsigned id = 1; id <= 3; id++) {
		auto queue = rig.make_queue(id, 8);
		rig.open(queue);
		EXPECT_EQ(io(queue, io_sqe(NVME_IO_READ, 0, 1, rig.buffer())).status, 0);
		EXPECT_EQ(io(queue, io_sqe(NVME_IO_WRITE, 5, 1, rig.buffer())).status, NVME_WRITE_FAULT);
		EXPECT_EQ(io(queue, io_sqe(0x7e)).status, dnr(NVME_INVALID_OPCODE));
		rig.close(queue, rig.now());
	}
	ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, 127 << 16 | NVME_LOG_SMART, 0, rig.buffer(), NVME_NSID_ALL)), 0);
	EXPECT_EQ(rig.page<nvme_smart_log>().host_reads[0], 3u);
	EXPECT_EQ(rig.page<nvme_smart_log>().error_entries[0], 6u);
	ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, 1023 << 16 | NVME_LOG_ERROR, 0, rig.buffer(), NVME_NSID_ALL)), 0);
	const auto *entry = rig.at<nvme_error_entry>(rig.buffer());
	for (unsigned i = 0; i < 6; i++)
		EXPECT_EQ(entry[i].sqid, 3 - i / 2);
	EXPECT_EQ(entry[1].lba, 5u);
}

// The home is busy while a far hart fails 300 commands: those without a place in the ring are counted.
TEST_P(Relay, NoErrorIsUncounted)
{
	static relay far_relay;
	static relays home;
	static queues at_home;
	static far_view far;
	static interrupts irq;
	uint64_t heard = 0, errors = 1000, media = 2000;
	queue_client client{};
	client.ctx = &heard;
	client.failed = [](void *ctx, const failure *f) {
		EXPECT_EQ(f->cid, (*static_cast<uint64_t *>(ctx))++) << "the oldest ones have entries";
	};
	const life ready{LIFE_READY, SHUTDOWN_NONE, 1, false};
	far_relay = relay{};
	home = relays{};
	far_relay.relays = &home;
	home.count = 1;
	home.relay[0] = &far_relay;
	home.irq = &irq;
	at_home.client = &client;
	far_view_init(&far, &far_relay, nullptr, nullptr, nullptr, true);
	for (uint16_t i = 0; i < 300; i++) {
		const failure f{2, i, i % 4 ? uint16_t{NVME_WRITE_FAULT} : uint16_t{NVME_INVALID_OPCODE}, 1, i};
		far.client.failed(far.client.ctx, &f);
	}
	lt_store(&home.news, 1);
	relays_hear(&home, &at_home, &ready);
	EXPECT_EQ(heard, 256u);
	relays_add_missed(&home, &errors, &media);
	EXPECT_EQ(errors, 1044u);
	EXPECT_EQ(media, 2033u);
}

TEST_P(Relay, FeaturesReachAllHartsBeforeTheNextCommand)
{
	rig.enable();
	uint8_t flags = 0;
	rig.fake->script = [&](const ftl_request &req) {
		flags = req.flags;
		return Answer{};
	};
	auto queue = rig.make_queue(2, 8);
	rig.open(queue);
	for (uint32_t cache : {1, 0, 1}) {
		ASSERT_EQ(rig.set_feature(NVME_FEAT_VOLATILE_WRITE_CACHE, cache).status, 0);
		EXPECT_EQ(io(queue, io_sqe(NVME_IO_WRITE, 0, 1, rig.buffer())).status, 0);
		EXPECT_EQ(flags & FTL_FUA, cache ? 0 : FTL_FUA);
	}
}

TEST_P(Relay, TheWriteCacheIsOnInEachLifeOfTheController)
{
	uint8_t flags = 0;
	rig.fake->script = [&](const ftl_request &req) {
		flags = req.flags;
		return Answer{};
	};
	for (int life = 0; life < 2; life++) {
		rig.enable();
		for (unsigned id : {1, 2}) {
			auto queue = rig.make_queue(id, 8);
			rig.open(queue);
			EXPECT_EQ(io(queue, io_sqe(NVME_IO_WRITE, 0, 1, rig.buffer())).status, 0);
			EXPECT_EQ(flags & FTL_FUA, 0) << id;
			rig.close(queue, rig.now());
		}
		ASSERT_EQ(rig.set_feature(NVME_FEAT_VOLATILE_WRITE_CACHE, 0).status, 0);
		rig.set(NVME_REG_CC, 0);
	}
}

TEST_P(Relay, InterruptsOfAllHartsAreSent)
{
	constexpr uint32_t interrupts = 2;
	rig.enable();
	for (unsigned id = 1; id <= 3; id++) {
		Rig::Queue queue{id, 8, rig.allocate(4096), rig.allocate(4096)};
		std::memset(static_cast<void *>(&rig.clock(id)), 0, sizeof(hz_queue_clock));
		ASSERT_EQ(rig.create_cq(id, 8, queue.cq, 1 | interrupts, id), 0);
		ASSERT_EQ(rig.create_sq(id, 8, queue.sq, id), 0);
		rig.received();
		rig.place(queue, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()), rig.now());
		rig.open(queue);
		ring(queue);
		rig.run_for(3000000);
		std::vector<uint32_t> vectors;
		for (const hz_link_message &message : rig.received())
			if (message.type == HZ_LINK_IRQ)
				vectors.push_back(message.offset);
		EXPECT_EQ(vectors, std::vector<uint32_t>{id});
		EXPECT_TRUE(rig.peek(queue));
		rig.close(queue, rig.now());
	}
}

TEST_P(Relay, DeletionWaitsForCommandsOnAnotherHart)
{
	rig.enable();
	rig.fake->script = [](const ftl_request &) { return Answer{.service_ns = 50000000}; };
	auto queue = rig.make_queue(2, 8);
	for (int i = 0; i < 3; i++)
		rig.place(queue, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()), rig.now());
	rig.open(queue);
	ring(queue);
	rig.run_for(1000000);
	ASSERT_EQ(rig.fake->log.size(), 3u);
	rig.place_admin(admin_sqe(NVME_ADMIN_DELETE_SQ, 2));
	rig.ring_admin();
	auto answer = rig.reap_admin();
	for (int i = 0; i < 70 && !answer; i++) {
		rig.run_for(1000000);
		answer = rig.reap_admin();
		ASSERT_TRUE(!answer || rig.clock(2).completed == 3u);
	}
	ASSERT_TRUE(answer);
	EXPECT_EQ(answer->status, 0);
	EXPECT_EQ(rig.clock(2).completed, 3u);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_DELETE_CQ, 2)), 0);
	auto again = rig.make_queue(2, 8);
	rig.open(again);
	rig.fake->script = [](const ftl_request &) { return Answer{}; };
	EXPECT_EQ(io(again, io_sqe(NVME_IO_READ, 0, 1, rig.buffer())).status, 0);
}

TEST_P(Relay, ShutdownWaitsForAllHarts)
{
	rig.enable();
	std::vector<Rig::Queue> queues;
	rig.fake->script = [](const ftl_request &req) { return Answer{.service_ns = req.op == FTL_FLUSH ? 1000u : 20000000u}; };
	for (unsigned id = 1; id <= 3; id++)
		queues.push_back(rig.make_queue(id, 8));
	for (auto &queue : queues) {
		rig.place(queue, io_sqe(NVME_IO_WRITE, 0, 1, rig.buffer()), rig.now());
		rig.open(queue);
		ring(queue);
	}
	rig.run_for(1000000);
	rig.post(NVME_REG_CC, cc_ready | NVME_CC_SHN_NORMAL << NVME_CC_SHN_SHIFT);
	rig.run_for(1000000);
	EXPECT_EQ(rig.fake->log.size(), 3u);
	rig.run_for(60000000);
	ASSERT_EQ(rig.fake->log.size(), 4u);
	EXPECT_EQ(rig.fake->log[3].op, FTL_FLUSH);
	for (unsigned id = 1; id <= 3; id++)
		EXPECT_EQ(rig.clock(id).completed, 1u);
	EXPECT_EQ(rig.header().boot_state, uint32_t{HZ_BOOT_STOPPED});
}

} // namespace hil_test
