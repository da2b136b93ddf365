// Zone random write areas (ZNS 1.1 with TP 4076): Identify, allocation, writes in the window, explicit and implicit flush, statuses.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "command_case.hpp"

namespace conform {
namespace zrwa_test {

constexpr uint32_t size = 16, unit = 4;
constexpr uint32_t allocate = 1u << 9;

hz_device_config with_windows()
{
	hz_device_config config = small_config();
	config.slc_blocks_per_plane += 6;
	config.blocks_per_plane += 6;
	config.zrwa_count = 2;
	config.zrwa_sectors = size;
	config.zrwa_flush_sectors = unit;
	return config;
}

class Zrwa : public ::testing::Test {
protected:
	static void SetUpTestSuite() { bench_ = std::make_unique<Bench>(with_windows()); }
	static void TearDownTestSuite() { bench_.reset(); }
	void SetUp() override { b.pristine(); }

	uint16_t send(uint64_t lba, uint32_t cdw13)
	{
		nvme_sqe sqe = io_command(b, NVME_IO_ZONE_MGMT_SEND, lba);
		sqe.cdw13 = cdw13;
		return b.raw(sqe).status;
	}
	uint16_t open(uint32_t zone) { return send(b.start(zone), NVME_ZSA_OPEN | allocate); }
	uint16_t flush(uint64_t last) { return send(last, NVME_ZSA_COMMIT); }
	bool valid(uint32_t zone) { return b.zone(zone).attributes & NVME_ZA_ZRWA_VALID; }
	uint16_t write(uint64_t lba, uint32_t sectors, uint64_t salt)
	{
		return b.run(hz::QueuePair::write(lba, sectors), placed_pattern(lba, sectors, salt)).status;
	}
	Bytes read(uint64_t lba, uint32_t sectors)
	{
		Bytes in(sectors * 4096);
		EXPECT_EQ(b.run(hz::QueuePair::read(lba, sectors), {}, &in).status, NVME_SUCCESS);
		return in;
	}

