// The limit of power: as many planes as it says have their cells at work, nothing waits longer than it must, and a limit of all changes no time.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "flash_rig.hpp"

extern "C" {
#include "tsu/tsu_die.h"
#include "tsu/tsu_limit.h"
}

using rig::Rig;
using rig::Txn;

namespace {

hz_device_config eight_planes()
{
	hz_device_config cfg = rig::small_config();
	cfg.channels = cfg.chips_per_channel = cfg.planes_per_die = 2;
	return cfg;
}

/* Two planes of a die for a part of the operations. Each plane has its own block to read, to program and to erase. */
std::vector<Txn *> random_load(Rig &r, unsigned seed, uint32_t dies)
{
	std::mt19937 random(seed);
	std::map<uint32_t, uint32_t> page;
	std::vector<Txn *> all;
	for (int i = 0; i < 300; i++) {
		const uint32_t die = random() % dies, kind = random() % 8, planes = 1 + random() % 2;
		std::vector<Txn *> list;
		if (kind < 2 && page[die] == r.cfg.pages_per_block)
			continue;
		for (uint32_t plane = die * 2; plane < die * 2 + planes; plane++)
			list.push_back(kind < 2    ? &r.program(plane, 3, page[die] * 2, 2)
				       : kind == 2 ? &r.erase(plane, 5)
						   : &r.read(plane, 4, 0, 2));
		if (kind < 2 && planes == 1)
			list.push_back(&r.program(die * 2 + 1, 3, page[die] * 2, 2)), page[die]++;
		else if (kind < 2)
			page[die]++;
		all.insert(all.end(), list.begin(), list.end());
		r.submit_list(list);
		lt_host_run_until(clock_now_ns() + random() % 150000);
	}
	lt_host_run_until_idle();
	return all;
}

uint64_t array_ns(const hz_device_config &cfg, const tsu_txn &txn)
{
	const uint32_t page = txn.addr.sector / 2 % 2;
	if (txn.op == TSU_ERASE)
		return cfg.normal.erase_ns;
	return txn.op == TSU_READ ? cfg.normal.read_ns[page] : cfg.normal.program_ns[page];
}

/* Begin and end of its cells' work, of one that was not suspended. */
std::pair<uint64_t, uint64_t> cells_of(const hz_device_config &cfg, const tsu_txn &txn)
{
	const uint64_t end_ns = txn.op == TSU_READ ? txn.cells_end_ns : txn.end_ns;
	return {end_ns - array_ns(cfg, txn), end_ns};
}

/* Most planes whose cells worked at a time. */
int most_at_once(const hz_device_config &cfg, const std::vector<Txn *> &all)
{
	std::vector<std::pair<uint64_t, int>> changes;
	for (const Txn *one : all) {
		const auto [begin_ns, end_ns] = cells_of(cfg, one->txn);
		changes.push_back({begin_ns, 1}), changes.push_back({end_ns, -1});
	}
	std::sort(changes.begin(), changes.end());
	int now = 0, most = 0;
	for (const auto &[at_ns, change] : changes)
		most = std::max(most, now += change);
	return most;
}

std::vector<uint64_t> ends_of(const std::vector<Txn *> &all)
{
	std::vector<uint64_t> ends;
	for (const Txn *one : all)
		ends.push_back(one->txn.end_ns - all[0]->txn.submit_ns);
	return ends;
}

std::vector<uint64_t> ends_with(hz_device_config cfg, uint32_t power_planes, unsigned seed, uint32_t dies)
{
	cfg.power_planes = power_planes;
	Rig r(cfg);
	return ends_of(random_load(r, seed, dies));
}

} // namespace

TEST(PowerLimit, NoMorePlanesWorkThanItAllows)
{
	for (unsigned seed = 1; seed <= 3; seed++)
		for (const uint32_t planes : {2u, 3u, 5u, 0u}) {
			hz_device_config cfg = eight_planes();
			cfg.power_planes = planes;
			Rig r(cfg);
			const int most = most_at_once(cfg, random_load(r, seed, 4));
			if (planes)
				EXPECT_EQ(most, static_cast<int>(planes)) << seed;
			else
				EXPECT_GT(most, 5) << "the load needs more than the limits allow";
			EXPECT_TRUE(r.refusals.empty());
		}
}

/* Against a set of the times at which planes have their power back: an operation takes those that are back last, else those that are back first; one that stops
 * gives its own back then, unless another operation counts on its end. */
