// Horizon protocol: whatever the host's threads do in wall time, the device's history in device time is the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "rig.hpp"

namespace hil_test {

// One host thread: what it wants is fixed by (seed, queue); when it gets round to it is up to the scheduler.
class HostThread {
public:
	HostThread(Rig &rig, Rig::Queue queue, uint64_t seed, unsigned commands)
		: rig_(rig), queue_(queue), random_(seed * 1000 + queue.id), left_(commands), timed_(queue.id % 2)
	{
		depth_ = 1 + random_() % (queue.depth - 1);
		next_arrival_ = 5000 + random_() % 20000;
	}

	void begin() { rig_.open(queue_, 0); }
	bool finished() const { return closed_; }

	// Does a little of what can be done now; returns true if anything changed for the device.
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
		while (handled_ < queue_.consumed) {
			uint64_t done = std::get<1>(history[handled_++]);
			if (left_)
				submit(done + 4000 + random_() % 3 * 10000);
		}
		return publish_or_close(UINT64_MAX);
	}

	// Timestamps: commands arrive at times that do not depend on completions, as long as the queue has room.
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

// work: what the threads want and the device does. schedule: when the host's threads get to run, in wall time.
History replay(uint64_t work, uint64_t schedule, unsigned queues, uint32_t inflight)
{
	Rig rig({.inflight = inflight});
	rig.enable();
	std::mt19937_64 scheduler(schedule);
	rig.fake->hil_cost_ns = 250;
	rig.fake->script = [&](const ftl_request &req) {
		uint64_t mix = (req.lba * 2654435761u + work) % 9973;
		return Answer{.service_ns = 3000 + mix * 7, .ready_ns = mix % 3 ? mix : 0, .status = static_cast<uint16_t>(mix % 97 ? 0 : NVME_UNRECOVERED_READ)};
	};
	std::vector<HostThread> threads;
	for (unsigned id = 1; id <= queues; id++)
		threads.emplace_back(rig, rig.make_queue(id, 4 + (id * 7 + work) % 20), work, 60);
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
	rig.fake->on_submit = [&] { if (scheduler() % 2) some_step(); };
	rig.on_host_wait = [&] { some_step(); return unfinished(); };
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

TEST(HorizonLimits, NonsenseFromTheHostBreaksTheQueueOnly)
{
	for (int what = 0; what < 4; what++) {
		Rig rig;
		rig.enable();
		auto bad = rig.make_queue(1, 8), good = rig.make_queue(2, 8);
		rig.open(good);
		bad.submitted = what == 0 ? 8 : what == 1 ? ~0ull : 0;
		bad.consumed = what == 2 ? 1 : what == 3 ? ~0ull : 0;
		rig.open(bad, 0);
		EXPECT_EQ(rig.io(good, io_sqe(NVME_IO_READ, 1, 1, rig.buffer())).status, 0) << what;
		rig.place_admin(admin_sqe(NVME_ADMIN_ASYNC_EVENT));
		rig.ring_admin();
		auto cqe = rig.reap_admin();
		ASSERT_TRUE(cqe) << what;
		EXPECT_EQ(cqe->dw0, NVME_AEN_ERROR_INVALID_DOORBELL_VALUE << 8 | NVME_LOG_ERROR << 16);
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
	lt_lock_init(&lock, HZ_LC_TEST, 3);
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

// Two queues whose last completions come together, the second with much longer to turn round. When the device time of the first one's
// limit has come, the host sees both and closes both at its `moment`-th chance to run, and its admin command follows at once.
// Returns when that command ended, in device time.
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
		hz_link_message ring{HZ_LINK_WRITE, 4, 77, NVME_REG_DOORBELLS, 5};
		rig.send(&ring, sizeof(ring));
	};
	rig.on_poll = host;
	rig.on_host_wait = [&] { bool early = chances < moment; host(); return early; };
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

TEST(HorizonLimits, MessagesThatComeTogetherAreActedUponOneByOne)
{
	Rig rig;
	rig.enable();
	rig.place_admin(admin_sqe(NVME_ADMIN_ABORT));
	rig.place_admin(admin_sqe(NVME_ADMIN_ABORT));
	for (uint32_t tail : {1, 2}) {
		hz_link_message ring{HZ_LINK_WRITE, 4, 1, NVME_REG_DOORBELLS, tail};
		rig.send(&ring, sizeof(ring));
	}
	unsigned polls_between = 0;
	rig.on_poll = [&] {
		bool one = rig.at<nvme_cqe>(rig.admin_completions())[0].status & 1, two = rig.at<nvme_cqe>(rig.admin_completions())[1].status & 1;
		polls_between += one && !two;
	};
	rig.run();
	EXPECT_TRUE(rig.reap_admin());
	EXPECT_TRUE(rig.reap_admin());
	EXPECT_GT(polls_between, 0u);
}

// The host opens the second queue before anything moves on the first. That the first one's command is found on the way, at a look for
// another reason, must not hide the second queue.
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

} // namespace hil_test
