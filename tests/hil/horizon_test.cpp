// Horizon protocol: whatever the host's threads do in wall time, the device's history in device time is the same.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "rig.hpp"

namespace hil_test {

// One host thread: its work is fixed by (seed, queue), its timing by the scheduler.
class HostThread {
public:
	// room: entries of the queue beyond those for commands in flight. ahead: number of entries with commands yet to arrive.
	HostThread(Rig &rig, Rig::Queue queue, uint64_t seed, unsigned commands, unsigned room, unsigned ahead)
		: rig_(rig), queue_(queue), random_(seed * 1000 + queue.id), left_(commands), timed_(!room && queue.id % 2), ahead_(ahead)
	{
		depth_ = 1 + random_() % (queue.depth - room - 1);
		next_arrival_ = 5000 + random_() % 20000;
	}

	void begin() { rig_.open(queue_, 0); }
	bool finished() const { return closed_; }

	// Does a little of the possible work; returns true if anything changed for the device.
	bool step(std::mt19937_64 &scheduler)
	{
		if (closed_)
			return false;
		while (auto cqe = rig_.peek(queue_)) {
			outstanding_--;
			last_done_ = cqe->completed_ns;
			history.emplace_back(cqe->cid, cqe->completed_ns, cqe->status);
			if (!timed_ && scheduler() % 2)
				break; // the rest is reaped later
		}
		return timed_ ? step_timed(scheduler) : step_closed_loop();
	}

	std::vector<std::tuple<uint16_t, uint64_t, uint16_t>> history;

private:
	void submit(uint64_t arrival_ns)
	{
		arrival_ns = std::max(arrival_ns, last_arrival_);
		last_arrival_ = arrival_ns;
		place(arrival_ns);
	}

	void place(uint64_t arrival_ns)
	{
		nvme_sqe sqe = io_sqe(random_() % 2 ? NVME_IO_READ : NVME_IO_WRITE, random_() % 1000, 1, rig_.buffer());
		sqe.cid = ++cid_;
		rig_.place(queue_, sqe, arrival_ns);
		left_--;
		outstanding_++;
	}

	// Queue depth and think time: each completion causes one command.
	bool step_closed_loop()
	{
		bool first = queue_.submitted == 0;
		for (unsigned i = 0; first && i < depth_ && left_; i++)
			submit(next_arrival_);
		for (; ahead_ && left_ && outstanding_ < depth_ + ahead_;)
			place(hz_arrival_following(depth_, random_() % 3 * 10000));
		while (!ahead_ && handled_ < queue_.consumed) {
			uint64_t done = std::get<1>(history[handled_++]);
			if (left_)
				submit(std::max(done + 4000, last_arrival_) + random_() % 3 * 10000);
		}
		return publish_or_close(UINT64_MAX);
	}

	// Timestamps: commands arrive at times independent of completions, as long as the queue has room.
	bool step_timed(std::mt19937_64 &scheduler)
	{
		while (left_ && outstanding_ + 1 < queue_.depth && scheduler() % 3) {
			submit(std::max(next_arrival_, freed_at()));
			next_arrival_ += random_() % 9000;
		}
		if (!left_)
			return publish_or_close(UINT64_MAX);
		if (outstanding_ + 1 == queue_.depth)
			return publish_or_close(UINT64_MAX);
		return publish_or_close(std::max({next_arrival_, freed_at(), last_arrival_}));
	}

	// Device time at which the slot for the next command was free: its predecessor's completion, seen after the turn-around.
	uint64_t freed_at() const
	{
		uint64_t before = queue_.submitted + 1 < queue_.depth ? 0 : std::get<1>(history[queue_.submitted + 1 - queue_.depth]);
		return before ? before + 4000 : 0;
	}

	bool publish_or_close(uint64_t horizon_ns)
	{
		if (!left_ && !outstanding_) {
			rig_.close(queue_, last_done_ + 4000);
			closed_ = true;
			return true;
		}
		hz_queue_clock &c = rig_.clock(queue_.id);
		bool news = c.submitted != queue_.submitted || c.seen != queue_.consumed || c.horizon_ns != horizon_ns;
		rig_.publish(queue_, horizon_ns);
		return news;
	}

