// The zone state machine: every state against every command, and the open and active budget (ZNS 1.1, Zone State Machine).
// SPDX-License-Identifier: BSD-3-Clause
extern "C" {
#include "lt/lock.h"
}
#include "conventional_model.hpp"
#include "model.hpp"

using namespace ftl_rig;

namespace {

enum Command { to_write, to_append, to_open, to_close, to_finish, to_reset, to_offline, command_count };
const ftl_op ops[] = {FTL_WRITE, FTL_APPEND, FTL_ZONE_OPEN, FTL_ZONE_CLOSE, FTL_ZONE_FINISH, FTL_ZONE_RESET, FTL_ZONE_OFFLINE};
const char *names[] = {"write", "append", "open", "close", "finish", "reset", "offline"};

struct Outcome {
	uint16_t status;
	uint8_t state;
};
const uint16_t bad = NVME_ZONE_INVALID_TRANSITION;

// Rows: state before; columns: commands. A state of 0 means unchanged.
const std::map<uint8_t, std::array<Outcome, command_count>> table = {
	{NVME_ZS_EMPTY,
	 {{{0, NVME_ZS_IMPLICIT_OPEN},
	   {0, NVME_ZS_IMPLICIT_OPEN},
	   {0, NVME_ZS_EXPLICIT_OPEN},
	   {bad, 0},
	   {0, NVME_ZS_FULL},
	   {0, 0},
	   {bad, 0}}}},
	{NVME_ZS_IMPLICIT_OPEN,
	 {{{0, 0}, {0, 0}, {0, NVME_ZS_EXPLICIT_OPEN}, {0, NVME_ZS_CLOSED}, {0, NVME_ZS_FULL}, {0, NVME_ZS_EMPTY}, {bad, 0}}}},
	{NVME_ZS_EXPLICIT_OPEN, {{{0, 0}, {0, 0}, {0, 0}, {0, NVME_ZS_CLOSED}, {0, NVME_ZS_FULL}, {0, NVME_ZS_EMPTY}, {bad, 0}}}},
	{NVME_ZS_CLOSED,
	 {{{0, NVME_ZS_IMPLICIT_OPEN},
	   {0, NVME_ZS_IMPLICIT_OPEN},
	   {0, NVME_ZS_EXPLICIT_OPEN},
	   {0, 0},
	   {0, NVME_ZS_FULL},
	   {0, NVME_ZS_EMPTY},
	   {bad, 0}}}},
	{NVME_ZS_FULL, {{{NVME_ZONE_FULL, 0}, {NVME_ZONE_FULL, 0}, {bad, 0}, {bad, 0}, {0, 0}, {0, NVME_ZS_EMPTY}, {bad, 0}}}},
	{NVME_ZS_READ_ONLY,
	 {{{NVME_ZONE_READ_ONLY, 0}, {NVME_ZONE_READ_ONLY, 0}, {bad, 0}, {bad, 0}, {bad, 0}, {bad, 0}, {0, NVME_ZS_OFFLINE}}}},
	{NVME_ZS_OFFLINE, {{{NVME_ZONE_OFFLINE, 0}, {NVME_ZONE_OFFLINE, 0}, {bad, 0}, {bad, 0}, {bad, 0}, {bad, 0}, {0, 0}}}},
};

// A device with its normal flash worn out but for one superblock: the next zone in need of one becomes read-only.
hz_device_config worn_config()
{
	hz_device_config cfg = ftl_config();
	cfg.normal.endurance = 1;
	return cfg;
}

void wear_out(Rig &r)
{
	for (uint32_t i = 0; i < 64 && r.zone_state(7) != NVME_ZS_READ_ONLY; i++) {
		uint16_t status = r.write(7, 0, 24, 70, FTL_FUA);
		if (!status)
			r.run_op(FTL_ZONE_RESET, 7);
	}
	ASSERT_EQ(r.zone_state(7), NVME_ZS_READ_ONLY);
}

// Zone 7 into the wanted state; 3 sectors written if the state allows it.
void reach(Rig &r, uint8_t state)
{
	if (state == NVME_ZS_READ_ONLY || state == NVME_ZS_OFFLINE) {
		wear_out(r);
		if (state == NVME_ZS_OFFLINE) {
			EXPECT_EQ(r.run_op(FTL_ZONE_OFFLINE, 7), 0);
		}
		return;
	}
	if (state == NVME_ZS_EXPLICIT_OPEN) {
		EXPECT_EQ(r.run_op(FTL_ZONE_OPEN, 7), 0);
	}
	if (state != NVME_ZS_EMPTY) {
		EXPECT_EQ(r.write(7, 0, 3, 70), 0);
	}
	if (state == NVME_ZS_CLOSED) {
		EXPECT_EQ(r.run_op(FTL_ZONE_CLOSE, 7), 0);
	}
	if (state == NVME_ZS_FULL) {
		EXPECT_EQ(r.run_op(FTL_ZONE_FINISH, 7), 0);
	}
}

} // namespace

