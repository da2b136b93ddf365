// Array times with a spread: what is drawn, from which seed, in which order; and that nothing else draws.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "flash_rig.hpp"
#include "nand/nand_checksum.h"
#include "spread.h"

using rig::Rig;
using rig::Txn;

namespace {

struct Found {
	double mean, sigma;
	uint64_t least, most;
};

Found found_in(const std::vector<uint64_t> &times)
{
	const auto count = static_cast<double>(times.size());
	const double mean = static_cast<double>(std::accumulate(times.begin(), times.end(), uint64_t{0})) / count;
	double squares = 0;
	for (const uint64_t ns : times)
		squares += (static_cast<double>(ns) - mean) * (static_cast<double>(ns) - mean);
	const auto [least, most] = std::minmax_element(times.begin(), times.end());
	return {mean, std::sqrt(squares / count), *least, *most};
}

// Real flash of MCMQ's Table I, as configured by the rig, and its deviations.
hz_device_config spread_config()
{
	hz_device_config cfg = rig::small_config();
	cfg.normal_sigma = {{1600, 8400}, {157300, 68500}, 8000};
	cfg.slc_sigma = {{900}, {20000}, 50000};
	cfg.chips_per_channel = 2;
	return cfg;
}

constexpr uint32_t pages = 16;

// What the cells took for each operation of some rounds on one plane: programs of a block, then reads of it, then its erase.
struct Times {
	std::vector<uint64_t> programs[2], reads[2], erases;
	bool operator==(const Times &) const = default;
};

void round_on(Rig &r, uint32_t plane, Times &times)
{
	const uint64_t page_ns = rig::command_ns + r.transfer_ns(2);
	for (uint32_t page = 0; page < pages; page++)
		times.programs[page % 2].push_back(r.run(r.program(plane, 3, page * 2, 2)).took_ns() - page_ns);
	for (uint32_t page = 0; page < pages; page++)
		times.reads[page % 2].push_back(r.run(r.read(plane, 3, page * 2, 2)).took_ns() - page_ns);
	times.erases.push_back(r.run(r.erase(plane, 3)).took_ns() - rig::command_ns);
}

Times times_of(const hz_device_config &cfg, uint32_t plane = 0, unsigned rounds = 4)
{
	Rig r(cfg);
	Times times;
	for (unsigned i = 0; i < rounds; i++)
		round_on(r, plane, times);
	return times;
}

} // namespace

struct Case {
	const char *name;
	uint64_t mean_ns, sigma_ns;
	double kept; // of sigma, by the cut
};
class Spread : public testing::TestWithParam<Case> {};

TEST_P(Spread, HasMeanAndDeviationAndEndsWithinItsReach)
{
	const auto [name, mean_ns, sigma_ns, kept] = GetParam();
	constexpr uint64_t draws = 200000;
	std::vector<uint64_t> times;
	for (uint64_t i = 0; i < draws; i++)
		times.push_back(hz_spread_ns(mean_ns, sigma_ns, nand_mix(7, i)));
	const Found found = found_in(times);
	const auto sigma = static_cast<double>(sigma_ns);
	EXPECT_NEAR(found.mean, static_cast<double>(mean_ns), 4 * sigma / std::sqrt(draws) + 0.5);
	EXPECT_NEAR(found.sigma / sigma, kept, 0.01 + 0.3 / sigma);
	EXPECT_GE(found.least, mean_ns - hz_spread_reach_ns(mean_ns, sigma_ns));
	EXPECT_LE(found.most, mean_ns + hz_spread_reach_ns(mean_ns, sigma_ns));
}
INSTANTIATE_TEST_SUITE_P(Tsu, Spread,
			 testing::Values(Case{"ReadLsb", 56200, 1600, 1}, Case{"ReadMsb", 71500, 8400, 1},
					 Case{"ProgramLsb", 381200, 157300, 0.98}, Case{"ProgramMsb", 1578500, 68500, 1},
					 Case{"Erase", 1200000, 8000, 1}, Case{"Widest", 1000000000, 500000000, 0.945},
					 Case{"Short", 20, 10, 0.945}),
			 [](const auto &info) { return std::string(info.param.name); });

TEST(Draws, AreNeverZeroAndNeverBeyondTheReach)
{
	for (const uint64_t dice : {uint64_t{0}, uint64_t{UINT64_MAX}, uint64_t{0x8080808080808080}})
		for (uint64_t mean_ns = 1; mean_ns < 100; mean_ns++)
			for (uint64_t sigma_ns = 0; sigma_ns <= mean_ns / 2; sigma_ns++) {
				const uint64_t ns = hz_spread_ns(mean_ns, sigma_ns, dice);
				EXPECT_GT(ns, mean_ns / 16);
				EXPECT_LT(ns, 2 * mean_ns);
			}
	// The farthest tails: 1020 / 209.02 sigmas.
	EXPECT_NEAR(static_cast<double>(hz_spread_ns(1000000, 10000, 0)), 1e6 - 10000 * 1020 / 209.02, 10);
	EXPECT_NEAR(static_cast<double>(hz_spread_ns(1000000, 10000, UINT64_MAX)), 1e6 + 10000 * 1020 / 209.02, 10);
	EXPECT_EQ(hz_spread_reach_ns(1000000, 500000), 1000000u - 62500 - 1);
}