	Rig &rig_;
	Rig::Queue queue_;
	std::mt19937_64 random_;
	unsigned left_, depth_ = 1, outstanding_ = 0;
	bool timed_, closed_ = false;
	unsigned ahead_;
	uint64_t next_arrival_ = 0, last_arrival_ = 0, last_done_ = 0;
	size_t handled_ = 0;
	uint16_t cid_ = 0;
};

struct History {
	std::vector<Submitted> device;
	std::vector<std::vector<std::tuple<uint16_t, uint64_t, uint16_t>>> host;
	uint64_t end_ns;
	bool operator==(const History &) const = default;
};

// work: of the threads and the device. schedule: turns of the host's threads, in wall time.
History replay(uint64_t work, uint64_t schedule, unsigned queues, uint32_t inflight, unsigned room = 0, unsigned ahead = 0)
{
	Rig rig({.inflight = inflight});
	rig.enable();
	std::mt19937_64 scheduler(schedule);
	rig.fake->hil_cost_ns = 250;
	rig.fake->script = [&](const ftl_request &req) {
		uint64_t mix = (req.lba * 2654435761u + work) % 9973;
		return Answer{.service_ns = 3000 + mix * 7,
			      .ready_ns = mix % 3 ? mix : 0,
			      .status = static_cast<uint16_t>(mix % 97 ? 0 : NVME_UNRECOVERED_READ)};
	};
	std::vector<HostThread> threads;
	for (unsigned id = 1; id <= queues; id++)
		threads.emplace_back(rig, rig.make_queue(id, 4 + (id * 7 + work) % 20 + room), work, 60, room, ahead);
	auto some_step = [&] {
		bool changed = false;
		for (auto &thread : threads)
			if (scheduler() % 4 == 0)
				changed = thread.step(scheduler) || changed;
		return changed;
	};
	auto unfinished = [&] { return std::any_of(threads.begin(), threads.end(), [](auto &t) { return !t.finished(); }); };
	for (auto &thread : threads)
		thread.begin();
	rig.on_poll = [&] { some_step(); };
	rig.fake->on_submit = [&] {
		if (scheduler() % 2)
			some_step();
	};
	rig.on_host_wait = [&] {
		some_step();
		return unfinished();
	};
	for (int i = 0; i < 1000 && unfinished(); i++)
		rig.run();
	EXPECT_FALSE(unfinished()) << "the replay did not end";
	rig.run();
	History history{rig.fake->log, {}, rig.now()};
	for (auto &thread : threads)
		history.host.push_back(thread.history);
	return history;
}

class Horizon : public testing::TestWithParam<std::tuple<int, unsigned, uint32_t>> {};

TEST_P(Horizon, DeviceHistoryDoesNotDependOnTheHostsSchedule)
{
	auto [work, queues, inflight] = GetParam();
	History first = replay(work, 1, queues, inflight);
	ASSERT_EQ(first.device.size(), 60u * queues);
	for (uint64_t schedule = 2; schedule < 7; schedule++) {
		History other = replay(work, schedule, queues, inflight);
		auto differ = std::mismatch(first.device.begin(), first.device.end(), other.device.begin(), other.device.end());
		ASSERT_TRUE(differ.first == first.device.end() && differ.second == other.device.end())
			<< "work " << work << " schedule " << schedule << ": command " << differ.first - first.device.begin() << " at "
			<< differ.first->at_ns << " against " << differ.second->at_ns;
		ASSERT_EQ(first.host, other.host) << "work " << work << " schedule " << schedule;
		ASSERT_EQ(first.end_ns, other.end_ns) << "work " << work << " schedule " << schedule;
	}
}
INSTANTIATE_TEST_SUITE_P(Work, Horizon, testing::Combine(testing::Range(1, 6), testing::Values(1u, 2u, 5u, 24u), testing::Values(2u, 64u)));

// Commands that follow completions arrive as if the host had placed them then.
class CommandsAhead : public testing::TestWithParam<std::tuple<unsigned, uint32_t>> {};
TEST_P(CommandsAhead, ChangeNothingInDeviceTime)
{
	auto [queues, inflight] = GetParam();
	for (uint64_t work = 1; work < 4; work++) {
		History later = replay(work, 1, queues, inflight, 12);
		ASSERT_EQ(later.device.size(), 60u * queues);
		for (unsigned ahead : {1u, 5u, 12u})
			for (uint64_t schedule = 1; schedule < 4; schedule++)
				ASSERT_EQ(replay(work, schedule, queues, inflight, 12, ahead), later)
					<< "work " << work << " schedule " << schedule << " ahead " << ahead;
	}
}
INSTANTIATE_TEST_SUITE_P(All, CommandsAhead, testing::Combine(testing::Values(1u, 2u, 5u, 24u), testing::Values(2u, 64u)));

TEST(HorizonLimits, ACommandAheadArrivesBehindItsCompletionAndTheCommandBefore)
{
	Rig rig;
	rig.enable();
	auto queue = rig.make_queue(1, 8);
	const hz_queue_clock &clock = rig.clock(1);
	rig.fake->script = [](const ftl_request &req) { return Answer{.service_ns = req.lba == 0 ? 90000u : 1000u}; };
	rig.place(queue, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()), 10000);
	rig.place(queue, io_sqe(NVME_IO_READ, 1, 1, rig.buffer()), 20000);
	rig.place(queue, io_sqe(NVME_IO_READ, 2, 1, rig.buffer()), hz_arrival_following(2, 300000));
	rig.place(queue, io_sqe(NVME_IO_READ, 3, 1, rig.buffer()), hz_arrival_following(2, 5));
	rig.open(queue);
	for (int i = 0; i < 10; i++) {
		rig.run();
		while (rig.peek(queue)) {}
		rig.publish(queue);
	}
	ASSERT_EQ(clock.completed, 4u);
	EXPECT_EQ(clock.arrival_ns[2], clock.completed_ns[0] + 4000 + 300000);
	EXPECT_GT(clock.arrival_ns[2], clock.completed_ns[1] + 4000) << "or the next line says nothing";
	EXPECT_EQ(clock.arrival_ns[3], clock.arrival_ns[2] + 5);
	EXPECT_EQ(rig.fake->log[3].at_ns, clock.arrival_ns[3] + 400);
}