TEST(States, EveryCommandInEveryState)
{
	for (const auto &[state, row] : table)
		for (int command = 0; command < command_count; command++) {
			SCOPED_TRACE(testing::Message() << names[command] << " in state " << int(state));
			Rig r(state == NVME_ZS_READ_ONLY || state == NVME_ZS_OFFLINE ? worn_config() : ftl_config());
			ASSERT_TRUE(r.boot());
			reach(r, state);
			ASSERT_EQ(r.zone_state(7), state);
			uint32_t wp = state == NVME_ZS_EMPTY ? 0 : 3;
			Request request(ops[command], r.lba_of(7, command == to_write ? wp : 0), command <= to_append ? 2 : 0);
			EXPECT_EQ(r.run(request), row[command].status);
			EXPECT_EQ(r.zone_state(7), row[command].state ? row[command].state : state);
			EXPECT_EQ(r.check(), "");
		}
}

enum Condition : uint8_t { sound, broken, failed, emptied };

// The diagram of base/zone.h.
TEST(Conditions, FollowEachOtherAsDrawn)
{
	const std::set<std::pair<int, int>> drawn = {{sound, broken},  {sound, failed},   {sound, emptied}, {broken, sound},
						     {broken, failed}, {broken, emptied}, {emptied, sound}};
	for (uint8_t from = 0; from < RIG_CONDITIONS; from++)
		for (uint8_t to = 0; to < RIG_CONDITIONS; to++)
			EXPECT_EQ(rig_can_become(from, to), drawn.contains({from, to})) << int(from) << " to " << int(to);
}

TEST(Conditions, AnotherChangeFailsTheRun)
{
	Rig r(ftl_config());
	ASSERT_TRUE(r.boot());
	testing::FLAGS_gtest_death_test_style = "threadsafe";
	rig_become(r.ftl, 1, failed);
	rig_become(r.ftl, 1, failed);
	EXPECT_DEATH(rig_become(r.ftl, 1, sound), "illegal change of a zone's condition");
	EXPECT_DEATH(rig_become(r.ftl, 1, broken), "illegal change of a zone's condition");
}

// What a zone was, one after the other, between the events of its device.
struct Course {
	struct ftl *ftl;
	uint32_t zone;
	std::vector<int> was;

	static bool look(void *arg)
	{
		auto *course = static_cast<Course *>(arg);
		int now = rig_condition(course->ftl, course->zone);

		if (course->was.empty() || course->was.back() != now)
			course->was.push_back(now);
		return true;
	}
};

TEST(Conditions, AZoneIsBrokenUntilItHasMoved)
{
	Rig r(ftl_config());
	nand_policy policy{};
	policy.fail_op = 2;
	ASSERT_TRUE(r.boot(policy));
	Course course{r.ftl, 0, {}};
	rig_watch(r.ftl, Course::look, &course, 1000000);
	EXPECT_EQ(r.write(0, 0, 70, 7, FTL_FUA), 0);
	EXPECT_EQ(course.was, (std::vector<int>{sound, broken, sound}));
	EXPECT_EQ(r.compare(0, 0, 70, 7), "");
	EXPECT_EQ(r.check(), "");
}

TEST(Conditions, AZoneWithoutASuperblockHasFailed)
{
	Rig r(worn_config());
	ASSERT_TRUE(r.boot());
	wear_out(r);
	EXPECT_EQ(rig_condition(r.ftl, 7), failed);
	EXPECT_EQ(r.run_op(FTL_ZONE_OFFLINE, 7), 0);
	EXPECT_EQ(rig_condition(r.ftl, 7), failed);
	EXPECT_EQ(r.check(), "");
}

