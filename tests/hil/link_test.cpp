// Register link: fragments, back-pressure, records that break the protocol, hang-up.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>

#include "rig.hpp"

extern "C" {
#include "hil/host/control_link.h"
}

namespace hil_test {

TEST(Link, RecordsMayComeInAnyPieces)
{
	Rig rig;
	hz_link_message asks[3] = {
		{HZ_LINK_READ, 4, 1, NVME_REG_VS, 0}, {HZ_LINK_READ, 8, 2, NVME_REG_CAP, 0}, {HZ_LINK_WRITE, 4, 3, NVME_REG_AQA, 0x10001}};
	auto *bytes = reinterpret_cast<const uint8_t *>(asks);
	for (size_t i = 0; i < sizeof(asks); i++) {
		rig.send(bytes + i, 1);
		rig.run();
	}
	auto replies = rig.received();
	ASSERT_EQ(replies.size(), 3u);
	EXPECT_EQ(replies[0].type, HZ_LINK_VALUE);
	EXPECT_EQ(replies[0].value, 0x20000u);
	EXPECT_EQ(replies[1].tag, 2);
	EXPECT_EQ(replies[2].type, HZ_LINK_DONE);
}

TEST(Link, RegistersAndDoorbellsMayBeReachedAndNothingElse)
{
	constexpr uint32_t registers = NVME_REG_CRTO + 4, doorbells = NVME_REG_DOORBELLS + (HZ_MAX_IO_QUEUES + 1) * 8;
	for (uint32_t offset = 0; offset < 2 * doorbells; offset++)
		for (uint8_t size : {0, 1, 2, 4, 8, 12, 16}) {
			const uint32_t end = offset + size;
			const bool legal = (size == 4 || size == 8) && offset % 4 == 0 &&
					   (end <= registers || (offset >= NVME_REG_DOORBELLS && end <= doorbells));
			for (uint8_t type : {HZ_LINK_READ, HZ_LINK_WRITE}) {
				const hz_link_message m{type, size, 1, offset, 0};
				ASSERT_EQ(control_link_legal(&m), legal) << offset << " " << int(size);
			}
			const hz_link_message answer{HZ_LINK_VALUE, size, 1, offset, 0};
			ASSERT_FALSE(control_link_legal(&answer));
		}
	const hz_link_message last{HZ_LINK_READ, 8, 1, UINT32_MAX - 3, 0};
	EXPECT_FALSE(control_link_legal(&last));
}

TEST(Link, SlowReaderHoldsBackTheAskerButLosesNothing)
{
	Rig rig;
	rig.send_room = 0;
	for (uint16_t i = 0; i < 500; i++) {
		hz_link_message ask{HZ_LINK_READ, 4, i, NVME_REG_VS, 0};
		rig.send(&ask, sizeof(ask));
	}
	rig.run();
	EXPECT_EQ(rig.to_device.size(), (500 - CONTROL_LINK_OUT) * sizeof(hz_link_message));
	rig.send_room = 7;
	for (int i = 0; i < 3000; i++)
		rig.run();
	auto replies = rig.received();
	ASSERT_EQ(replies.size(), 500u);
	for (uint16_t i = 0; i < 500; i++)
		EXPECT_EQ(replies[i].tag, i);
}

class LinkBroken : public testing::TestWithParam<hz_link_message> {};
TEST_P(LinkBroken, ClosesTheConnectionAndTheDeviceStays)
{
	Rig rig;
	rig.enable();
	hz_link_message message = GetParam();
	rig.send(&message, sizeof(message));
	rig.run();
	EXPECT_TRUE(rig.closed());
	EXPECT_EQ(rig.get(NVME_REG_CSTS), 0u) << "the controller has reset itself";
	rig.enable();
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_ABORT)), 0);
}
INSTANTIATE_TEST_SUITE_P(Records, LinkBroken,
			 testing::Values(hz_link_message{0, 4, 0, 0, 0}, hz_link_message{HZ_LINK_VALUE, 4, 0, 0, 0},
					 hz_link_message{HZ_LINK_IRQ, 4, 0, 0, 0}, hz_link_message{255, 4, 0, 0, 0},
					 hz_link_message{HZ_LINK_READ, 0, 0, 0, 0}, hz_link_message{HZ_LINK_READ, 2, 0, 0, 0},
					 hz_link_message{HZ_LINK_READ, 16, 0, 0, 0}, hz_link_message{HZ_LINK_READ, 4, 0, 2, 0},
					 hz_link_message{HZ_LINK_READ, 4, 0, 0x6c, 0}, hz_link_message{HZ_LINK_READ, 8, 0, 0x68, 0},
					 hz_link_message{HZ_LINK_WRITE, 4, 0, 0xffc, 0}, hz_link_message{HZ_LINK_WRITE, 4, 0, 0x1208, 0},
					 hz_link_message{HZ_LINK_WRITE, 8, 0, 0x1204, 0},
					 hz_link_message{HZ_LINK_WRITE, 4, 0, 0xfffffffc, 0}));

TEST(Link, HangUpResetsAndTheNextHostFindsAnIdleController)
{
	Rig rig;
	rig.enable();
	rig.make_queue(1, 16);
	rig.to_device.push_back(1); // a piece of a record
	rig.run();
	rig.hang_up();
	EXPECT_EQ(rig.get(NVME_REG_CC) & 1, 0u);
	EXPECT_EQ(rig.get(NVME_REG_CSTS), 0u);
	rig.enable();
	rig.make_queue(1, 16);
}

TEST(Link, RandomBytesNeverCrash)
{
	uint64_t seed = 20261121;
	RecordProperty("seed", static_cast<int>(seed));
	std::mt19937_64 random(seed);
	for (int round = 0; round < 300; round++) {
		Rig rig;
		for (int i = 0; i < 200; i++) {
			hz_link_message m{static_cast<uint8_t>(1 + random() % 2), static_cast<uint8_t>(4 << random() % 2), 0,
					  static_cast<uint32_t>(random() % 3 ? random() % 16 * 4 : 0x1000 + random() % 130 * 4),
					  random() % 70};
			if (random() % 50 == 0)
				m.offset = static_cast<uint32_t>(random());
			if (random() % 4 == 0)
				m.value = HZ_SHM_HEAP_OFFSET + (random() % 64) * 4096;
			rig.send(&m, sizeof(m));
			if (random() % 8 == 0)
				rig.run();
		}
		rig.run();
	}
}

} // namespace hil_test
