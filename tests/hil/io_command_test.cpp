// I/O command decoder: every command legal, every field illegal, with the status of the specification.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>

#include "rig.hpp"

extern "C" {
#include "hil/queue/command.h"
}

namespace hil_test {

constexpr uint64_t sectors = 1 << 20;

struct IoCommand : testing::Test {
	IoCommand() : memory(static_cast<uint8_t *>(std::aligned_alloc(4096, region_bytes)), std::free)
	{
		std::memset(memory.get(), 0, region_bytes);
		limits = {.bus = {memory.get(), region_bytes},
			  .namespace_sectors = sectors,
			  .zoned = true,
			  .write_cache = true,
			  .copies = true};
		for (unsigned i = 0; i < 256; i++)
			reinterpret_cast<uint64_t *>(memory.get() + list)[i] = heap + 4096 * i;
	}
	uint16_t decode(const nvme_sqe &sqe) { return io_decode(&limits, &sqe, pages, &req); }

	static constexpr uint64_t list = heap + (8 << 20);
	std::unique_ptr<uint8_t, decltype(&std::free)> memory;
	io_limits limits{};
	uint8_t *pages[PRP_MAX_PAGES]{};
	ftl_request req{};
};

TEST_F(IoCommand, ReadWriteAppend)
{
	EXPECT_EQ(decode(io_sqe(NVME_IO_READ, 5, 2, heap, heap + 4096)), 0);
	EXPECT_EQ(req.op, FTL_READ);
	EXPECT_EQ(req.lba, 5u);
	EXPECT_EQ(req.sectors, 2u);
	EXPECT_EQ(req.sgl.bytes, 8192u);
	EXPECT_EQ(decode(io_sqe(NVME_IO_WRITE, 6, 1, heap)), 0);
	EXPECT_EQ(req.op, FTL_WRITE);
	EXPECT_EQ(req.flags, 0);
	EXPECT_EQ(decode(io_sqe(NVME_IO_ZONE_APPEND, sectors - 1, 128, heap, list)), 0) << "the range is the zone's, not the start's";
	EXPECT_EQ(req.op, FTL_APPEND);
}

TEST_F(IoCommand, CompareAndVerify)
{
	EXPECT_EQ(decode(io_sqe(NVME_IO_COMPARE, 5, 2, heap, heap + 4096)), 0);
	EXPECT_EQ(req.op, FTL_COMPARE);
	EXPECT_EQ(req.sgl.bytes, 8192u);
	EXPECT_EQ(decode(io_sqe(NVME_IO_COMPARE, 0, 129, heap, list)), bad_field);
	EXPECT_EQ(decode(io_sqe(NVME_IO_COMPARE, 0, 1, heap + 1)), dnr(NVME_PRP_OFFSET_INVALID));
	EXPECT_EQ(decode(io_sqe(NVME_IO_VERIFY, 7, 128, ~0ull)), 0) << "it has no data";
	EXPECT_EQ(req.op, FTL_VERIFY);
	EXPECT_EQ(req.lba, 7u);
	EXPECT_EQ(req.sectors, 128u);
	EXPECT_EQ(req.sgl.bytes, 0u);
	EXPECT_EQ(decode(io_sqe(NVME_IO_VERIFY, 0, 129)), bad_field) << "beyond VSL";
	EXPECT_EQ(decode(io_sqe(NVME_IO_VERIFY, sectors - 1, 129)), dnr(NVME_LBA_OUT_OF_RANGE)) << "that before its length";
}

TEST_F(IoCommand, FlagsOfWrites)
{
	nvme_sqe sqe = io_sqe(NVME_IO_WRITE, 0, 1, heap);
	sqe.cdw12 |= NVME_RW_FUA;
	EXPECT_EQ(decode(sqe), 0);
	EXPECT_EQ(req.flags, FTL_FUA);
	limits.write_cache = false;
	for (uint8_t opcode : {NVME_IO_WRITE, NVME_IO_ZONE_APPEND, NVME_IO_WRITE_ZEROES, NVME_IO_WRITE_UNCORRECTABLE}) {
		EXPECT_EQ(decode(io_sqe(opcode, 0, 1, heap)), 0);
		EXPECT_EQ(req.flags, FTL_FUA) << "without a volatile cache every write is durable";
	}
	EXPECT_EQ(decode(io_sqe(NVME_IO_READ, 0, 1, heap)), 0);
	EXPECT_EQ(req.flags, 0);
}

TEST_F(IoCommand, PlacementOfWrites)
{
	limits.zoned = false;
	for (uint32_t count : {0u, 3u})
		for (uint8_t opcode : {NVME_IO_WRITE, NVME_IO_WRITE_ZEROES, NVME_IO_WRITE_UNCORRECTABLE, NVME_IO_COPY})
			for (uint32_t directive = 0; directive < 16; directive++) {
				limits.handles = count;
				nvme_sqe sqe = io_sqe(opcode, 0, 1, heap);
				sqe.cdw12 |= directive << NVME_RW_DTYPE_SHIFT;
				sqe.cdw13 = 0xffff | 7u << NVME_RW_DSPEC_SHIFT;
				const bool known = !count || !directive || directive == NVME_DIRECTIVE_PLACEMENT;
				EXPECT_EQ(decode(sqe), known ? 0 : bad_field) << int(opcode) << " " << directive;
				EXPECT_TRUE(!known || req.placement == (count && directive ? 7 : 0));
			}
	nvme_sqe sqe = io_sqe(NVME_IO_READ, 0, 1, heap);
	sqe.cdw12 |= 2u << NVME_RW_DTYPE_SHIFT;
	sqe.cdw13 = 7u << NVME_RW_DSPEC_SHIFT;
	EXPECT_EQ(decode(sqe), 0);
	EXPECT_EQ(req.placement, 0) << "no write";
}

TEST_F(IoCommand, StatusAndUpdateOfHandles)
{
	const auto make = [](uint8_t opcode, uint32_t cdw10, uint32_t cdw11 = 0) {
		nvme_sqe sqe = io_sqe(opcode, 0, 1, heap);
		sqe.cdw10 = cdw10;
		sqe.cdw11 = cdw11;
		return sqe;
	};
	EXPECT_EQ(decode(make(NVME_IO_MGMT_RECEIVE, 1)), dnr(NVME_INVALID_OPCODE));
	EXPECT_EQ(decode(make(NVME_IO_MGMT_SEND, 1)), dnr(NVME_INVALID_OPCODE));
	limits.handles = 3;
	EXPECT_EQ(decode(make(NVME_IO_MGMT_RECEIVE, 1, 11)), 0);
	EXPECT_EQ(req.op, FTL_PLACEMENT_STATUS);
	EXPECT_EQ(req.sgl.bytes, 48u);
	EXPECT_EQ(decode(make(NVME_IO_MGMT_RECEIVE, 1, 0xffffffff)), bad_field);
	EXPECT_EQ(decode(make(NVME_IO_MGMT_RECEIVE, 0, 0xffffffff)), 0) << "no operation, no data";
	EXPECT_EQ(req.sgl.bytes, 0u);
	EXPECT_EQ(decode(make(NVME_IO_MGMT_RECEIVE, 2)), bad_field);
	EXPECT_EQ(decode(make(NVME_IO_MGMT_SEND, 1 | 2 << 16)), 0);
	EXPECT_EQ(req.op, FTL_PLACEMENT_UPDATE);
	EXPECT_EQ(req.sectors, 3u);
	EXPECT_EQ(req.sgl.bytes, 6u);
	EXPECT_EQ(decode(make(NVME_IO_MGMT_SEND, 1 | 3 << 16)), bad_field) << "more than there may be";
	EXPECT_EQ(decode(make(NVME_IO_MGMT_SEND, 0)), 0);
	EXPECT_EQ(req.sectors, 0u);
	EXPECT_EQ(decode(make(NVME_IO_MGMT_SEND, 0xff)), bad_field);
	nvme_sqe sqe = make(NVME_IO_MGMT_SEND, 1);
	sqe.prp1 = heap + 2;
	EXPECT_EQ(decode(sqe), dnr(NVME_PRP_OFFSET_INVALID));
}

TEST_F(IoCommand, ZeroesMayFree)
{
	for (uint8_t opcode : {NVME_IO_WRITE_ZEROES, NVME_IO_WRITE}) {
		nvme_sqe sqe = io_sqe(opcode, 0, 1, heap);
		sqe.cdw12 |= NVME_RW_DEAC;
		EXPECT_EQ(decode(sqe), 0);
		EXPECT_EQ(req.flags, opcode == NVME_IO_WRITE ? 0 : FTL_FREES) << "of other commands the bit is reserved";
	}
}

// It has no field but the range: the bits of other writes are reserved.
TEST_F(IoCommand, WriteUncorrectable)
{
	nvme_sqe sqe = io_sqe(NVME_IO_WRITE_UNCORRECTABLE, 7, 65536, 0);
	sqe.cdw12 |= 0xffff0000;
	sqe.cdw3 = NVME_RW_DURABLE | NVME_RW_IN_PLACE;
	EXPECT_EQ(decode(sqe), sectors < 65543 ? dnr(NVME_LBA_OUT_OF_RANGE) : 0);
	sqe.cdw12 = 0xffff0000 | 9;
	EXPECT_EQ(decode(sqe), 0);
	EXPECT_EQ(req.op, FTL_WRITE_UNCORRECTABLE);
	EXPECT_EQ(req.lba, 7u);
	EXPECT_EQ(req.sectors, 10u);
	EXPECT_EQ(req.flags, 0);
	EXPECT_EQ(req.sgl.bytes, 0u);
	limits.plp_mode = HZ_PLP_FULL;
	EXPECT_EQ(decode(sqe), 0);
	EXPECT_EQ(req.flags, FTL_FUA) << "every write is durable";
}

TEST_F(IoCommand, DurableWrites)
{
	for (uint8_t opcode : {NVME_IO_WRITE, NVME_IO_ZONE_APPEND, NVME_IO_WRITE_ZEROES}) {
		nvme_sqe sqe = io_sqe(opcode, 0, 1, heap);
		for (uint32_t mode : {HZ_PLP_FULL, HZ_PLP_SELECTIVE}) {
			limits.plp_mode = mode;
			sqe.cdw3 = NVME_RW_DURABLE;
			EXPECT_EQ(decode(sqe), 0);
			EXPECT_EQ(req.flags, FTL_FUA);
			sqe.cdw3 = 0;
			EXPECT_EQ(decode(sqe), 0);
			EXPECT_EQ(req.flags, mode == HZ_PLP_FULL ? FTL_FUA : 0);
		}
		sqe.cdw3 = ~(NVME_RW_DURABLE | NVME_RW_IN_PLACE); // reserved bits
		EXPECT_EQ(decode(sqe), 0);
		EXPECT_EQ(req.flags, 0);
		limits.plp_mode = HZ_PLP_NONE;
		EXPECT_EQ(decode(sqe), 0);
		sqe.cdw3 = NVME_RW_DURABLE;
		EXPECT_EQ(decode(sqe), bad_field) << "not silently volatile";
	}
	for (uint8_t opcode : {NVME_IO_READ, NVME_IO_FLUSH}) {
		nvme_sqe sqe = io_sqe(opcode, 0, 1, heap);
		sqe.cdw3 = NVME_RW_DURABLE;
		EXPECT_EQ(decode(sqe), 0) << "means nothing there";
		EXPECT_EQ(req.flags, 0);
	}
}

TEST_F(IoCommand, WritesInPlace)
{
	nvme_sqe sqe = io_sqe(NVME_IO_WRITE, 3, 1, heap);
	sqe.cdw3 = NVME_RW_IN_PLACE;
	EXPECT_EQ(decode(sqe), bad_field) << "this device has none";
	limits.in_place = true;
	EXPECT_EQ(decode(sqe), 0);
	EXPECT_EQ(req.op, FTL_UPDATE);
	EXPECT_EQ(req.lba, 3u);
	sqe.cdw3 = 0;
	EXPECT_EQ(decode(sqe), 0);
	EXPECT_EQ(req.op, FTL_WRITE);
	sqe = io_sqe(NVME_IO_WRITE, limits.namespace_sectors, 1, heap);
	sqe.cdw3 = NVME_RW_IN_PLACE;
	EXPECT_EQ(decode(sqe), dnr(NVME_LBA_OUT_OF_RANGE));
}

TEST_F(IoCommand, Ranges)
{
	for (uint8_t opcode :
	     {NVME_IO_READ, NVME_IO_WRITE, NVME_IO_WRITE_ZEROES, NVME_IO_WRITE_UNCORRECTABLE, NVME_IO_COMPARE, NVME_IO_VERIFY}) {
		EXPECT_EQ(decode(io_sqe(opcode, sectors - 1, 1, heap)), 0);
		EXPECT_EQ(decode(io_sqe(opcode, sectors - 1, 2, heap, heap)), dnr(NVME_LBA_OUT_OF_RANGE));
		EXPECT_EQ(decode(io_sqe(opcode, sectors, 1, heap)), dnr(NVME_LBA_OUT_OF_RANGE));
		EXPECT_EQ(decode(io_sqe(opcode, ~0ull, 1, heap)), dnr(NVME_LBA_OUT_OF_RANGE));
	}
	EXPECT_EQ(decode(io_sqe(NVME_IO_ZONE_APPEND, sectors, 1, heap)), dnr(NVME_LBA_OUT_OF_RANGE));
	EXPECT_EQ(decode(io_sqe(NVME_IO_ZONE_MGMT_SEND, sectors, 1)), bad_field) << "action 0 is reserved";
}

TEST_F(IoCommand, TransferSize)
{
	EXPECT_EQ(decode(io_sqe(NVME_IO_READ, 0, 128, heap, list)), 0);
	EXPECT_EQ(decode(io_sqe(NVME_IO_READ, 0, 129, heap, list)), bad_field);
	EXPECT_EQ(decode(io_sqe(NVME_IO_WRITE, 0, 65536, heap, list)), bad_field);
	EXPECT_EQ(decode(io_sqe(NVME_IO_ZONE_APPEND, 0, 129, heap, list)), bad_field);
	EXPECT_EQ(decode(io_sqe(NVME_IO_WRITE_ZEROES, 0, 65536)), 0) << "moves no data";
	EXPECT_EQ(req.sectors, 65536u);
}

TEST_F(IoCommand, DatasetManagement)
{
	nvme_sqe sqe = io_sqe(NVME_IO_DATASET_MANAGEMENT, 0, 1, heap + 16, list);
	sqe.cdw10 = 0xffffff00 | 255; // reserved bits above NR
	sqe.cdw11 = NVME_DSM_DEALLOCATE | 3;
	EXPECT_EQ(decode(sqe), 0);
	EXPECT_EQ(req.op, FTL_DEALLOCATE);
	EXPECT_EQ(req.sectors, 256u);
	EXPECT_EQ(req.sgl.bytes, 4096u);
	EXPECT_EQ(req.flags, 0);
	limits.write_cache = false;
	EXPECT_EQ(decode(sqe), 0);
	EXPECT_EQ(req.flags, FTL_FUA) << "nothing is volatile";
	sqe.cdw11 = 3;
	sqe.prp1 = 0;
	EXPECT_EQ(decode(sqe), 0) << "hints, which nobody reads";
	EXPECT_EQ(req.sectors, 0u);
	sqe.cdw11 = NVME_DSM_DEALLOCATE;
	EXPECT_NE(decode(sqe), 0) << "there is no memory";
}

TEST_F(IoCommand, Copy)
{
	nvme_sqe sqe = io_sqe(NVME_IO_COPY, 5, 128, heap + 16, list); // NR is 0's based, as NLB is
	EXPECT_EQ(decode(sqe), 0);
	EXPECT_EQ(req.op, FTL_COPY);
	EXPECT_EQ(req.lba, 5u);
	EXPECT_EQ(req.sectors, 128u);
	EXPECT_EQ(req.sgl.bytes, 4096u);
	EXPECT_EQ(req.flags, 0);
	sqe.cdw12 |= NVME_RW_FUA;
	sqe.cdw3 = NVME_COPY_APPEND;
	EXPECT_EQ(decode(sqe), 0);
	EXPECT_EQ(req.op, FTL_COPY_APPEND);
	EXPECT_EQ(req.flags, FTL_FUA);
	limits.zoned = false;
	EXPECT_EQ(decode(sqe), bad_field) << "there is nothing to append to";
	limits.zoned = true;
	sqe = io_sqe(NVME_IO_COPY, 5, 129, heap, list);
	EXPECT_EQ(decode(sqe), dnr(NVME_SIZE_LIMIT));
	sqe = io_sqe(NVME_IO_COPY, 5, 1, heap);
	sqe.cdw12 |= 1 << NVME_COPY_FORMAT_SHIFT;
	EXPECT_EQ(decode(sqe), bad_field) << "another format of ranges";
	EXPECT_EQ(decode(io_sqe(NVME_IO_COPY, limits.namespace_sectors, 1, heap)), dnr(NVME_LBA_OUT_OF_RANGE));
	EXPECT_NE(decode(io_sqe(NVME_IO_COPY, 5, 1, 0)), 0) << "there is no memory";
}

TEST_F(IoCommand, NamespaceAndFlags)
{
	for (uint8_t opcode : {NVME_IO_READ, NVME_IO_WRITE, NVME_IO_FLUSH, NVME_IO_WRITE_ZEROES, NVME_IO_WRITE_UNCORRECTABLE,
			       NVME_IO_COMPARE, NVME_IO_VERIFY, NVME_IO_ZONE_APPEND, NVME_IO_ZONE_MGMT_SEND, NVME_IO_ZONE_MGMT_RECV}) {
		nvme_sqe sqe = io_sqe(opcode, 0, 1, heap);
		for (uint32_t nsid : {0u, 2u, 0xfffffffeu}) {
			sqe.nsid = nsid;
			EXPECT_EQ(decode(sqe), dnr(NVME_INVALID_NAMESPACE)) << int(opcode) << " " << nsid;
		}
		sqe.nsid = NVME_NSID_ALL;
		EXPECT_EQ(decode(sqe), opcode == NVME_IO_FLUSH ? 0 : dnr(NVME_INVALID_NAMESPACE));
		sqe.nsid = 1;
		for (uint8_t flags : {0x01, 0x02, 0x40, 0x80}) {
			sqe.flags = flags;
			EXPECT_EQ(decode(sqe), bad_field) << int(opcode) << " " << int(flags);
		}
	}
}

TEST_F(IoCommand, EveryOtherOpcodeIsInvalid)
{
	const uint8_t known[] = {NVME_IO_READ,
				 NVME_IO_WRITE,
				 NVME_IO_FLUSH,
				 NVME_IO_WRITE_ZEROES,
				 NVME_IO_WRITE_UNCORRECTABLE,
				 NVME_IO_ZONE_APPEND,
				 NVME_IO_ZONE_MGMT_SEND,
				 NVME_IO_ZONE_MGMT_RECV,
				 NVME_IO_COMPARE,
				 NVME_IO_VERIFY,
				 NVME_IO_DATASET_MANAGEMENT,
				 NVME_IO_COPY};
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		nvme_sqe sqe = io_sqe(static_cast<uint8_t>(opcode), 0, 1, heap);
		sqe.nsid = 77;
		bool is_known = std::count(std::begin(known), std::end(known), opcode);
		EXPECT_EQ(decode(sqe) == dnr(NVME_INVALID_OPCODE), !is_known) << opcode;
	}
}