TEST(States, ClosingAnUnwrittenOpenZoneKeepsItActiveUntilRest)
{
	Rig r(ftl_config());
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.run_op(FTL_ZONE_OPEN, 1), 0);
	EXPECT_EQ(r.run_op(FTL_ZONE_CLOSE, 1), 0);
	EXPECT_EQ(r.zone_state(1), NVME_ZS_CLOSED);
	EXPECT_EQ(r.run_op(FTL_ZONE_OPEN, 2), 0);
	EXPECT_EQ(r.write(3, 0, 1, 1), 0);
	EXPECT_EQ(r.run_op(FTL_FLUSH, 0, FTL_CLEAN), 0);
	EXPECT_EQ(r.zone_state(1), NVME_ZS_EMPTY);
	EXPECT_EQ(r.zone_state(2), NVME_ZS_EMPTY);
	EXPECT_EQ(r.zone_state(3), NVME_ZS_CLOSED);
	EXPECT_EQ(r.check(), "");
}

TEST(States, IllegalWritesSayWhy)
{
	Rig r(ftl_config());
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.write(0, 1, 1, 5), NVME_ZONE_INVALID_WRITE);
	EXPECT_EQ(r.write(0, 0, 4, 5), 0);
	EXPECT_EQ(r.write(0, 0, 1, 5), NVME_ZONE_INVALID_WRITE);
	EXPECT_EQ(r.write(0, 4, 93, 5), NVME_ZONE_BOUNDARY);
	Request append(FTL_APPEND, r.lba_of(0, 4), 1), across(FTL_APPEND, r.lba_of(0), 93);
	EXPECT_EQ(r.run(append), NVME_INVALID_FIELD);
	EXPECT_EQ(r.run(across), NVME_ZONE_BOUNDARY);
	Request misplaced(FTL_ZONE_RESET, r.lba_of(0, 1), 0);
	EXPECT_EQ(r.run(misplaced), NVME_INVALID_FIELD);
	EXPECT_EQ(r.compare(0, 0, 4, 5), "");
}

TEST(Budget, ImplicitlyOpenedZonesMakeRoomOldestFirst)
{
	Rig r(ftl_config()); // 3 open, 5 active
	ASSERT_TRUE(r.boot());
	for (uint32_t z = 0; z < 4; z++)
		EXPECT_EQ(r.write(z, 0, 1, z), 0);
	EXPECT_EQ(r.zone_state(0), NVME_ZS_CLOSED);
	for (uint32_t z = 1; z < 4; z++)
		EXPECT_EQ(r.zone_state(z), NVME_ZS_IMPLICIT_OPEN);
	EXPECT_EQ(r.run_op(FTL_ZONE_OPEN, 0), 0);
	EXPECT_EQ(r.zone_state(1), NVME_ZS_CLOSED);
	EXPECT_EQ(r.write(4, 0, 1, 9), 0);
	EXPECT_EQ(r.write(5, 0, 1, 9), NVME_TOO_MANY_ACTIVE);
	EXPECT_EQ(r.run_op(FTL_ZONE_OPEN, 5), NVME_TOO_MANY_ACTIVE);
	EXPECT_EQ(r.zone_state(5), NVME_ZS_EMPTY);
	EXPECT_EQ(r.check(), "");
}

TEST(Budget, ExplicitlyOpenedZonesDoNotMakeRoom)
{
	Rig r(ftl_config());
	ASSERT_TRUE(r.boot());
	for (uint32_t z = 0; z < 3; z++)
		EXPECT_EQ(r.run_op(FTL_ZONE_OPEN, z), 0);
	EXPECT_EQ(r.write(3, 0, 1, 1), NVME_TOO_MANY_OPEN);
	EXPECT_EQ(r.run_op(FTL_ZONE_OPEN, 3), NVME_TOO_MANY_OPEN);
	EXPECT_EQ(r.run_op(FTL_ZONE_CLOSE, 1), 0);
	EXPECT_EQ(r.write(3, 0, 1, 1), 0);
	EXPECT_EQ(r.check(), "");
}

// A zone just filled is FULL at once, but its place in the budget becomes free only when its data are safe: the next zone waits.
TEST(Budget, AZoneOpenedBehindADrainingOneWaitsInsteadOfFailing)
{
	hz_device_config cfg = ftl_config();
	cfg.max_open = cfg.max_active = 1;
	Rig r(cfg);
	ASSERT_TRUE(r.boot());
	Request fill(FTL_WRITE, r.lba_of(0), 96), next(FTL_WRITE, r.lba_of(1), 2), after(FTL_WRITE, r.lba_of(1, 2), 2);
	r.submit(fill);
	r.submit(next);
	r.submit(after);
	lt_host_run_until_idle();
	EXPECT_EQ(fill.status() | next.status() | after.status(), 0);
	EXPECT_GT(next.done_ns, 4 * 937500u);
	EXPECT_EQ(r.write(2, 0, 1, 1), NVME_TOO_MANY_ACTIVE);
	EXPECT_EQ(r.check(), "");
}

