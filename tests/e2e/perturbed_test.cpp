// Perturbed schedules: the harts meet in another order under every seed of the clock's jitter, and the data are right under each. One
// digest for one configuration would otherwise mean one interleaving tested.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include "base_config.hpp"
#include "config/placement.hpp"
#include "clock_preset.h"
#include "lt/lock_kind.h"
#include "run_helper.hpp"

namespace e2e {
namespace {

struct Case {
	const char *name, *device;
	std::string workload;
	unsigned workers;
	bool collects;
	unsigned hils = 1;
	uint32_t granularity = HZ_LOCKS_FINE;
	hz_architecture architecture = HZ_ARCH_PIPELINE;
	lt_lock_kind kind = LT_LOCK_TTAS;
	hz_clock_preset costs = HZ_CLOCK_FREE; // quick; the jitter makes the interleavings
	bool map_in_ram = false;
	hz_l2p_lookups lookups = HZ_LOOKUPS_LOCKED;
};

// Six threads of reads and writes at random.
std::string six_threads(const std::string &more)
{
	return R"(
mapping: direct
seed: 5
threads: 6
common:
  read_ratio: 0.4
  pattern: random
  queue_depth: 4
)" + more;
}

// Overwrites in place by all threads, so that the collector moves data that others read and write;
// the map is in flash.
std::string overwrites(const std::string &more)
{
	return six_threads(R"(
  blocks:
    - {size: 4 KiB, weight: 3}
    - {size: 16 KiB, weight: 1}
  flush_every: 32
)" + more);
}
const std::string overwrite = overwrites("  distribution: zipf\n  zipf_theta: 0.9\n  total_ops: 400\n");
// More than a data cache takes, and spread evenly, so that the collector has to work below it.
const std::string overwrite_more = overwrites("  total_ops: 800\n");
const std::string zoned = six_threads(R"(
  zones: 1
  blocks:
    - {size: 4 KiB, weight: 2}
    - {size: 64 KiB, weight: 1}
  flush_every: 16
  total_ops: 250
)");
std::string areas(unsigned hot_ops, unsigned other_ops)
{
	return R"(
name: both-areas
mapping: direct
seed: 5
threads: 4
common: {queue_depth: 4, flush_every: 24}
each:
  - {area: conventional, pattern: random, distribution: zipf, zipf_theta: 0.9, read_ratio: 0.4, block: 4 KiB, total_ops: )" +
	       std::to_string(hot_ops) + R"(}
  - {area: conventional, pattern: random, read_ratio: 0.4, block: 8 KiB, total_ops: )" +
	       std::to_string(other_ops) + R"(}
  - {read_ratio: 0.5, zones: 4, open_zones: 2, block: 16 KiB, total_ops: 300}
  - {read_ratio: 0.5, zones: 4, open_zones: 2, block: 32 KiB, total_ops: 200}
)";
}
const std::string both_areas = areas(1000, 800), both_areas_more = areas(2000, 3500);
const Case cases[] = {
	{"block", "configs/devices/small-legacy.yaml", overwrite, 6, true},
	{"block_by_three_hils", "configs/devices/small-legacy.yaml", overwrite, 6, true, 3},
	{"block_with_a_cache", "configs/devices/small-mcmq.yaml", overwrite_more, 6, true},
	{"mixed", "configs/devices/small-mixed.yaml", both_areas, 6, true},
	{"two_maps", "configs/devices/small-zufs-f2fs.yaml", both_areas_more, 6, true},
	{"patched_mixed", "configs/devices/small-patched.yaml", both_areas, 6, true},
	{"zoned", "tests/e2e/crash.yaml", zoned, 6, false},
	{"zoned_to_completion", "tests/e2e/crash.yaml", zoned, 6, false, 1, HZ_LOCKS_FINE, HZ_ARCH_COMPLETION},
	{"zoned_with_rain", "configs/devices/small-rain.yaml", zoned, 6, false},
	{"zoned_by_four_hils", "tests/e2e/crash.yaml", zoned, 6, false, 4},
	{"block_with_shards", "configs/devices/small-legacy.yaml", overwrite, 6, true, 1, 2},
	{"block_with_one_lock", "configs/devices/small-legacy.yaml", overwrite, 6, true, 1, HZ_LOCKS_GLOBAL},
	{"mixed_with_a_lock_per_class", "configs/devices/small-mixed.yaml", both_areas, 6, true, 1, HZ_LOCKS_CLASS},
	{"mixed_with_one_lock", "configs/devices/small-mixed.yaml", both_areas, 6, true, 1, HZ_LOCKS_GLOBAL},
	{"zoned_with_readers_side_by_side", "tests/e2e/crash.yaml", zoned, 6, false, 1, HZ_LOCKS_CLASS, HZ_ARCH_PIPELINE, LT_LOCK_RW},
	{"block_with_cohorts", "configs/devices/small-legacy.yaml", overwrite, 6, true, 1, HZ_LOCKS_CLASS, HZ_ARCH_PIPELINE,
	 LT_LOCK_COHORT},
	{"block_by_looks", "configs/devices/small-legacy.yaml", overwrite, 6, true, 1, HZ_LOCKS_CLASS, HZ_ARCH_PIPELINE, LT_LOCK_SEQ,
	 HZ_CLOCK_FREE, true},
	{"block_combined", "configs/devices/small-legacy.yaml", overwrite, 6, true, 1, HZ_LOCKS_CLASS, HZ_ARCH_PIPELINE, LT_LOCK_COMBINE,
	 HZ_CLOCK_FREE, true},
	{"block_unlocked", "configs/devices/small-legacy.yaml", overwrite, 6, true, 1, HZ_LOCKS_CLASS, HZ_ARCH_PIPELINE, LT_LOCK_TTAS,
	 HZ_CLOCK_FREE, true, HZ_LOOKUPS_UNLOCKED},
	{"zoned_by_looks", "tests/e2e/crash.yaml", zoned, 6, false, 1, HZ_LOCKS_CLASS, HZ_ARCH_PIPELINE, LT_LOCK_SEQ, HZ_CLOCK_FREE, true},
	{"zoned_combined", "tests/e2e/crash.yaml", zoned, 6, false, 1, HZ_LOCKS_CLASS, HZ_ARCH_PIPELINE, LT_LOCK_COMBINE, HZ_CLOCK_FREE,
	 true},
	{"zoned_unlocked", "tests/e2e/crash.yaml", zoned, 6, false, 1, HZ_LOCKS_FINE, HZ_ARCH_PIPELINE, LT_LOCK_TTAS, HZ_CLOCK_FREE, true,
	 HZ_LOOKUPS_UNLOCKED},
	{"block_to_completion_with_ordered_data", "configs/devices/small-legacy.yaml", overwrite, 6, true, 1, HZ_LOCKS_GLOBAL,
	 HZ_ARCH_COMPLETION, LT_LOCK_TAS, HZ_CLOCK_ROCKET},
};
constexpr const char *seeds[] = {"1", "2:20", "3:500", "4:5000", "5:5000"};
constexpr const char *raced = seeds[3]; // with the race check: harts that are far apart order little by chance