// wake_at: a host thread waiting for several completions sleeps until they are there, but not while device time stands for it.
TEST(HorizonLimits, AHostThatWantsSeveralIsWokenForThemOrWhenTimeStands)
{
	for (const auto &[wanted, woken_at] : {std::pair{1u, 1u}, {2u, 2u}, {9u, 4u}}) {
		Rig rig;
		rig.enable();
		auto queue = rig.make_queue(1, 8);
		std::vector<uint64_t> seen;
		rig.on_wake = [&](unsigned) { seen.push_back(rig.clock(1).completed); };
		rig.place(queue, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()), 10000);
		for (uint64_t lba : {1, 2, 3, 4})
			rig.place(queue, io_sqe(NVME_IO_READ, lba, 1, rig.buffer()), hz_arrival_following(1, 0));
		rig.clock(1).wake_at = wanted;
		rig.clock(1).waiters = 1;
		rig.open(queue);
		rig.run();
		ASSERT_FALSE(seen.empty());
		EXPECT_EQ(seen.front(), woken_at) << "wanted " << wanted << "; behind the fifth nobody knows what its host does next";
	}
}

// Its ring has three places, and the fifth command follows the completion without a place.
TEST(HorizonLimits, AHostThatWantsSeveralIsWokenWhenTheirPlacesAreNeeded)
{
	Rig rig;
	rig.enable();
	auto queue = rig.make_queue(1, 8, 4);
	std::vector<uint64_t> seen;
	rig.on_wake = [&](unsigned) {
		seen.push_back(rig.clock(1).completed);
		while (rig.peek(queue, 4)) {}
		rig.publish(queue);
	};
	for (uint64_t lba : {0, 1, 2, 3})
		rig.place(queue, io_sqe(NVME_IO_READ, lba, 1, rig.buffer()), 10000);
	rig.place(queue, io_sqe(NVME_IO_READ, 4, 1, rig.buffer()), hz_arrival_following(1, 0));
	rig.clock(1).wake_at = 9;
	rig.clock(1).waiters = 1;
	rig.open(queue);
	for (int i = 0; i < 100; i++)
		rig.run_for(10000);
	ASSERT_FALSE(seen.empty());
	EXPECT_EQ(seen.front(), 3u);
	EXPECT_GT(rig.clock(1).completed, 3u);
}

TEST(HorizonLimits, TimeStandsAtTheLimitOfAnOpenQueue)
{
	Rig rig;
	rig.enable();
	auto a = rig.make_queue(1, 8), b = rig.make_queue(2, 8);
	rig.open(a, 40000);
	rig.place(b, io_sqe(NVME_IO_READ, 1, 1, rig.buffer()), 70000);
	rig.open(b);
	rig.run();
	EXPECT_EQ(rig.now(), 40400u) << "limit + doorbell + fetch";
	EXPECT_TRUE(rig.fake->log.empty());
	rig.publish(a, 60000);
	rig.run();
	EXPECT_EQ(rig.now(), 60400u);
	rig.publish(a);
	rig.run();
	ASSERT_EQ(rig.fake->log.size(), 1u);
	EXPECT_EQ(rig.fake->log[0].at_ns, 70400u);
}