TEST(PowerLimit, KeepsTheTimesOfItsPlanes)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		std::mt19937 random(seed);
		const uint32_t planes = 1 + random() % 8;
		struct tsu_limit limit {};
		std::multiset<uint64_t> free;
		for (uint32_t i = 0; i < planes; i++)
			free.insert(0);
		std::vector<std::pair<uint32_t, uint64_t>> running; /* planes, end */
		uint64_t now = 0, waits = 0, wait_ns = 0;
		for (int i = 0; i < 300; i++, now += random() % 4) {
			std::vector<tsu_txn> members(1 + random() % planes);
			for (size_t m = 0; m + 1 < members.size(); m++)
				members[m].next = &members[m + 1];
			die_op op{.members = members.data()};
			const size_t count = members.size();
			if (random() % 3 || running.empty()) {
				op.array_ns = 1 + random() % 10;
				auto last = free.upper_bound(now);
				const size_t there = std::distance(free.begin(), last);
				auto first = there >= count ? std::prev(last, count) : free.begin();
				last = std::next(first, count);
				const uint64_t begin_ns = std::max(now, *std::prev(last));
				free.erase(first, last);
				for (size_t m = 0; m < count; m++)
					free.insert(begin_ns + op.array_ns);
				waits += begin_ns > now, wait_ns += begin_ns - now;
				EXPECT_EQ(tsu_limit_begin(&limit, planes, &op, now), begin_ns);
				running.push_back({count, begin_ns + op.array_ns});
			} else {
				const auto [own, end_ns] = running.back();
				running.pop_back();
				if (end_ns <= now)
					continue;
				members.resize(own);
				for (size_t m = 0; m < own; m++)
					members[m].next = m + 1 < own ? &members[m + 1] : nullptr;
				op = {.members = members.data(), .array_end_ns = end_ns};
				for (uint32_t m = 0; m < own && free.count(end_ns); m++) {
					free.erase(free.find(end_ns));
					free.insert(now);
				}
				tsu_limit_stop(&limit, planes, &op, now);
			}
			ASSERT_EQ(std::vector<uint64_t>(limit.free_ns, limit.free_ns + planes),
				  std::vector<uint64_t>(free.begin(), free.end()))
				<< seed << ' ' << i;
		}
		EXPECT_EQ(limit.held.times[0], waits);
		EXPECT_EQ(limit.held.ns[0], wait_ns);
	}
}

/* Waits for power are those of other dies: a die alone always has it, and all dies have it with a limit of all planes. */
class PowerLimitOf : public testing::TestWithParam<std::tuple<bool, bool, bool>> {};

TEST_P(PowerLimitOf, EnoughPowerChangesNoTime)
{
	auto [suspends, caches, spreads] = GetParam();
	hz_device_config cfg = eight_planes();
	cfg.suspend_ns = suspends ? 4000 : 0;
	cfg.cache_read = cfg.cache_program = caches;
	cfg.normal_sigma.program_ns[0] = spreads ? 50000 : 0;
	for (unsigned seed = 1; seed <= 3; seed++) {
		EXPECT_EQ(ends_with(cfg, 8, seed, 4), ends_with(cfg, 0, seed, 4)) << seed;
		EXPECT_EQ(ends_with(cfg, HZ_MAX_POWER_PLANES, seed, 4), ends_with(cfg, 0, seed, 4)) << seed;
		EXPECT_EQ(ends_with(cfg, 2, seed, 1), ends_with(cfg, 0, seed, 1)) << seed;
		EXPECT_NE(ends_with(cfg, 2, seed, 4), ends_with(cfg, 0, seed, 4)) << seed;
	}
}
INSTANTIATE_TEST_SUITE_P(PowerLimit, PowerLimitOf, testing::Combine(testing::Bool(), testing::Bool(), testing::Bool()));

TEST(PowerLimit, WhatWaitsBeginsWhenTheFirstEndsAndCounts)
{
	hz_device_config cfg = rig::small_config();
	cfg.channels = 3;
	cfg.power_planes = 1;
	Rig r(cfg);
	Txn &first = r.program(0, 3, 0, 2), &second = r.program(1, 3, 0, 2), &read = r.read(2, 4, 0, 2);
	r.submit(first), r.submit(second);
	lt_host_run_until(clock_now_ns() + 50000);
	r.submit(read);
	lt_host_run_until_idle();
	const uint64_t loaded_ns = 200 + r.transfer_ns(2), program_ns = cfg.normal.program_ns[0];
	EXPECT_EQ(first.took_ns(), loaded_ns + program_ns);
	EXPECT_EQ(second.took_ns(), loaded_ns + 2 * program_ns);
	EXPECT_EQ(read.txn.end_ns, second.txn.end_ns + cfg.normal.read_ns[0] + r.transfer_ns(2));
	const hz_log_energy energy = r.energy();
	EXPECT_EQ(energy.held[TSU_PROGRAM], 1u);
	EXPECT_EQ(energy.held_ns[TSU_PROGRAM], program_ns);
	EXPECT_EQ(energy.held[TSU_READ], 1u);
	EXPECT_EQ(energy.held_ns[TSU_READ], second.txn.end_ns - read.txn.submit_ns - 200);
	EXPECT_EQ(energy.held[TSU_ERASE] + energy.held_ns[TSU_ERASE], 0u);
	EXPECT_EQ(energy.program_ns[HZ_CELLS_NORMAL], 2 * program_ns) << "a wait takes no energy";
	tsu_stats_reset(r.tsu);
	lt_host_run_until_idle();
	EXPECT_EQ(r.energy().held[TSU_PROGRAM] + r.energy().held_ns[TSU_READ], 0u);
}

