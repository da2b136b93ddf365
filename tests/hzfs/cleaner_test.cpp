// The cleaner in the background: its phases, its victims, its pauses, and that the device can do the moving.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <thread>

#include "devices.hpp"

namespace hz::fs {
namespace {

using store::block_bytes;
using store::MemoryDevice;

TEST(CleanerPolicy, PhasesFollowTheShareOfEmptySections)
{
	const CleanerKnobs knobs;
	EXPECT_EQ(phase_of(knobs, 61, 100), Phase::no_gc);
	EXPECT_EQ(phase_of(knobs, 60, 100), Phase::normal);
	EXPECT_EQ(phase_of(knobs, 25, 100), Phase::normal);
	EXPECT_EQ(phase_of(knobs, 24, 100), Phase::boosted);
}

Section section_of(uint32_t alive, uint64_t touched)
{
	Section one;
	one.written = 100;
	one.alive = alive;
	one.touched = touched;
	return one;
}

TEST(CleanerPolicy, NormalWeighsAgeAndBoostedDoesNot)
{
	CleanerKnobs knobs;
	const std::vector<Section> all = {section_of(40, 990), section_of(60, 100), section_of(96, 1), section_of(100, 1)};
	EXPECT_EQ(background_victim(knobs, Phase::normal, all, 100, 1000), 1u) << "older";
	EXPECT_EQ(background_victim(knobs, Phase::boosted, all, 100, 1000), 0u) << "emptier";
	knobs.boost_greedy = false;
	EXPECT_EQ(background_victim(knobs, Phase::boosted, all, 100, 1000), 1u);
	EXPECT_EQ(background_victim(knobs, Phase::normal, {section_of(96, 1), section_of(100, 1)}, 100, 1000), std::nullopt)
		<< "too much of them is alive";
	knobs.valid = 0.97;
	EXPECT_EQ(background_victim(knobs, Phase::normal, {section_of(96, 1), section_of(100, 1)}, 100, 1000), 0u);
}

constexpr store::DeviceShape many_zones = {.zones = 64, .capacity = 32, .max_active = 6, .plain = 16};

struct Fragmented {
	MemoryDevice device{many_zones};
	uint64_t now_ns = 0;
	unsigned made = 0;
	std::optional<FileLayer> layer;

