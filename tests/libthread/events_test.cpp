// Events: run once each, in order per poster, nothing lost, with real threads and in simulated time.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>

#include "bench.hpp"

namespace {

struct Note {
	lt_event ev; // first, so that the event is the note
	unsigned from;
	uint64_t number;
};

struct Sink {
	lt_thread thread;
	std::vector<uint64_t> next; // expected number by poster
	uint64_t received = 0;
};

Sink *sinks[8];
lt_word received;
uint64_t expected_total;

void on_note(lt_event *ev)
{
	auto *note = reinterpret_cast<Note *>(ev);
	Sink *sink = sinks[lt_hart_id()];

	ASSERT_EQ(sink->next[note->from]++, note->number) << "order of poster " << note->from;
	sink->received++;
	if (lt_add(&received, 1) + 1 == expected_total)
		lt_harts_stop();
}

struct Source {
	lt_event ev;
	lt_thread thread;
	unsigned id, targets, left;
	std::vector<Note> notes;
	std::vector<uint64_t> sent;
	std::mt19937_64 random;
};

// Posts a few notes to random harts (itself among them), then itself again.
void on_source(lt_event *ev)
{
	auto *source = reinterpret_cast<Source *>(ev);

	for (unsigned burst = source->random() % 8; burst && source->left; burst--) {
		unsigned to = unsigned(source->random() % source->targets);
		Note *note = &source->notes[--source->left];
		note->from = source->id;
		note->number = source->sent[to]++;
		lt_post(&sinks[to]->thread, &note->ev, on_note);
	}
	if (source->left)
		lt_post(&source->thread, &source->ev, on_source);
}

void all_to_all(Bench &bench, unsigned harts, unsigned each, bool real)
{
	std::vector<Sink> sink(harts);
	std::vector<Source> source(harts);
	constexpr uint64_t seed = 20261121;

	SCOPED_TRACE(testing::Message() << "seed " << seed);
	if (real)
		bench.real(harts);
	else
		bench.simulated(harts);
	lt_store(&received, 0);
	expected_total = uint64_t{harts} * each;
	for (unsigned i = 0; i < harts; i++) {
		sink[i].thread = {"sink", i};
		sink[i].next.resize(harts);
		sinks[i] = &sink[i];
		source[i].thread = {"source", i};
		source[i].id = i;
		source[i].targets = harts;
		source[i].left = each;
		source[i].notes.resize(each);
		source[i].sent.resize(harts);
		source[i].random.seed(seed + i);
	}
	for (auto &s : source)
		lt_post(&s.thread, &s.ev, on_source);
	if (real) {
		lt_host_start_harts();
		lt_host_join_harts();
	} else {
		lt_host_run_until_idle();
	}
	uint64_t total = 0;
	for (auto &s : sink)
		total += s.received;
	EXPECT_EQ(total, expected_total);
}

TEST(Events, AllToAllOnRealThreads)
{
	Bench bench;

	all_to_all(bench, 8, 5000, true);
}

TEST(Events, AllToAllInSimulatedTime)
{
	Bench bench;

	all_to_all(bench, 8, 5000, false);
}

TEST(Events, OneHartRunsSeveralThreads)
{
	Bench bench;

	all_to_all(bench, 1, 5000, true);
}

// A poster that is no hart: the host thread that started them.
TEST(Events, OutsiderMayPost)
{
	Bench bench;
	static std::vector<int> order;
	static lt_event ev[100];
	lt_thread target{"t", 1};

	order.clear();
	bench.real(2);
	lt_host_start_harts();
	for (auto &e : ev)
		lt_post(&target, &e, [](lt_event *self) { order.push_back(int(self - ev)); });
	lt_harts_stop();
	lt_host_join_harts();
	ASSERT_EQ(order.size(), 100u);
	for (int i = 0; i < 100; i++)
		EXPECT_EQ(order[size_t(i)], i);
}

// Ping-pong: every round needs a hart that sleeps to be woken.
TEST(Events, SleepingHartIsWoken)
{
	Bench bench;
	static lt_thread side[2] = {{"a", 0}, {"b", 1}};
	static unsigned rounds;
	static lt_event ball;
	static lt_event_fn *hit;

	rounds = 0;
	hit = [](lt_event *ev) {
		if (++rounds == 2000)
			lt_harts_stop();
		else
			lt_post(&side[rounds & 1], ev, hit);
	};
	bench.real(2);
	lt_post(&side[0], &ball, hit);
	lt_host_start_harts();
	lt_host_join_harts();
	EXPECT_EQ(rounds, 2000u);
}

TEST(Events, StopIsOnceAndHartsCanBeBuiltAgain)
{
	for (int i = 0; i < 20; i++) {
		Bench bench;

		bench.real(4);
		lt_host_start_harts();
		lt_harts_stop();
		lt_harts_stop();
		lt_host_join_harts();
	}
}

TEST(Events, AnEventThatWaitsAloneMayBeTakenBack)
{
	Bench bench;
	static int ran;
	static lt_event ev[2];
	lt_thread self{"t", 0};
	const auto count = [](lt_event *) { ran++; };

	ran = 0;
	bench.simulated(2);
	EXPECT_FALSE(lt_hart_has_mail());
	EXPECT_FALSE(lt_hart_forget_mail(&ev[0])) << "it is not there";
	lt_host_set_hart(1);
	lt_post(&self, &ev[0], count);
	lt_host_set_hart(0);
	EXPECT_TRUE(lt_hart_has_mail());
	EXPECT_TRUE(lt_hart_forget_mail(&ev[0]));
	EXPECT_FALSE(lt_hart_has_mail());
	lt_host_set_hart(1);
	lt_post(&self, &ev[0], count);
	lt_post(&self, &ev[1], count);
	lt_host_set_hart(0);
	EXPECT_TRUE(lt_hart_has_mail());
	EXPECT_FALSE(lt_hart_forget_mail(&ev[0])) << "another one waits too";
	lt_host_run_until_idle();
	EXPECT_EQ(ran, 2);
}

TEST(Events, NumberOfHartsIsChecked)
{
	Bench bench;

	EXPECT_DEATH(lt_harts_init(&bench.mem, 65, 1), "not 1 to 64");
	EXPECT_DEATH(lt_harts_init(&bench.mem, 0, 1), "not 1 to 64");
	bench.simulated(64, 0, 1);
	EXPECT_EQ(lt_harts(), 64u);
}

} // namespace
