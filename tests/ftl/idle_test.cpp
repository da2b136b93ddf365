// Idle buffers: flushed once they had no new data for buffer_idle_ns of device time, and only then.
// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

using namespace ftl_rig;

static const uint32_t idle_ns = 5000000;

static hz_device_config idle_config()
{
	hz_device_config cfg = ftl_config();
	cfg.buffer_idle_ns = idle_ns;
	return cfg;
}

TEST(IdleBuffer, OffByDefault)
{
	Rig r(ftl_config());
	ASSERT_TRUE(r.boot());
	uint64_t before = clock_now_ns();
	EXPECT_EQ(r.write(0, 0, 4, 1), 0);
	EXPECT_LT(clock_now_ns() - before, 1000000u) << "something else was waited for";
	EXPECT_EQ(r.counters().buffer_flushes_idle, 0u);
	EXPECT_EQ(r.counters().slc_sectors, 0u);
}

TEST(IdleBuffer, DataBecomeDurableByThemselves)
{
	Rig r(idle_config());
	ASSERT_TRUE(r.boot());
	Request write(FTL_WRITE, r.lba_of(0), 4);
	for (uint32_t i = 0; i < 4; i++)
		fill_sector(write.pages[i], 1 + i);
	EXPECT_EQ(r.run(write), 0); // until nothing is left to do, the timer included
	EXPECT_LT(write.done_ns, idle_ns);
	EXPECT_GE(clock_now_ns(), idle_ns + 75000u);
	EXPECT_EQ(r.counters().buffer_flushes_idle, 1u);
	EXPECT_EQ(r.counters().buffer_flushes_host, 0u);
	EXPECT_EQ(r.counters().slc_sectors, 4u);
	EXPECT_EQ(r.check(), "");
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.compare(0, 0, 4, 1), "");
}

// A stream of writes, each sooner than the limit after the one before: the timer runs, but only the last pause is long enough.
TEST(IdleBuffer, NewDataPostponeIt)
{
	Rig r(idle_config());
	ASSERT_TRUE(r.boot());
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
		Request &w = l->writes->emplace_back(FTL_WRITE, l->rig->lba_of(0, static_cast<uint32_t>(n)), 1);
		fill_sector(w.pages[0], 1 + n);
		l->rig->submit(w);
		if (n + 1 < 5)
			lt_timer_arm(timer, clock_now_ns() + 4000000, timer->run);
	};
	lt_timer_arm(&later.timer, next_ns, fire);
	lt_host_run_until_idle();
	ASSERT_EQ(writes.size(), 5u);
	EXPECT_EQ(r.counters().buffer_flushes_idle, 1u);
	EXPECT_EQ(r.counters().slc_sectors, 5u);
	EXPECT_GE(clock_now_ns(), 4u * 4000000 + idle_ns);
	EXPECT_EQ(r.compare(0, 0, 5, 1), "");
}

TEST(IdleBuffer, NothingIsFlushedTwiceOrWithoutNeed)
{
	Rig r(idle_config());
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.write(0, 0, 6, 1), 0); // a whole unit
	EXPECT_EQ(r.counters().buffer_flushes_idle, 0u);
	EXPECT_EQ(r.write(0, 6, 2, 7, FTL_FUA), 0);
	EXPECT_EQ(r.counters().buffer_flushes_idle, 0u);
	EXPECT_EQ(r.write(0, 8, 1, 9), 0);
	EXPECT_EQ(r.run_op(FTL_ZONE_FINISH, 0), 0);
	EXPECT_EQ(r.counters().buffer_flushes_idle, 1u);
	EXPECT_EQ(r.counters().slc_sectors, 3u);
	EXPECT_EQ(r.check(), "");
}

// Random work with zones in competition for buffers, while idle ones are flushed in between.
TEST(IdleBuffer, AgreesWithTheModel)
{
	for (uint32_t binding = 0; binding < 3; binding++) {
		SCOPED_TRACE(binding);
		hz_device_config cfg = idle_config();
		cfg.buffer_idle_ns = 100000;
		cfg.buffer_binding = binding;
		cfg.write_buffers = binding == HZ_BIND_PER_ZONE ? cfg.max_active : 2;
		Rig r(cfg);
		ASSERT_TRUE(r.boot());
		Driver driver(r, 11 + binding);
		for (int i = 0; i < 150; i++) {
			ASSERT_TRUE(driver.run_batch(driver.random_batch()));
			ASSERT_EQ(r.check(), "") << "batch " << i;
			ASSERT_FALSE(HasFailure()) << "batch " << i;
		}
		driver.verify_all();
		EXPECT_GT(r.counters().buffer_flushes_idle, 10u);
		// Everything has been idle for long enough: nothing at all may be lost.
		for (ModelZone &zone : driver.zones)
			zone.durable = zone.acked;
		ASSERT_TRUE(r.boot());
		driver.check_recovered();
	}
}