TEST(Draws, OfADeviceHaveTheDeviationsOfItsOperationsAndPages)
{
	const hz_device_config cfg = spread_config();
	const Times times = times_of(cfg, 0, 100);
	for (uint32_t type = 0; type < 2; type++) {
		const Found read = found_in(times.reads[type]), program = found_in(times.programs[type]);
		EXPECT_NEAR(read.mean, cfg.normal.read_ns[type], 0.15 * cfg.normal_sigma.read_ns[type]);
		EXPECT_NEAR(read.sigma, cfg.normal_sigma.read_ns[type], 0.1 * cfg.normal_sigma.read_ns[type]);
		EXPECT_NEAR(program.mean, cfg.normal.program_ns[type], 0.15 * cfg.normal_sigma.program_ns[type]);
		EXPECT_NEAR(program.sigma, cfg.normal_sigma.program_ns[type], 0.1 * cfg.normal_sigma.program_ns[type]);
	}
	const Found erase = found_in(times.erases);
	EXPECT_NEAR(erase.mean, cfg.normal.erase_ns, 0.4 * cfg.normal_sigma.erase_ns);
	EXPECT_NEAR(erase.sigma, cfg.normal_sigma.erase_ns, 0.3 * cfg.normal_sigma.erase_ns);
}

TEST(Draws, OfSlcBlocksHaveDeviationsOfTheirOwn)
{
	Rig r(spread_config());
	std::vector<uint64_t> reads, programs, erases;
	for (unsigned i = 0; i < 400; i++) {
		programs.push_back(r.run(r.program(0, 0, 0, 1)).took_ns() - rig::command_ns - r.transfer_ns(1));
		reads.push_back(r.run(r.read(0, 0, 0, 1)).took_ns() - rig::command_ns - r.transfer_ns(1));
		erases.push_back(r.run(r.erase(0, 0)).took_ns() - rig::command_ns);
	}
	EXPECT_NEAR(found_in(reads).sigma, 900, 135);
	EXPECT_NEAR(found_in(programs).sigma, 20000, 3000);
	EXPECT_NEAR(found_in(erases).sigma, 50000, 7500);
}

TEST(Draws, FollowTheSeed)
{
	hz_device_config cfg = spread_config();
	const Times first = times_of(cfg);
	EXPECT_EQ(times_of(cfg), first);
	cfg.seed++;
	EXPECT_NE(times_of(cfg).reads[1], first.reads[1]);
}

TEST(Draws, OfADieDoNotDependOnOtherDies)
{
	const hz_device_config cfg = spread_config();
	const Times alone[] = {times_of(cfg, 0), times_of(cfg, 1)};
	EXPECT_NE(alone[0].reads[1], alone[1].reads[1]);
	for (const bool backwards : {false, true}) {
		Rig r(cfg);
		Times mixed[2];
		for (unsigned i = 0; i < 8; i++) {
			const uint32_t plane = backwards != (i % 2 == 1);
			round_on(r, plane, mixed[plane]);
		}
		EXPECT_EQ(mixed[0], alone[0]);
		EXPECT_EQ(mixed[1], alone[1]);
	}
}

// Only programs of even pages draw: they are the same, whatever happens between them, and all else takes its time.
TEST(Draws, AreMadeWhereThereIsADeviationOnly)
{
	hz_device_config cfg = rig::small_config();
	cfg.normal_sigma.program_ns[0] = 157300;
	const uint64_t page_ns = rig::command_ns + Rig(cfg).transfer_ns(2);
	std::vector<uint64_t> took[2];
	for (const bool between : {false, true}) {
		Rig r(cfg);
		for (uint32_t page = 0; page < pages; page += 2) {
			took[between].push_back(r.run(r.program(0, 3, page * 2, 2)).took_ns() - page_ns);
			EXPECT_EQ(r.run(r.program(0, 3, page * 2 + 2, 2)).took_ns(), page_ns + 1578500);
			if (between) {
				EXPECT_EQ(r.run(r.read(0, 3, 0, 2)).took_ns(), page_ns + 56200);
				EXPECT_EQ(r.run(r.erase(0, 4)).took_ns(), rig::command_ns + 1200000);
				EXPECT_EQ(r.run(r.erase(0, 0)).took_ns(), rig::command_ns + 1000000);
			}
		}
	}
	EXPECT_EQ(took[0], took[1]);
	EXPECT_NE(took[0][0], took[0][1]);
}