TEST(SelectAll, TouchesOnlyTheZonesTheSpecificationNames)
{
	Rig r(ftl_config());
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.write(0, 0, 1, 1), 0);
	EXPECT_EQ(r.run_op(FTL_ZONE_CLOSE, 0), 0);
	EXPECT_EQ(r.run_op(FTL_ZONE_OPEN, 1), 0);
	EXPECT_EQ(r.write(2, 0, 1, 1), 0);
	EXPECT_EQ(r.write(3, 0, 96, 1), 0);
	EXPECT_EQ(r.run_op(FTL_ZONE_OPEN, 0, FTL_ALL_ZONES), 0);
	EXPECT_EQ(r.zone_state(0), NVME_ZS_EXPLICIT_OPEN);
	EXPECT_EQ(r.zone_state(2), NVME_ZS_IMPLICIT_OPEN);
	EXPECT_EQ(r.run_op(FTL_ZONE_CLOSE, 0, FTL_ALL_ZONES), 0);
	EXPECT_EQ(r.zone_state(0), NVME_ZS_CLOSED);
	EXPECT_EQ(r.zone_state(1), NVME_ZS_CLOSED);
	EXPECT_EQ(r.zone_state(2), NVME_ZS_CLOSED);
	EXPECT_EQ(r.run_op(FTL_ZONE_RESET, 1), 0);
	EXPECT_EQ(r.run_op(FTL_ZONE_FINISH, 0, FTL_ALL_ZONES), 0);
	EXPECT_EQ(r.zone_state(0), NVME_ZS_FULL);
	EXPECT_EQ(r.zone_state(1), NVME_ZS_EMPTY);
	EXPECT_EQ(r.zone_state(2), NVME_ZS_FULL);
	EXPECT_EQ(r.run_op(FTL_ZONE_OFFLINE, 0, FTL_ALL_ZONES), 0);
	EXPECT_EQ(r.run_op(FTL_ZONE_RESET, 0, FTL_ALL_ZONES), 0);
	for (const auto &zone : r.report_zones())
		EXPECT_EQ(zone.state >> 4, NVME_ZS_EMPTY);
	EXPECT_EQ(r.check(), "");
}

TEST(SelectAll, OpenAllIsRefusedAsAWhole)
{
	Rig r(ftl_config());
	ASSERT_TRUE(r.boot());
	for (uint32_t z = 0; z < 4; z++)
		EXPECT_EQ(r.write(z, 0, 1, z), 0);
	EXPECT_EQ(r.run_op(FTL_ZONE_CLOSE, 0, FTL_ALL_ZONES), 0);
	EXPECT_EQ(r.run_op(FTL_ZONE_OPEN, 0, FTL_ALL_ZONES), NVME_TOO_MANY_OPEN);
	for (uint32_t z = 0; z < 4; z++)
		EXPECT_EQ(r.zone_state(z), NVME_ZS_CLOSED);
	EXPECT_EQ(r.check(), "");
}

TEST(Report, FiltersCountsAndCuts)
{
	Rig r(ftl_config());
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.write(1, 0, 5, 1), 0);
	EXPECT_EQ(r.run_op(FTL_ZONE_OPEN, 2), 0);
	EXPECT_EQ(r.write(3, 0, 96, 1), 0);
	const size_t counts[] = {8, 5, 1, 1, 0, 1, 0, 0};
	for (uint8_t filter = 0; filter < 8; filter++)
		EXPECT_EQ(r.report_zones(filter).size(), counts[filter]) << int(filter);
	EXPECT_EQ(r.report_zones(2)[0].start, r.lba_of(1));
	EXPECT_EQ(r.report_zones(2)[0].write_pointer, r.lba_of(1, 5));
	EXPECT_EQ(r.report_zones(2)[0].capacity, 96u);
	EXPECT_EQ(r.report_zones(5)[0].write_pointer, UINT64_MAX);
	for (bool partial : {false, true}) {
		Request cut(FTL_ZONE_REPORT, r.lba_of(1), 0, partial ? FTL_PARTIAL_REPORT : 0, 64 + 3 * 64);
		EXPECT_EQ(r.run(cut), 0);
		uint64_t zones;
		std::memcpy(&zones, cut.data.data(), 8);
		EXPECT_EQ(zones, partial ? 3u : 7u);
	}
}
