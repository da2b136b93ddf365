// A controller reset under full load: queued requests end soon, acknowledged data stay, no resource of a request is lost.
// SPDX-License-Identifier: BSD-3-Clause
#include "host_queues.hpp"
#include "l2p_rig.hpp"

using namespace ftl_rig;

namespace {

// Flash reads in flight may be queued behind all earlier programs and erases of their die; a reset waits for nothing else.
constexpr uint64_t longest = 40000000, longest_without_reads = 20000;

using Requests = std::vector<std::unique_ptr<Request>>;

void add(Requests &all, ftl_op op, uint64_t lba, uint32_t sectors, uint8_t flags = 0)
{
	all.push_back(std::make_unique<Request>(op, lba, sectors, flags));
}

// A kind of long command, queued many times on a filled device.
struct Kind {
	const char *name;
	hz_device_config (*config)();
	void (*queue)(Rig &rig, Requests &all);
};

hz_device_config many_zones_config()
{
	hz_device_config cfg = ftl_config();
	cfg.blocks_per_plane = 14 + 40;
	cfg.slc_blocks_per_plane = 14;
	cfg.max_open = cfg.max_active = 0;
	return cfg;
}
hz_device_config few_active_config()
{
	hz_device_config cfg = ftl_config();
	cfg.max_open = cfg.max_active = 3;
	return cfg;
}
hz_device_config mapped_config()
{
	hz_device_config cfg = map_config();
	cfg.slc_blocks_per_plane = 16;
	cfg.blocks_per_plane = 16 + 48;
	return cfg;
}
hz_device_config block_config() { return conventional_config(true); }
hz_device_config mapped_block_config() { return mapped_conventional_config(true); }

const Kind kinds[] = {
	{"SequentialWrites", many_zones_config,
	 [](Rig &rig, Requests &all) {
		 for (uint32_t z = rig.shape.zones / 2; z < rig.shape.zones; z++)
			 add(all, FTL_WRITE, rig.lba_of(z), 96);
	 }},
	{"SequentialZeroes", ftl_config,
	 [](Rig &rig, Requests &all) {
		 for (uint32_t z = 4; z < 7; z++)
			 add(all, FTL_WRITE_ZEROES, rig.lba_of(z), 96);
	 }},
	{"ForcedWrites", many_zones_config,
	 [](Rig &rig, Requests &all) {
		 for (uint32_t z = rig.shape.zones / 2; z < rig.shape.zones; z++)
			 for (uint32_t at = 0; at < 96; at += 8)
				 add(all, FTL_WRITE, rig.lba_of(z, at), 8, FTL_FUA);
	 }},
	{"WritesThatWaitForABudget", few_active_config,
	 [](Rig &rig, Requests &all) {
		 for (uint32_t z = 4; z < rig.shape.zones; z++)
			 add(all, FTL_WRITE, rig.lba_of(z), 96);
	 }},
	{"Zeroes", block_config,
	 [](Rig &rig, Requests &all) {
		 for (int i = 0; i < 4; i++)
			 add(all, FTL_WRITE_ZEROES, 0, static_cast<uint32_t>(rig.shape.namespace_sectors));
	 }},
	{"MappedZeroes", mapped_block_config,
	 [](Rig &rig, Requests &all) {
		 for (int i = 0; i < 4; i++)
			 add(all, FTL_WRITE_ZEROES, 0, static_cast<uint32_t>(rig.shape.namespace_sectors));
	 }},
	{"ForcedZeroes", block_config,
	 [](Rig &rig, Requests &all) {
		 for (int i = 0; i < 4; i++)
			 add(all, FTL_WRITE_ZEROES, 0, static_cast<uint32_t>(rig.shape.namespace_sectors), FTL_FUA);
	 }},
	{"Reads", many_zones_config,
	 [](Rig &rig, Requests &all) {
		 for (int i = 0; i < 200; i++)
			 add(all, FTL_READ, rig.lba_of(i % (rig.shape.zones / 2)), 96);
	 }},
	{"ReadsWithTheirMap", mapped_config,
	 [](Rig &rig, Requests &all) {
		 for (int i = 0; i < 200; i++)
			 add(all, FTL_READ, rig.lba_of(i % (rig.shape.zones / 2), i % 50), 40);
	 }},
	{"Flushes", block_config,
	 [](Rig &, Requests &all) {
		 for (int i = 0; i < 60; i++) {
			 add(all, FTL_WRITE, i % 300, 40);
			 add(all, FTL_FLUSH, 0, 0);
		 }
	 }},
	{"ReadsForCopies", many_zones_config,
	 [](Rig &rig, Requests &all) {
		 for (uint32_t z = rig.shape.zones / 2; z < rig.shape.zones; z++) {
			 add(all, FTL_COPY, rig.lba_of(z), 3);
			 all.back()->name_sources({{rig.lba_of(0), 60}, {rig.lba_of(2, 5), 1}, {rig.lba_of(3), 30}});
		 }
	 }},
	{"ResetOfAllZones", many_zones_config, [](Rig &, Requests &all) { add(all, FTL_ZONE_RESET, 0, 0, FTL_ALL_ZONES); }},
	{"ResetOfEachZone", many_zones_config,
	 [](Rig &rig, Requests &all) {
		 for (uint32_t z = 0; z < rig.shape.zones; z++)
			 add(all, FTL_ZONE_RESET, rig.lba_of(z), 0);
	 }},
	{"FinishOfEachZone", many_zones_config,
	 [](Rig &rig, Requests &all) {
		 for (uint32_t z = rig.shape.zones / 2; z < rig.shape.zones; z++) {
			 add(all, FTL_WRITE, rig.lba_of(z), 3);
			 add(all, FTL_ZONE_FINISH, rig.lba_of(z), 0);
		 }
	 }},
	{"FinishOfAllZones", many_zones_config,
	 [](Rig &rig, Requests &all) {
		 for (uint32_t z = rig.shape.zones / 2; z < rig.shape.zones; z++)
			 add(all, FTL_WRITE, rig.lba_of(z), 3);
		 add(all, FTL_ZONE_FINISH, 0, 0, FTL_ALL_ZONES);
		 add(all, FTL_ZONE_RESET, 0, 0, FTL_ALL_ZONES);
		 add(all, FTL_ZONE_OPEN, 0, 0, FTL_ALL_ZONES);
		 add(all, FTL_ZONE_CLOSE, 0, 0, FTL_ALL_ZONES);
	 }},
};

// The first half of the zones is full, and everything is durable.
void prepare(Rig &rig)
{
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (uint32_t z = 0; z < rig.shape.zones / 2; z++)
		ASSERT_EQ(rig.write(z, 0, 96, rig.lba_of(z) + 1), 0);
	Request flush(FTL_FLUSH, 0, 0);
	ASSERT_EQ(rig.run(flush), 0);
}

void submit(Rig &rig, Requests &all)
{
	for (size_t i = 0; i < all.size(); i++)
		rig.submit(*all[i], static_cast<unsigned>(i % rig.cfg.worker_count));
}

uint64_t last_answer(const Requests &all)
{
	uint64_t last_ns = 0;
	for (auto &r : all) {
		EXPECT_TRUE(r->done) << "a request was forgotten";
		last_ns = std::max(last_ns, r->answered_ns);
	}
	return last_ns;
}

} // namespace