	static inline std::unique_ptr<Bench> bench_;
	Bench &b = *bench_;
};

TEST_F(Zrwa, IdentifyTells)
{
	const Bytes page = b.controller().identify(NVME_CNS_CSI_NAMESPACE, 1, NVME_CSI_ZNS);
	nvme_zns_identify_namespace id;
	std::memcpy(&id, page.data(), sizeof id);
	EXPECT_TRUE(id.ozcs & NVME_ZNS_OZCS_ZRWA);
	EXPECT_EQ(id.numzrwa, 1u) << "counted from 0";
	EXPECT_EQ(id.zrwas, size);
	EXPECT_EQ(id.zrwafg, unit);
	EXPECT_EQ(id.zrwacap & NVME_ZRWACAP_EXPLICIT_FLUSH, NVME_ZRWACAP_EXPLICIT_FLUSH);
}

TEST_F(Zrwa, AWindowIsWrittenInAnyOrderAndAgain)
{
	ASSERT_EQ(open(3), NVME_SUCCESS);
	EXPECT_TRUE(valid(3));
	EXPECT_EQ(b.state(3), NVME_ZS_EXPLICIT_OPEN);
	const uint64_t at = b.start(3);
	ASSERT_EQ(write(at + 8, 4, 1), NVME_SUCCESS);
	ASSERT_EQ(write(at, 8, 2), NVME_SUCCESS);
	ASSERT_EQ(write(at + 6, 4, 3), NVME_SUCCESS);
	EXPECT_EQ(b.filled(3), 0u);
	for (bool committed : {false, true}) {
		EXPECT_TRUE(read(at, 6) == placed_pattern(at, 6, 2));
		EXPECT_TRUE(read(at + 6, 4) == placed_pattern(at + 6, 4, 3));
		EXPECT_TRUE(read(at + 10, 2) == placed_pattern(at + 10, 2, 1));
		if (!committed) {
			ASSERT_EQ(flush(at + 11), NVME_SUCCESS);
		}
	}
	EXPECT_EQ(b.filled(3), 12u);
	EXPECT_EQ(write(at + 11, 1, 4), NVME_ZONE_INVALID_WRITE);
}

TEST_F(Zrwa, WritesFlushImplicitlyByGranules)
{
	ASSERT_EQ(open(0), NVME_SUCCESS);
	ASSERT_EQ(write(1, size, 1), NVME_SUCCESS);
	EXPECT_EQ(b.filled(0), unit);
	ASSERT_EQ(write(unit + size, size, 2), NVME_SUCCESS) << "to the end of the implicit flush region";
	EXPECT_EQ(b.filled(0), unit + size);
	EXPECT_EQ(write(unit + 3 * size, 1, 3), NVME_ZONE_INVALID_WRITE);
	EXPECT_TRUE(read(0, 1) == Bytes(4096));
	EXPECT_TRUE(read(1, size) == placed_pattern(1, size, 1));
	EXPECT_TRUE(read(unit + size, size) == placed_pattern(unit + size, size, 2));
}

TEST_F(Zrwa, WriteZeroesIsAWrite)
{
	ASSERT_EQ(open(0), NVME_SUCCESS);
	ASSERT_EQ(write(0, 8, 1), NVME_SUCCESS);
	nvme_sqe sqe = io_command(b, NVME_IO_WRITE_ZEROES, 2);
	sqe.cdw12 = 2;
	ASSERT_EQ(b.raw(sqe).status, NVME_SUCCESS);
	EXPECT_TRUE(read(2, 3) == Bytes(3 * 4096));
	EXPECT_TRUE(read(5, 3) == placed_pattern(5, 3, 1));
	EXPECT_EQ(b.append(0, 1), NVME_INVALID_ZONE_OP);
}

TEST_F(Zrwa, ResourcesAreLimited)
{
	ASSERT_EQ(open(0), NVME_SUCCESS);
	ASSERT_EQ(open(1), NVME_SUCCESS);
	EXPECT_EQ(open(2), NVME_ZRWA_UNAVAILABLE);
	EXPECT_EQ(b.state(2), NVME_ZS_EMPTY);
	ASSERT_EQ(b.send(0, NVME_ZSA_RESET), NVME_SUCCESS);
	EXPECT_FALSE(valid(0));
	EXPECT_EQ(open(2), NVME_SUCCESS);
	ASSERT_EQ(b.send(1, NVME_ZSA_CLOSE), NVME_SUCCESS);
	EXPECT_TRUE(valid(1));
	EXPECT_EQ(open(0), NVME_ZRWA_UNAVAILABLE);
	ASSERT_EQ(b.send(1, NVME_ZSA_FINISH), NVME_SUCCESS);
	EXPECT_FALSE(valid(1));
	EXPECT_EQ(open(0), NVME_SUCCESS);
}

TEST_F(Zrwa, IllegalCommands)
{
	ASSERT_EQ(b.write(b.start(1), 4), NVME_SUCCESS);
	EXPECT_EQ(open(1), NVME_INVALID_ZONE_OP) << "not EMPTY";
	EXPECT_EQ(flush(b.start(1) + 7), NVME_INVALID_ZONE_OP) << "no random write area";
	EXPECT_EQ(send(0, NVME_ZSA_OPEN | allocate | 1u << 8), NVME_INVALID_FIELD);
	EXPECT_EQ(send(0, NVME_ZSA_COMMIT | 1u << 8), NVME_INVALID_FIELD);
	ASSERT_EQ(open(0), NVME_SUCCESS);
	EXPECT_EQ(flush(size), NVME_ZONE_BOUNDARY);
	EXPECT_EQ(flush(unit), NVME_INVALID_FIELD) << "not a whole granule";
	EXPECT_EQ(b.filled(0), 0u);
}

TEST_F(Zrwa, OutlivesAControllerReset)
{
	ASSERT_EQ(open(0), NVME_SUCCESS);
	ASSERT_EQ(write(5, 3, 1), NVME_SUCCESS);
	b.restart();
	EXPECT_TRUE(valid(0));
	EXPECT_TRUE(read(5, 3) == placed_pattern(5, 3, 1));
	ASSERT_EQ(write(4, 2, 2), NVME_SUCCESS);
	ASSERT_EQ(flush(7), NVME_SUCCESS);
	EXPECT_TRUE(read(4, 2) == placed_pattern(4, 2, 2));
	EXPECT_TRUE(read(6, 2) == placed_pattern(6, 2, 1));
}

} // namespace zrwa_test
} // namespace conform