class Perturbed : public ::testing::TestWithParam<Case> {
protected:
	// Right data and balanced books; returns the digest.
	static std::string run(const char *seed)
	{
		hz::MachineOptions machine;
		machine.config = hz::conf::load_device(std::string(HZ_TREE) + "/" + GetParam().device);
		machine.config.hil_count = GetParam().hils;
		machine.config.architecture = GetParam().architecture;
		machine.config.l2p_lookups = GetParam().lookups;
		if (GetParam().map_in_ram)
			machine.config.l2p_cache_bytes = 0;
		hz::conf::place_roles(machine.config, machine.config.tsu_count, GetParam().workers);
		std::fill_n(machine.config.lock_kind, size_t{HZ_LOCK_CLASSES}, static_cast<uint8_t>(GetParam().kind));
		support::choose_granularity(machine.config, GetParam().granularity);
		hz_clock_preset_costs(GetParam().costs, &machine.config.clock);
		machine.plugin_options = std::string("jitter=") + seed;
		const bool checks = GetParam().map_in_ram && seed == std::string(raced);
		if (checks)
			machine.plugin_options += ",race-check=on";
		const hz::res::RunFacts facts = hz::cli::run_workload(machine, hz::wl::parse_workload(GetParam().workload, GetParam().name),
								      seed);
		const nlohmann::json result = hz::res::result_json(facts);
		EXPECT_EQ(result["violations"], nlohmann::json::array());
		if (checks)
			EXPECT_EQ(result["vclock"]["races"], nlohmann::json::array());
		EXPECT_EQ(result["totals"]["errors"], nlohmann::json::array());
		EXPECT_GT(result["read_back"]["bytes"].get<uint64_t>(), 0u);
		EXPECT_EQ(facts.ftl.conventional_gc_runs > 0, GetParam().collects);
		for (const auto &lock : result["locks"])
			EXPECT_TRUE(lock["index"] == 0 || GetParam().granularity == HZ_LOCKS_FINE ||
				    lock["index"] < GetParam().granularity);
		return hz::res::digest_of(facts);
	}
};
INSTANTIATE_TEST_SUITE_P(Devices, Perturbed, ::testing::ValuesIn(cases), [](const auto &i) { return i.param.name; });

TEST_P(Perturbed, DataAreRightUnderEverySeed)
{
	std::set<std::string> digests;
	for (const char *seed : seeds) {
		SCOPED_TRACE(seed);
		digests.insert(run(seed));
	}
	EXPECT_EQ(digests.size(), std::size(seeds)) << "each seed is another interleaving";
	EXPECT_TRUE(digests.contains(run(seeds[0]))) << "and always the same";
}

} // namespace
} // namespace e2e