class CancelKind : public testing::TestWithParam<size_t> {};

// At moments all over its run; afterwards the same is asked for once more, and done.
TEST_P(CancelKind, EndsSoonAndTheDeviceGoesOn)
{
	const Kind &kind = kinds[GetParam()];
	uint64_t whole_ns = 0, longest_ns = 0;
	for (uint64_t after_ns = UINT64_MAX; after_ns == UINT64_MAX || after_ns < whole_ns; after_ns *= 2) {
		Rig rig(kind.config());
		ASSERT_NO_FATAL_FAILURE(prepare(rig));
		Requests all, again;
		kind.queue(rig, all);
		submit(rig, all);
		uint64_t begun_ns = clock_now_ns();
		if (after_ns == UINT64_MAX) {
			lt_host_run_until_idle();
			whole_ns = last_answer(all) - begun_ns;
			after_ns = 1000;
			continue;
		}
		SCOPED_TRACE(testing::Message() << "reset after " << after_ns << " ns");
		lt_host_run_until(begun_ns + after_ns);
		begun_ns = clock_now_ns();
		rig.cancel([&] { return std::all_of(all.begin(), all.end(), [](auto &r) { return r->done; }); });
		lt_host_run_until_idle();
		longest_ns = std::max(longest_ns, last_answer(all) - std::min(begun_ns, last_answer(all)));
		ASSERT_EQ(rig.check(), "");
		kind.queue(rig, again);
		submit(rig, again);
		lt_host_run_until_idle();
		last_answer(again);
		ASSERT_EQ(rig.check(), "");
		ASSERT_FALSE(HasFailure());
	}
	printf("%s: %.3f ms if it may end, %.3f ms at most when it is cancelled\n", kind.name, static_cast<double>(whole_ns) / 1e6,
	       static_cast<double>(longest_ns) / 1e6);
	EXPECT_LT(longest_ns, std::string(kind.name).starts_with("Reads") ? longest : longest_without_reads);
}
INSTANTIATE_TEST_SUITE_P(Kinds, CancelKind, testing::Range(size_t(0), std::size(kinds)),
			 [](const auto &test) { return kinds[test.param].name; });

