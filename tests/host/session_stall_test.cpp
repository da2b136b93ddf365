// A stuck guest against a slow one: made-up looks at a guest, and the CPU use of real processes.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>
#include <unistd.h>

#include "session/machine/process.hpp"
#include "session/machine/stall_watch.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// A guest looked at every 200 ms.
class Guest {
public:
	// Looks for so long, with so much CPU time per second of it; the sentence, and when it came.
	std::string look(milliseconds time, double cpus, bool wants_cpu, bool beats, bool awaited = true)
	{
		for (milliseconds passed{0}; passed < time; passed += step) {
			now_ += step;
			load_.cpu += milliseconds(static_cast<int>(cpus * static_cast<double>(step.count())));
			load_.wants_cpu = wants_cpu;
			heartbeat_ += beats;
			if (std::string words = watch_.look(now_, heartbeat_, awaited, load_); !words.empty()) {
				reported_after_ = passed + step;
				return words;
			}
		}
		return "";
	}
	milliseconds reported_after() const { return reported_after_; }
	void boots() { heartbeat_ = 0; }
	void pause(milliseconds time) { now_ += time; }

private:
	static constexpr milliseconds step{200};
	hz::StallWatch watch_;
	hz::StallWatch::Clock::time_point now_ = hz::StallWatch::Clock::now();
	uint32_t heartbeat_ = 17;
	hz::ProcessLoad load_;
	milliseconds reported_after_{0};
};

TEST(TimeGiven, IsSleepAndComputingButNotTheWaitForACpu)
{
	const auto begin = hz::TimeGiven::Clock::now();
	const auto passed_in = [&](milliseconds step, milliseconds cpu, bool wants_cpu) {
		hz::TimeGiven given;
		for (int i = 0; i <= 100; i++)
			given.look(begin + i * step, {.alive = true, .cpu = i * cpu, .wants_cpu = wants_cpu, .killed = false});
		return given.passed();
	};
	EXPECT_EQ(passed_in(200ms, 0ms, false), 20s) << "asleep, or stopped";
	EXPECT_EQ(passed_in(200ms, 200ms, true), 20s) << "computing";
	EXPECT_EQ(passed_in(200ms, 800ms, true), 20s) << "several threads of it";
	EXPECT_EQ(passed_in(200ms, 10ms, true), 1s) << "one of twenty on a CPU";
	EXPECT_EQ(passed_in(200ms, 0ms, true), 0s);
	EXPECT_EQ(passed_in(10s, 0ms, false), 50s) << "who looks had no CPU either";
}

TEST(StallWatch, SleepWithoutABeatIsReportedAfterFiveSeconds)
{
	Guest guest;
	EXPECT_EQ(guest.look(60s, 0.5, true, true), "");
	EXPECT_NE(guest.look(60s, 0, false, false).find("asleep"), std::string::npos);
	EXPECT_GE(guest.reported_after(), 5s);
	EXPECT_LE(guest.reported_after(), 6s);
}

TEST(StallWatch, CpuTimeWithoutABeatIsReported)
{
	Guest guest;
	EXPECT_EQ(guest.look(1s, 1, true, true), "");
	EXPECT_NE(guest.look(60s, 2, true, false).find("20 s of QEMU's CPU time"), std::string::npos);
	EXPECT_GE(guest.reported_after(), 10s);
	EXPECT_LE(guest.reported_after(), 11s);
}

TEST(StallWatch, ALoadedHostIsNoDeath)
{
	Guest guest;
	EXPECT_EQ(guest.look(1000s, 0.005, true, false), "") << "it wants a CPU and gets 5 ms of one per second";
	EXPECT_EQ(guest.look(4s, 0, false, false), "");
	EXPECT_EQ(guest.look(1s, 0, true, false), "");
	EXPECT_EQ(guest.look(4s, 0, false, false), "") << "sleep counts from the last time that it wanted a CPU";
}

TEST(StallWatch, AGuestThatWaitsForTheHostBeats)
{
	Guest guest;
	EXPECT_EQ(guest.look(1000s, 0, false, true), "");
}

TEST(StallWatch, NobodyWaitsNobodyIsMissed)
{
	Guest guest;
	EXPECT_EQ(guest.look(1000s, 0, false, false, false), "");
	EXPECT_EQ(guest.look(1000s, 1, true, false, false), "");
	EXPECT_EQ(guest.look(4s, 4, true, false), "") << "CPU time from before the wait does not count";
}

TEST(StallWatch, SleepCountsFromTheLastBeat)
{
	Guest guest;
	for (int i = 0; i < 10; i++) {
		EXPECT_EQ(guest.look(4s, 0, false, false), "");
		EXPECT_EQ(guest.look(200ms, 0, false, true), "");
	}
	EXPECT_EQ(guest.look(4s, 0, false, false), "");
	EXPECT_EQ(guest.look(200ms, 0, false, false, false), "");
	EXPECT_EQ(guest.look(4s, 0, false, false), "") << "nor while nobody waited";
}

TEST(StallWatch, AHostThatStoodIsNoStuckGuest)
{
	Guest guest;
	EXPECT_EQ(guest.look(1s, 0, false, true), "");
	guest.pause(1000s);
	EXPECT_EQ(guest.look(4s, 0, false, false), "");
}

TEST(StallWatch, ABootMayTakeItsTimeButNotSleep)
{
	Guest guest;
	guest.boots();
	EXPECT_EQ(guest.look(1000s, 1, true, false), "");
	EXPECT_NE(guest.look(10s, 0, false, false), "");
}

// Whether `wants` is seen within two seconds.
bool seen(int pid, bool wants)
{
	for (int i = 0; i < 200; i++, std::this_thread::sleep_for(10ms))
		if (hz::load_of(pid).wants_cpu == wants)
			return true;
	return false;
}

TEST(ProcessLoad, TellsWorkFromSleep)
{
	auto busy = hz::Process::start({"sh", "-c", "while :; do :; done"}, "/dev/null");
	auto sleeper = hz::Process::start({"sleep", "1000"}, "/dev/null");
	EXPECT_TRUE(seen(busy.pid(), true));
	EXPECT_TRUE(seen(sleeper.pid(), false));
	for (int i = 0; i < 1000 && hz::load_of(busy.pid()).cpu < 100ms; i++)
		std::this_thread::sleep_for(10ms);
	EXPECT_GE(hz::load_of(busy.pid()).cpu, 100ms);
	EXPECT_LE(hz::load_of(sleeper.pid()).cpu, 50ms);
	busy.signal(SIGSTOP);
	EXPECT_TRUE(seen(busy.pid(), false)) << "a stopped process asks for nothing";
	busy.signal(SIGKILL);
	ASSERT_TRUE(busy.wait(5000));
	EXPECT_FALSE(hz::load_of(-1).wants_cpu);
	EXPECT_FALSE(hz::load_of(-1).alive);
	EXPECT_TRUE(hz::load_of(sleeper.pid()).alive);
	EXPECT_FALSE(hz::load_of(sleeper.pid()).killed);
}

} // namespace
