// Protection information of I/O commands: legal requests, legal places of tuples, and faults found on receipt.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>

#include "rig.hpp"

extern "C" {
#include "hil/queue/command.h"
}

namespace hil_test {

constexpr uint16_t bad_protection = dnr(NVME_INVALID_PROTECTION);
constexpr uint32_t all_checks = uint32_t(HZ_CHECK_ALL) << NVME_RW_PRCHK_SHIFT;
constexpr uint64_t lba_past_32_bits = (3ull << 32) + 77;

// Three sectors of data 20 bytes into a page, their tuples across the end of another.
struct IoProtection : testing::Test {
	static constexpr uint32_t sectors = 3;
	static constexpr uint64_t list = heap + (8 << 20), data = heap + 20, tuples = heap + (9 << 20) + 4096 - 12;

	IoProtection() : memory(static_cast<uint8_t *>(std::aligned_alloc(4096, region_bytes)), std::free)
	{
		std::memset(memory.get(), 0, region_bytes);
		limits = {.bus = {memory.get(), region_bytes},
			  .namespace_sectors = 1ull << 40,
			  .zoned = true,
			  .write_cache = true,
			  .protection = HZ_PROTECTION_TYPE1,
			  .copies = true};
		for (unsigned i = 0; i < 256; i++)
			reinterpret_cast<uint64_t *>(memory.get() + list)[i] = heap + 4096 * (i + 1);
		std::mt19937 dice(5);
		std::generate(at(data), at(data) + sectors * 4096, [&] { return static_cast<uint8_t>(dice()); });
	}
	uint8_t *at(uint64_t bus) { return memory.get() + bus; }
	void make_tuples(uint32_t reference)
	{
		for (uint32_t i = 0; i < sectors; i++)
			hz_tuple_store(at(tuples + i * HZ_TUPLE_BYTES), {hz_crc16(0, at(data + i * 4096), 4096), 0x4711, reference + i});
	}
	nvme_sqe command(uint8_t opcode, uint32_t cdw12, uint64_t lba = lba_past_32_bits)
	{
		nvme_sqe sqe = io_sqe(opcode, lba, sectors, data, list);
		sqe.cdw12 |= cdw12;
		sqe.cdw14 = static_cast<uint32_t>(lba);
		sqe.cdw15 = 0xffff0000 | 0x4711;
		sqe.mptr = tuples;
		return sqe;
	}
	uint16_t decode(const nvme_sqe &sqe)
	{
		const uint16_t status = io_decode(&limits, &sqe, pages, &req);
		return status ? status : io_protect(&limits.bus, &sqe, &req);
	}