TEST(HorizonLimits, UnseenCompletionHoldsTimeAtItsTurnAround)
{
	Rig rig;
	rig.enable();
	auto a = rig.make_queue(1, 8), b = rig.make_queue(2, 8);
	rig.place(a, io_sqe(NVME_IO_READ, 1, 1, rig.buffer()), 10000);
	rig.place(b, io_sqe(NVME_IO_READ, 2, 1, rig.buffer()), 90000);
	rig.open(a);
	rig.open(b);
	rig.run();
	uint64_t completed = rig.clock(1).completed_ns[0];
	EXPECT_EQ(rig.now(), completed + 4000 + 400);
	EXPECT_EQ(rig.fake->log.size(), 1u);
	rig.peek(a);
	rig.publish(a);
	rig.run();
	EXPECT_EQ(rig.fake->log.size(), 2u);
}

TEST(HorizonLimits, ClosedQueuesLeaveTimeAtTheirLastWord)
{
	Rig rig;
	rig.enable();
	auto queue = rig.make_queue(1, 8);
	rig.open(queue);
	EXPECT_EQ(rig.io(queue, io_sqe(NVME_IO_READ, 1, 1, rig.buffer())).status, 0);
	uint64_t end = rig.clock(1).completed_ns[0] + 4000;
	rig.close(queue, end);
	rig.run();
	rig.run();
	EXPECT_EQ(rig.now(), end + 400);
	rig.close(queue, end);
	rig.run();
	EXPECT_EQ(rig.now(), end + 400);
}

// Its completion queue has three entries, the host reads some of them, and there is one more to come.
TEST(HorizonLimits, AQueueThatWasClosedFreesWhatItsHostHasRead)
{
	for (unsigned read : {1u, 2u, 3u}) {
		Rig rig;
		rig.enable();
		auto queue = rig.make_queue(1, 8, 4);
		rig.fake->script = [](const ftl_request &req) { return Answer{.service_ns = req.lba == 3 ? 500000 : 1000 + req.lba}; };
		for (uint64_t lba : {0, 1, 2, 3})
			rig.place(queue, io_sqe(NVME_IO_READ, lba, 1, rig.buffer()), 10000);
		auto host = [&] {
			if (rig.clock(1).completed < 3 || !rig.clock(1).open)
				return false;
			while (queue.consumed < read)
				EXPECT_TRUE(rig.peek(queue, 4));
			rig.close(queue, 1000000);
			return true;
		};
		rig.on_poll = host;
		rig.on_host_wait = host;
		rig.open(queue);
		for (int i = 0; i < 100; i++)
			rig.run_for(10000);
		EXPECT_EQ(rig.clock(1).completed, 4u) << read << " read";
		EXPECT_EQ(queue.consumed, read);
	}
}

// Impossible values of a host: its counts, its promise, its next command.
struct Nonsense {
	const char *name;
	uint64_t submitted, consumed, horizon_ns, arrival_ns;
};
class HorizonNonsense : public testing::TestWithParam<Nonsense> {};
TEST_P(HorizonNonsense, BreaksTheQueueOnlyAndTellsItsThread)
{
	const Nonsense &what = GetParam();
	Rig rig;
	rig.enable();
	auto bad = rig.make_queue(1, 8), good = rig.make_queue(2, 8);
	rig.open(good);
	rig.clock(1).arrival_ns[0] = what.arrival_ns;
	bad.submitted = what.submitted;
	bad.consumed = what.consumed;
	rig.open(bad, what.horizon_ns);
	EXPECT_EQ(rig.io(good, io_sqe(NVME_IO_READ, 1, 1, rig.buffer())).status, 0);
	EXPECT_EQ(rig.clock(1).broken, 1u);
	EXPECT_EQ(std::count(rig.woken.begin(), rig.woken.end(), 1u), 1);
	EXPECT_EQ(rig.clock(2).broken, 0u);
	EXPECT_LT(rig.now(), 1000000u) << "device time has not run away";
	rig.await_event();
	auto cqe = rig.reap_admin();
	ASSERT_TRUE(cqe);
	EXPECT_EQ(cqe->dw0, NVME_AEN_ERROR | NVME_AEN_ERROR_INVALID_DOORBELL_VALUE << 8 | NVME_LOG_ERROR << 16);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_DELETE_SQ, 1)), NVME_SUCCESS);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_DELETE_CQ, 1)), NVME_SUCCESS);
	rig.clock(1).open = 0;
	ASSERT_EQ(rig.create_cq(1, 8, bad.cq) | rig.create_sq(1, 8, bad.sq, 1), NVME_SUCCESS);
	EXPECT_EQ(rig.clock(1).broken, 0u) << "made anew";
}
INSTANTIATE_TEST_SUITE_P(All, HorizonNonsense,
			 testing::Values(Nonsense{"TailAtTheDepth", 8, 0, 0, 0}, Nonsense{"TailAllOnes", ~0ull, 0, 0, 0},
					 Nonsense{"HeadOfNothing", 0, 1, 0, 0}, Nonsense{"HeadAllOnes", 0, ~0ull, 0, 0},
					 Nonsense{"PromiseBeyondTheEnd", 0, 0, HZ_ARRIVAL_MOST_NS + 1, 0},
					 Nonsense{"PromiseFarBeyondTheEnd", 0, 0, 1ull << 62, 0},
					 Nonsense{"PromiseAlmostForEver", 0, 0, UINT64_MAX - 1, 0},
					 Nonsense{"ArrivalBeyondTheEnd", 1, 0, UINT64_MAX, HZ_ARRIVAL_MOST_NS + 1},
					 Nonsense{"ArrivalFarBeyondTheEnd", 1, 0, UINT64_MAX, 1ull << 62},
					 Nonsense{"ArrivalAlmostForEver", 1, 0, UINT64_MAX, UINT64_MAX - 1},
					 Nonsense{"ArrivalNever", 1, 0, UINT64_MAX, UINT64_MAX},
					 Nonsense{"FollowsItself", 1, 0, UINT64_MAX, hz_arrival_following(0, 0)},
					 Nonsense{"FollowsNothing", 1, 0, UINT64_MAX, hz_arrival_following(1, 0)}),
			 [](const auto &i) { return i.param.name; });

