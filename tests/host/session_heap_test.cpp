// The region's memory: the list of ranges against a model, the heap, and the table of queue pairs over a million lives.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <random>
#include <thread>

#include "session/machine/error.hpp"
#include "session/machine/machine.hpp"
#include "session/nvme/queue_table.hpp"
#include "session/machine/range_list.hpp"
#include "session_region.hpp"
#include "waiting.hpp"

namespace {

using session_test::RegionFile;

TEST(Region, EndsWhereItEnds)
{
	RegionFile file;
	const uint64_t all = file.region.bytes();
	EXPECT_EQ(file.region.at(0, all) + all, file.region.at(all, 0));
	EXPECT_EQ(file.region.at(all - 1, 1) + 1, file.region.at(all, 0));
	for (auto [bus, length] :
	     {std::pair<uint64_t, uint64_t>{0, all + 1}, {all, 1}, {all + 1, 0}, {1, all}, {1, UINT64_MAX}, {UINT64_MAX, 1}})
		EXPECT_THROW(file.region.at(bus, length), hz::Error) << bus << " " << length;
}

constexpr uint64_t page = 4096;

// Which units are taken, one by one; first fit by looking at each.
class Model {
public:
	Model(uint64_t begin, uint64_t end) : begin_(begin), taken_(end - begin) {}
	std::optional<uint64_t> take(uint64_t bytes)
	{
		for (uint64_t at = 0, run = 0; at < taken_.size(); at++) {
			run = taken_[at] ? 0 : run + 1;
			if (run < bytes)
				continue;
			for (uint64_t i = at + 1 - bytes; i <= at; i++)
				taken_[i] = true;
			return begin_ + at + 1 - bytes;
		}
		return std::nullopt;
	}
	void give(uint64_t start, uint64_t bytes)
	{
		for (uint64_t i = start - begin_; i < start - begin_ + bytes; i++)
			taken_[i] = false;
	}
	uint64_t largest_free() const
	{
		uint64_t most = 0, run = 0;
		for (bool taken : taken_)
			most = std::max(most, run = taken ? 0 : run + 1);
		return most;
	}

private:
	uint64_t begin_;
	std::vector<bool> taken_;
};

class RangeLists : public testing::TestWithParam<unsigned> {};

TEST_P(RangeLists, BehavesAsTheModel)
{
	std::mt19937_64 random(GetParam());
	const uint64_t begin = random() % 1000, end = begin + 1 + random() % 600, largest = 1 + random() % 80;
	hz::RangeList list(begin, end);
	Model model(begin, end);
	std::vector<std::pair<uint64_t, uint64_t>> taken;
	for (int step = 0; step < 3000; step++) {
		// Now more is taken, now more is given, so that the list is full and empty in turn.
		if (random() % 100 < (step / 500 % 2 ? 30 : 70)) {
			const uint64_t bytes = 1 + random() % largest;
			const auto got = list.take(bytes);
			ASSERT_EQ(got, model.take(bytes)) << step;
			if (got)
				taken.emplace_back(*got, bytes);
		} else if (!taken.empty()) {
			std::swap(taken[random() % taken.size()], taken.back());
			const auto [start, bytes] = taken.back();
			taken.pop_back();
			ASSERT_EQ(list.bytes_at(start), bytes);
			list.give(start);
			model.give(start, bytes);
			ASSERT_EQ(list.bytes_at(start), 0u);
			ASSERT_THROW(list.give(start), hz::Error) << "twice";
		}
		ASSERT_EQ(list.largest_free(), model.largest_free()) << step;
	}
	for (const auto &[start, bytes] : taken)
		list.give(start);
	EXPECT_EQ(list.largest_free(), end - begin) << "all has grown together again";
	EXPECT_EQ(list.take(end - begin), begin);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RangeLists, testing::Range(1u, 21u));

TEST(RangeList, RefusalsChangeNothing)
{
	hz::RangeList list(100, 110);
	EXPECT_EQ(list.take(0), std::nullopt);
	EXPECT_EQ(list.take(11), std::nullopt);
	EXPECT_EQ(list.take(UINT64_MAX), std::nullopt);
	EXPECT_EQ(list.take(4), 100u);
	for (uint64_t wrong : {99, 101, 104, 110, 0})
		EXPECT_THROW(list.give(wrong), hz::Error) << wrong;
	EXPECT_EQ(list.largest_free(), 6u);
	EXPECT_EQ(list.take(6), 104u);
	EXPECT_EQ(list.largest_free(), 0u) << "all is taken";
	EXPECT_EQ(hz::RangeList(5, 5).take(1), std::nullopt);
}

TEST(RegionHeap, WholePagesThatAreZeroAndGoBackToTheHost)
{
	RegionFile file;
	hz::RegionHeap heap(file.region);
	const uint64_t before = file.disk_bytes();
	const hz::BusAddress a = heap.allocate(1), b = heap.allocate(5000);
	EXPECT_EQ(a, static_cast<uint64_t>(HZ_SHM_HEAP_OFFSET));
	EXPECT_EQ(b, a + page);
	std::memset(file.region.at(a, 3 * page), 0xaa, 3 * page);
	EXPECT_GE(file.disk_bytes(), before + 3 * page);
	heap.free(a);
	heap.free(b);
	EXPECT_EQ(file.disk_bytes(), before);
	EXPECT_EQ(heap.allocate(3 * page), a);
	EXPECT_TRUE(file.is_zero(a, 3 * page));
	std::memset(file.region.at(heap.allocate(page), page), 0xaa, page);
	hz::RegionHeap another(file.region); // of the next user of the device
	another.clear();
	EXPECT_TRUE(file.is_zero(HZ_SHM_HEAP_OFFSET, (16 << 20) - HZ_SHM_HEAP_OFFSET));
	heap.clear();
	EXPECT_EQ(heap.allocate((16 << 20) - HZ_SHM_HEAP_OFFSET), a);
}

TEST(RegionHeap, RefusalsNameCauseAndFixAndChangeNothing)
{
	RegionFile file;
	hz::RegionHeap heap(file.region);
	const hz::BusAddress a = heap.allocate(6 << 20);
	std::memset(file.region.at(a, 6 << 20), 0x55, 6 << 20);
	const auto content = file.content();
	for (uint64_t bytes : {uint64_t(7 << 20), uint64_t(0), ~uint64_t(0), ~uint64_t(4095)})
		EXPECT_THROW(heap.allocate(bytes), hz::Error) << bytes;
	for (hz::BusAddress wrong : {uint64_t(0), a - page, a + page, a + 1, ~uint64_t(0)})
		EXPECT_THROW(heap.free(wrong), hz::Error) << wrong;
	EXPECT_TRUE(file.content() == content);
	try {
		heap.allocate(7 << 20);
	} catch (const hz::Error &e) {
		EXPECT_STREQ(e.what(),
			     "the shared region of 16 MiB has no room for 7168 KiB of queues and data buffers (at most 6144 KiB): "
			     "close queues, or open them with fewer or smaller buffers");
	}
	EXPECT_EQ(heap.allocate(6 << 20), a + (6 << 20));
}

struct Somebody : hz::Holder {
	std::string name() const override { return "process 17"; }
	bool gone() const override { return left; }
	std::atomic<bool> left{false};
};

struct Table {
	explicit Table(
		uint64_t bytes = 64 << 20, std::function<void()> watch = [] {})
		: file(bytes), queues(file.region, std::move(watch))
	{
		queues.reset();
	}
	// Of a process that has left; its queue is still there.
	std::shared_ptr<Somebody> left_behind(unsigned qid)
	{
		auto somebody = std::make_shared<Somebody>();
		queues.take(qid, {}, somebody);
		somebody->left = true;
		return somebody;
	}
	RegionFile file;
	hz::QueueTable queues;
};

std::jthread soon(std::function<void()> action)
{
	return std::jthread([action = std::move(action)] {
		std::this_thread::sleep_for(std::chrono::milliseconds(50));
		action();
	});
}

std::string refusal(hz::QueueTable &queues, unsigned qid, const hz::QueueOptions &options = {})
{
	return session_test::error_of([&] { queues.take(qid, options); });
}

TEST(QueueTable, AnIdIsTakenOnceAndARefusalChangesNothing)
{
	Table t;
	const hz::QueueGrant one = t.queues.take(1, {});
	EXPECT_EQ(t.queues.take(hz::any_queue, {}).qid, 2u);
	const auto somebody = std::make_shared<Somebody>();
	t.queues.take(7, {}, somebody);
	hz_queue_clock &clock = t.file.region.queue_clock(1);
	clock.submitted = 5; // a queue at work
	t.file.region.at(one.doorbells + 8)[0] = std::byte(5);
	std::memset(t.file.region.at(one.memory, 4096), 0x77, 4096);
	const auto content = t.file.content();
	EXPECT_EQ(refusal(t.queues, 1),
		  "queue 1 is open already, in the device's owner: take another id, or 0 for the lowest that is free");
	EXPECT_EQ(refusal(t.queues, 7), "queue 7 is open already, in process 17: take another id, or 0 for the lowest that is free");
	EXPECT_NE(refusal(t.queues, 65).find("one of 1 to 64"), std::string::npos);
	EXPECT_NE(refusal(t.queues, ~0u).find("one of 1 to 64"), std::string::npos);
	EXPECT_NE(refusal(t.queues, 3, {1, 4096, 0}).find("2 to 1024 slots"), std::string::npos);
	EXPECT_NE(refusal(t.queues, 3, {8, 129 * 4096, 0}).find("1 to 128 blocks"), std::string::npos);
	EXPECT_NE(refusal(t.queues, 3, {1024, 128 * 4096, 0}).find("has no room for"), std::string::npos);
	EXPECT_TRUE(t.file.content() == content);
	EXPECT_EQ(t.queues.take(3, {}).qid, 3u) << "the id of a refused shape is free";
}

TEST(QueueTable, WhatIsNotTakenIsZero)
{
	Table t;
	const uint64_t before = t.file.disk_bytes();
	const hz::QueueGrant grant = t.queues.take(64, {});
	std::memset(static_cast<void *>(&t.file.region.queue_clock(64)), 0xee, sizeof(hz_queue_clock));
	std::memset(t.file.region.at(grant.memory, hz::layout_of({}).bytes), 0xee, hz::layout_of({}).bytes);
	std::memset(t.file.region.at(grant.doorbells + 64 * 8, 8), 0xee, 8);
	t.queues.give(64);
	t.queues.give(64);
	t.queues.give(70);
	EXPECT_LE(t.file.disk_bytes(), before + 4096 + sizeof(hz_queue_clock)) << "but for doorbells and record";
	EXPECT_TRUE(t.file.is_zero(HZ_SHM_QUEUES_OFFSET, t.file.region.bytes() - HZ_SHM_QUEUES_OFFSET));
	EXPECT_EQ(t.queues.take(hz::any_queue, {}).memory, grant.memory);
}

TEST(QueueTable, AllIdsAndNoMore)
{
	Table t;
	for (unsigned i = 1; i <= 64; i++)
		EXPECT_EQ(t.queues.take(hz::any_queue, {2, 4096, 0}).qid, i);
	EXPECT_EQ(refusal(t.queues, hz::any_queue, {2, 4096, 0}), "all 64 queues are open: close one first");
	t.queues.give(30);
	EXPECT_EQ(t.queues.take(hz::any_queue, {2, 4096, 0}).qid, 30u);
	for (unsigned i = 0; i <= 64; i++)
		t.file.region.queue_clock(i).submitted = 5;
	t.queues.reset();
	for (unsigned i = 0; i <= 64; i++)
		EXPECT_EQ(t.file.region.queue_clock(i).submitted, 0u) << i;
	EXPECT_EQ(t.queues.take(hz::any_queue, {2, 4096, 0}).qid, 1u);
}

// The process that has the id has ended, and its queue is about to come back.
TEST(QueueTable, TheIdOfSomebodyWhoHasLeftIsWaitedFor)
{
	Table t;
	t.left_behind(5);
	const std::jthread later = soon([&] { t.queues.give(5); });
	EXPECT_EQ(t.queues.take(5, {}).qid, 5u);
}

TEST(QueueTable, TheWaitForSomebodyWhoHasLeftCanBeGivenUp)
{
	Table t(16 << 20, [] { throw hz::Error("the machine is gone"); });
	t.left_behind(5);
	EXPECT_EQ(refusal(t.queues, 5), "the machine is gone");
}

// His queue could not be taken back: the device refused to delete it, say.
TEST(QueueTable, TheWaitForSomebodyWhoHasLeftEndsWhenNothingComesBack)
{
	Table t;
	const auto somebody = t.left_behind(5);
	const std::jthread later = soon([&] { somebody->left = false; });
	EXPECT_NE(refusal(t.queues, 5).find("open already, in process 17"), std::string::npos);
}

// Queues of every shape come and go, and some are used; nothing is left, and no address is lost.
TEST(QueueTable, AMillionLives)
{
	constexpr unsigned lives = 1000000;
	Table t(128 << 20);
	auto machine = hz::Machine::attach(RegionFile::folder());
	std::minstd_rand random(1);
	std::array<bool, 65> open{};
	for (unsigned life = 0; life < lives; life++) {
		const unsigned qid = 1 + static_cast<unsigned>(random() % 64);
		if (std::exchange(open[qid], true))
			t.queues.give(qid);
		const hz::QueueOptions options{2 + static_cast<unsigned>(random() % 3), (1 + random() % 128) * page, 4000};
		const hz::QueueGrant grant = t.queues.take(qid, options);
		if (life % 64)
			continue;
		hz::QueuePair queue(*machine, grant, options);
		ASSERT_FALSE(queue.reap().size()) << "a new queue has no completions, life " << life;
		const uint16_t cid = *queue.acquire();
		queue.data(cid)[0] = std::byte(life | 1);
		queue.submit(cid, hz::QueuePair::write(0, 1), 0);
		queue.promise_nothing_more();
	}
	for (unsigned qid = 1; qid <= 64; qid++)
		t.queues.give(qid);
	EXPECT_TRUE(t.file.is_zero(HZ_SHM_QUEUES_OFFSET, t.file.region.bytes() - HZ_SHM_QUEUES_OFFSET));
	EXPECT_NO_THROW(t.queues.allocate(t.file.region.bytes() - HZ_SHM_HEAP_OFFSET - page)) << "all in one piece";
}

} // namespace