// Each plane draws: together they take the longest of two times, 0.56 sigma more in the mean.
TEST(Draws, OfPlanesAreTheirOwnAndTheSlowestCounts)
{
	hz_device_config cfg = spread_config();
	cfg.planes_per_die = 2;
	Rig r(cfg);
	std::vector<uint64_t> took;
	for (unsigned i = 0; i < 400; i++) {
		Txn &first = r.erase(0, 3), &second = r.erase(1, 3);
		r.submit_list({&first, &second});
		lt_host_run_until_idle();
		EXPECT_EQ(first.txn.end_ns, second.txn.end_ns);
		took.push_back(first.took_ns() - 2 * rig::command_ns);
	}
	EXPECT_NEAR(found_in(took).mean, 1200000 + 0.564 * 8000, 1600);
}

TEST(Draws, OfAReadAreOfItsFirstTryAndRetriesRepeatIt)
{
	hz_device_config cfg = spread_config();
	const uint64_t once_ns = Rig(cfg).transfer_ns(2) + rig::command_ns;
	std::vector<uint64_t> plain, tried;
	for (auto *took : {&plain, &tried}) {
		Rig r(cfg);
		for (unsigned i = 0; i < 20; i++)
			took->push_back(r.run(r.read(0, 3, 0, 2)).took_ns() - once_ns);
		hz_log_flash log;
		tsu_report(r.tsu, &log);
		EXPECT_EQ(log.read_retries, took == &plain ? 0u : 20u * 3);
		cfg.read_retry_ppb = 1000000000;
		cfg.read_retries = 3;
	}
	for (size_t i = 0; i < plain.size(); i++)
		EXPECT_EQ(tried[i], 4 * plain[i]);
}

TEST(Draws, OfASlowDieAreLongerByItsFactor)
{
	hz_device_config cfg = spread_config();
	const Times usual = times_of(cfg);
	cfg.slow_die = 1;
	cfg.slow_percent = 300;
	const Times slow = times_of(cfg);
	for (size_t i = 0; i < usual.reads[0].size(); i++)
		EXPECT_EQ(slow.reads[0][i], 3 * usual.reads[0][i]);
}

TEST(Draws, AreMadeByEachPassOfAProgram)
{
	hz_device_config cfg = rig::small_config();
	cfg.cell = HZ_CELL_TLC;
	cfg.program_pages = 3;
	cfg.pages_per_block = 12;
	cfg.program_passes = 2;
	cfg.normal = {{32000, 33000, 34000, 0}, {700000, 300000, 0, 0}, 3500000, 0};
	cfg.normal_sigma.program_ns[1] = 100000;
	Rig r(cfg);
	std::vector<uint64_t> second_pass;
	for (unsigned i = 0; i < 300; i++) {
		second_pass.push_back(r.run(r.program(0, 2, 0, 6)).took_ns() - 2 * (rig::command_ns + r.transfer_ns(6)) - 700000);
		r.run(r.erase(0, 2));
	}
	EXPECT_NEAR(found_in(second_pass).mean, 300000, 25000);
	EXPECT_NEAR(found_in(second_pass).sigma, 100000, 15000);
}

// Its lanes pay the times without their spread: n busy streams get 1/n of the operations.
TEST(Draws, DoNotUnbalanceAFairSchedule)
{
	hz_device_config cfg = spread_config();
	cfg.schedule = HZ_SCHED_FAIR;
	cfg.normal_sigma.read_ns[0] = 28000;
	Rig r(cfg);
	std::vector<Txn *> reads[2];
	for (unsigned i = 0; i < 100; i++)
		for (uint8_t stream = 0; stream < 2; stream++) {
			Txn &read = *reads[stream].emplace_back(&r.read(0, 3, 0, 2));
			read.txn.stream = stream;
			r.submit(read);
		}
	lt_host_run_until(clock_now_ns() + 100 * (rig::command_ns + 56200 + 20000));
	uint64_t done[2] = {};
	for (unsigned stream = 0; stream < 2; stream++)
		for (const Txn *read : reads[stream])
			done[stream] += read->done;
	EXPECT_GT(done[0], 35u);
	EXPECT_LE(std::max(done[0], done[1]) - std::min(done[0], done[1]), 1u);
	lt_host_run_until_idle();
}

// Operations count with the time that they took.
TEST(Draws, CountInTheEnergyOfTheirCells)
{
	Rig r(spread_config());
	Times times;
	round_on(r, 0, times);
	hz_log_flash flash;
	hz_log_energy energy;
	tsu_report(r.tsu, &flash);
	tsu_energy_published(r.tsu, &energy);
	uint64_t sum = 0;
	for (const auto &reads : times.reads)
		sum = std::accumulate(reads.begin(), reads.end(), sum);
	EXPECT_EQ(energy.read_ns[HZ_CELLS_NORMAL], sum);
	EXPECT_EQ(energy.erase_ns[HZ_CELLS_NORMAL], times.erases[0]);
}