// Impossible results of a rule with values overwritten by the host, or dropped from the ring.
TEST(HorizonLimits, ARuleThatCannotBeKeptBreaksTheQueue)
{
	struct {
		unsigned before, cq_depth;
		uint64_t rule, completed_ns;
		bool broken;
	} cases[] = {
		{2, 8, hz_arrival_following(2, 0), 0, false},         {2, 8, hz_arrival_following(2, HZ_ARRIVAL_MOST_NS), 0, true},
		{2, 8, hz_arrival_following(2, 0), UINT64_MAX, true}, {2, 8, hz_arrival_following(2, 0), HZ_ARRIVAL_MOST_NS - 3999, true},
		{2, 8, hz_arrival_following(3, 0), 0, true},          {4, 4, hz_arrival_following(3, 0), 0, false},
		{4, 4, hz_arrival_following(4, 0), 0, true}};
	for (const auto &c : cases) {
		Rig rig;
		rig.enable();
		auto queue = rig.make_queue(1, 8, c.cq_depth);
		rig.open(queue);
		for (unsigned i = 0; i < c.before; i++) {
			rig.place(queue, io_sqe(NVME_IO_READ, i, 1, rig.buffer()), rig.now());
			rig.publish(queue);
			rig.run();
			ASSERT_TRUE(rig.peek(queue, c.cq_depth));
			rig.publish(queue);
		}
		if (c.completed_ns)
			rig.clock(1).completed_ns[0] = c.completed_ns;
		rig.place(queue, io_sqe(NVME_IO_READ, 1, 1, rig.buffer()), c.rule);
		rig.publish(queue);
		rig.run();
		EXPECT_EQ(rig.clock(1).broken, c.broken) << &c - cases;
		EXPECT_EQ(rig.clock(1).completed, c.before + !c.broken) << &c - cases;
	}
}

TEST(HorizonLimits, DeviceTimeMayRunToItsEnd)
{
	Rig rig;
	rig.enable();
	auto queue = rig.make_queue(1, 8);
	rig.open(queue, HZ_ARRIVAL_MOST_NS);
	rig.run();
	EXPECT_EQ(rig.now(), HZ_ARRIVAL_MOST_NS + 400);
	rig.place(queue, io_sqe(NVME_IO_READ, 1, 1, rig.buffer()), HZ_ARRIVAL_MOST_NS);
	rig.publish(queue);
	rig.run();
	auto cqe = rig.peek(queue);
	ASSERT_TRUE(cqe);
	EXPECT_GT(cqe->completed_ns, HZ_ARRIVAL_MOST_NS);
	EXPECT_LT(cqe->completed_ns, HZ_ARRIVAL_MOST_NS + 100000);
	EXPECT_EQ(rig.clock(1).broken, 0u);
	rig.close(queue, 1ull << 62);
	rig.run();
	rig.run();
	EXPECT_LT(rig.now(), HZ_ARRIVAL_MOST_NS + 1000000) << "a closing word beyond the end is none";
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_ABORT)), NVME_SUCCESS);
}