TEST_F(IoCommand, ABlockNamespaceKnowsNoZones)
{
	limits.zoned = false;
	for (uint8_t opcode : {NVME_IO_ZONE_MGMT_SEND, NVME_IO_ZONE_MGMT_RECV, NVME_IO_ZONE_APPEND})
		for (uint32_t nsid : {0u, 1u, 2u, NVME_NSID_ALL}) {
			nvme_sqe sqe = io_sqe(opcode, 0, 1, heap);
			sqe.nsid = nsid;
			EXPECT_EQ(decode(sqe), dnr(NVME_INVALID_OPCODE)) << int(opcode);
		}
	for (uint8_t opcode : {NVME_IO_READ, NVME_IO_WRITE, NVME_IO_FLUSH, NVME_IO_WRITE_ZEROES, NVME_IO_WRITE_UNCORRECTABLE,
			       NVME_IO_COMPARE, NVME_IO_VERIFY})
		EXPECT_EQ(decode(io_sqe(opcode, 0, 1, heap)), 0) << int(opcode);
}

TEST_F(IoCommand, ZoneSend)
{
	const std::pair<uint32_t, uint8_t> actions[] = {{NVME_ZSA_CLOSE, FTL_ZONE_CLOSE},
							{NVME_ZSA_FINISH, FTL_ZONE_FINISH},
							{NVME_ZSA_OPEN, FTL_ZONE_OPEN},
							{NVME_ZSA_RESET, FTL_ZONE_RESET},
							{NVME_ZSA_OFFLINE, FTL_ZONE_OFFLINE}};
	for (auto [action, op] : actions) {
		nvme_sqe sqe = io_sqe(NVME_IO_ZONE_MGMT_SEND, 4096);
		sqe.cdw13 = action;
		EXPECT_EQ(decode(sqe), 0);
		EXPECT_EQ(req.op, op);
		EXPECT_EQ(req.lba, 4096u);
		EXPECT_EQ(req.flags, 0);
		sqe.cdw13 |= 0x100;
		sqe.cdw11 = ~0u; // SLBA is ignored with Select All
		EXPECT_EQ(decode(sqe), 0);
		EXPECT_EQ(req.flags, FTL_ALL_ZONES);
		sqe.cdw13 = action;
		EXPECT_EQ(decode(sqe), dnr(NVME_LBA_OUT_OF_RANGE));
	}
	limits.zrwa = true;
	nvme_sqe window = io_sqe(NVME_IO_ZONE_MGMT_SEND, 4100);
	for (uint32_t cdw13 : {NVME_ZSA_COMMIT | 0u, NVME_ZSA_OPEN | 0x200u}) {
		window.cdw13 = cdw13;
		EXPECT_EQ(decode(window), 0);
		EXPECT_EQ(req.op, cdw13 == NVME_ZSA_COMMIT ? FTL_ZONE_COMMIT : FTL_ZONE_OPEN);
		EXPECT_EQ(req.flags, cdw13 == NVME_ZSA_COMMIT ? 0 : FTL_ZRWA);
		EXPECT_EQ(req.lba, 4100u);
		window.cdw13 |= 0x100;
		EXPECT_EQ(decode(window), dnr(NVME_INVALID_FIELD)) << "of one zone only";
		window.cdw13 = cdw13;
		window.cdw11 = ~0u;
		EXPECT_EQ(decode(window), dnr(NVME_LBA_OUT_OF_RANGE));
		window.cdw11 = 0;
	}
	limits.zrwa = false;
	for (uint32_t cdw13 : {NVME_ZSA_COMMIT | 0u, NVME_ZSA_OPEN | 0x200u}) {
		window.cdw13 = cdw13;
		EXPECT_EQ(decode(window), dnr(NVME_INVALID_ZONE_OP)) << "the device has none";
	}
	for (uint32_t action : {0u, 6u, 0x10u, 0xffu}) {
		nvme_sqe sqe = io_sqe(NVME_IO_ZONE_MGMT_SEND);
		sqe.cdw13 = action;
		EXPECT_EQ(decode(sqe), bad_field) << action;
	}
}

