// The check of the whole state, on which all other tests rely: it reports each impossible state by its own sentence.
// SPDX-License-Identifier: BSD-3-Clause
#include "conventional_model.hpp"
#include "l2p_rig.hpp"
#include "wrong_states.h"

using namespace ftl_rig;

namespace {

hz_device_config config_of(scene scene)
{
	hz_device_config cfg = ftl_config();
	if (scene == SCENE_MAP)
		cfg = map_config();
	if (scene == SCENE_CONVENTIONAL)
		cfg = mapped_conventional_config();
	if (scene == SCENE_DIRECTORY || scene == SCENE_CACHE)
		cfg = mapped_conventional_config(true);
	if (scene == SCENE_DIRECTORY)
		use_directory(cfg);
	if (scene == SCENE_CACHE)
		use_data_cache(cfg, 16, 2);
	if (scene == SCENE_ZONE_MAP)
		cfg.l2p_kind = HZ_L2P_KIND_ZONE;
	if (scene == SCENE_IN_PLACE) {
		cfg.slc_blocks_per_plane += 4;
		cfg.blocks_per_plane += 4;
		cfg.in_place_sectors = 40;
	}
	if (scene == SCENE_SLOTS)
		use_slots(cfg, 30, HZ_SLOTS_LOCK_FREE, HZ_BUFFER_FLUSH_SHORT);
	return cfg;
}

void set_zones(Rig &rig, bool clean)
{
	ASSERT_EQ(rig.write(1, 0, 96, 1), 0);
	ASSERT_EQ(rig.run_op(FTL_ZONE_OPEN, 2), 0);
	ASSERT_EQ(rig.write(3, 0, 3, 300, FTL_FUA), 0);
	ASSERT_EQ(rig.write(4, 0, 1, 400), 0);
	if (!clean)
		return;
	ASSERT_EQ(rig.shut_down_cleanly(), 0);
	ASSERT_EQ(rig.compare(1, 3, 1, 4), "");
}

void set_conventional(Rig &rig)
{
	ASSERT_EQ(rig.write(0, 10, 5, 100), 0);
	ASSERT_EQ(rig.shut_down_cleanly(), 0);
	ASSERT_EQ(rig.write(0, 12, 1, 200, FTL_FUA), 0);
}

void set_directory(Rig &rig)
{
	for (uint32_t odd = 0; odd < 2; odd++)
		for (uint32_t at = odd; at < 96; at += 2)
			ASSERT_EQ(rig.write(1, at, 1, 1000 + at), 0);
	ASSERT_EQ(rig.shut_down_cleanly(), 0);
	ASSERT_EQ(rig.compare(1, 40, 1, 1040), "");
}

void set_in_place(Rig &rig)
{
	ASSERT_EQ(rig.write(1, 0, 96, 1), 0);
	Request update(FTL_UPDATE, rig.lba_of(1, 7), 3);
	for (uint32_t i = 0; i < 3; i++)
		fill_sector(update.pages[i], 2000 + i);
	ASSERT_EQ(rig.run(update), 0);
}

void set_cache(Rig &rig)
{
	for (uint32_t at = 0; at < 12; at += 4)
		ASSERT_EQ(rig.write(0, at, 1, 1 + at), 0);
}

void set(Rig &rig, scene scene)
{
	switch (scene) {
	case SCENE_CONVENTIONAL: return set_conventional(rig);
	case SCENE_DIRECTORY: return set_directory(rig);
	case SCENE_CACHE: return set_cache(rig);
	case SCENE_IN_PLACE: return set_in_place(rig);
	default: return set_zones(rig, scene == SCENE_MAP);
	}
}

TEST(Check, TellsEachStateThatCannotBe)
{
	std::set<std::string> reported;
	for (const wrong_state *wrong = wrong_states; wrong->report; wrong++) {
		SCOPED_TRACE(testing::Message() << "scene " << wrong->scene << ": " << wrong->report);
		Rig rig(config_of(wrong->scene));
		ASSERT_TRUE(rig.boot()) << rig.error;
		set(rig, wrong->scene);
		ASSERT_EQ(rig.check(), "");
		wrong->spoil(rig.ftl);
		EXPECT_EQ(rig.check(), wrong->report);
		reported.insert(wrong->report);
	}
	EXPECT_GE(reported.size(), 90u);
}

} // namespace
