// Create and Delete I/O Queue (base spec 5.4 to 5.7), Doorbell Buffer Config (5.8).
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <map>
#include <thread>

#include "command_case.hpp"
#include "session/machine/error.hpp"

namespace conform {
namespace queues_test {

constexpr uint32_t contiguous = NVME_QUEUE_CONTIGUOUS;

nvme_sqe queue_command(Bench &b, uint8_t opcode, uint32_t id, uint32_t entries, uint32_t cdw11)
{
	b.disturb();
	return admin_command(b, opcode, 0, id | (entries - 1) << 16, cdw11);
}

auto create_cq(uint32_t id, uint32_t entries = 16, uint32_t cdw11 = contiguous, uint64_t prp_offset = 0)
{
	return [=](Bench &b) {
		nvme_sqe sqe = queue_command(b, NVME_ADMIN_CREATE_CQ, id, entries, cdw11);
		sqe.prp1 += prp_offset;
		return sqe;
	};
}
// Completion queue 2 exists.
auto create_sq(uint32_t id, uint32_t entries = 16, uint32_t cqid = 2, uint32_t flags = contiguous, uint64_t prp_offset = 0)
{
	return [=](Bench &b) {
		if (b.controller().admin(create_cq(2)(b)).status)
			throw std::runtime_error("completion queue 2 was refused");
		nvme_sqe sqe = queue_command(b, NVME_ADMIN_CREATE_SQ, id, entries, flags | cqid << 16);
		sqe.prp1 = b.page(8) + prp_offset;
		return sqe;
	};
}
auto remove(uint8_t opcode, uint32_t id)
{
	return [=](Bench &b) { return queue_command(b, opcode, id, 1, 0); };
}
auto doorbell_buffer(int64_t shadow, int64_t events)
{
	return [=](Bench &b) {
		b.disturb();
		nvme_sqe sqe = admin_command(b, NVME_ADMIN_DBBUF);
		sqe.prp1 = b.page(20) + static_cast<uint64_t>(shadow);
		sqe.prp2 = b.page(21) + static_cast<uint64_t>(events);
		return sqe;
	};
}
constexpr int64_t far_away = 1ll << 40;

const CommandCase cases[] = {
	{"CqLegal", NVME_SUCCESS, create_cq(2)},
	{"CqSmallest", NVME_SUCCESS, create_cq(2, 2)},
	{"CqLargest", NVME_SUCCESS, create_cq(2, 1024)},
	{"CqLastId", NVME_SUCCESS, create_cq(64)},
	{"CqWithInterrupt", NVME_SUCCESS, create_cq(2, 16, contiguous | NVME_QUEUE_INTERRUPT | 64u << 16)},
	{"CqIdZero", NVME_QID_INVALID, create_cq(0)},
	{"CqIdTwice", NVME_QID_INVALID, create_cq(1)},
	{"CqIdTooLarge", NVME_QID_INVALID, create_cq(65)},
	{"CqIdFfff", NVME_QID_INVALID, create_cq(0xffff)},
	{"CqSizeZero", NVME_QUEUE_SIZE, create_cq(2, 1)},
	{"CqSizeOverMqes", NVME_QUEUE_SIZE, create_cq(2, 1025)},
	{"CqSizeFfff", NVME_QUEUE_SIZE, create_cq(2, 65536)},
	{"CqNotContiguous", NVME_INVALID_FIELD, create_cq(2, 16, 0)},
	{"CqPrpWithOffset", NVME_PRP_OFFSET_INVALID, create_cq(2, 16, contiguous, 64)},
	{"CqOutsideHostMemory", NVME_INVALID_FIELD, create_cq(2, 16, contiguous, 1ull << 40)},
	{"CqVectorTooLarge", NVME_INTERRUPT_VECTOR, create_cq(2, 16, contiguous | NVME_QUEUE_INTERRUPT | 65u << 16)},
	{"SqLegal", NVME_SUCCESS, create_sq(2)},
	{"SqOnAnotherQueuesCq", NVME_SUCCESS, create_sq(3)},
	{"SqLargest", NVME_SUCCESS, create_sq(2, 1024)},
	{"SqIdZero", NVME_QID_INVALID, create_sq(0)},
	{"SqIdTwice", NVME_QID_INVALID, create_sq(1)},
	{"SqIdTooLarge", NVME_QID_INVALID, create_sq(65)},
	{"SqSizeZero", NVME_QUEUE_SIZE, create_sq(2, 1)},
	{"SqSizeOverMqes", NVME_QUEUE_SIZE, create_sq(2, 1025)},
	{"SqCqMissing", NVME_CQ_INVALID, create_sq(2, 16, 3)},
	{"SqCqZero", NVME_QID_INVALID, create_sq(2, 16, 0)},
	{"SqCqTooLarge", NVME_QID_INVALID, create_sq(2, 16, 65)},
	{"SqNotContiguous", NVME_INVALID_FIELD, create_sq(2, 16, 2, 0)},
	{"SqPrpWithOffset", NVME_PRP_OFFSET_INVALID, create_sq(2, 16, 2, contiguous, 8)},
	{"SqOutsideHostMemory", NVME_INVALID_FIELD, create_sq(2, 16, 2, contiguous, 1ull << 40)},
	{"DeleteSq", NVME_SUCCESS, remove(NVME_ADMIN_DELETE_SQ, 1)},
	{"DeleteSqZero", NVME_QID_INVALID, remove(NVME_ADMIN_DELETE_SQ, 0)},
	{"DeleteSqMissing", NVME_QID_INVALID, remove(NVME_ADMIN_DELETE_SQ, 2)},
	{"DeleteSqTooLarge", NVME_QID_INVALID, remove(NVME_ADMIN_DELETE_SQ, 65)},
	{"DeleteCqWithSubmissionQueue", NVME_QUEUE_DELETION, remove(NVME_ADMIN_DELETE_CQ, 1)},
	{"DeleteCqZero", NVME_QID_INVALID, remove(NVME_ADMIN_DELETE_CQ, 0)},
	{"DeleteCqMissing", NVME_QID_INVALID, remove(NVME_ADMIN_DELETE_CQ, 2)},
	{"DeleteCqFfff", NVME_QID_INVALID, remove(NVME_ADMIN_DELETE_CQ, 0xffff)},
	{"DoorbellBuffer", NVME_SUCCESS, doorbell_buffer(0, 0)},
	{"DoorbellBufferShadowWithOffset", NVME_INVALID_FIELD, doorbell_buffer(4, 0)},
	{"DoorbellBufferEventsWithOffset", NVME_INVALID_FIELD, doorbell_buffer(0, 4)},
	{"DoorbellBufferShadowOutside", NVME_INVALID_FIELD, doorbell_buffer(far_away, 0)},
	{"DoorbellBufferEventsOutside", NVME_INVALID_FIELD, doorbell_buffer(0, far_away)},
};

class QueueCommands : public AdminCommand {};
TEST_P(QueueCommands, Status) { check(); }
INSTANTIATE_TEST_SUITE_P(All, QueueCommands, ::testing::ValuesIn(cases), case_name);

class QueueLife : public ZonedDevice {};

TEST_F(QueueLife, IdsCanBeUsedAgainAfterDeletion)
{
	Bench &b = bench();
	b.disturb();
	for (int round = 0; round < 5; round++) {
		auto queue = b.controller().create_queue(2, {.depth = 4, .data_bytes = 4096});
		EXPECT_EQ(queue->run(hz::QueuePair::flush()).status, NVME_SUCCESS) << "round " << round;
		b.controller().delete_queue(std::move(queue));
	}
}

TEST_F(QueueLife, OnlyAsManyQueuesAsWereAgreed)
{
	Bench &b = bench();
	b.disturb();
	b.controller().enable();
	EXPECT_EQ(b.controller().set_feature(NVME_FEAT_NUMBER_OF_QUEUES, 1 << 16 | 1), 1u << 16 | 1u);
	EXPECT_NO_THROW(b.controller().create_queue(2, {.depth = 4, .data_bytes = 4096}));
	try {
		b.controller().create_queue(3, {.depth = 4, .data_bytes = 4096});
		FAIL() << "a third queue was made";
	} catch (const hz::NvmeError &e) {
		EXPECT_EQ(e.status(), NVME_QID_INVALID);
	}
}

TEST_F(QueueLife, AControllerResetForgetsEveryQueue)
{
	Bench &b = bench();
	b.disturb();
	b.controller().enable();
	nvme_sqe sqe = admin_command(b, NVME_ADMIN_DELETE_SQ, 0, 1);
	EXPECT_EQ(b.controller().admin(sqe).status, NVME_QID_INVALID);
}

TEST_F(QueueLife, TwoSubmissionQueuesShareACompletionQueue)
{
	Bench &b = bench();
	b.disturb();
	nvme_sqe sqe = admin_command(b, NVME_ADMIN_CREATE_SQ, 0, 2 | 15u << 16, contiguous | 1u << 16);
	ASSERT_EQ(b.controller().admin(sqe).status, NVME_SUCCESS);
	EXPECT_EQ(b.controller().admin(admin_command(b, NVME_ADMIN_DELETE_SQ, 0, 1)).status, NVME_SUCCESS);
	EXPECT_EQ(b.controller().admin(admin_command(b, NVME_ADMIN_DELETE_CQ, 0, 1)).status, NVME_QUEUE_DELETION);
	EXPECT_EQ(b.controller().admin(admin_command(b, NVME_ADMIN_DELETE_SQ, 0, 2)).status, NVME_SUCCESS);
	EXPECT_EQ(b.controller().admin(admin_command(b, NVME_ADMIN_DELETE_CQ, 0, 1)).status, NVME_SUCCESS);
}

// Two commands at a time are inside the device, the others wait in their queue. Another queue promises nothing beyond a time before the
// first of them can end: there device time stands while a second thread aborts the last command. How soon that thread is served is up to
// the machine, so it may come too late.
class QueueAbort : public ::testing::Test {
protected:
	static hz_device_config narrow()
	{
		hz_device_config config = small_config();
		config.inflight_requests = 2;
		return config;
	}
	// True if the command was aborted; what the queue says of it agrees with what the Abort says.
	bool abort_the_last(std::chrono::milliseconds head_start)
	{
		std::map<uint16_t, uint16_t> status;
		std::vector<uint16_t> cids;
		hz::AdminResult answer{};
		bench_.reset_zones();
		auto queue = bench_.controller().create_queue(2, {.depth = 16}), brake = bench_.controller().create_queue(3, {.depth = 16});
		const hz_queue_clock &clock = bench_.region().queue_clock(2);
		queue->open(0);
		brake->open(0);
		while (!host_ns(clock)) // the brake may be seen only once this queue has moved (protocol/shm.h)
			std::this_thread::yield();
		const uint64_t start = host_ns(clock) + 10000;
		for (uint32_t i = 0; i < 8; i++) {
			cids.push_back(*queue->acquire());
			queue->submit(cids.back(), hz::QueuePair::write(i, 1, true), start);
		}
		queue->promise_nothing_more();
		brake->promise_until(start + 40000); // a program takes longer
		std::thread other([&] {
			answer = bench_.controller().admin(admin_command(bench_, NVME_ADMIN_ABORT, 0, uint32_t(cids.back()) << 16 | 2));
		});
		std::this_thread::sleep_for(head_start);
		brake->promise_nothing_more();
		while (queue->outstanding())
			for (const auto &c : queue->reap()) {
				status[c.cid] = c.status;
				queue->promise_nothing_more();
			}
		queue->close();
		brake->close();
		other.join();
		EXPECT_EQ(answer.status, NVME_SUCCESS);
		const bool aborted = !(answer.dw0 & 1);
		EXPECT_EQ(status[cids.back()], aborted ? NVME_ABORT_REQUESTED : NVME_SUCCESS);
		for (int i = 0; i < 7; i++)
			EXPECT_EQ(status[cids[i]], NVME_SUCCESS);
		bench_.controller().delete_queue(std::move(queue));
		bench_.controller().delete_queue(std::move(brake));
		EXPECT_EQ(bench_.filled(0), aborted ? 7u : 8u) << "what is aborted is not written";
		return aborted;
	}
	static uint64_t host_ns(const hz_queue_clock &clock) { return std::atomic_ref(const_cast<uint64_t &>(clock.opened_ns)).load(); }
	Bench bench_{narrow()};
};

TEST_F(QueueAbort, EndsACommandThatIsNotFetched)
{
	bool aborted = false;
	for (int i = 0; i < 12 && !aborted; i++)
		aborted = abort_the_last(std::chrono::milliseconds(20 << i / 2));
	EXPECT_TRUE(aborted);
}

// Two commands at a time are inside the device: the arbiter decides who waits.
class QueueWeights : public QueueAbort {
protected:
	static constexpr unsigned commands = 42;
	// Completion times in ns of 42 reads of each of three queues that arrive together, by priority.
	std::map<nvme_queue_priority, std::vector<uint64_t>> ends(nvme_cc_ams arbitration, uint32_t feature)
	{
		const std::vector<nvme_queue_priority> priorities{NVME_QPRIO_LOW, NVME_QPRIO_MEDIUM, NVME_QPRIO_HIGH, NVME_QPRIO_URGENT};
		std::vector<std::unique_ptr<hz::QueuePair>> queues;
		std::map<nvme_queue_priority, std::vector<uint64_t>> found;
		bench_.disturb();
		bench_.controller().enable(arbitration);
		EXPECT_EQ(bench_.controller().set_feature(NVME_FEAT_ARBITRATION, feature), 0u);
		for (auto priority : priorities)
			queues.push_back(bench_.controller().create_queue(static_cast<unsigned>(queues.size()) + 1,
									  {.depth = 64, .data_bytes = 4096, .priority = priority}));
		std::vector<hz::QueuePair *> all;
		for (auto &queue : queues)
			all.push_back(queue.get());
		open_all(all);
		for (auto *queue : all)
			for (unsigned i = 0; i < commands; i++)
				queue->submit(*queue->acquire(), hz::QueuePair::read(i, 1), 0);
		drain(all, [&](hz::QueuePair &queue, const hz::Completion &c) {
			EXPECT_EQ(c.status, NVME_SUCCESS);
			found[priorities[queue.qid() - 1]].push_back(c.completed_ns);
		});
		return found;
	}
};

TEST_F(QueueWeights, DecideWhoWaits)
{
	// 0's based: high 4, medium 2, low 1.
	const auto found = ends(NVME_CC_AMS_WEIGHTED, 3u << 24 | 1u << 16);
	auto ended = [&](nvme_queue_priority priority, uint64_t by_ns) {
		const auto &times = found.at(priority);
		return std::count_if(times.begin(), times.end(), [&](uint64_t ns) { return ns <= by_ns; });
	};
	for (auto priority : {NVME_QPRIO_HIGH, NVME_QPRIO_MEDIUM, NVME_QPRIO_LOW})
		EXPECT_LE(ended(priority, found.at(NVME_QPRIO_URGENT)[commands - 4]), 2) << "urgent ones come before priority " << priority;
	const uint64_t high = found.at(NVME_QPRIO_HIGH)[39];
	EXPECT_NEAR(ended(NVME_QPRIO_MEDIUM, high), 20, 2);
	EXPECT_NEAR(ended(NVME_QPRIO_LOW, high), 10, 2);
}

TEST_F(QueueWeights, CountForNothingInRoundRobin)
{
	const auto found = ends(NVME_CC_AMS_ROUND_ROBIN, 3u << 24 | 1u << 16);
	for (auto priority : {NVME_QPRIO_HIGH, NVME_QPRIO_MEDIUM, NVME_QPRIO_LOW})
		for (unsigned i = 2; i < commands - 2; i++) {
			EXPECT_GT(found.at(priority)[i], found.at(NVME_QPRIO_URGENT)[i - 2]);
			EXPECT_LT(found.at(priority)[i], found.at(NVME_QPRIO_URGENT)[i + 2]);
		}
}

} // namespace queues_test
} // namespace conform
