// Zone Management Send (ZNS 3.4.3): every action in every state, select all, illegal fields.
// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "command_case.hpp"
#include "zone_states.hpp"

namespace conform {
namespace zone_send_test {

struct Step {
	const char *name;
	nvme_zone_state from;
	nvme_zone_send_action action;
	uint16_t status;
	nvme_zone_state to;
};
std::ostream &operator<<(std::ostream &out, const Step &s) { return out << s.name; }
constexpr uint16_t ok = NVME_SUCCESS, refused = NVME_ZONE_INVALID_TRANSITION;

const Step steps[] = {
	{"OpenEmpty", empty, NVME_ZSA_OPEN, ok, explicit_},
	{"OpenImplicit", implicit, NVME_ZSA_OPEN, ok, explicit_},
	{"OpenExplicit", explicit_, NVME_ZSA_OPEN, ok, explicit_},
	{"OpenClosed", closed, NVME_ZSA_OPEN, ok, explicit_},
	{"OpenFull", full, NVME_ZSA_OPEN, refused, full},
	{"CloseEmpty", empty, NVME_ZSA_CLOSE, refused, empty},
	{"CloseImplicit", implicit, NVME_ZSA_CLOSE, ok, closed},
	{"CloseExplicit", explicit_, NVME_ZSA_CLOSE, ok, closed},
	{"CloseClosed", closed, NVME_ZSA_CLOSE, ok, closed},
	{"CloseFull", full, NVME_ZSA_CLOSE, refused, full},
	{"FinishEmpty", empty, NVME_ZSA_FINISH, ok, full},
	{"FinishImplicit", implicit, NVME_ZSA_FINISH, ok, full},
	{"FinishExplicit", explicit_, NVME_ZSA_FINISH, ok, full},
	{"FinishClosed", closed, NVME_ZSA_FINISH, ok, full},
	{"FinishFull", full, NVME_ZSA_FINISH, ok, full},
	{"ResetEmpty", empty, NVME_ZSA_RESET, ok, empty},
	{"ResetImplicit", implicit, NVME_ZSA_RESET, ok, empty},
	{"ResetExplicit", explicit_, NVME_ZSA_RESET, ok, empty},
	{"ResetClosed", closed, NVME_ZSA_RESET, ok, empty},
	{"ResetFull", full, NVME_ZSA_RESET, ok, empty},
	{"OfflineEmpty", empty, NVME_ZSA_OFFLINE, refused, empty},
	{"OfflineImplicit", implicit, NVME_ZSA_OFFLINE, refused, implicit},
	{"OfflineExplicit", explicit_, NVME_ZSA_OFFLINE, refused, explicit_},
	{"OfflineClosed", closed, NVME_ZSA_OFFLINE, refused, closed},
	{"OfflineFull", full, NVME_ZSA_OFFLINE, refused, full},
};

class ZoneStep : public ZonedDevice, public ::testing::WithParamInterface<Step> {};
TEST_P(ZoneStep, StatusAndState)
{
	constexpr uint32_t zone = 7;
	const Step &s = GetParam();
	Bench &b = bench();
	if (s.from != empty) {
		ASSERT_NO_FATAL_FAILURE(b.put(zone, s.from));
	}
	EXPECT_EQ(b.send(zone, s.action), s.status);
	EXPECT_EQ(b.state(zone), s.to);
	uint64_t filled = s.to == empty || s.from == empty ? 0 : 4;
	EXPECT_EQ(b.zone(zone).write_pointer, s.to == full ? UINT64_MAX : b.start(zone) + filled);
	EXPECT_EQ(b.state(zone - 1), empty);
	EXPECT_EQ(b.state(zone + 1), empty);
	Bytes in(4 * 4096);
	bool data = s.from != empty && s.to != empty;
	ASSERT_EQ(b.run(hz::QueuePair::read(b.start(zone), 4), {}, &in).status, NVME_SUCCESS);
	EXPECT_TRUE(in == (data ? pattern(b.start(zone), 4) : Bytes(4 * 4096)));
}
INSTANTIATE_TEST_SUITE_P(All, ZoneStep, ::testing::ValuesIn(steps), [](const auto &i) { return i.param.name; });

auto send(uint32_t action, uint64_t lba, bool all = false)
{
	return [=](Bench &b) {
		nvme_sqe sqe = io_command(b, NVME_IO_ZONE_MGMT_SEND, lba);
		sqe.cdw13 = action | (all ? 1u << 8 : 0);
		return sqe;
	};
}
const CommandCase cases[] = {
	{"ActionZero", NVME_INVALID_FIELD, send(0, 0)},
	{"ActionSix", NVME_INVALID_FIELD, send(6, 0)},
	{"ActionF", NVME_INVALID_FIELD, send(0xf, 0)},
	{"SetExtensionWithoutExtensions", NVME_INVALID_FIELD, send(NVME_ZSA_SET_EXTENSION, 0)},
	{"SetExtensionForAll", NVME_INVALID_FIELD, send(NVME_ZSA_SET_EXTENSION, 0, true)},
	{"FlushRandomWriteArea", NVME_INVALID_ZONE_OP, send(0x11, 0)},
	{"LastAction", NVME_INVALID_FIELD, send(0xff, 0)},
	{"ActionZeroForAll", NVME_INVALID_FIELD, send(0, 0, true)},
	{"OpenNotAtAZonesStart", NVME_INVALID_FIELD, send(NVME_ZSA_OPEN, 1)},
	{"CloseNotAtAZonesStart", NVME_INVALID_FIELD, send(NVME_ZSA_CLOSE, 127)},
	{"FinishNotAtAZonesStart", NVME_INVALID_FIELD, send(NVME_ZSA_FINISH, 129)},
	{"ResetNotAtAZonesStart", NVME_INVALID_FIELD, send(NVME_ZSA_RESET, 96)},
	{"OfflineNotAtAZonesStart", NVME_INVALID_FIELD, send(NVME_ZSA_OFFLINE, 3)},
	{"OpenBehindTheNamespace", NVME_LBA_OUT_OF_RANGE, send(NVME_ZSA_OPEN, 12 * 128)},
	{"ResetFarBehindTheNamespace", NVME_LBA_OUT_OF_RANGE, send(NVME_ZSA_RESET, ~0ull)},
	{"OpenAllOfNoneIgnoresTheLba", NVME_SUCCESS, send(NVME_ZSA_OPEN, ~0ull, true)},
	{"CloseAllOfNone", NVME_SUCCESS, send(NVME_ZSA_CLOSE, 1, true)},
	{"FinishAllOfNone", NVME_SUCCESS, send(NVME_ZSA_FINISH, 0, true)},
	{"ResetAllOfNone", NVME_SUCCESS, send(NVME_ZSA_RESET, 77777, true)},
	{"OfflineAllOfNone", NVME_SUCCESS, send(NVME_ZSA_OFFLINE, 0, true)},
};
class ZoneSend : public IoCommand {};
TEST_P(ZoneSend, Status)
{
	check();
	EXPECT_EQ(bench().state(0), NVME_ZS_EMPTY);
}
INSTANTIATE_TEST_SUITE_P(All, ZoneSend, ::testing::ValuesIn(cases), case_name);

// Zone 0 implicitly open, 1 explicitly open, 2 closed, 3 full, the others empty.
class ZoneSendAll : public ZonedDevice {
protected:
	void expect(nvme_zone_send_action action, std::array<nvme_zone_state, 4> after)
	{
		Bench &b = bench();
		const nvme_zone_state before[] = {implicit, explicit_, closed, full};
		for (uint32_t z = 0; z < 4; z++)
			ASSERT_NO_FATAL_FAILURE(b.put(z, before[z]));
		EXPECT_EQ(b.send(9, action, true), NVME_SUCCESS);
		for (uint32_t z = 0; z < b.zones(); z++)
			EXPECT_EQ(b.state(z), z < 4 ? after[z] : empty) << "zone " << z;
	}
};
TEST_F(ZoneSendAll, OpenActsOnClosedOnly) { expect(NVME_ZSA_OPEN, {implicit, explicit_, explicit_, full}); }
TEST_F(ZoneSendAll, CloseActsOnOpen) { expect(NVME_ZSA_CLOSE, {closed, closed, closed, full}); }
TEST_F(ZoneSendAll, FinishActsOnActive) { expect(NVME_ZSA_FINISH, {full, full, full, full}); }
TEST_F(ZoneSendAll, ResetActsOnActiveAndFull) { expect(NVME_ZSA_RESET, {empty, empty, empty, empty}); }
TEST_F(ZoneSendAll, OfflineActsOnReadOnlyOnly) { expect(NVME_ZSA_OFFLINE, {implicit, explicit_, closed, full}); }

class ZoneLife : public ZonedDevice {};

// ZNS 2.1.1.3.3: Close Zone leads to CLOSED, written or not.
TEST_F(ZoneLife, ClosingAnUnwrittenZoneKeepsItActive)
{
	Bench &b = bench();
	ASSERT_EQ(b.send(0, NVME_ZSA_OPEN), NVME_SUCCESS);
	ASSERT_EQ(b.send(0, NVME_ZSA_CLOSE), NVME_SUCCESS);
	EXPECT_EQ(b.state(0), NVME_ZS_CLOSED);
	EXPECT_EQ(b.filled(0), 0u);
	EXPECT_EQ(b.write(0, 1), NVME_SUCCESS);
	EXPECT_EQ(b.state(0), NVME_ZS_IMPLICIT_OPEN);
}

TEST_F(ZoneLife, FinishedZoneReadsItsDataAndZeroes)
{
	Bench &b = bench();
	ASSERT_NO_FATAL_FAILURE(b.put(0, NVME_ZS_FULL));
	Bytes in(96 * 4096), expected = pattern(0, 4);
	expected.resize(in.size());
	ASSERT_EQ(b.run(hz::QueuePair::read(0, 96), {}, &in).status, NVME_SUCCESS);
	EXPECT_TRUE(in == expected);
}

TEST_F(ZoneLife, WritesAgainAfterEveryReset)
{
	Bench &b = bench();
	Bytes in(96 * 4096);
	for (uint64_t round = 0; round < 6; round++) {
		ASSERT_EQ(b.run(hz::QueuePair::write(0, 96), pattern(0, 96, round)).status, NVME_SUCCESS);
		ASSERT_EQ(b.run(hz::QueuePair::read(0, 96), {}, &in).status, NVME_SUCCESS);
		ASSERT_TRUE(in == pattern(0, 96, round)) << "round " << round;
		ASSERT_EQ(b.send(0, NVME_ZSA_RESET), NVME_SUCCESS);
	}
}

TEST_F(ZoneLife, EveryZoneCanBeFullAtOnce)
{
	Bench &b = bench();
	for (uint32_t z = 0; z < b.zones(); z++)
		ASSERT_EQ(b.write(b.start(z), b.capacity()), NVME_SUCCESS) << "zone " << z;
	Bytes in(b.capacity() * 4096ull);
	for (uint32_t z = 0; z < b.zones(); z++) {
		ASSERT_EQ(b.run(hz::QueuePair::read(b.start(z), b.capacity()), {}, &in).status, NVME_SUCCESS);
		EXPECT_TRUE(in == pattern(b.start(z), b.capacity())) << "zone " << z;
	}
}

TEST_F(ZoneLife, ResetOfAZoneWithOpenNeighboursLeavesThem)
{
	Bench &b = bench();
	ASSERT_NO_FATAL_FAILURE(b.put(3, NVME_ZS_IMPLICIT_OPEN));
	ASSERT_NO_FATAL_FAILURE(b.put(4, NVME_ZS_FULL));
	ASSERT_NO_FATAL_FAILURE(b.put(5, NVME_ZS_EXPLICIT_OPEN));
	ASSERT_EQ(b.send(4, NVME_ZSA_RESET), NVME_SUCCESS);
	EXPECT_EQ(b.state(3), NVME_ZS_IMPLICIT_OPEN);
	EXPECT_EQ(b.state(5), NVME_ZS_EXPLICIT_OPEN);
	EXPECT_EQ(b.filled(3), 4u);
	EXPECT_EQ(b.filled(5), 4u);
}

} // namespace zone_send_test
} // namespace conform