// The device's own records are in the host's memory: with any host values there, time does not run away and no completion is lost.
TEST(HorizonLimits, CompletionTimesThatTheHostHasOverwrittenAreBounded)
{
	for (uint64_t nonsense : {uint64_t(HZ_ARRIVAL_MOST_NS) + 1, UINT64_MAX - 5000, UINT64_MAX, uint64_t(1) << 63}) {
		Rig rig;
		rig.enable();
		auto queue = rig.make_queue(1, 8, 2); // one completion fills it
		for (int i = 0; i < 3; i++)
			rig.place(queue, io_sqe(NVME_IO_READ, 1, 1, rig.buffer()), 10000);
		rig.fake->script = [&](const ftl_request &) { return Answer{.service_ns = rig.fake->log.size() * 20000}; };
		hz_queue_clock &clock = rig.clock(1);
		rig.on_poll = [&] {
			for (uint64_t &completed_ns : clock.completed_ns)
				completed_ns = clock.completed ? nonsense : 0;
		};
		rig.on_host_wait = [&] {
			const bool more = clock.seen != clock.completed;
			clock.seen = clock.completed;
			return more;
		};
		rig.open(queue);
		for (int i = 0; i < 10; i++)
			rig.run_for(100000);
		EXPECT_EQ(clock.completed, 3u) << nonsense;
		EXPECT_LE(rig.now(), 2000000u) << nonsense;
	}
}

TEST(HorizonLimits, AnUnseenCompletionHoldsTimeAtItsEndAtTheLatest)
{
	Rig rig;
	rig.enable();
	auto queue = rig.make_queue(1, 8);
	rig.place(queue, io_sqe(NVME_IO_READ, 1, 1, rig.buffer()), 10000);
	rig.on_poll = [&] {
		if (rig.clock(1).completed)
			rig.clock(1).completed_ns[0] = 1ull << 62;
	};
	rig.open(queue);
	rig.run();
	EXPECT_LE(rig.now(), HZ_ARRIVAL_MOST_NS + 1000);
	rig.clock(1).seen = 1;
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_ABORT)), NVME_SUCCESS);
}

TEST(HorizonLimits, AQueueThatOpensLateLearnsWhenThatWas)
{
	Rig rig;
	rig.enable();
	auto a = rig.make_queue(1, 8), b = rig.make_queue(2, 8);
	rig.open(a, 700000);
	rig.run();
	EXPECT_EQ(rig.clock(1).opened_ns, 600u) << "the device's start, less doorbell and fetch";
	rig.place(b, io_sqe(NVME_IO_READ, 2, 1, rig.buffer()), 4000);
	rig.open(b);
	rig.publish(a, 800000);
	rig.run();
	EXPECT_EQ(rig.clock(2).opened_ns, 700000u);
	ASSERT_EQ(rig.fake->log.size(), 1u);
	EXPECT_GE(rig.fake->log[0].at_ns, 700400u);
}

// One process works on without end; it always moves before the device has to wait for it. Another one's admin command, on a link without
// times, is answered all the same.
TEST(HorizonLimits, AMessageIsActedUponThoughAnotherHostThreadNeverStops)
{
	for (bool open_loop : {false, true}) {
		Rig rig;
		rig.enable();
		auto queue = rig.make_queue(1, 64);
		unsigned commands = 0;
		uint64_t last_ns = 10000;
		auto submit = [&](uint64_t arrival_ns) {
			rig.place(queue, io_sqe(NVME_IO_READ, 1, 1, rig.buffer()), last_ns = std::max(last_ns, arrival_ns));
			commands++;
		};
		auto busy = [&] {
			bool any = false;
			while (auto cqe = rig.peek(queue)) {
				submit(open_loop ? last_ns + 2000 : cqe->completed_ns + 4000);
				any = true;
			}
			if (any)
				rig.publish(queue, open_loop ? last_ns : UINT64_MAX);
		};
		for (int i = 0; i < 20; i++)
			submit(10000 + 2000 * static_cast<uint64_t>(i));
		rig.open(queue, open_loop ? last_ns : UINT64_MAX);
		bool rung = false;
		rig.fake->on_submit = [&] { // the host thread is always there first
			busy();
			if (commands >= 100 && !std::exchange(rung, true)) {
				rig.place_admin(admin_sqe(NVME_ADMIN_ABORT));
				rig.post(NVME_REG_DOORBELLS, 3);
			}
		};
		rig.on_poll = busy;
		for (int i = 0; i < 100 && commands < 3000; i++)
			rig.run_for(100000);
		ASSERT_TRUE(rung);
		rig.on_poll = [] {};
		EXPECT_TRUE(rig.reap_admin(false)) << "after " << commands << " commands of the other one";
	}
}