	std::unique_ptr<uint8_t, decltype(&std::free)> memory;
	io_limits limits{};
	uint8_t *pages[PRP_MAX_PAGES]{};
	ftl_request req{};
};

TEST_F(IoProtection, WhatIsAskedForReachesTheFtl)
{
	make_tuples(77);
	ASSERT_EQ(decode(command(NVME_IO_WRITE, all_checks)), 0);
	EXPECT_EQ(req.protect, int{HZ_CHECK_ALL} | int{FTL_HOST_TUPLES});
	EXPECT_EQ(req.tuples, at(tuples));
	EXPECT_EQ(req.expected.reference, 77u);
	EXPECT_EQ(req.expected.application, 0x4711);
	EXPECT_EQ(req.tag_mask, 0xffff);
	ASSERT_EQ(decode(command(NVME_IO_READ, NVME_RW_PRACT | 1u << 28)), 0);
	EXPECT_EQ(req.protect, HZ_CHECK_GUARD) << "stripped";
	ASSERT_EQ(decode(command(NVME_IO_VERIFY, all_checks)), 0);
	EXPECT_EQ(req.protect, HZ_CHECK_ALL);
	ASSERT_EQ(decode(command(NVME_IO_WRITE_ZEROES, NVME_RW_PRACT)), 0);
	EXPECT_EQ(req.protect, 0) << "made";
	ASSERT_EQ(decode(command(NVME_IO_WRITE_ZEROES, 0)), 0);
	EXPECT_EQ(req.protect, FTL_HOST_TUPLES);
	EXPECT_EQ(req.tuples, nullptr) << "tuples of zeros";
	ASSERT_EQ(decode(io_sqe(NVME_IO_FLUSH)), 0);
	EXPECT_EQ(req.protect, 0);
}

TEST_F(IoProtection, WhatTypeOneForbids)
{
	make_tuples(77);
	for (uint8_t opcode : {NVME_IO_READ, NVME_IO_WRITE, NVME_IO_COMPARE, NVME_IO_VERIFY}) {
		nvme_sqe sqe = command(opcode, 1u << 26);
		EXPECT_EQ(decode(sqe), 0) << int(opcode);
		sqe.cdw14++;
		EXPECT_EQ(decode(sqe), bad_protection) << int(opcode) << ": the reference tag is the LBA's";
		sqe.cdw12 &= ~(1u << 26);
		EXPECT_EQ(decode(sqe), 0) << int(opcode) << ": but only if it is checked";
	}
	for (uint8_t opcode : {NVME_IO_COMPARE, NVME_IO_VERIFY})
		EXPECT_EQ(decode(command(opcode, NVME_RW_PRACT)), bad_protection);
	EXPECT_EQ(decode(command(NVME_IO_WRITE_ZEROES, NVME_RW_PRACT | 1u << 28)), bad_protection) << "there are no tuples to check";
	EXPECT_EQ(decode(command(NVME_IO_ZONE_APPEND, all_checks)), bad_protection) << "nobody knows the LBAs";
	EXPECT_EQ(decode(command(NVME_IO_ZONE_APPEND, all_checks | NVME_RW_PIREMAP)), 0);
}

TEST_F(IoProtection, WhereTuplesMayLie)
{
	make_tuples(77);
	for (uint8_t opcode : {NVME_IO_READ, NVME_IO_WRITE, NVME_IO_COMPARE}) {
		nvme_sqe sqe = command(opcode, 0);
		for (uint64_t off : {1, 2, 3}) {
			sqe.mptr = tuples + off;
			EXPECT_EQ(decode(sqe), bad_field) << int(opcode);
		}
		sqe.mptr = region_bytes - sectors * HZ_TUPLE_BYTES;
		EXPECT_EQ(decode(sqe), 0) << int(opcode) << ": the last bytes there are";
		for (uint64_t wrong : {region_bytes - sectors * HZ_TUPLE_BYTES + 4, region_bytes, heap - 8, uint64_t(0), ~uint64_t(7)}) {
			sqe.mptr = wrong;
			EXPECT_EQ(decode(sqe), NVME_DATA_TRANSFER_ERROR) << int(opcode) << " at " << wrong;
			sqe.cdw12 |= opcode == NVME_IO_COMPARE ? 0 : NVME_RW_PRACT;
			EXPECT_EQ(decode(sqe), opcode == NVME_IO_COMPARE ? NVME_DATA_TRANSFER_ERROR : 0) << "nobody looks at it";
			sqe.cdw12 &= ~NVME_RW_PRACT;
		}
		sqe.mptr = tuples + 1;
		sqe.prp1 = 7;
		EXPECT_EQ(decode(sqe), dnr(NVME_PRP_OFFSET_INVALID)) << "data before metadata";
	}
}

// A bit of the data or of a tuple, changed after the host made them.
TEST_F(IoProtection, ChangedOnTheWay)
{
	for (uint8_t opcode : {NVME_IO_WRITE, NVME_IO_COMPARE, NVME_IO_ZONE_APPEND}) {
		const uint32_t remap = opcode == NVME_IO_ZONE_APPEND ? NVME_RW_PIREMAP : 0;
		for (uint32_t i = 0; i < sectors; i++) {
			const struct {
				uint64_t byte;
				unsigned check;
				uint16_t status;
			} harms[] = {
				{data + 4096 * i, 28, NVME_GUARD_CHECK},        {data + 4096 * i + 4095, 28, NVME_GUARD_CHECK},
				{tuples + 8 * i + 1, 28, NVME_GUARD_CHECK},     {tuples + 8 * i + 2, 27, NVME_APPLICATION_CHECK},
				{tuples + 8 * i + 7, 26, NVME_REFERENCE_CHECK},
			};
			for (const auto &harm : harms) {
				make_tuples(77);
				*at(harm.byte) ^= 4;
				EXPECT_EQ(decode(command(opcode, all_checks | remap)), harm.status) << int(opcode) << " sector " << i;
				EXPECT_EQ(decode(command(opcode, remap | (all_checks & ~(1u << harm.check)))), 0) << "unasked";
				*at(harm.byte) ^= 4;
			}
		}
	}
}

} // namespace hil_test
