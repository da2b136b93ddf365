// I/O commands: opcodes, namespaces, flags, ranges (NVM command set 3.2), Flush (base spec 7.1), data read back.
// SPDX-License-Identifier: BSD-3-Clause
#include "command_case.hpp"

namespace conform {
namespace io_test {

constexpr uint32_t most = HZ_MAX_TRANSFER_SECTORS;

auto command(uint8_t opcode, uint64_t lba = 0, uint32_t sectors = 1, uint32_t nsid = 1, uint8_t flags = 0)
{
	return [=](Bench &b) {
		nvme_sqe sqe = io_command(b, opcode, lba, sectors);
		sqe.nsid = nsid;
		sqe.flags = flags;
		return sqe;
	};
}
// At the end of the namespace: `before` blocks before it.
auto at_end(uint8_t opcode, uint64_t before, uint32_t sectors)
{
	return [=](Bench &b) { return io_command(b, opcode, b.info().size_sectors - before, sectors); };
}
// One contiguous transfer with a valid PRP list.
auto large(uint8_t opcode, uint32_t sectors)
{
	return [=](Bench &b) {
		nvme_sqe sqe = io_command(b, opcode, 0, sectors);
		auto pair = hz::build_prps(b.region(), b.page(0), (sectors < 256 ? sectors : 256) * 4096ull, b.page(280));
		sqe.prp1 = pair.prp1;
		sqe.prp2 = pair.prp2;
		return sqe;
	};
}

const CommandCase cases[] = {
	{"DatasetManagementHints", NVME_SUCCESS, dataset(0, {{0, 1, 1ull << 40}}, 3)},
	{"DeallocateSequential", NVME_SUCCESS, dataset(NVME_DSM_DEALLOCATE, {{0, 8, 0}, {0, 0, 5}})},
	{"DeallocateBeyondTheEnd", NVME_LBA_OUT_OF_RANGE, dataset(NVME_DSM_DEALLOCATE, {{0, 1, 0}, {0, 1, 1ull << 40}})},
	{"DeallocateNamespaceTwo", NVME_INVALID_NAMESPACE, dataset(NVME_DSM_DEALLOCATE, {{0, 1, 0}}, 0, 2)},
	{"CopyOtherFormat", NVME_INVALID_FIELD, copy(0, {{0, 4}}, 1 << NVME_COPY_FORMAT_SHIFT)},
	{"CopyNamespaceTwo", NVME_INVALID_NAMESPACE, copy(0, {{0, 4}}, 0, 2)},
	{"CopyFromBeyondTheEnd", NVME_LBA_OUT_OF_RANGE, copy(0, {{0, 4}, {1ull << 40, 1}})},
	{"CopyToBeyondTheEnd", NVME_LBA_OUT_OF_RANGE, copy(1ull << 40, {{0, 4}})},
	{"CopyInFrontOfTheWritePointer", NVME_ZONE_INVALID_WRITE, copy(5, {{0, 4}})},
	{"CopyTooMuch", NVME_SIZE_LIMIT, copy(0, {{0, 100}, {0, 29}})},
	{"CopyRangeTooLong", NVME_SIZE_LIMIT, copy(0, {{0, 129}})},
	{"ReservedOpcode", NVME_INVALID_OPCODE, command(0x7e)},
	{"VendorOpcode", NVME_INVALID_OPCODE, command(0x80)},
	{"LastOpcode", NVME_INVALID_OPCODE, command(0xff)},
	{"ReadNamespaceZero", NVME_INVALID_NAMESPACE, command(NVME_IO_READ, 0, 1, 0)},
	{"ReadNamespaceTwo", NVME_INVALID_NAMESPACE, command(NVME_IO_READ, 0, 1, 2)},
	{"ReadBroadcast", NVME_INVALID_NAMESPACE, command(NVME_IO_READ, 0, 1, NVME_NSID_ALL)},
	{"WriteNamespaceZero", NVME_INVALID_NAMESPACE, command(NVME_IO_WRITE, 0, 1, 0)},
	{"WriteBroadcast", NVME_INVALID_NAMESPACE, command(NVME_IO_WRITE, 0, 1, NVME_NSID_ALL)},
	{"AppendNamespaceTwo", NVME_INVALID_NAMESPACE, command(NVME_IO_ZONE_APPEND, 0, 1, 2)},
	{"WriteZeroesBroadcast", NVME_INVALID_NAMESPACE, command(NVME_IO_WRITE_ZEROES, 0, 1, NVME_NSID_ALL)},
	{"ZoneSendBroadcast", NVME_INVALID_NAMESPACE, command(NVME_IO_ZONE_MGMT_SEND, 0, 1, NVME_NSID_ALL)},
	{"ZoneReceiveNamespaceZero", NVME_INVALID_NAMESPACE, command(NVME_IO_ZONE_MGMT_RECV, 0, 1, 0)},
	{"Flush", NVME_SUCCESS, command(NVME_IO_FLUSH)},
	{"FlushBroadcast", NVME_SUCCESS, command(NVME_IO_FLUSH, 0, 1, NVME_NSID_ALL)},
	{"FlushNamespaceZero", NVME_INVALID_NAMESPACE, command(NVME_IO_FLUSH, 0, 1, 0)},
	{"FlushNamespaceTwo", NVME_INVALID_NAMESPACE, command(NVME_IO_FLUSH, 0, 1, 2)},
	{"ReadFusedFirst", NVME_INVALID_FIELD, command(NVME_IO_READ, 0, 1, 1, 1)},
	{"ReadFusedSecond", NVME_INVALID_FIELD, command(NVME_IO_READ, 0, 1, 1, 2)},
	{"ReadFusedReserved", NVME_INVALID_FIELD, command(NVME_IO_READ, 0, 1, 1, 3)},
	{"ReadSgl", NVME_INVALID_FIELD, command(NVME_IO_READ, 0, 1, 1, 0x40)},
	{"ReadSglMetadata", NVME_INVALID_FIELD, command(NVME_IO_READ, 0, 1, 1, 0x80)},
	{"WriteFused", NVME_INVALID_FIELD, command(NVME_IO_WRITE, 0, 1, 1, 1)},
	{"WriteSgl", NVME_INVALID_FIELD, command(NVME_IO_WRITE, 0, 1, 1, 0xc0)},
	{"AppendFused", NVME_INVALID_FIELD, command(NVME_IO_ZONE_APPEND, 0, 1, 1, 1)},
	{"ReadFirstBlock", NVME_SUCCESS, command(NVME_IO_READ)},
	{"ReadLastBlock", NVME_SUCCESS, at_end(NVME_IO_READ, 1, 1)},
	{"ReadOverTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_READ, 1, 2)},
	{"ReadAtTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_READ, 0, 1)},
	{"ReadLastLbaOf64Bits", NVME_LBA_OUT_OF_RANGE, command(NVME_IO_READ, ~0ull, 1)},
	{"ReadWrappingRange", NVME_LBA_OUT_OF_RANGE, command(NVME_IO_READ, ~0ull, 2)},
	{"ReadAt32Bits", NVME_LBA_OUT_OF_RANGE, command(NVME_IO_READ, 1ull << 32, 1)},
	{"WriteAtTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_WRITE, 0, 1)},
	{"WriteOverTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_WRITE, 1, 2)},
	{"WriteZeroesAtTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_WRITE_ZEROES, 0, 1)},
	{"WriteUncorrectableAtTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_WRITE_UNCORRECTABLE, 0, 1)},
	{"WriteUncorrectableOverTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_WRITE_UNCORRECTABLE, 1, 2)},
	{"WriteUncorrectableBroadcast", NVME_INVALID_NAMESPACE, command(NVME_IO_WRITE_UNCORRECTABLE, 0, 1, NVME_NSID_ALL)},
	{"WriteUncorrectableNamespaceTwo", NVME_INVALID_NAMESPACE, command(NVME_IO_WRITE_UNCORRECTABLE, 0, 1, 2)},
	{"WriteUncorrectableFused", NVME_INVALID_FIELD, command(NVME_IO_WRITE_UNCORRECTABLE, 0, 1, 1, 1)},
	{"WriteUncorrectableSgl", NVME_INVALID_FIELD, command(NVME_IO_WRITE_UNCORRECTABLE, 0, 1, 1, 0x40)},
	{"AppendAtTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_ZONE_APPEND, 0, 1)},
	{"ReadMdts", NVME_SUCCESS, large(NVME_IO_READ, most)},
	{"ReadMdtsPlusOne", NVME_INVALID_FIELD, large(NVME_IO_READ, most + 1)},
	{"WriteMdtsPlusOne", NVME_INVALID_FIELD, large(NVME_IO_WRITE, most + 1)},
	{"AppendOverItsLimit", NVME_INVALID_FIELD, large(NVME_IO_ZONE_APPEND, most + 1)},
	{"CompareNamespaceTwo", NVME_INVALID_NAMESPACE, command(NVME_IO_COMPARE, 0, 1, 2)},
	{"CompareFused", NVME_INVALID_FIELD, command(NVME_IO_COMPARE, 0, 1, 1, 1)},
	{"CompareAtTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_COMPARE, 0, 1)},
	{"CompareMdtsPlusOne", NVME_INVALID_FIELD, large(NVME_IO_COMPARE, most + 1)},
	{"Verify", NVME_SUCCESS, command(NVME_IO_VERIFY)},
	{"VerifyBroadcast", NVME_INVALID_NAMESPACE, command(NVME_IO_VERIFY, 0, 1, NVME_NSID_ALL)},
	{"VerifyFused", NVME_INVALID_FIELD, command(NVME_IO_VERIFY, 0, 1, 1, 1)},
	{"VerifyOverTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_VERIFY, 1, 2)},
	{"VerifyVsl", NVME_SUCCESS, command(NVME_IO_VERIFY, 0, most)},
	{"VerifyVslPlusOne", NVME_INVALID_FIELD, command(NVME_IO_VERIFY, 0, most + 1)},
	{"ReadLimitedRetry", NVME_SUCCESS,
	 [](Bench &b) {
		 nvme_sqe sqe = io_command(b, NVME_IO_READ);
		 sqe.cdw12 |= 1u << 31;
		 return sqe;
	 }},
	{"ReadFua", NVME_SUCCESS,
	 [](Bench &b) {
		 nvme_sqe sqe = io_command(b, NVME_IO_READ);
		 sqe.cdw12 |= NVME_RW_FUA;
		 return sqe;
	 }},
};
class Io : public IoCommand {};
TEST_P(Io, Status) { check(); }
INSTANTIATE_TEST_SUITE_P(All, Io, ::testing::ValuesIn(cases), case_name);

class IoData : public ZonedDevice {
protected:
	Bytes read(uint64_t lba, uint32_t sectors)
	{
		Bytes in(static_cast<size_t>(sectors) * 4096, std::byte(0xee));
		EXPECT_EQ(bench().run(hz::QueuePair::read(lba, sectors), {}, &in).status, NVME_SUCCESS) << lba << " + " << sectors;
		return in;
	}
};

TEST_F(IoData, UnwrittenBlocksReadAsZeroes)
{
	EXPECT_EQ(read(0, 128), Bytes(128 * 4096)) << "an empty zone and what lies behind its capacity";
	ASSERT_EQ(bench().write(0, 3), NVME_SUCCESS);
	Bytes in = read(0, 8), expected = pattern(0, 3);
	expected.resize(8 * 4096);
	EXPECT_EQ(in, expected);
}

TEST_F(IoData, ReadsAcrossZones)
{
	Bench &b = bench();
	ASSERT_EQ(b.write(0, b.capacity()), NVME_SUCCESS);
	ASSERT_EQ(b.write(b.start(1), 10), NVME_SUCCESS);
	uint64_t lba = b.capacity() - 6;
	uint32_t gap = static_cast<uint32_t>(b.start(1)) - b.capacity();
	Bytes expected = pattern(0, b.capacity());
	expected.erase(expected.begin(), expected.begin() + static_cast<long>(lba) * 4096);
	expected.resize(expected.size() + gap * 4096ull);
	Bytes next = pattern(b.start(1), 10);
	expected.insert(expected.end(), next.begin(), next.end());
	EXPECT_EQ(read(lba, 6 + gap + 10), expected);
}

TEST_F(IoData, ReadsBackEveryLengthAtEveryOffset)
{
	Bench &b = bench();
	ASSERT_EQ(b.write(0, 40), NVME_SUCCESS);
	ASSERT_EQ(b.append(0, 30), NVME_SUCCESS); // the append's data are named after the zone's start
	Bytes whole = pattern(0, 40), tail = pattern(0, 30);
	whole.insert(whole.end(), tail.begin(), tail.end());
	for (uint32_t at : {0u, 1u, 11u, 12u, 39u, 40u, 65u})
		for (uint32_t sectors : {1u, 2u, 3u, 5u})
			EXPECT_EQ(read(at, sectors), Bytes(whole.begin() + at * 4096, whole.begin() + (at + sectors) * 4096))
				<< at << " + " << sectors;
}

TEST_F(IoData, DataSurviveTheirFlush)
{
	Bench &b = bench();
	ASSERT_EQ(b.write(0, 7), NVME_SUCCESS);
	ASSERT_EQ(b.status(hz::QueuePair::flush()), NVME_SUCCESS);
	EXPECT_EQ(read(0, 7), pattern(0, 7));
	ASSERT_EQ(b.write(7, 89), NVME_SUCCESS);
	EXPECT_EQ(read(7, 89), pattern(7, 89));
	EXPECT_EQ(read(0, 7), pattern(0, 7));
}

TEST_F(IoData, ForcedUnitAccessIsDurableAtCompletion)
{
	Bench &b = bench();
	auto programmed = [&] {
		auto log = b.controller().log_flash();
		uint64_t sum = 0;
		for (unsigned cause = 0; cause < HZ_CAUSES; cause++)
			sum += log.program_sectors[cause];
		return sum;
	};
	uint64_t before = programmed();
	ASSERT_EQ(b.status(hz::QueuePair::write(0, 2)), NVME_SUCCESS);
	EXPECT_EQ(programmed(), before) << "less than a program unit stays in the buffer";
	ASSERT_EQ(b.status(hz::QueuePair::write(2, 2, true)), NVME_SUCCESS);
	EXPECT_GE(programmed(), before + 4) << "the zone's prefix is durable";
	EXPECT_EQ(read(0, 4).size(), 4u * 4096);
}

TEST_F(IoData, WriteZeroesReadsBack)
{
	Bench &b = bench();
	ASSERT_EQ(b.write(0, 4), NVME_SUCCESS);
	ASSERT_EQ(b.status(hz::QueuePair::write_zeroes(4, 60)), NVME_SUCCESS);
	EXPECT_EQ(b.filled(0), 64u);
	EXPECT_EQ(read(4, 60), Bytes(60 * 4096));
	EXPECT_EQ(read(0, 4), pattern(0, 4));
}

// In the write buffer, on flash, and no longer after a reset.
TEST_F(IoData, WriteUncorrectableMarksBlocks)
{
	Bench &b = bench();
	const uint64_t media_errors = b.controller().log_smart().media_errors[0];
	ASSERT_EQ(b.write(0, 4), NVME_SUCCESS);
	ASSERT_EQ(b.status(hz::QueuePair::write_uncorrectable(4, 2)), NVME_SUCCESS);
	EXPECT_EQ(b.filled(0), 6u);
	for (bool flushed : {false, true}) {
		for (auto make : {hz::QueuePair::read, hz::QueuePair::verify, hz::QueuePair::compare})
			for (uint64_t lba : {4, 5})
				EXPECT_EQ(b.status(make(lba, 1)), NVME_UNRECOVERED_READ) << lba << " flushed " << flushed;
		EXPECT_EQ(b.status(hz::QueuePair::read(2, 3)), NVME_UNRECOVERED_READ) << "some of them";
		EXPECT_EQ(read(0, 4), pattern(0, 4)) << "beside them";
		EXPECT_EQ(read(6, 1), Bytes(4096));
		ASSERT_EQ(b.status(hz::QueuePair::flush()), NVME_SUCCESS);
	}
	EXPECT_EQ(b.controller().log_smart().media_errors[0], media_errors) << "the media are good";
	ASSERT_EQ(b.status(hz::QueuePair::zone_send(0, NVME_ZSA_RESET)), NVME_SUCCESS);
	EXPECT_EQ(read(4, 2), Bytes(2 * 4096));
}

TEST_F(IoData, CompareTellsWhetherDataAreTheSame)
{
	Bench &b = bench();
	ASSERT_EQ(b.write(0, 40), NVME_SUCCESS);
	auto compare = [&](uint64_t lba, const Bytes &data) {
		return b.run(hz::QueuePair::compare(lba, static_cast<uint32_t>(data.size() / 4096)), data).status;
	};
	for (bool flushed : {false, true}) { // partly in the write buffer, then all on flash
		Bytes data = pattern(0, 40);
		EXPECT_EQ(compare(0, data), NVME_SUCCESS);
		for (size_t at : {size_t(0), size_t(4095), data.size() / 2, data.size() - 1}) {
			data[at] ^= std::byte(0x10);
			EXPECT_EQ(compare(0, data), NVME_COMPARE_FAILURE) << "byte " << at << " flushed " << flushed;
			data[at] ^= std::byte(0x10);
		}
		ASSERT_EQ(b.status(hz::QueuePair::flush()), NVME_SUCCESS);
	}
	EXPECT_EQ(compare(41, Bytes(4096)), NVME_SUCCESS) << "unwritten blocks are zeros";
	EXPECT_EQ(compare(41, pattern(41, 1)), NVME_COMPARE_FAILURE);
	EXPECT_EQ(read(0, 40), pattern(0, 40)) << "nothing has changed";
}

TEST_F(IoData, VerifyReadsFlashAndMovesNothing)
{
	Bench &b = bench();
	auto reads = [&] { return b.controller().log_flash().read_sectors[HZ_CAUSE_HOST]; };
	ASSERT_EQ(b.write(0, 96), NVME_SUCCESS);
	ASSERT_EQ(b.status(hz::QueuePair::flush()), NVME_SUCCESS);
	uint64_t before = reads();
	ASSERT_EQ(b.status(hz::QueuePair::verify(0, 48)), NVME_SUCCESS);
	EXPECT_EQ(reads(), before + 48);
}

TEST_F(IoData, ResetZonesReadAsZeroes)
{
	Bench &b = bench();
	ASSERT_EQ(b.write(0, b.capacity()), NVME_SUCCESS);
	ASSERT_EQ(b.send(0, NVME_ZSA_RESET), NVME_SUCCESS);
	EXPECT_EQ(read(0, b.capacity()), Bytes(b.capacity() * 4096ull));
}

} // namespace io_test
} // namespace conform