TEST(HorizonLimits, ResetIsHeardWhileTimeStands)
{
	Rig rig;
	rig.enable();
	auto queue = rig.make_queue(1, 8);
	rig.open(queue, 5000);
	rig.run();
	EXPECT_EQ(rig.now(), 5400u);
	rig.set(NVME_REG_CC, 0);
	EXPECT_EQ(rig.get(NVME_REG_CSTS), 0u);
}

// Reading statistics takes locks, and a lock's holder may need time: it is done when time goes on, never while it stands.
TEST(HorizonLimits, LockStatisticsAreReadWhenTimeGoesOn)
{
	static lt_lock lock;
	Rig rig;
	rig.enable();
	lt_lock_init(&lock, hil_test::test_lock_class, 3);
	auto queue = rig.make_queue(1, 8);
	rig.open(queue, 5000);
	rig.run();
	EXPECT_EQ(rig.now(), 5400u);
	nvme_sqe sqe = admin_sqe(NVME_ADMIN_GET_LOG_PAGE, HZ_LOG_LOCKS | 3 << 16, 0, rig.buffer(), NVME_NSID_ALL);
	for (nvme_sqe one : {sqe, admin_sqe(NVME_ADMIN_HZ_RESET_STATS)}) {
		rig.place_admin(one);
		rig.ring_admin();
		rig.run();
		rig.publish(queue, 9000 + rig.now());
		rig.run();
		auto cqe = rig.reap_admin();
		ASSERT_TRUE(cqe);
		EXPECT_EQ(cqe->status, 0);
	}
	sqe.cdw12 = 1 << 20;
	EXPECT_EQ(rig.status_of(sqe), NVME_INVALID_FIELD | NVME_DNR) << "behind the page";
	ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, NVME_LOG_ERROR | 15 << 16, 0, rig.buffer(), NVME_NSID_ALL)), 0);
	EXPECT_EQ(rig.at<nvme_error_entry>(rig.buffer())->status_field, (NVME_INVALID_FIELD | NVME_DNR) << 1) << "is in the error log too";
}

// Two queues with their last completions together, the second with much longer to turn round. When the device time of the first one's limit
// has come, the host sees both and closes both at its `moment`-th chance to run, and its admin command follows at once. Returns the device
// time when that command ended.
uint64_t admin_after_the_last_close(int moment)
{
	Rig rig;
	rig.enable();
	auto a = rig.make_queue(1, 8), b = rig.make_queue(2, 8);
	rig.clock(2).turnaround_ns = 50000;
	rig.place(a, io_sqe(NVME_IO_READ, 1, 1, rig.buffer()), 10000);
	rig.place(b, io_sqe(NVME_IO_READ, 2, 1, rig.buffer()), 10000);
	rig.open(a);
	rig.open(b);
	rig.place_admin(admin_sqe(NVME_ADMIN_ABORT));
	int chances = 0;
	auto host = [&] {
		auto done_a = rig.clock(1).completed_ns[0], done_b = rig.clock(2).completed_ns[0];
		if (!done_a || !done_b || ++chances != moment)
			return;
		rig.peek(a);
		rig.peek(b);
		rig.close(a, done_a + 4000);
		rig.close(b, done_b + 50000);
		rig.post(NVME_REG_DOORBELLS, 5);
	};
	rig.on_poll = host;
	rig.on_host_wait = [&] {
		bool early = chances < moment;
		host();
		return early;
	};
	rig.run();
	rig.on_poll = [] {};
	EXPECT_TRUE(rig.reap_admin(false));
	return rig.clock(0).completed_ns[4];
}

// A closed queue leaves time at its last word, however quickly the host's next message follows the closing.
TEST(HorizonLimits, MessageThatFollowsTheLastCloseWaitsForTheTimeAtWhichTheDeviceStands)
{
	const uint64_t first = admin_after_the_last_close(1);
	EXPECT_GT(first, 60000u) << "both turn-arounds have passed";
	for (int moment = 2; moment < 100; moment++)
		ASSERT_EQ(admin_after_the_last_close(moment), first) << "the host came at its chance " << moment;
}