namespace {

constexpr int rounds = 40;

// A batch that ends, one cut off by a reset, and then the device either continues, or loses power at once.
template <typename D> void reset_again_and_again(Rig &rig, D &driver)
{
	uint64_t longest_ns = 0;
	for (int round = 0; round < rounds && !testing::Test::HasFailure(); round++) {
		SCOPED_TRACE(testing::Message() << "round " << round);
		ASSERT_TRUE(driver.run_batch(driver.random_batch()));
		uint64_t after_ns = driver.roll(2) ? driver.roll(20000) : driver.roll(4000000);
		longest_ns = std::max(longest_ns, driver.run_cancelled_batch(driver.random_batch(24), after_ns));
		if (driver.roll(3)) {
			lt_host_run_until_idle();
			driver.check_cancelled();
			ASSERT_EQ(rig.check(), "");
		} else {
			ASSERT_TRUE(rig.boot()) << rig.error;
			driver.check_recovered();
		}
	}
	EXPECT_LT(longest_ns, longest);
	EXPECT_GT(driver.cancelled, 50u);
}

} // namespace

class CancelZones : public testing::TestWithParam<int> {};
TEST_P(CancelZones, WhatWasAcknowledgedStays)
{
	hz_device_config cfg = zone_variant(GetParam());
	cfg.max_open = 3;
	cfg.max_active = GetParam() % 2 ? 4 : 0;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	Driver driver(rig, static_cast<uint64_t>(GetParam()));
	reset_again_and_again(rig, driver);
}
INSTANTIATE_TEST_SUITE_P(Variants, CancelZones, testing::Range(0, zone_variants));

class CancelConventional : public testing::TestWithParam<int> {};
TEST_P(CancelConventional, WhatWasAcknowledgedStays)
{
	Rig rig(page_variant(GetParam()));
	ASSERT_NO_FATAL_FAILURE(fill_device(rig));
	ASSERT_TRUE(rig.boot()) << rig.error;
	ConventionalDriver driver(rig, static_cast<uint64_t>(GetParam()));
	driver.fill(96);
	reset_again_and_again(rig, driver);
}
INSTANTIATE_TEST_SUITE_P(Variants, CancelConventional, testing::Range(0, conventional_variants));