	explicit Fragmented(CleanerKnobs knobs, bool copies = false, bool timed = true)
	{
		FileLayer::format(device);
		Options options{.copy_offload = copies, .background = knobs};
		if (timed)
			options.clock = [this] { return now_ns; };
		layer.emplace(device, options);
	}
	// Creates files of 4 blocks and removes every second one, until this number of sections is
	// empty.
	void fill(uint32_t empty)
	{
		for (; layer->segments(many_zones.capacity).free > empty; made++) {
			const std::string name = "f" + std::to_string(made);
			const auto file = layer->create(name, Heat::warm);
			layer->write(*file, 0, some_bytes(4 * block_bytes, made));
			layer->sync(*file);
			if (made % 2)
				layer->remove(name);
		}
	}
	void expect_all()
	{
		for (const std::string &name : layer->names()) {
			EXPECT_EQ(content_of(*layer, name), some_bytes(4 * block_bytes, unsigned(std::stoul(name.substr(1))))) << name;
		}
	}
};

TEST(Background, DoesNothingWhileMuchIsEmptyAndThenWinsSections)
{
	CleanerKnobs knobs{.segment_blocks = 8, .pause_ns = 1000, .boost_pause_ns = 500};
	Fragmented f(knobs);
	f.fill(40);
	EXPECT_EQ(f.layer->phase(), Phase::no_gc);
	EXPECT_EQ(f.layer->counters().moved_blocks, 0u);
	f.fill(34);
	EXPECT_EQ(f.layer->phase(), Phase::normal);
	const uint32_t before = f.layer->segments(many_zones.capacity).free;
	for (int i = 0; i < 40; i++) {
		f.now_ns += 1001;
		f.layer->create_nameless(Heat::hot);
	}
	const Counters counters = f.layer->counters();
	EXPECT_GT(counters.rounds[unsigned(Phase::normal)], 5u);
	EXPECT_EQ(counters.rounds[unsigned(Phase::no_gc)], 0u);
	EXPECT_GT(counters.background_sections, 2u);
	EXPECT_GT(f.layer->segments(many_zones.capacity).free, before);
	f.expect_all();
}

TEST(Background, IsPutOffByReadsAndRestsBetweenRounds)
{
	CleanerKnobs knobs{.no_gc = 1.0, .boost = 0.0, .segment_blocks = 8, .pause_ns = 1000};
	Fragmented f(knobs);
	f.fill(40);
	const auto rounds = [&f] { return f.layer->counters().rounds[unsigned(Phase::normal)]; };
	const auto nudge = [&f] { f.layer->create_nameless(Heat::hot); };
	uint64_t before = rounds();
	f.now_ns += 1001;
	nudge();
	EXPECT_EQ(rounds(), before + 1);
	nudge();
	EXPECT_EQ(rounds(), before + 1) << "it is not due yet";
	for (int i = 0; i < 5; i++) {
		f.now_ns += 1001;
		EXPECT_EQ(content_of(*f.layer, "f0").size(), 4 * block_bytes);
		nudge();
	}
	EXPECT_EQ(rounds(), before + 1);
	EXPECT_GE(f.layer->counters().paused_rounds, 5u);
	f.now_ns += 1001;
	nudge();
	EXPECT_EQ(rounds(), before + 2) << "no read came since it was put off last";
}

TEST(Background, LooksFurtherWhenItIsBoosted)
{
	uint64_t emptied[2];
	for (const bool boosted : {false, true}) {
		CleanerKnobs knobs{.no_gc = 1.0,
				   .boost = boosted ? 1.0 : 0.0,
				   .window = 1,
				   .segment_blocks = 4,
				   .pause_ns = 1000,
				   .boost_pause_ns = 1000};
		Fragmented f(knobs);
		f.fill(40);
		const uint64_t before = f.layer->counters().background_sections;
		for (int i = 0; i < 12; i++) {
			f.now_ns += 1001;
			f.layer->create_nameless(Heat::hot);
		}
		emptied[boosted] = f.layer->counters().background_sections - before;
	}
	EXPECT_GT(emptied[1], 2 * emptied[0]);
}

TEST(Background, TheDeviceCanMoveTheData)
{
	CleanerKnobs knobs{.no_gc = 1.0, .segment_blocks = 8};
	Fragmented f(knobs, true);
	f.fill(30);
	for (int i = 0; i < 60; i++) {
		f.now_ns += 20000001;
		f.layer->create_nameless(Heat::hot);
	}
	const Counters counters = f.layer->counters();
	EXPECT_GT(counters.copied_blocks, 50u);
	EXPECT_EQ(counters.copied_blocks, counters.moved_blocks);
	EXPECT_GT(f.device.copies, 5u);
	f.expect_all();
}

// The layer orders a zone's writes for any number of threads: the device refuses a write not at its
// write pointer.
TEST(Threads, KeepTheOrderOfEachZone)
{
	CleanerKnobs knobs = eager;
	Fragmented f(knobs, true, false);
	std::vector<std::jthread> threads;
	for (unsigned t = 0; t < 8; t++)
		threads.emplace_back([&f, t] {
			for (unsigned i = 0; i < 120; i++) {
				const std::string name = "f" + std::to_string(1000 * t + i % 12);
				auto file = f.layer->open(name);
				if (!file)
					file = f.layer->create(name, Heat(i % heats));
				f.layer->write(*file, 0, some_bytes(4 * block_bytes, 1000 * t + i % 12));
				f.layer->sync(*file);
				if (i % 5 == t % 5) {
					file.reset();
					f.layer->remove(name);
				}
			}
		});
	threads.clear();
	f.expect_all();
	EXPECT_GT(f.layer->counters().background_sections, 10u);
}

} // namespace
} // namespace hz::fs
