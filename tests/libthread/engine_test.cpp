// Engines: run when due, with the clock frozen, and their posted events are run; a busy hart runs
// them late; a real thread wakes for them.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "bench.hpp"
#include "lt/engine.h"

namespace {

struct Machine {
	lt_engine engine; // first
	uint64_t period_ns;
	unsigned left;
	lt_thread to;
	lt_event posted;
	std::vector<uint64_t> ran, heard;
	unsigned thawed;
};

Machine *of_event;

void on_reported(lt_event *) { of_event->heard.push_back(clock_now_ns()); }

void run_machine(lt_engine *engine, uint64_t now_ns)
{
	auto *m = reinterpret_cast<Machine *>(engine);

	m->thawed += lt_host_frozen != 1;
	m->ran.push_back(now_ns);
	engine->due_ns = --m->left ? engine->due_ns + m->period_ns : LT_FOREVER;
	lt_post(&m->to, &m->posted, on_reported);
}

Machine machine(uint64_t due_ns, uint64_t period_ns, unsigned times, unsigned to)
{
	return {{nullptr, due_ns, run_machine}, period_ns, times, {"posted", to}, {}, {}, {}, 0};
}

TEST(Engine, RunsWhenDueWithTheClockFrozen)
{
	Bench bench;
	bench.simulated(2, 1000, 4);
	Machine m = machine(1500, 100, 3, 0), other = machine(1550, 1, 1, 0);
	of_event = &m;
	lt_engine_add(1, &m.engine);
	lt_engine_add(1, &other.engine);
	other.to = {"none", 1};
	lt_host_run_until_idle();
	EXPECT_EQ(m.ran, (std::vector<uint64_t>{1500, 1600, 1700}));
	EXPECT_EQ(m.heard, (std::vector<uint64_t>{1500, 1550, 1600, 1700}));
	EXPECT_EQ(other.ran, (std::vector<uint64_t>{1550}));
	EXPECT_EQ(m.thawed + other.thawed, 0u);
}

TEST(Engine, ABusyHartRunsItLate)
{
	Bench bench;
	bench.simulated(2, 1000, 4);
	Machine m = machine(1500, 100, 2, 0);
	lt_event busy{};
	lt_thread hart{"busy", 1};
	of_event = &m;
	lt_engine_add(1, &m.engine);
	lt_post(&hart, &busy, [](lt_event *) { clock_charge_ns(5000); });
	lt_host_run_until_idle();
	EXPECT_EQ(m.ran, (std::vector<uint64_t>{6000, 6000}));
}

TEST(Engine, MayBecomeDueByAnEventOfItsHart)
{
	Bench bench;
	bench.simulated(1, 1000, 4);
	static Machine m;
	m = machine(LT_FOREVER, 1, 1, 0);
	lt_event event{};
	lt_thread hart{"starter", 0};
	of_event = &m;
	lt_engine_add(0, &m.engine);
	lt_post(&hart, &event, [](lt_event *) { m.engine.due_ns = 1300; });
	lt_host_run_until_idle();
	EXPECT_EQ(m.ran, (std::vector<uint64_t>{1300}));
	EXPECT_EQ(m.heard, (std::vector<uint64_t>{1300}));
}

TEST(Engine, WakesARealThread)
{
	Bench bench;
	bench.real(2);
	static std::atomic<bool> heard;
	heard = false;
	Machine m = machine(clock_now_ns() + 2000000, 1, 1, 0);
	m.engine.run = [](lt_engine *engine, uint64_t) {
		engine->due_ns = LT_FOREVER;
		lt_post(&reinterpret_cast<Machine *>(engine)->to, &reinterpret_cast<Machine *>(engine)->posted, [](lt_event *) {
			heard = true;
			lt_harts_stop();
		});
	};
	lt_engine_add(1, &m.engine);
	lt_host_start_harts();
	lt_host_join_harts();
	EXPECT_TRUE(heard);
}

} // namespace
