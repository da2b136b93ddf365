// I/O queues at their limits: depth 2 and 1024, 64 queues, full completion queues, deletion under load, nonsense.
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <cstring>
#include <map>

#include "command_case.hpp"

namespace conform {
namespace queue_limits_test {

class QueueLimits : public ZonedDevice {
protected:
	void SetUp() override
	{
		ZonedDevice::SetUp();
		bench().disturb();
	}
	std::unique_ptr<hz::QueuePair> make(unsigned id, unsigned depth)
	{
		return bench().controller().create_queue(id, {.depth = depth, .data_bytes = 4096});
	}
	// `commands` reads of block 0, as many at once as the queue takes; every one is answered once.
	void read_many(hz::QueuePair &queue, unsigned commands)
	{
		unsigned submitted = 0, done = 0;
		queue.open(0);
		while (done < commands) {
			while (submitted < commands && queue.can_acquire()) {
				queue.submit(*queue.acquire(), hz::QueuePair::read(0, 1), 0);
				submitted++;
			}
			queue.promise_nothing_more();
			for (const auto &c : queue.wait()) {
				ASSERT_EQ(c.status, NVME_SUCCESS);
				queue.release(c.cid);
				done++;
			}
		}
		queue.close();
		EXPECT_EQ(queue.outstanding(), 0u);
	}
};

TEST_F(QueueLimits, DepthTwoHoldsOneCommandAtATime)
{
	auto queue = make(2, 2);
	for (int i = 0; i < 7; i++)
		EXPECT_EQ(queue->run(hz::QueuePair::read(0, 1)).status, NVME_SUCCESS);
	read_many(*queue, 20);
}

TEST_F(QueueLimits, Depth1024HoldsItsCommandsAtOnce) { read_many(*make(2, 1024), 3000); }

TEST_F(QueueLimits, OddDepthsWrapAround)
{
	for (unsigned depth : {3u, 5u, 7u, 63u, 100u}) {
		auto queue = make(2, depth);
		read_many(*queue, depth * 3 + 1);
		bench().controller().delete_queue(std::move(queue));
	}
}

TEST_F(QueueLimits, SixtyFourQueuesAnswerTogether)
{
	Bench &b = bench();
	ASSERT_EQ(b.write(0, 1), NVME_SUCCESS);
	b.controller().enable();
	std::vector<std::unique_ptr<hz::QueuePair>> queues;
	for (unsigned id = 1; id <= 64; id++)
		queues.push_back(make(id, 8));
	std::vector<hz::QueuePair *> all;
	for (auto &queue : queues) {
		all.push_back(queue.get());
		for (int i = 0; i < 7; i++)
			queue->submit(*queue->acquire(), hz::QueuePair::read(0, 1), 0);
	}
	std::map<unsigned, int> answers;
	drain(all, [&](hz::QueuePair &queue, const hz::Completion &c) {
		EXPECT_EQ(c.status, NVME_SUCCESS);
		EXPECT_TRUE(std::memcmp(queue.data(c.cid).data(), pattern(0, 1).data(), 4096) == 0);
		answers[queue.qid()]++;
	});
	EXPECT_EQ(answers.size(), 64u);
	for (auto [queue, count] : answers)
		EXPECT_EQ(count, 7) << "queue " << queue;
}

// The CQ has two entries, so one completion fits: the others wait in the device until the host has read it.
TEST_F(QueueLimits, AFullCompletionQueueLosesNothing)
{
	Bench &b = bench();
	constexpr unsigned depth = 16, commands = 15;
	b.controller().enable();
	hz::BusAddress sq = b.controller().allocate(4096), cq = b.controller().allocate(4096), data = b.controller().allocate(4096);
	hz_queue_clock &clock = b.region().queue_clock(1);
	std::memset(static_cast<void *>(&clock), 0, sizeof(clock));
	clock.turnaround_ns = 4000;
	nvme_sqe create{};
	create.opcode = NVME_ADMIN_CREATE_CQ;
	create.prp1 = cq;
	create.cdw10 = 1 | 1u << 16;
	create.cdw11 = NVME_QUEUE_CONTIGUOUS;
	ASSERT_EQ(b.controller().admin(create).status, NVME_SUCCESS);
	create.opcode = NVME_ADMIN_CREATE_SQ;
	create.prp1 = sq;
	create.cdw10 = 1 | (depth - 1) << 16;
	create.cdw11 = NVME_QUEUE_CONTIGUOUS | 1u << 16;
	ASSERT_EQ(b.controller().admin(create).status, NVME_SUCCESS);
	for (unsigned i = 0; i < commands; i++) {
		nvme_sqe read = hz::QueuePair::read(0, 1);
		read.nsid = 1; // no QueuePair submits it
		read.cid = static_cast<uint16_t>(i);
		read.prp1 = data;
		std::memcpy(b.at(sq + i * 64), &read, 64);
	}
	auto store = [](auto &word, auto value) { std::atomic_ref(word).store(value, std::memory_order_release); };
	store(clock.submitted, uint64_t(commands));
	store(clock.horizon_ns, UINT64_MAX);
	store(clock.open, 1u);
	b.region().ring_bell();
	std::map<uint16_t, int> answers;
	for (unsigned seen = 0; seen < commands; seen++) {
		auto *entry = reinterpret_cast<nvme_cqe *>(b.at(cq + seen % 2 * 16, 16));
		uint16_t phase = seen / 2 % 2 == 0;
		while ((std::atomic_ref(entry->status).load(std::memory_order_acquire) & 1) != phase)
			b.machine().check();
		EXPECT_EQ(entry->status >> 1, NVME_SUCCESS);
		answers[entry->cid]++;
		store(clock.seen, uint64_t(seen + 1));
		b.region().ring_bell();
	}
	EXPECT_EQ(answers.size(), commands);
	store(clock.open, 0u);
	b.region().ring_bell();
}

TEST_F(QueueLimits, DeletionLetsCommandsInFlightEnd)
{
	auto queue = make(2, 64);
	for (int i = 0; i < 63; i++)
		queue->submit(*queue->acquire(), hz::QueuePair::read(0, 1), 0);
	queue->open(UINT64_MAX);
	nvme_sqe sqe = admin_command(bench(), NVME_ADMIN_DELETE_SQ, 0, 2);
	EXPECT_EQ(bench().controller().admin(sqe).status, NVME_SUCCESS);
	for (const auto &c : queue->reap())
		EXPECT_TRUE(c.status == NVME_SUCCESS || c.status == NVME_ABORT_SQ_DELETED);
	sqe = admin_command(bench(), NVME_ADMIN_DELETE_CQ, 0, 2);
	EXPECT_EQ(bench().controller().admin(sqe).status, NVME_SUCCESS);
}

TEST_F(QueueLimits, AResetWithCommandsInFlightLeavesAWorkingDevice)
{
	Bench &b = bench();
	for (int round = 0; round < 3; round++) {
		hz::QueuePair &queue = b.queue();
		for (int i = 0; i < 40; i++)
			queue.submit(*queue.acquire(), hz::QueuePair::append(0, 1), 0);
		queue.open(UINT64_MAX);
		b.restart();
		EXPECT_LE(b.filled(0), 40u);
		ASSERT_EQ(b.send(0, NVME_ZSA_RESET), NVME_SUCCESS);
		ASSERT_EQ(b.write(0, 5), NVME_SUCCESS);
		ASSERT_EQ(b.send(0, NVME_ZSA_RESET), NVME_SUCCESS);
	}
}

// Invalid host writes to progress words: the queue is broken and reported, the device lives on.
struct Nonsense {
	const char *name;
	uint64_t submitted, seen;
};
class DoorbellNonsense : public QueueLimits, public ::testing::WithParamInterface<Nonsense> {};
TEST_P(DoorbellNonsense, BreaksItsQueueOnly)
{
	Bench &b = bench();
	auto queue = make(2, 16);
	hz_queue_clock &clock = b.region().queue_clock(2);
	auto store = [](auto &word, auto value) { std::atomic_ref(word).store(value, std::memory_order_release); };
	store(clock.submitted, GetParam().submitted);
	store(clock.seen, GetParam().seen);
	store(clock.open, 1u);
	b.region().ring_bell();
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(b.status(hz::QueuePair::read(0, 1)), NVME_SUCCESS) << "on queue 1";
	EXPECT_EQ(b.controller().admin(admin_command(b, NVME_ADMIN_DELETE_SQ, 0, 2)).status, NVME_SUCCESS);
	EXPECT_EQ(b.controller().admin(admin_command(b, NVME_ADMIN_DELETE_CQ, 0, 2)).status, NVME_SUCCESS);
	queue.reset();
	queue = make(2, 16);
	EXPECT_EQ(queue->run(hz::QueuePair::read(0, 1)).status, NVME_SUCCESS) << "made anew";
}
const Nonsense nonsense[] = {
	{"TailOneTooFar", 16, 0},         {"TailFarTooFar", 1ull << 40, 0}, {"TailAllOnes", ~0ull, 0},     {"HeadOfNothing", 0, 1},
	{"HeadFarTooFar", 0, 1ull << 40}, {"HeadAllOnes", 0, ~0ull},        {"BothAllOnes", ~0ull, ~0ull},
};
INSTANTIATE_TEST_SUITE_P(All, DoorbellNonsense, ::testing::ValuesIn(nonsense), [](const auto &i) { return i.param.name; });

class DoorbellRegisters : public Device {};

TEST_F(DoorbellRegisters, NonsenseInEveryDoorbellLeavesTheDeviceAlive)
{
	Bench &b = bench();
	b.disturb();
	for (uint32_t doorbell = 2; doorbell < 130; doorbell++)
		for (uint32_t value : {1u, 0xffffu, 0xffffffffu})
			b.link().write32(NVME_REG_DOORBELLS + doorbell * 4, value);
	EXPECT_EQ(b.controller().identify(NVME_CNS_CONTROLLER).size(), 4096u);
	b.restart();
	EXPECT_EQ(b.status(hz::QueuePair::read(0, 1)), NVME_SUCCESS);
}

TEST_F(DoorbellRegisters, AreIgnoredWhileDisabled)
{
	Bench &b = bench();
	b.disturb();
	b.controller().disable();
	for (uint32_t doorbell = 0; doorbell < 130; doorbell++)
		b.link().write32(NVME_REG_DOORBELLS + doorbell * 4, 3);
	EXPECT_EQ(b.link().read32(NVME_REG_CSTS), 0u);
	b.restart();
	EXPECT_EQ(b.status(hz::QueuePair::read(0, 1)), NVME_SUCCESS);
}

} // namespace queue_limits_test
} // namespace conform
