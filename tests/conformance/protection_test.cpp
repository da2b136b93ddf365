// Protection information of type 1 on the real image: Identify data, and the status of valid and
// invalid commands.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "command_case.hpp"
#include "tuple.h"

namespace conform {
namespace protection_test {

constexpr uint32_t all_checks = uint32_t(HZ_CHECK_ALL) << NVME_RW_PRCHK_SHIFT;

hz_device_config protected_config()
{
	hz_device_config config = small_config();
	config.protection = HZ_PROTECTION_TYPE1;
	return config;
}

// Data at pages 0 and 1, tuples at page 2.
class Protection : public ::testing::Test {
protected:
	static void SetUpTestSuite() { bench_ = std::make_unique<Bench>(protected_config()); }
	static void TearDownTestSuite() { bench_.reset(); }
	void SetUp() override { bench_->reset_zones(); }

	static nvme_sqe command(nvme_sqe sqe, uint32_t flags)
	{
		sqe.prp1 = bench_->page(0);
		sqe.prp2 = bench_->page(1);
		sqe.mptr = bench_->page(2);
		sqe.cdw12 |= flags;
		sqe.cdw14 = sqe.cdw10;
		sqe.cdw15 = 0xffff0000 | 0x4711;
		return sqe;
	}
	static uint16_t status(const nvme_sqe &sqe) { return bench_->raw(sqe).status; }
	// Two sectors of a pattern, and their tuples.
	static void make(uint32_t lba)
	{
		const Bytes data = pattern(lba, 2);
		std::memcpy(bench_->at(bench_->page(0), 8192), data.data(), 8192);
		for (uint32_t i = 0; i < 2; i++)
			hz_tuple_store(tuple(i), {hz_crc16(0, &data[i * 4096], 4096), 0x4711, lba + i});
	}
	static std::byte *tuple(uint32_t i) { return bench_->at(bench_->page(2) + i * HZ_TUPLE_BYTES, HZ_TUPLE_BYTES); }