// The same while its queues stay open: the host has seen both first completions, submits once more on each queue, and then asks.
uint64_t admin_after_more_work(int moment)
{
	Rig rig;
	rig.enable();
	auto a = rig.make_queue(1, 8), b = rig.make_queue(2, 8);
	rig.place(a, io_sqe(NVME_IO_READ, 1, 1, rig.buffer()), 10000);
	rig.place(b, io_sqe(NVME_IO_READ, 2, 1, rig.buffer()), 10000);
	rig.open(a);
	rig.open(b);
	rig.place_admin(admin_sqe(NVME_ADMIN_ABORT));
	int chances = 0;
	auto host = [&] {
		auto done_a = rig.clock(1).completed_ns[0], done_b = rig.clock(2).completed_ns[0];
		if (!done_a || !done_b || ++chances != moment)
			return;
		rig.peek(a);
		rig.peek(b);
		rig.place(a, io_sqe(NVME_IO_READ, 3, 1, rig.buffer()), done_a + 9000);
		rig.place(b, io_sqe(NVME_IO_READ, 4, 1, rig.buffer()), done_b + 30000);
		rig.publish(a);
		rig.publish(b);
		rig.post(NVME_REG_DOORBELLS, 5);
	};
	rig.on_poll = host;
	rig.on_host_wait = [&] {
		bool early = chances < moment;
		host();
		return early;
	};
	rig.run();
	rig.on_poll = [] {};
	EXPECT_TRUE(rig.reap_admin(false));
	return rig.clock(0).completed_ns[4];
}

TEST(HorizonLimits, MessageThatFollowsMoreWorkWaitsForTheTimeAtWhichTheDeviceStands)
{
	const uint64_t first = admin_after_more_work(1);
	EXPECT_GT(first, 25000u) << "the first of the two is done, and its turn-around has passed";
	for (int moment = 2; moment < 100; moment++)
		ASSERT_EQ(admin_after_more_work(moment), first) << "the host came at its chance " << moment;
}

TEST(HorizonLimits, MessagesThatComeTogetherAreActedUponOneByOne)
{
	Rig rig;
	rig.enable();
	rig.place_admin(admin_sqe(NVME_ADMIN_ABORT));
	rig.place_admin(admin_sqe(NVME_ADMIN_ABORT));
	for (uint32_t tail : {1, 2}) {
		rig.post(NVME_REG_DOORBELLS, tail);
	}
	unsigned polls_between = 0;
	rig.on_poll = [&] {
		bool one = rig.at<nvme_cqe>(rig.admin_completions())[0].status & 1,
		     two = rig.at<nvme_cqe>(rig.admin_completions())[1].status & 1;
		polls_between += one && !two;
	};
	rig.run();
	EXPECT_TRUE(rig.reap_admin());
	EXPECT_TRUE(rig.reap_admin());
	EXPECT_GT(polls_between, 0u);
}

// The host opens the second queue before anything moves on the first. The first one's command, found on the way at a look for another
// reason, must not hide the second queue.
TEST(HorizonLimits, QueueOpenedBeforeAnotherMovedIsSeenBeforeTimeGoesOn)
{
	Rig rig;
	rig.enable();
	auto a = rig.make_queue(1, 8), b = rig.make_queue(2, 8);
	rig.open(a, 50000);
	struct Host {
		lt_timer timer{}; // first: the callback gets the timer
		Rig *rig;
		Rig::Queue *a, *b;
	} host;
	host.rig = &rig;
	host.a = &a;
	host.b = &b;
	lt_timer_arm(&host.timer, 20000, [](lt_timer *timer) {
		auto &h = *reinterpret_cast<Host *>(timer);
		h.rig->place(*h.b, io_sqe(NVME_IO_READ, 2, 1, h.rig->buffer()), 30000);
		h.rig->open(*h.b);
		h.rig->place(*h.a, io_sqe(NVME_IO_READ, 1, 1, h.rig->buffer()), 60000);
		h.rig->publish(*h.a);
	});
	rig.run();
	ASSERT_GE(rig.fake->log.size(), 1u);
	EXPECT_EQ(rig.fake->log[0].at_ns, 30400u);
}

// A host of one thread may want its answer before it reads the queue.
TEST(Horizon, AdminCommandsAreAnsweredWhileACompletionQueueIsFull)
{
	Rig rig;
	rig.enable();
	auto queue = rig.make_queue(1, 32, 4);
	for (int i = 0; i < 10; i++)
		rig.place(queue, io_sqe(NVME_IO_READ, 0, 1, rig.buffer()), rig.now());
	rig.place_admin(admin_sqe(NVME_ADMIN_GET_FEATURES, NVME_FEAT_ARBITRATION));
	rig.post(NVME_REG_DOORBELLS, 3);
	rig.open(queue);
	rig.run_for(1000000);
	EXPECT_EQ(rig.clock(1).completed, 3u);
	auto cqe = rig.reap_admin(false);
	ASSERT_TRUE(cqe);
	EXPECT_EQ(cqe->status, 0);
}

} // namespace hil_test
