// A block namespace (NVM Command Set alone): its identification, reads and writes at any address,
// and no zones.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <random>

#include "command_case.hpp"
#include "session/machine/error.hpp"

namespace conform {
namespace block_test {

constexpr uint32_t most = HZ_MAX_TRANSFER_SECTORS;

// The shared device's media: 8 superblocks of 96 sectors, 4 more to collect with.
hz_device_config block_config()
{
	hz_device_config config = small_config();
	config.namespace_kind = HZ_NS_BLOCK;
	config.zones = 8;
	config.conventional_spare = 4;
	config.conventional_streams = 1;
	config.conventional_buffers = 2;
	config.conventional_gc_low = 2;
	return config;
}

class BlockDevice : public ::testing::Test {
protected:
	static void SetUpTestSuite() { bench_ = std::make_unique<Bench>(block_config()); }
	static void TearDownTestSuite() { bench_.reset(); }
	static Bench &bench() { return *bench_; }
	static uint64_t size() { return bench_->info().size_sectors; }

	static uint16_t write(uint64_t lba, uint32_t sectors, uint64_t salt = 0, bool fua = false)
	{
		return bench().run(hz::QueuePair::write(lba, sectors, fua), placed_pattern(lba, sectors, salt)).status;
	}
	static Bytes read(uint64_t lba, uint32_t sectors)
	{
		Bytes in(static_cast<size_t>(sectors) * 4096, std::byte(0xee));
		EXPECT_EQ(bench().run(hz::QueuePair::read(lba, sectors), {}, &in).status, NVME_SUCCESS) << lba << " + " << sectors;
		return in;
	}
	static std::unique_ptr<Bench> bench_;
};
std::unique_ptr<Bench> BlockDevice::bench_;

auto command(uint8_t opcode, uint64_t lba = 0, uint32_t sectors = 1, uint32_t nsid = 1, uint8_t flags = 0)
{
	return [=](Bench &b) {
		nvme_sqe sqe = io_command(b, opcode, lba, sectors);
		sqe.nsid = nsid;
		sqe.flags = flags;
		return sqe;
	};
}
auto at_end(uint8_t opcode, uint64_t before, uint32_t sectors)
{
	return [=](Bench &b) { return io_command(b, opcode, b.info().size_sectors - before, sectors); };
}
auto large(uint8_t opcode, uint64_t lba, uint32_t sectors)
{
	return [=](Bench &b) {
		nvme_sqe sqe = io_command(b, opcode, lba, sectors);
		auto pair = hz::build_prps(b.region(), b.page(0), sectors * 4096ull, b.page(280));
		sqe.prp1 = pair.prp1;
		sqe.prp2 = pair.prp2;
		return sqe;
	};
}
auto zone_send(uint32_t action, bool all = false)
{
	return [=](Bench &b) {
		nvme_sqe sqe = io_command(b, NVME_IO_ZONE_MGMT_SEND);
		sqe.cdw13 = action | (all ? 1 << 8 : 0);
		return sqe;
	};
}

const CommandCase cases[] = {
	{"ReadFirst", NVME_SUCCESS, command(NVME_IO_READ)},
	{"ReadLast", NVME_SUCCESS, at_end(NVME_IO_READ, 1, 1)},
	{"ReadAtTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_READ, 0, 1)},
	{"ReadOverTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_READ, 1, 2)},
	{"ReadLastLbaOf64Bits", NVME_LBA_OUT_OF_RANGE, command(NVME_IO_READ, ~0ull, 1)},
	{"ReadMdts", NVME_SUCCESS, large(NVME_IO_READ, 50, most)},
	{"ReadMdtsPlusOne", NVME_INVALID_FIELD, large(NVME_IO_READ, 0, most + 1)},
	{"WriteFirst", NVME_SUCCESS, command(NVME_IO_WRITE)},
	{"WriteFirstAgain", NVME_SUCCESS, command(NVME_IO_WRITE)},
	{"WriteInTheMiddle", NVME_SUCCESS, command(NVME_IO_WRITE, 333, 1)},
	{"WriteBeforeThat", NVME_SUCCESS, command(NVME_IO_WRITE, 332, 2)},
	{"WriteLast", NVME_SUCCESS, at_end(NVME_IO_WRITE, 1, 1)},
	{"WriteAtTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_WRITE, 0, 1)},
	{"WriteOverTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_WRITE, 1, 2)},
	{"WriteAt32Bits", NVME_LBA_OUT_OF_RANGE, command(NVME_IO_WRITE, 1ull << 32, 1)},
	{"WriteMdts", NVME_SUCCESS, large(NVME_IO_WRITE, 90, most)},
	{"WriteMdtsPlusOne", NVME_INVALID_FIELD, large(NVME_IO_WRITE, 0, most + 1)},
	{"WriteZeroesFirst", NVME_SUCCESS, command(NVME_IO_WRITE_ZEROES)},
	{"WriteZeroesLast", NVME_SUCCESS, at_end(NVME_IO_WRITE_ZEROES, 5, 5)},
	{"WriteZeroesAtTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_WRITE_ZEROES, 0, 1)},
	{"WriteZeroesOverTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_WRITE_ZEROES, 5, 6)},
	{"Flush", NVME_SUCCESS, command(NVME_IO_FLUSH)},
	{"FlushAllNamespaces", NVME_SUCCESS, command(NVME_IO_FLUSH, 0, 1, NVME_NSID_ALL)},
	{"FlushNamespaceTwo", NVME_INVALID_NAMESPACE, command(NVME_IO_FLUSH, 0, 1, 2)},
	{"ReadNamespaceZero", NVME_INVALID_NAMESPACE, command(NVME_IO_READ, 0, 1, 0)},
	{"WriteBroadcast", NVME_INVALID_NAMESPACE, command(NVME_IO_WRITE, 0, 1, NVME_NSID_ALL)},
	{"WriteFused", NVME_INVALID_FIELD, command(NVME_IO_WRITE, 0, 1, 1, 1)},
	{"ReadSgl", NVME_INVALID_FIELD, command(NVME_IO_READ, 0, 1, 1, 0x40)},
	{"CloseZone", NVME_INVALID_OPCODE, zone_send(NVME_ZSA_CLOSE)},
	{"FinishZone", NVME_INVALID_OPCODE, zone_send(NVME_ZSA_FINISH)},
	{"OpenZone", NVME_INVALID_OPCODE, zone_send(NVME_ZSA_OPEN)},
	{"ResetZone", NVME_INVALID_OPCODE, zone_send(NVME_ZSA_RESET)},
	{"ResetAllZones", NVME_INVALID_OPCODE, zone_send(NVME_ZSA_RESET, true)},
	{"OfflineZone", NVME_INVALID_OPCODE, zone_send(NVME_ZSA_OFFLINE)},
	{"ReportZones", NVME_INVALID_OPCODE, command(NVME_IO_ZONE_MGMT_RECV)},
	{"Append", NVME_INVALID_OPCODE, command(NVME_IO_ZONE_APPEND)},
	{"AppendToNamespaceTwo", NVME_INVALID_OPCODE, command(NVME_IO_ZONE_APPEND, 0, 1, 2)},
	{"DatasetManagementHints", NVME_SUCCESS, dataset(0, {{0, 8, 600}}, 3)},
	{"DeallocateNothing", NVME_SUCCESS, dataset(NVME_DSM_DEALLOCATE, {{0, 0, 600}})},
	{"DeallocateOverTheEnd", NVME_LBA_OUT_OF_RANGE, dataset(NVME_DSM_DEALLOCATE, {{0, 8, 600}, {0, 2, 8 * 96 - 1}})},
	{"DeallocateNamespaceZero", NVME_INVALID_NAMESPACE, dataset(NVME_DSM_DEALLOCATE, {{0, 8, 600}}, 0, 0)},
	{"Copy", NVME_SUCCESS, copy(100, {{600, 8}, {0, 1}})},
	{"CopyOverTheEnd", NVME_LBA_OUT_OF_RANGE, copy(8 * 96 - 7, {{600, 8}})},
	{"CopyFromTheEnd", NVME_LBA_OUT_OF_RANGE, copy(0, {{8 * 96 - 7, 8}})},
	{"CompareAtTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_COMPARE, 0, 1)},
	{"VerifyLast", NVME_SUCCESS, at_end(NVME_IO_VERIFY, 5, 5)},
	{"WriteUncorrectableFirst", NVME_SUCCESS, command(NVME_IO_WRITE_UNCORRECTABLE)},
	{"WriteUncorrectableLast", NVME_SUCCESS, at_end(NVME_IO_WRITE_UNCORRECTABLE, 5, 5)},
	{"WriteUncorrectableAtTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_WRITE_UNCORRECTABLE, 0, 1)},
	{"WriteUncorrectableOverTheEnd", NVME_LBA_OUT_OF_RANGE, at_end(NVME_IO_WRITE_UNCORRECTABLE, 5, 6)},
	{"VendorOpcode", NVME_INVALID_OPCODE, command(0x80)},
};

class BlockIo : public BlockDevice, public ::testing::WithParamInterface<CommandCase> {};
TEST_P(BlockIo, Status)
{
	Bytes before = read(600, 8);
	uint16_t status = bench().raw(GetParam().make(bench())).status;
	EXPECT_EQ(status, GetParam().status) << hz::status_text(status);
	EXPECT_EQ(read(600, 8), before) << "sectors that the command does not name";
}
INSTANTIATE_TEST_SUITE_P(Block, BlockIo, ::testing::ValuesIn(cases), case_name);

auto identify(uint32_t cns, uint32_t nsid = 0, uint32_t csi = 0)
{
	return [=](Bench &b) { return admin_command(b, NVME_ADMIN_IDENTIFY, nsid, cns, csi << 24); };
}

const CommandCase admin_cases[] = {
	{"NvmNamespace", NVME_SUCCESS, identify(NVME_CNS_CSI_NAMESPACE, 1, NVME_CSI_NVM)},
	{"ZonedNamespace", NVME_INVALID_IOCS, identify(NVME_CNS_CSI_NAMESPACE, 1, NVME_CSI_ZNS)},
	{"NvmController", NVME_SUCCESS, identify(NVME_CNS_CSI_CONTROLLER, 0, NVME_CSI_NVM)},
	{"ZonedController", NVME_INVALID_IOCS, identify(NVME_CNS_CSI_CONTROLLER, 0, NVME_CSI_ZNS)},
	{"NvmActiveList", NVME_SUCCESS, identify(NVME_CNS_CSI_ACTIVE_NAMESPACES, 0, NVME_CSI_NVM)},
	{"ZonedActiveList", NVME_INVALID_IOCS, identify(NVME_CNS_CSI_ACTIVE_NAMESPACES, 0, NVME_CSI_ZNS)},
	{"IndependentNamespace", NVME_SUCCESS, identify(NVME_CNS_INDEPENDENT_NAMESPACE, 1)},
};
class BlockAdmin : public BlockDevice, public ::testing::WithParamInterface<CommandCase> {};
TEST_P(BlockAdmin, Status)
{
	auto result = bench().controller().admin(GetParam().make(bench()));
	EXPECT_EQ(result.status, GetParam().status) << hz::status_text(result.status);
}
INSTANTIATE_TEST_SUITE_P(Block, BlockAdmin, ::testing::ValuesIn(admin_cases), case_name);

class BlockData : public BlockDevice {};

TEST_F(BlockData, IsShownAsABlockDevice)
{
	EXPECT_FALSE(bench().info().zoned);
	EXPECT_EQ(size(), 8u * 96) << "no holes";
	EXPECT_EQ(bench().info().zones, 0u);
	nvme_identify_namespace id;
	auto data = bench().controller().identify(NVME_CNS_NAMESPACE, 1);
	std::memcpy(&id, data.data(), sizeof(id));
	EXPECT_EQ(id.ncap, id.nsze);
	data = bench().controller().identify(NVME_CNS_COMMAND_SETS);
	EXPECT_EQ(data[0], std::byte(1 << NVME_CSI_NVM));
	data = bench().controller().identify(NVME_CNS_CSI_ACTIVE_NAMESPACES, 0, NVME_CSI_NVM);
	EXPECT_EQ(data[0], std::byte(1));
}

TEST_F(BlockData, DeallocatedSectorsReadAsZeroes)
{
	nvme_identify_namespace id;
	auto data = bench().controller().identify(NVME_CNS_NAMESPACE, 1);
	std::memcpy(static_cast<void *>(&id), data.data(), sizeof(id));
	EXPECT_EQ(id.dlfeat, NVME_DLFEAT_READS_ZEROES | NVME_DLFEAT_WRITE_ZEROES);
	ASSERT_EQ(write(100, 30), NVME_SUCCESS);
	std::vector<nvme_dsm_range> ranges(NVME_DSM_RANGES, {5, 3, 104});
	ranges.back() = {0, 10, 119};
	ASSERT_EQ(bench().raw(dataset(NVME_DSM_DEALLOCATE, ranges)(bench())).status, NVME_SUCCESS);
	Bytes now = read(100, 30), expected = placed_pattern(100, 30, 0);
	std::fill_n(expected.begin() + 4 * 4096, 3 * 4096, std::byte(0));
	std::fill_n(expected.begin() + 19 * 4096, 10 * 4096, std::byte(0));
	EXPECT_EQ(now, expected);
	ASSERT_EQ(write(105, 1, 7), NVME_SUCCESS);
	EXPECT_EQ(read(105, 1), placed_pattern(105, 1, 7));
}

TEST_F(BlockData, CopiesOverlap)
{
	ASSERT_EQ(write(100, 30), NVME_SUCCESS);
	ASSERT_EQ(bench().raw(copy(105, {{100, 20}, {129, 1}, {400, 1}})(bench())).status, NVME_SUCCESS);
	Bytes expected = placed_pattern(100, 5, 0);
	for (const auto &[from, sectors] : {std::pair{100, 20}, {129, 1}}) {
		const Bytes part = placed_pattern(static_cast<uint64_t>(from), static_cast<uint32_t>(sectors), 0);
		expected.insert(expected.end(), part.begin(), part.end());
	}
	expected.resize(expected.size() + 4096);
	const Bytes rest = placed_pattern(127, 3, 0);
	expected.insert(expected.end(), rest.begin(), rest.end());
	EXPECT_EQ(read(100, 30), expected);
	nvme_sqe append = copy(0, {{100, 1}})(bench());
	append.cdw3 = NVME_COPY_APPEND;
	EXPECT_EQ(bench().raw(append).status, NVME_INVALID_FIELD);
}

TEST_F(BlockData, EffectsLogNamesNoZonedCommand)
{
	nvme_effects_log log;
	auto data = bench().controller().log_page(NVME_LOG_EFFECTS, sizeof(log));
	std::memcpy(static_cast<void *>(&log), data.data(), sizeof(log));
	for (uint8_t opcode : {NVME_IO_ZONE_APPEND, NVME_IO_ZONE_MGMT_SEND, NVME_IO_ZONE_MGMT_RECV})
		EXPECT_EQ(log.iocs[opcode], 0u);
	EXPECT_EQ(log.iocs[NVME_IO_WRITE] & 3u, 3u);
}

TEST_F(BlockData, UnwrittenSectorsReadAsZeroes)
{
	Bench fresh(block_config());
	Bytes in(most * 4096ull, std::byte(0xee));
	EXPECT_EQ(fresh.run(hz::QueuePair::read(600, most), {}, &in).status, NVME_SUCCESS);
	EXPECT_EQ(in, Bytes(most * 4096ull));
}

TEST_F(BlockData, TheNewestWriteIsRead)
{
	for (uint64_t round = 1; round <= 20; round++)
		ASSERT_EQ(write(7, 3, round), NVME_SUCCESS);
	EXPECT_EQ(read(7, 3), placed_pattern(7, 3, 20));
}

TEST_F(BlockData, OverlappingWritesLeaveTheLaterOnes)
{
	ASSERT_EQ(write(100, 40, 1), NVME_SUCCESS);
	ASSERT_EQ(write(110, 10, 2), NVME_SUCCESS);
	ASSERT_EQ(write(90, 15, 3), NVME_SUCCESS);
	EXPECT_EQ(read(90, 15), placed_pattern(90, 15, 3));
	EXPECT_EQ(read(105, 5), placed_pattern(105, 5, 1));
	EXPECT_EQ(read(110, 10), placed_pattern(110, 10, 2));
	EXPECT_EQ(read(120, 20), placed_pattern(120, 20, 1));
}

TEST_F(BlockData, WritesGoOverWhatWouldBeZoneBoundaries)
{
	ASSERT_EQ(write(96 - 30, most, 9), NVME_SUCCESS);
	EXPECT_EQ(read(96 - 30, most), placed_pattern(96 - 30, most, 9));
	ASSERT_EQ(write(2 * 96 - 1, 2, 10), NVME_SUCCESS);
	EXPECT_EQ(read(2 * 96 - 1, 2), placed_pattern(2 * 96 - 1, 2, 10));
}

TEST_F(BlockData, WriteZeroesOverData)
{
	ASSERT_EQ(write(200, 20, 4), NVME_SUCCESS);
	ASSERT_EQ(bench().status(hz::QueuePair::write_zeroes(205, 7)), NVME_SUCCESS);
	EXPECT_EQ(read(205, 7), Bytes(7 * 4096));
	EXPECT_EQ(read(200, 5), placed_pattern(200, 5, 4));
	EXPECT_EQ(read(212, 8), placed_pattern(212, 8, 4));
}

TEST_F(BlockData, MarksLastUntilTheBlocksAreWrittenAgain)
{
	Bench &b = bench();
	ASSERT_EQ(write(200, 20, 4), NVME_SUCCESS);
	ASSERT_EQ(b.status(hz::QueuePair::write_uncorrectable(205, 4)), NVME_SUCCESS);
	for (uint64_t lba : {205, 206, 207, 208})
		EXPECT_EQ(b.status(hz::QueuePair::read(lba, 1)), NVME_UNRECOVERED_READ) << lba;
	ASSERT_EQ(b.status(hz::QueuePair::flush()), NVME_SUCCESS);
	EXPECT_EQ(b.status(hz::QueuePair::verify(200, 20)), NVME_UNRECOVERED_READ);
	EXPECT_EQ(read(200, 5), placed_pattern(200, 5, 4));
	EXPECT_EQ(read(209, 11), placed_pattern(209, 11, 4));
	ASSERT_EQ(write(205, 1, 6), NVME_SUCCESS);
	ASSERT_EQ(b.status(hz::QueuePair::write_zeroes(206, 1)), NVME_SUCCESS);
	ASSERT_EQ(b.raw(dataset(NVME_DSM_DEALLOCATE, {{0, 2, 207}})(b)).status, NVME_SUCCESS);
	EXPECT_EQ(read(205, 1), placed_pattern(205, 1, 6));
	EXPECT_EQ(read(206, 3), Bytes(3 * 4096));
}

TEST_F(BlockData, CompareAndVerify)
{
	ASSERT_EQ(write(200, 20, 4), NVME_SUCCESS);
	ASSERT_EQ(write(205, 3, 5), NVME_SUCCESS);
	ASSERT_EQ(bench().status(hz::QueuePair::verify(190, 40)), NVME_SUCCESS);
	EXPECT_EQ(bench().run(hz::QueuePair::compare(205, 3), placed_pattern(205, 3, 5)).status, NVME_SUCCESS);
	EXPECT_EQ(bench().run(hz::QueuePair::compare(205, 3), placed_pattern(205, 3, 4)).status, NVME_COMPARE_FAILURE);
}

TEST_F(BlockData, WriteZeroesMayBeLongerThanATransfer)
{
	ASSERT_EQ(write(300, 50, 4), NVME_SUCCESS);
	ASSERT_EQ(bench().status(hz::QueuePair::write_zeroes(290, 250)), NVME_SUCCESS);
	EXPECT_EQ(read(290, most), Bytes(most * 4096ull));
}

uint64_t programmed(Bench &b)
{
	auto log = b.controller().log_flash();
	uint64_t sum = 0;
	for (unsigned cause = 0; cause < HZ_CAUSES; cause++)
		sum += log.program_sectors[cause];
	return sum;
}

TEST_F(BlockData, ForcedUnitAccessIsDurableAtCompletion)
{
	ASSERT_EQ(bench().status(hz::QueuePair::flush()), NVME_SUCCESS);
	uint64_t before = programmed(bench());
	ASSERT_EQ(write(400, 3, 5, true), NVME_SUCCESS);
	EXPECT_GE(programmed(bench()), before + 3);
	EXPECT_EQ(read(400, 3), placed_pattern(400, 3, 5));
}

TEST_F(BlockData, FlushMakesEarlierWritesDurable)
{
	ASSERT_EQ(bench().status(hz::QueuePair::flush()), NVME_SUCCESS);
	uint64_t before = programmed(bench());
	ASSERT_EQ(write(410, 1, 5), NVME_SUCCESS);
	ASSERT_EQ(write(500, 1, 5), NVME_SUCCESS);
	ASSERT_EQ(bench().status(hz::QueuePair::flush()), NVME_SUCCESS);
	EXPECT_GE(programmed(bench()), before + 2);
	EXPECT_EQ(read(410, 1), placed_pattern(410, 1, 5));
	EXPECT_EQ(read(500, 1), placed_pattern(500, 1, 5));
}

TEST_F(BlockData, DataOutliveAControllerReset)
{
	ASSERT_EQ(write(77, 5, 6), NVME_SUCCESS);
	bench().restart();
	EXPECT_EQ(read(77, 5), placed_pattern(77, 5, 6));
}

// 60 times the device's size of zeroes is queued, some seconds of work; time stands a moment after the commands have come.
TEST_F(BlockData, ResetDoesNotWaitForWhatIsQueued)
{
	hz::QueuePair &queue = bench().queue();
	uint64_t arrival_ns = 0, begun_ns = bench().controller().log_flash().elapsed_ns;
	ASSERT_EQ(write(77, 5, 6), NVME_SUCCESS);
	queue.open(0);
	for (int i = 0; i < 60; i++)
		arrival_ns = queue.submit(*queue.acquire(), hz::QueuePair::write_zeroes(0, static_cast<uint32_t>(size())), arrival_ns);
	queue.promise_until(arrival_ns + 100000);
	bench().restart();
	EXPECT_LT(bench().controller().log_flash().elapsed_ns - begun_ns, 50000000u);
	ASSERT_EQ(write(77, 5, 7), NVME_SUCCESS);
	EXPECT_EQ(read(77, 5), placed_pattern(77, 5, 7));
}

TEST_F(BlockData, EveryLengthAtEveryOffset)
{
	ASSERT_EQ(write(0, most, 8), NVME_SUCCESS);
	for (uint32_t at : {0u, 1u, 3u, 47u, 95u, 96u, 120u})
		for (uint32_t sectors : {1u, 2u, 3u, 8u})
			EXPECT_EQ(read(at, sectors), placed_pattern(at, sectors, 8)) << at << " + " << sectors;
}

/* The device collects its own garbage: five times its size in random writes, every sector as the model says. */
TEST_F(BlockData, RandomOverwritesOfTheWholeDevice)
{
	std::mt19937 random(11);
	std::vector<uint64_t> salt(size());
	for (uint64_t lba = 0; lba < size(); lba += 96)
		ASSERT_EQ(write(lba, 96, 1), NVME_SUCCESS);
	std::fill(salt.begin(), salt.end(), 1);
	uint64_t written = 0;
	for (uint64_t round = 2; written < 5 * size(); round++) {
		uint32_t sectors = 1 + random() % 24;
		uint64_t lba = random() % (size() - sectors);
		ASSERT_EQ(write(lba, sectors, round), NVME_SUCCESS) << "round " << round;
		std::fill_n(salt.begin() + static_cast<long>(lba), sectors, round);
		written += sectors;
	}
	for (uint64_t lba = 0; lba < size(); lba++)
		ASSERT_EQ(read(lba, 1), placed_pattern(lba, 1, salt[lba])) << lba;
	EXPECT_GT(bench().controller().log_ftl().conventional_gc_runs, 0u);
}

} // namespace block_test
} // namespace conform
