// A controller reset in the midst of everything: what was queued ends soon, what was acknowledged stays, nothing that a request held is lost.
// SPDX-License-Identifier: BSD-3-Clause
#include "host_queues.hpp"
#include "l2p_rig.hpp"

using namespace ftl_rig;

namespace {

// Flash reads that are under way may be behind the programs and erases of all that came before on their die; nothing else is waited for.
constexpr uint64_t kLongest = 40000000, kLongestWithoutReads = 20000;

using Requests = std::vector<std::unique_ptr<Request>>;

void Add(Requests &all, ftl_op op, uint64_t lba, uint32_t sectors, uint8_t flags = 0)
{
	all.push_back(std::make_unique<Request>(op, lba, sectors, flags));
}

// A kind of long command, queued many times on a device that has been filled.
struct Kind {
	const char *name;
	hz_device_config (*config)();
	void (*queue)(Rig &rig, Requests &all);
};

hz_device_config ManyZones()
{
	hz_device_config cfg = Config();
	cfg.blocks_per_plane = 14 + 40;
	cfg.slc_blocks_per_plane = 14;
	cfg.max_open = cfg.max_active = 0;
	return cfg;
}
hz_device_config FewActive()
{
	hz_device_config cfg = Config();
	cfg.max_open = cfg.max_active = 3;
	return cfg;
}
hz_device_config Mapped()
{
	hz_device_config cfg = MapConfig();
	cfg.slc_blocks_per_plane = 16;
	cfg.blocks_per_plane = 16 + 48;
	return cfg;
}
hz_device_config Block() { return PageConfig(true); }
hz_device_config MappedBlock() { return MappedPageConfig(true); }

const Kind kKinds[] = {
	{"SequentialWrites", ManyZones,
	 [](Rig &rig, Requests &all) {
		 for (uint32_t z = rig.shape.zones / 2; z < rig.shape.zones; z++)
			 Add(all, FTL_WRITE, rig.Lba(z), 96);
	 }},
	{"SequentialZeroes", Config,
	 [](Rig &rig, Requests &all) {
		 for (uint32_t z = 4; z < 7; z++)
			 Add(all, FTL_WRITE_ZEROES, rig.Lba(z), 96);
	 }},
	{"ForcedWrites", ManyZones,
	 [](Rig &rig, Requests &all) {
		 for (uint32_t z = rig.shape.zones / 2; z < rig.shape.zones; z++)
			 for (uint32_t at = 0; at < 96; at += 8)
				 Add(all, FTL_WRITE, rig.Lba(z, at), 8, FTL_FUA);
	 }},
	{"WritesThatWaitForABudget", FewActive,
	 [](Rig &rig, Requests &all) {
		 for (uint32_t z = 4; z < rig.shape.zones; z++)
			 Add(all, FTL_WRITE, rig.Lba(z), 96);
	 }},
	{"Zeroes", Block,
	 [](Rig &rig, Requests &all) {
		 for (int i = 0; i < 4; i++)
			 Add(all, FTL_WRITE_ZEROES, 0, static_cast<uint32_t>(rig.shape.namespace_sectors));
	 }},
	{"MappedZeroes", MappedBlock,
	 [](Rig &rig, Requests &all) {
		 for (int i = 0; i < 4; i++)
			 Add(all, FTL_WRITE_ZEROES, 0, static_cast<uint32_t>(rig.shape.namespace_sectors));
	 }},
	{"ForcedZeroes", Block,
	 [](Rig &rig, Requests &all) {
		 for (int i = 0; i < 4; i++)
			 Add(all, FTL_WRITE_ZEROES, 0, static_cast<uint32_t>(rig.shape.namespace_sectors), FTL_FUA);
	 }},
	{"Reads", ManyZones,
	 [](Rig &rig, Requests &all) {
		 for (int i = 0; i < 200; i++)
			 Add(all, FTL_READ, rig.Lba(i % (rig.shape.zones / 2)), 96);
	 }},
	{"ReadsWithTheirMap", Mapped,
	 [](Rig &rig, Requests &all) {
		 for (int i = 0; i < 200; i++)
			 Add(all, FTL_READ, rig.Lba(i % (rig.shape.zones / 2), i % 50), 40);
	 }},
	{"Flushes", Block,
	 [](Rig &, Requests &all) {
		 for (int i = 0; i < 60; i++) {
			 Add(all, FTL_WRITE, i % 300, 40);
			 Add(all, FTL_FLUSH, 0, 0);
		 }
	 }},
	{"ResetOfAllZones", ManyZones, [](Rig &, Requests &all) { Add(all, FTL_ZONE_RESET, 0, 0, FTL_ALL_ZONES); }},
	{"ResetOfEachZone", ManyZones,
	 [](Rig &rig, Requests &all) {
		 for (uint32_t z = 0; z < rig.shape.zones; z++)
			 Add(all, FTL_ZONE_RESET, rig.Lba(z), 0);
	 }},
	{"FinishOfEachZone", ManyZones,
	 [](Rig &rig, Requests &all) {
		 for (uint32_t z = rig.shape.zones / 2; z < rig.shape.zones; z++) {
			 Add(all, FTL_WRITE, rig.Lba(z), 3);
			 Add(all, FTL_ZONE_FINISH, rig.Lba(z), 0);
		 }
	 }},
	{"FinishOfAllZones", ManyZones,
	 [](Rig &rig, Requests &all) {
		 for (uint32_t z = rig.shape.zones / 2; z < rig.shape.zones; z++)
			 Add(all, FTL_WRITE, rig.Lba(z), 3);
		 Add(all, FTL_ZONE_FINISH, 0, 0, FTL_ALL_ZONES);
		 Add(all, FTL_ZONE_RESET, 0, 0, FTL_ALL_ZONES);
		 Add(all, FTL_ZONE_OPEN, 0, 0, FTL_ALL_ZONES);
		 Add(all, FTL_ZONE_CLOSE, 0, 0, FTL_ALL_ZONES);
	 }},
};

// The first half of the zones is full, and everything is durable.
void Prepare(Rig &rig)
{
	ASSERT_TRUE(rig.Boot()) << rig.error;
	for (uint32_t z = 0; z < rig.shape.zones / 2; z++)
		ASSERT_EQ(rig.Write(z, 0, 96, rig.Lba(z) + 1), 0);
	Request flush(FTL_FLUSH, 0, 0);
	ASSERT_EQ(rig.Run(flush), 0);
}

void Submit(Rig &rig, Requests &all)
{
	for (size_t i = 0; i < all.size(); i++)
		rig.Submit(*all[i], static_cast<unsigned>(i % rig.cfg.worker_count));
}

uint64_t LastAnswer(const Requests &all)
{
	uint64_t last_ns = 0;
	for (auto &r : all) {
		EXPECT_TRUE(r->done) << "a request was forgotten";
		last_ns = std::max(last_ns, r->answered_ns);
	}
	return last_ns;
}

} // namespace