TEST_F(IoCommand, ZoneReceive)
{
	nvme_sqe sqe = io_sqe(NVME_IO_ZONE_MGMT_RECV, 9, 1024, heap);
	sqe.cdw13 = NVME_ZRASF_FULL << 8 | 1 << 16;
	EXPECT_EQ(decode(sqe), 0);
	EXPECT_EQ(req.op, FTL_ZONE_REPORT);
	EXPECT_EQ(req.namespace_sectors, limits.namespace_sectors);
	EXPECT_EQ(req.report_filter, NVME_ZRASF_FULL);
	EXPECT_EQ(req.flags, FTL_PARTIAL_REPORT);
	EXPECT_EQ(req.sgl.bytes, 4096u);
	EXPECT_EQ(req.lba, 9u);
	for (uint32_t cdw13 : {1u, 2u, 0xffu, 8u << 8, 0xffu << 8}) {
		sqe.cdw13 = cdw13;
		EXPECT_EQ(decode(sqe), bad_field) << cdw13;
	}
	sqe.cdw13 = 0;
	sqe.cdw12 = 128 * 1024;
	EXPECT_EQ(decode(sqe), bad_field) << "beyond MDTS";
	sqe.cdw12 = 0xffffffff;
	EXPECT_EQ(decode(sqe), bad_field);
	sqe = io_sqe(NVME_IO_ZONE_MGMT_RECV, sectors, 1024, heap);
	EXPECT_EQ(decode(sqe), dnr(NVME_LBA_OUT_OF_RANGE));
}

TEST_F(IoCommand, PrpFaultsReachTheStatus)
{
	EXPECT_EQ(decode(io_sqe(NVME_IO_READ, 0, 1, heap + 1)), dnr(NVME_PRP_OFFSET_INVALID));
	EXPECT_EQ(decode(io_sqe(NVME_IO_WRITE, 0, 1, 0)), NVME_DATA_TRANSFER_ERROR);
	EXPECT_EQ(decode(io_sqe(NVME_IO_ZONE_MGMT_RECV, 0, 1024, heap + 1)), dnr(NVME_PRP_OFFSET_INVALID));
}

TEST_F(IoCommand, WithoutMemoryForCopiesThereIsNoCopy)
{
	limits.copies = false;
	EXPECT_EQ(decode(io_sqe(NVME_IO_COPY, 0, 1, heap)), dnr(NVME_INVALID_OPCODE));
	EXPECT_EQ(decode(io_sqe(NVME_IO_COPY, limits.namespace_sectors, 1, heap)), dnr(NVME_INVALID_OPCODE));
	EXPECT_EQ(decode(io_sqe(NVME_IO_READ, 0, 1, heap)), NVME_SUCCESS);
}

} // namespace hil_test
