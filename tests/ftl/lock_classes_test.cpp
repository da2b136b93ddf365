// The lock classes of a device: every kind of libthread can be chosen for each, another number is refused, and the order is enforced.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "ftl_rig.hpp"

namespace {

using namespace ftl_rig;

struct Class {
	std::string name;
	unsigned level;
};
const Class classes[] = {
#define HZ_LOCK_CLASS(constant, name, level, ...) {#name, level},
#include "lock_classes.def"
};

TEST(LockClasses, AKindThatDoesNotExistIsRefusedByAnyClass)
{
	hz_device_config cfg = ftl_config();
	std::vector<uint8_t> memory(1 << 20);
	for (unsigned c = 0; c < HZ_LOCK_CLASSES; c++) {
		arena mem = arena_of(memory.data(), memory.size(), LT_CACHE_LINE);
		cfg.lock_kind[c] = LT_LOCK_KINDS - 1;
		EXPECT_EQ(ftl_lock_classes_init(&mem, &cfg), nullptr) << classes[c].name;
		cfg.lock_kind[c] = LT_LOCK_KINDS;
		EXPECT_STREQ(ftl_lock_classes_init(&mem, &cfg), "lock_kind has a number that is no kind of lock in this firmware.")
			<< classes[c].name;
		cfg.lock_kind[c] = LT_LOCK_NONE;
	}
}

TEST(LockClasses, HaveNamesOfTheirOwnAndZonesAreOutermost)
{
	std::set<std::string> names;
	for (const Class &c : classes)
		EXPECT_TRUE(names.insert(c.name).second) << c.name;
	EXPECT_EQ(std::size(classes), size_t{HZ_LOCK_CLASSES});
	for (const auto inner : {HZ_LC_OPEN, HZ_LC_BUFFER, HZ_LC_L2P, HZ_LC_SLC, HZ_LC_BLOCK})
		EXPECT_GT(classes[inner].level, classes[HZ_LC_ZONE].level) << classes[inner].name;
	EXPECT_GT(classes[HZ_LC_SLC].level, classes[HZ_LC_L2P].level);
}

// A device's own harts keep the order: docs/internals/locking.md.
TEST(LockClasses, AZoneInsideTheMapIsCaught)
{
	Rig rig(ftl_config());
	ASSERT_TRUE(rig.boot());
	testing::FLAGS_gtest_death_test_style = "threadsafe";
	lt_lock zone, map;
	lt_lock_init(&zone, HZ_LC_ZONE, 1000);
	lt_lock_init(&map, HZ_LC_L2P, 1000);
	lt_lock_node outer, inner;
	lt_lock_acquire(&zone, &outer);
	lt_lock_acquire(&map, &inner);
	lt_lock_release(&map, &inner);
	lt_lock_release(&zone, &outer);
	EXPECT_DEATH(
		{
			lt_lock_acquire(&map, &outer);
			lt_lock_acquire(&zone, &inner);
		},
		"out of order: zone while holding l2p");
}

// Locks of each class used by a device that has written to four zones, flushed, and read.
std::map<uint32_t, unsigned> locks_used(uint32_t granularity)
{
	hz_device_config cfg = ftl_config();
	cfg.lock_stats = HZ_STATS_CONTENDED;
	support::choose_granularity(cfg, granularity);
	Rig rig(cfg);
	EXPECT_TRUE(rig.boot()) << rig.error;
	for (uint32_t zone = 0; zone < 4; zone++) {
		EXPECT_EQ(rig.write(zone, 0, 25, 1, FTL_FUA), 0);
		EXPECT_EQ(rig.compare(zone, 0, 25, 1), "");
	}
	std::vector<hz_lock_entry> entries(1000);
	entries.resize(lt_lock_report(entries.data(), 0, 1000));
	std::map<uint32_t, unsigned> found;
	for (const hz_lock_entry &entry : entries)
		found[entry.lock_class]++;
	return found;
}

TEST(LockClasses, GranularitySaysHowManyLocksThereAre)
{
	auto fine = locks_used(HZ_LOCKS_FINE), sharded = locks_used(2), by_class = locks_used(HZ_LOCKS_CLASS),
	     global = locks_used(HZ_LOCKS_GLOBAL);
	EXPECT_GE(fine[HZ_LC_ZONE], 4u);
	EXPECT_GE(fine[HZ_LC_L2P], 4u);
	for (const auto lock_class : {HZ_LC_ZONE, HZ_LC_L2P})
		EXPECT_EQ(sharded[lock_class], 2u);
	for (auto *found : {&by_class, &global})
		for (const auto &[lock_class, locks] : *found)
			EXPECT_EQ(locks, 1u) << lock_class;
	for (auto *found : {&fine, &sharded, &by_class})
		EXPECT_FALSE(found->contains(HZ_LC_GLOBAL));
	EXPECT_TRUE(global.contains(HZ_LC_GLOBAL));
	EXPECT_TRUE(global.contains(HZ_LC_ZONE)) << "what is asked for is counted still";
}

} // namespace