class AbandonKind : public testing::TestWithParam<size_t> {};

// At moments all over its run; afterwards the same is asked for once more, and done.
TEST_P(AbandonKind, EndsSoonAndTheDeviceGoesOn)
{
	const Kind &kind = kKinds[GetParam()];
	uint64_t whole_ns = 0, longest_ns = 0;
	for (uint64_t after_ns = UINT64_MAX; after_ns == UINT64_MAX || after_ns < whole_ns; after_ns *= 2) {
		Rig rig(kind.config());
		ASSERT_NO_FATAL_FAILURE(Prepare(rig));
		Requests all, again;
		kind.queue(rig, all);
		Submit(rig, all);
		uint64_t begun_ns = clock_now_ns();
		if (after_ns == UINT64_MAX) {
			lt_host_run_until_idle();
			whole_ns = LastAnswer(all) - begun_ns;
			after_ns = 1000;
			continue;
		}
		SCOPED_TRACE(testing::Message() << "reset after " << after_ns << " ns");
		lt_host_run_until(begun_ns + after_ns);
		begun_ns = clock_now_ns();
		rig.Abandon([&] { return std::all_of(all.begin(), all.end(), [](auto &r) { return r->done; }); });
		lt_host_run_until_idle();
		longest_ns = std::max(longest_ns, LastAnswer(all) - std::min(begun_ns, LastAnswer(all)));
		ASSERT_EQ(rig.Check(), "");
		kind.queue(rig, again);
		Submit(rig, again);
		lt_host_run_until_idle();
		LastAnswer(again);
		ASSERT_EQ(rig.Check(), "");
		ASSERT_FALSE(HasFailure());
	}
	printf("%s: %.3f ms if it may end, %.3f ms at most when it is abandoned\n", kind.name, static_cast<double>(whole_ns) / 1e6,
	       static_cast<double>(longest_ns) / 1e6);
	EXPECT_LT(longest_ns, std::string(kind.name).starts_with("Reads") ? kLongest : kLongestWithoutReads);
}
INSTANTIATE_TEST_SUITE_P(Kinds, AbandonKind, testing::Range(size_t(0), std::size(kKinds)),
			 [](const auto &test) { return kKinds[test.param].name; });

