// Zone-aware buffer management: times of programs, a zone's reservation, its loans beyond that, and their return.
// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

using namespace ftl_rig;

namespace {

// Four planes with a unit each: a flush unit is one of them, a superpage all. No FUA, no Flush: only the policy programs anything.
hz_device_config zabm(uint32_t beyond, uint32_t kind, uint32_t flush)
{
	hz_device_config cfg = ftl_config();
	cfg.max_open = cfg.max_active = 4;
	use_slots(cfg, beyond, kind, flush);
	return cfg;
}

struct Buffered {
	Rig rig;
	uint32_t unit = rig.shape.unit_sectors, superpage = rig.shape.superpage_sectors;

	explicit Buffered(const hz_device_config &cfg) : rig(cfg) { EXPECT_TRUE(rig.boot()) << rig.error; }
	void write(uint32_t zone, uint32_t from, uint32_t sectors) { EXPECT_EQ(rig.write(zone, from, sectors, 1 + from), 0); }
	uint64_t flushed() { return rig.counters().buffer_flushes_full; }
};

class Kinds : public testing::TestWithParam<int> {};

} // namespace

TEST_P(Kinds, UnitsLeaveOneByOneOrAsSuperpages)
{
	Buffered by_unit(zabm(40, GetParam(), HZ_BUFFER_FLUSH_UNIT));
	by_unit.write(0, 0, by_unit.unit - 1);
	EXPECT_EQ(by_unit.flushed(), 0u);
	by_unit.write(0, by_unit.unit - 1, 1);
	EXPECT_EQ(by_unit.flushed(), 1u);

	Buffered by_superpage(zabm(40, GetParam(), HZ_BUFFER_FLUSH_SUPERPAGE));
	by_superpage.write(0, 0, by_superpage.superpage - 1);
	EXPECT_EQ(by_superpage.flushed(), 0u);
	by_superpage.write(0, by_superpage.superpage - 1, 1);
	EXPECT_EQ(by_superpage.flushed(), by_superpage.superpage / by_superpage.unit);
	EXPECT_EQ(by_superpage.rig.check(), "");
}

// One zone's complete units beyond its reservation go to others: it is idle, and is written out for them.
TEST_P(Kinds, AnIdleZoneGivesBackWhatIsNotItsOwn)
{
	Buffered b(zabm(10, GetParam(), HZ_BUFFER_FLUSH_SUPERPAGE));
	const uint32_t held = 2 * b.unit;
	b.write(0, 0, held);
	EXPECT_EQ(b.flushed(), 0u);
	EXPECT_EQ(b.rig.counters().waits_space, 0u);
	b.write(1, 0, b.superpage - 1); // more than its own and zone 0's remainder
	EXPECT_GT(b.flushed(), 0u);
	EXPECT_GT(b.rig.counters().waits_space, 0u);
	EXPECT_EQ(b.rig.counters().slc_sectors, 0u) << "whole units need no SLC";
	EXPECT_EQ(b.rig.compare(0, 0, held, 1), "");
	EXPECT_EQ(b.rig.check(), "");
}

// No zone waits for another's buffer, and each has a unit though all memory beyond is lent.
TEST_P(Kinds, EveryActiveZoneIsSureOfAUnit)
{
	Buffered b(zabm(0, GetParam(), HZ_BUFFER_FLUSH_UNIT));
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t zone = 0; zone < 4; zone++)
			b.write(zone, round * (b.unit + 1), b.unit + 1);
	EXPECT_EQ(b.rig.counters().waits_buffer, 0u);
	EXPECT_EQ(b.rig.counters().buffer_flushes_conflict, 0u);
	EXPECT_EQ(b.rig.counters().slc_sectors, 0u);
	EXPECT_EQ(b.rig.check(), "");
}
INSTANTIATE_TEST_SUITE_P(Slots, Kinds, testing::Range(int(HZ_SLOTS_ACCOUNTS), int(HZ_BUFFER_SLOTS_KINDS)));