/* The read of die 0 suspends its program, whose power die 1 then takes, after the read of die 0. */
TEST(PowerLimit, ASuspendedOperationGivesItsPowerAway)
{
	hz_device_config cfg = rig::small_config();
	cfg.channels = 2;
	cfg.power_planes = 1;
	cfg.suspend_ns = 5000;
	Rig r(cfg);
	Txn &program = r.program(0, 3, 0, 2), &read = r.read(0, 4, 0, 2), &other = r.read(1, 4, 0, 2);
	r.submit(program);
	lt_host_run_until(clock_now_ns() + 100000);
	r.submit(read);
	lt_host_run_until(clock_now_ns() + 20000);
	r.submit(other);
	lt_host_run_until_idle();
	const uint64_t read_ns = 200 + cfg.normal.read_ns[0] + r.transfer_ns(2);
	EXPECT_EQ(read.took_ns(), cfg.suspend_ns + read_ns);
	EXPECT_EQ(other.txn.end_ns, read.txn.cells_end_ns + cfg.normal.read_ns[0] + r.transfer_ns(2));
	EXPECT_EQ(program.txn.end_ns, other.txn.cells_end_ns + (200 + r.transfer_ns(2) + cfg.normal.program_ns[0] - 100000)) << "the rest";
}

/* Each thread has half of the planes, whatever the other one needs. */
TEST(PowerLimit, ThreadsHaveEqualShares)
{
	hz_device_config cfg = rig::small_config();
	cfg.channels = cfg.tsu_count = 2;
	cfg.chips_per_channel = 4;
	cfg.tsu_hart[0] = cfg.tsu_hart[1] = 1;
	cfg.power_planes = 5;
	for (uint32_t channel = 0; channel < 2; channel++) {
		Rig r(cfg);
		std::vector<Txn *> all;
		for (uint32_t die = 0; die < 4; die++)
			r.submit(*all.emplace_back(&r.erase(channel * 4 + die, 5)));
		lt_host_run_until_idle();
		EXPECT_EQ(most_at_once(cfg, all), channel ? 2 : 3);
	}
}

TEST(PowerLimit, AResumedProgramThatWaitsForPowerIsTornByACut)
{
	for (const uint32_t planes : {0u, 1u})
		for (const bool erase : {false, true}) {
			hz_device_config cfg = rig::small_config();
			cfg.channels = 2;
			cfg.power_planes = planes;
			cfg.suspend_ns = 5000;
			nand_policy policy{};
			policy.power_lost = [](void *) {};
			policy.power_cut_ns = 1000 + 500000 + 300000;
			auto r = std::make_unique<Rig>(cfg, &policy);
			r->submit(r->program(0, 4, 0, 2));
			lt_host_run_until(1000 + 500000);
			Txn &write = erase ? r->erase(0, 4) : r->program(0, 3, 0, 2), &read = r->read(0, 5, 0, 2),
			    &other = r->program(1, 3, 0, 2);
			r->submit(write);
			lt_host_run_until(1000 + 500000 + 100000);
			r->submit(read);
			lt_host_run_until(1000 + 500000 + 120000);
			r->submit(other);
			lt_host_run_until_idle();
			EXPECT_TRUE(read.done);
			EXPECT_FALSE(write.done);
			auto image = r->image();
			r.reset();
			Rig again(cfg, nullptr, image);
			const hz_nand_block *block = again.media.nand.ops->block(&again.media.nand, again.addr(0, erase ? 4 : 3, 0));
			EXPECT_EQ((block->flags & HZ_BLOCK_ERASING) != 0, erase) << planes;
			if (!erase) {
				EXPECT_EQ(block->write_sector, 2u) << planes;
			}
		}
}