namespace {

constexpr int kRounds = 40;

// A batch that ends, one that is cut off by a reset, and then either the device goes on, or its power is cut at once.
template <typename D> void ResetAgainAndAgain(Rig &rig, D &driver)
{
	uint64_t longest_ns = 0;
	for (int round = 0; round < kRounds && !testing::Test::HasFailure(); round++) {
		SCOPED_TRACE(testing::Message() << "round " << round);
		ASSERT_TRUE(driver.Batch(driver.RandomBatch()));
		uint64_t after_ns = driver.Roll(2) ? driver.Roll(20000) : driver.Roll(4000000);
		longest_ns = std::max(longest_ns, driver.AbandonedBatch(driver.RandomBatch(24), after_ns));
		if (driver.Roll(3)) {
			lt_host_run_until_idle();
			driver.Abandoned();
			ASSERT_EQ(rig.Check(), "");
		} else {
			ASSERT_TRUE(rig.Boot()) << rig.error;
			driver.Recovered();
		}
	}
	EXPECT_LT(longest_ns, kLongest);
	EXPECT_GT(driver.abandoned, 50u);
}

} // namespace

class AbandonZones : public testing::TestWithParam<int> {};
TEST_P(AbandonZones, WhatWasAcknowledgedStays)
{
	hz_device_config cfg = ZoneVariant(GetParam());
	cfg.max_open = 3;
	cfg.max_active = GetParam() % 2 ? 4 : 0;
	Rig rig(cfg);
	ASSERT_TRUE(rig.Boot()) << rig.error;
	Driver driver(rig, static_cast<uint64_t>(GetParam()));
	ResetAgainAndAgain(rig, driver);
}
INSTANTIATE_TEST_SUITE_P(Variants, AbandonZones, testing::Range(0, kZoneVariants));

class AbandonConventional : public testing::TestWithParam<int> {};
TEST_P(AbandonConventional, WhatWasAcknowledgedStays)
{
	Rig rig(PageVariant(GetParam()));
	ASSERT_NO_FATAL_FAILURE(FillDevice(rig));
	ASSERT_TRUE(rig.Boot()) << rig.error;
	ConventionalDriver driver(rig, static_cast<uint64_t>(GetParam()));
	driver.Fill(96);
	ResetAgainAndAgain(rig, driver);
}
INSTANTIATE_TEST_SUITE_P(Variants, AbandonConventional, testing::Range(0, kPageVariants));