	static std::unique_ptr<Bench> bench_;
};
std::unique_ptr<Bench> Protection::bench_;

TEST_F(Protection, IdentifyTellsOfIt)
{
	nvme_identify_namespace id;
	const auto page = bench_->controller().identify(NVME_CNS_NAMESPACE, 1);
	std::memcpy(static_cast<void *>(&id), page.data(), sizeof(id));
	EXPECT_EQ(id.lbaf[id.flbas].ms, HZ_TUPLE_BYTES);
	EXPECT_EQ(id.flbas & 0x10, 0) << "metadata in a buffer of its own";
	EXPECT_EQ(id.mc, NVME_MC_SEPARATE);
	EXPECT_EQ(id.dps, NVME_DPS_TYPE1);
	EXPECT_TRUE(id.dpc & NVME_DPC_TYPE1);
}

TEST_F(Protection, TuplesComeBackAsTheyWere)
{
	make(0);
	ASSERT_EQ(status(command(hz::QueuePair::write(0, 2), all_checks)), NVME_SUCCESS);
	for (bool flushed : {false, true}) {
		std::memset(bench_->at(bench_->page(0), 3 * 4096), 0, 3 * 4096);
		ASSERT_EQ(status(command(hz::QueuePair::read(0, 2), all_checks)), NVME_SUCCESS);
		for (uint32_t i = 0; i < 2; i++) {
			const hz_tuple got = hz_tuple_load(tuple(i));
			EXPECT_EQ(got.guard, hz_crc16(0, bench_->at(bench_->page(i)), 4096)) << "flushed " << flushed;
			EXPECT_EQ(got.application, 0x4711);
			EXPECT_EQ(got.reference, i);
		}
		ASSERT_EQ(status(hz::QueuePair::flush()), NVME_SUCCESS);
	}
}

TEST_F(Protection, AWriteThatIsNotWhatItsTuplesSayChangesNothing)
{
	make(0);
	bench_->at(bench_->page(1))[4000] ^= std::byte(1);
	EXPECT_EQ(status(command(hz::QueuePair::write(0, 2), all_checks)), NVME_GUARD_CHECK);
	make(1);
	EXPECT_EQ(status(command(hz::QueuePair::write(0, 2), all_checks)), NVME_REFERENCE_CHECK);
	make(0);
	nvme_sqe other = command(hz::QueuePair::write(0, 2), all_checks);
	other.cdw15 ^= 1;
	EXPECT_EQ(status(other), NVME_APPLICATION_CHECK);
	other = command(hz::QueuePair::write(0, 2), all_checks);
	other.cdw14++;
	EXPECT_EQ(status(other), NVME_INVALID_PROTECTION);
	EXPECT_EQ(bench_->filled(0), 0u);
	EXPECT_EQ(status(command(hz::QueuePair::write(0, 2), all_checks)), NVME_SUCCESS);
}

TEST_F(Protection, WrongTuplesThatNobodyCheckedAreFoundWhenRead)
{
	make(5); // another place's
	ASSERT_EQ(status(command(hz::QueuePair::write(0, 2), 0)), NVME_SUCCESS);
	for (bool flushed : {false, true}) {
		EXPECT_EQ(status(command(hz::QueuePair::read(0, 2), all_checks)), NVME_REFERENCE_CHECK) << "flushed " << flushed;
		EXPECT_EQ(status(command(hz::QueuePair::verify(0, 2), all_checks)), NVME_REFERENCE_CHECK);
		EXPECT_EQ(bench_->status(hz::QueuePair::read(0, 2)), NVME_REFERENCE_CHECK) << "as the library asks";
		ASSERT_EQ(status(hz::QueuePair::flush()), NVME_SUCCESS);
	}
	EXPECT_EQ(status(command(hz::QueuePair::read(0, 2), 0)), NVME_SUCCESS);
}

TEST_F(Protection, Appends)
{
	const auto start = static_cast<uint32_t>(bench_->start(3));
	make(start);
	EXPECT_EQ(status(command(hz::QueuePair::append(start, 2), all_checks)), NVME_INVALID_PROTECTION);
	for (uint32_t round = 0; round < 3; round++)
		ASSERT_EQ(status(command(hz::QueuePair::append(start, 2), all_checks | NVME_RW_PIREMAP)), NVME_SUCCESS);
	for (uint32_t round = 0; round < 3; round++)
		EXPECT_EQ(bench_->status(hz::QueuePair::read(start + 2 * round, 2)), NVME_SUCCESS);
}

// Both generate new tuples, or copy them; type 1 ties tags to LBAs.
TEST_F(Protection, Copies)
{
	const uint32_t checks = 7, source = checks << NVME_COPY_SOURCE_PRCHK_SHIFT, act = NVME_RW_PRACT | NVME_COPY_SOURCE_PRACT;
	ASSERT_EQ(bench_->write(0, 4), NVME_SUCCESS);
	const auto to = [&](uint64_t lba, uint32_t fields, uint32_t tag, uint32_t cdw3 = 0) {
		nvme_sqe sqe = copy(lba, {{0, 2}}, fields)(*bench_);
		sqe.cdw3 = cdw3;
		sqe.cdw14 = tag;
		return bench_->raw(sqe).status;
	};
	const auto start = static_cast<uint32_t>(bench_->start(2));
	EXPECT_EQ(to(start, NVME_RW_PRACT, start), NVME_INVALID_FIELD) << "one of the two";
	EXPECT_EQ(to(start, source, start, NVME_COPY_APPEND), NVME_INVALID_PROTECTION) << "nobody knows the tags";
	EXPECT_EQ(to(start, act | source | checks << NVME_RW_PRCHK_SHIFT, start + 1), NVME_INVALID_PROTECTION);
	ASSERT_EQ(to(start, act | source, start), NVME_SUCCESS);
	ASSERT_EQ(to(start, act | source, start, NVME_COPY_APPEND), NVME_SUCCESS);
	EXPECT_EQ(bench_->status(hz::QueuePair::read(start, 4)), NVME_SUCCESS) << "as the library checks";
	ASSERT_EQ(to(start + 4, source, 0), NVME_SUCCESS);
	EXPECT_EQ(bench_->status(hz::QueuePair::read(start + 4, 2)), NVME_REFERENCE_CHECK) << "they have the tags of the source";
}

// The device makes them and strips them; a host that knows nothing of all this has its own way.
TEST_F(Protection, TheLibraryAndTheDeviceAgree)
{
	Bytes in(8192);
	ASSERT_EQ(bench_->write(0, 2), NVME_SUCCESS);
	ASSERT_EQ(bench_->append(0, 2), NVME_SUCCESS);
	ASSERT_EQ(bench_->status(hz::QueuePair::write_zeroes(4, 2)), NVME_SUCCESS);
	make(6);
	ASSERT_EQ(status(command(hz::QueuePair::write(6, 2), NVME_RW_PRACT)), NVME_SUCCESS);
	for (uint64_t lba : {0, 2, 4, 6, 8}) {
		EXPECT_EQ(bench_->run(hz::QueuePair::read(lba, 2), {}, &in).status, NVME_SUCCESS) << lba;
		EXPECT_EQ(bench_->run(hz::QueuePair::compare(lba, 2), in).status, NVME_SUCCESS) << lba;
		EXPECT_EQ(bench_->status(hz::QueuePair::verify(lba, 2)), NVME_SUCCESS) << lba;
		EXPECT_EQ(status(command(hz::QueuePair::read(lba, 2), NVME_RW_PRACT | 5u << NVME_RW_PRCHK_SHIFT)), NVME_SUCCESS) << lba;
	}
	std::memset(tuple(0), 0, 2 * HZ_TUPLE_BYTES);
	ASSERT_EQ(status(command(hz::QueuePair::read(8, 2), all_checks)), NVME_SUCCESS);
	EXPECT_EQ(hz_tuple_load(tuple(1)).application, 0xffff) << "never written";
}

} // namespace protection_test
} // namespace conform
