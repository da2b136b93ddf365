// Conventional zones before sequential ones: ZBC's meaning of them, since ZNS 1.1 reserves the type. Zones 0 to 2 are conventional.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <random>

#include "command_case.hpp"
#include "session/machine/error.hpp"

namespace conform {
namespace mixed_zones_test {

constexpr uint32_t conventional = 3, first_sequential = 3;

hz_device_config mixed_config()
{
	hz_device_config config = small_config();
	config.slc_blocks_per_plane = 11;
	config.blocks_per_plane = 30;
	config.conventional_zones = conventional;
	config.conventional_spare = 5;
	config.conventional_streams = 2;
	config.conventional_buffers = 2;
	config.conventional_gc_low = 2;
	return config;
}

class MixedDevice : public ::testing::Test {
protected:
	static void SetUpTestSuite() { bench_ = std::make_unique<Bench>(mixed_config()); }
	static void TearDownTestSuite() { bench_.reset(); }
	void SetUp() override { bench_->reset_zones(); }
	static Bench &bench() { return *bench_; }

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
	static void expect_conventional(uint32_t z)
	{
		const nvme_zone_descriptor zone = bench().zone(z);
		EXPECT_EQ(zone.type, NVME_ZT_CONVENTIONAL);
		EXPECT_EQ(zone.state >> 4, NVME_ZS_NOT_WP);
		EXPECT_EQ(zone.write_pointer, UINT64_MAX);
		EXPECT_EQ(zone.capacity, bench().capacity());
	}
	static std::unique_ptr<Bench> bench_;
};
std::unique_ptr<Bench> MixedDevice::bench_;

auto write_at(uint32_t zone, uint32_t offset, uint32_t sectors)
{
	return [=](Bench &b) { return hz::QueuePair::write(b.start(zone) + offset, sectors); };
}
auto zeroes_at(uint32_t zone, uint32_t offset, uint32_t sectors)
{
	return [=](Bench &b) { return hz::QueuePair::write_zeroes(b.start(zone) + offset, sectors); };
}
auto read_at(uint32_t zone, uint32_t offset, uint32_t sectors)
{
	return [=](Bench &b) { return hz::QueuePair::read(b.start(zone) + offset, sectors); };
}
auto send_to(uint32_t zone, nvme_zone_send_action action, bool all = false)
{
	return [=](Bench &b) { return hz::QueuePair::zone_send(b.start(zone), action, all); };
}
auto append_to(uint32_t zone)
{
	return [=](Bench &b) { return hz::QueuePair::append(b.start(zone), 1); };
}

const CommandCase cases[] = {
	{"WriteAtTheStart", NVME_SUCCESS, write_at(0, 0, 4)},
	{"WriteInTheMiddle", NVME_SUCCESS, write_at(1, 50, 4)},
	{"WriteTheLastSectorFirst", NVME_SUCCESS, write_at(2, 95, 1)},
	{"WriteTheWholeZone", NVME_SUCCESS, write_at(1, 0, 96)},
	{"WriteOverTheCapacity", NVME_ZONE_BOUNDARY, write_at(0, 95, 2)},
	{"WriteBehindTheCapacity", NVME_ZONE_BOUNDARY, write_at(0, 100, 1)},
	{"WriteIntoTheNextZone", NVME_ZONE_BOUNDARY, write_at(0, 90, 50)},
	{"WriteIntoASequentialZone", NVME_ZONE_BOUNDARY, write_at(2, 90, 50)},
	{"ZeroesInTheMiddle", NVME_SUCCESS, zeroes_at(1, 13, 20)},
	{"ZeroesOverTheCapacity", NVME_ZONE_BOUNDARY, zeroes_at(1, 90, 7)},
	{"ReadUnwritten", NVME_SUCCESS, read_at(2, 10, 5)},
	{"ReadOverTheBoundary", NVME_SUCCESS, read_at(0, 90, 60)},
	{"ReadIntoASequentialZone", NVME_SUCCESS, read_at(2, 90, 60)},
	{"CloseConventional", NVME_INVALID_FIELD, send_to(0, NVME_ZSA_CLOSE)},
	{"FinishConventional", NVME_INVALID_FIELD, send_to(0, NVME_ZSA_FINISH)},
	{"OpenConventional", NVME_INVALID_FIELD, send_to(1, NVME_ZSA_OPEN)},
	{"ResetConventional", NVME_INVALID_FIELD, send_to(2, NVME_ZSA_RESET)},
	{"OfflineConventional", NVME_INVALID_FIELD, send_to(0, NVME_ZSA_OFFLINE)},
	{"AppendToConventional", NVME_INVALID_FIELD, append_to(1)},
	{"AppendToTheFirst", NVME_INVALID_FIELD, append_to(0)},
	{"CloseAll", NVME_SUCCESS, send_to(0, NVME_ZSA_CLOSE, true)},
	{"FinishAll", NVME_SUCCESS, send_to(0, NVME_ZSA_FINISH, true)},
	{"OpenAll", NVME_SUCCESS, send_to(0, NVME_ZSA_OPEN, true)},
	{"ResetAll", NVME_SUCCESS, send_to(0, NVME_ZSA_RESET, true)},
	{"OfflineAll", NVME_SUCCESS, send_to(0, NVME_ZSA_OFFLINE, true)},
	{"SequentialAtItsPointer", NVME_SUCCESS, write_at(first_sequential, 0, 4)},
	{"SequentialElsewhere", NVME_ZONE_INVALID_WRITE, write_at(first_sequential, 4, 4)},
	{"SequentialOpen", NVME_SUCCESS, send_to(first_sequential, NVME_ZSA_OPEN)},
	{"SequentialAppend", NVME_SUCCESS, append_to(first_sequential)},
};

class MixedIo : public MixedDevice, public ::testing::WithParamInterface<CommandCase> {};
TEST_P(MixedIo, Status)
{
	Bench &b = bench();
	uint16_t status = b.status(GetParam().make(b));
	EXPECT_EQ(status, GetParam().status) << hz::status_text(status);
	for (uint32_t z = 0; z < conventional; z++)
		expect_conventional(z);
}
INSTANTIATE_TEST_SUITE_P(Mixed, MixedIo, ::testing::ValuesIn(cases), case_name);

class MixedData : public MixedDevice {};

TEST_F(MixedData, TheReportTellsTheZonesApart)
{
	Bench &b = bench();
	auto zones = b.controller().zone_report(b.queue());
	ASSERT_EQ(zones.size(), 12u);
	for (uint32_t z = 0; z < 12; z++)
		EXPECT_EQ(zones[z].type, z < conventional ? NVME_ZT_CONVENTIONAL : NVME_ZT_SEQUENTIAL) << z;
	EXPECT_EQ(zones[3].state >> 4, NVME_ZS_EMPTY);
	EXPECT_EQ(b.info().conventional_zones, conventional);
}

/* No state filter fits a zone without a state. */
TEST_F(MixedData, FiltersByStateLeaveThemOut)
{
	for (uint32_t filter : {NVME_ZRASF_EMPTY, NVME_ZRASF_FULL, NVME_ZRASF_CLOSED, NVME_ZRASF_IMPLICIT_OPEN, NVME_ZRASF_EXPLICIT_OPEN,
				NVME_ZRASF_READ_ONLY, NVME_ZRASF_OFFLINE}) {
		nvme_sqe sqe = hz::QueuePair::zone_report(0, 4096, false);
		sqe.cdw13 |= filter << 8;
		Bytes report(4096);
		ASSERT_EQ(bench().run(sqe, {}, &report).status, NVME_SUCCESS);
		nvme_zone_report head;
		std::memcpy(static_cast<void *>(&head), report.data(), sizeof(head));
		EXPECT_EQ(head.zones, filter == NVME_ZRASF_EMPTY ? 12 - conventional : 0) << filter;
	}
}

TEST_F(MixedData, OverwritesInAnyOrder)
{
	ASSERT_EQ(write(50, 10, 1), NVME_SUCCESS);
	ASSERT_EQ(write(45, 10, 2), NVME_SUCCESS);
	ASSERT_EQ(write(0, 3, 3), NVME_SUCCESS);
	EXPECT_EQ(read(45, 10), placed_pattern(45, 10, 2));
	EXPECT_EQ(read(55, 5), placed_pattern(55, 5, 1));
	EXPECT_EQ(read(0, 3), placed_pattern(0, 3, 3));
}

TEST_F(MixedData, DoNotCountAsOpenOrActive)
{
	Bench &b = bench();
	for (uint32_t z = 0; z < conventional; z++)
		ASSERT_EQ(b.write(b.start(z), 1), NVME_SUCCESS);
	for (uint32_t z = first_sequential; z < first_sequential + 3; z++)
		EXPECT_EQ(b.send(z, NVME_ZSA_OPEN), NVME_SUCCESS) << "max_open is 3";
	EXPECT_EQ(b.send(first_sequential + 3, NVME_ZSA_OPEN), NVME_TOO_MANY_OPEN);
	EXPECT_EQ(b.write(10, 4), NVME_SUCCESS) << "whatever the budget";
}

TEST_F(MixedData, KeepTheirDataWhenAllZonesAreReset)
{
	ASSERT_EQ(write(20, 6, 4), NVME_SUCCESS);
	ASSERT_EQ(write(bench().start(first_sequential), 6, 4), NVME_SUCCESS);
	bench().reset_zones();
	EXPECT_EQ(read(20, 6), placed_pattern(20, 6, 4));
	EXPECT_EQ(read(bench().start(first_sequential), 6), Bytes(6 * 4096));
}

TEST_F(MixedData, KeepTheirDataWhenAllZonesAreFinished)
{
	ASSERT_EQ(write(20, 6, 5), NVME_SUCCESS);
	ASSERT_EQ(bench().send(0, NVME_ZSA_FINISH, true), NVME_SUCCESS);
	ASSERT_EQ(write(22, 1, 6), NVME_SUCCESS);
	EXPECT_EQ(read(20, 2), placed_pattern(20, 2, 5));
	EXPECT_EQ(read(22, 1), placed_pattern(22, 1, 6));
}

TEST_F(MixedData, ReadsCrossFromOneKindToTheOther)
{
	Bench &b = bench();
	const uint32_t capacity = b.capacity(), gap = static_cast<uint32_t>(b.zone_size()) - capacity;
	ASSERT_EQ(write(b.start(2) + capacity - 4, 4, 7), NVME_SUCCESS);
	ASSERT_EQ(write(b.start(3), 4, 7), NVME_SUCCESS);
	Bytes expected = placed_pattern(b.start(2) + capacity - 4, 4, 7), tail = placed_pattern(b.start(3), 4, 7);
	expected.resize(expected.size() + gap * 4096ull);
	expected.insert(expected.end(), tail.begin(), tail.end());
	EXPECT_EQ(read(b.start(2) + capacity - 4, 4 + gap + 4), expected);
}

TEST_F(MixedData, ForcedUnitAccessAndZeroes)
{
	ASSERT_EQ(write(30, 3, 8, true), NVME_SUCCESS);
	ASSERT_EQ(bench().status(hz::QueuePair::write_zeroes(31, 1)), NVME_SUCCESS);
	ASSERT_EQ(bench().status(hz::QueuePair::flush()), NVME_SUCCESS);
	EXPECT_EQ(read(30, 1), placed_pattern(30, 1, 8));
	EXPECT_EQ(read(31, 1), Bytes(4096));
	EXPECT_EQ(read(32, 1), placed_pattern(32, 1, 8));
}

TEST_F(MixedData, DataOutliveAControllerReset)
{
	ASSERT_EQ(write(70, 5, 9), NVME_SUCCESS);
	bench().restart();
	EXPECT_EQ(read(70, 5), placed_pattern(70, 5, 9));
	for (uint32_t z = 0; z < conventional; z++)
		expect_conventional(z);
}

/* Metadata and data side by side, as a file system writes them. */
TEST_F(MixedData, RandomOverwritesBesideSequentialWrites)
{
	Bench &b = bench();
	std::mt19937 random(5);
	std::vector<uint64_t> salt(conventional * 128, 0);
	uint64_t pointer = 0;
	for (uint64_t round = 1; round < 700; round++) {
		uint32_t sectors = 1 + random() % 8, z = random() % conventional;
		uint64_t lba = b.start(z) + random() % (b.capacity() - sectors);
		ASSERT_EQ(write(lba, sectors, round), NVME_SUCCESS);
		std::fill_n(salt.begin() + static_cast<long>(lba), sectors, round);
		if (pointer + 2 <= 6 * b.capacity() && round % 2) {
			ASSERT_EQ(write(b.start(first_sequential + static_cast<uint32_t>(pointer / b.capacity())) + pointer % b.capacity(),
					2, 1),
				  NVME_SUCCESS);
			pointer += 2;
		}
	}
	for (uint64_t lba = 0; lba < salt.size(); lba++)
		if (salt[lba]) {
			ASSERT_EQ(read(lba, 1), placed_pattern(lba, 1, salt[lba])) << lba;
		}
	for (uint64_t at = 0; at < pointer; at += 2) {
		uint64_t lba = b.start(first_sequential + static_cast<uint32_t>(at / b.capacity())) + at % b.capacity();
		ASSERT_EQ(read(lba, 2), placed_pattern(lba, 2, 1)) << lba;
	}
	EXPECT_GT(b.controller().log_ftl().conventional_gc_runs, 0u);
}

} // namespace mixed_zones_test
} // namespace conform
