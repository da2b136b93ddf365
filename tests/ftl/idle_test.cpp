// Idle buffers: flushed once they had no new data for buffer_idle_ns of device time, and only then.
// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

using namespace ftl_rig;

static const uint32_t kIdleNs = 5000000;

static hz_device_config IdleConfig()
{
	hz_device_config cfg = Config();
	cfg.buffer_idle_ns = kIdleNs;
	return cfg;
}

TEST(IdleBuffer, OffByDefault)
{
	Rig r(Config());
	ASSERT_TRUE(r.Boot());
	uint64_t before = clock_now_ns();
	EXPECT_EQ(r.Write(0, 0, 4, 1), 0);
	EXPECT_LT(clock_now_ns() - before, 1000000u) << "something else was waited for";
	EXPECT_EQ(r.Counters().buffer_flushes_idle, 0u);
	EXPECT_EQ(r.Counters().slc_sectors, 0u);
}

TEST(IdleBuffer, DataBecomeDurableByThemselves)
{
	Rig r(IdleConfig());
	ASSERT_TRUE(r.Boot());
	Request write(FTL_WRITE, r.Lba(0), 4);
	for (uint32_t i = 0; i < 4; i++)
		FillPage(write.pages[i], 1 + i);
	EXPECT_EQ(r.Run(write), 0); // until nothing is left to do, the timer included
	EXPECT_LT(write.done_ns, kIdleNs);
	EXPECT_GE(clock_now_ns(), kIdleNs + 75000u);
	EXPECT_EQ(r.Counters().buffer_flushes_idle, 1u);
	EXPECT_EQ(r.Counters().buffer_flushes_host, 0u);
	EXPECT_EQ(r.Counters().slc_sectors, 4u);
	EXPECT_EQ(r.Check(), "");
	ASSERT_TRUE(r.Boot());
	EXPECT_EQ(r.Compare(0, 0, 4, 1), "");
}

// A stream of writes, each sooner than the limit after the one before: the timer runs, but only the last pause is long enough.
TEST(IdleBuffer, NewDataPostponeIt)
{
	Rig r(IdleConfig());
	ASSERT_TRUE(r.Boot());
	std::deque<Request> writes;
	uint64_t next_ns = 0;
	struct Later {
		lt_timer timer;
		Rig *rig;
		std::deque<Request> *writes;
	} later{{}, &r, &writes};
	auto fire = [](lt_timer *timer) {
		auto *l = reinterpret_cast<Later *>(timer);
		size_t n = l->writes->size();
		Request &w = l->writes->emplace_back(FTL_WRITE, l->rig->Lba(0, static_cast<uint32_t>(n)), 1);
		FillPage(w.pages[0], 1 + n);
		l->rig->Submit(w);
		if (n + 1 < 5)
			lt_timer_arm(timer, clock_now_ns() + 4000000, timer->run);
	};
	lt_timer_arm(&later.timer, next_ns, fire);
	lt_host_run_until_idle();
	ASSERT_EQ(writes.size(), 5u);
	EXPECT_EQ(r.Counters().buffer_flushes_idle, 1u);
	EXPECT_EQ(r.Counters().slc_sectors, 5u);
	EXPECT_GE(clock_now_ns(), 4u * 4000000 + kIdleNs);
	EXPECT_EQ(r.Compare(0, 0, 5, 1), "");
}

TEST(IdleBuffer, NothingIsFlushedTwiceOrWithoutNeed)
{
	Rig r(IdleConfig());
	ASSERT_TRUE(r.Boot());
	EXPECT_EQ(r.Write(0, 0, 6, 1), 0); // a whole unit
	EXPECT_EQ(r.Counters().buffer_flushes_idle, 0u);
	EXPECT_EQ(r.Write(0, 6, 2, 7, FTL_FUA), 0);
	EXPECT_EQ(r.Counters().buffer_flushes_idle, 0u);
	EXPECT_EQ(r.Write(0, 8, 1, 9), 0);
	EXPECT_EQ(r.Op(FTL_ZONE_FINISH, 0), 0);
	EXPECT_EQ(r.Counters().buffer_flushes_idle, 1u);
	EXPECT_EQ(r.Counters().slc_sectors, 3u);
	EXPECT_EQ(r.Check(), "");
}

// Random work with zones that compete for buffers, while idle ones are flushed in between.
TEST(IdleBuffer, AgreesWithTheModel)
{
	for (uint32_t binding = 0; binding < 3; binding++) {
		SCOPED_TRACE(binding);
		hz_device_config cfg = IdleConfig();
		cfg.buffer_idle_ns = 100000;
		cfg.buffer_binding = binding;
		cfg.write_buffers = binding == HZ_BIND_PER_ZONE ? cfg.max_active : 2;
		Rig r(cfg);
		ASSERT_TRUE(r.Boot());
		Driver driver(r, 11 + binding);
		for (int i = 0; i < 150; i++) {
			ASSERT_TRUE(driver.Batch(driver.RandomBatch()));
			ASSERT_EQ(r.Check(), "") << "batch " << i;
			ASSERT_FALSE(HasFailure()) << "batch " << i;
		}
		driver.VerifyAll();
		EXPECT_GT(r.Counters().buffer_flushes_idle, 10u);
		// Everything has been idle for long enough: nothing at all may be lost.
		for (ModelZone &zone : driver.zones)
			zone.durable = zone.acked;
		ASSERT_TRUE(r.Boot());
		driver.Recovered();
	}
}
