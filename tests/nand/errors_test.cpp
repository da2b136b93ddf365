// Retention, read disturb and wear as raw bit errors; retries; faults at a chosen operation.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "flash_rig.hpp"
#include "nand/nand_checksum.h"
#include "nand/nand_errors.h"

using rig::Rig;
using rig::Txn;

namespace {

constexpr uint64_t hour_ns = 3600000000000ull;

hz_device_config with_errors(uint32_t base, uint32_t ecc_bits)
{
	hz_device_config cfg = rig::small_config();
	cfg.rber_base = base;
	cfg.ecc_bits = ecc_bits;
	cfg.read_retries = 5;
	cfg.retry_percent = 50;
	return cfg;
}

const hz_nand_block &block_of(Rig &r, uint32_t block) { return *r.media.nand.ops->block(&r.media.nand, r.addr(0, block, 0)); }

} // namespace

// Bytes [first, end) of a record are in its checksum, bit by bit.
template <class Checksum> void expect_covered(void *record, uint64_t first, uint64_t end, Checksum checksum)
{
	auto *bytes = static_cast<uint8_t *>(record);
	const uint32_t before = checksum();
	EXPECT_NE(before, 0u);
	for (uint64_t bit = first * 8; bit < end * 8; bit++) {
		bytes[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
		ASSERT_NE(checksum(), before) << "byte " << bit / 8 << ", bit " << bit % 8;
		bytes[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
	}
	EXPECT_EQ(checksum(), before);
}

TEST(Checksums, OfTheHeaderCoverItAndTheConfig)
{
	std::vector<uint64_t> page(HZ_NAND_HEADER_BYTES / 8);
	for (uint64_t &word : page)
		word = nand_mix(1, static_cast<uint64_t>(&word - page.data()));
	const auto *header = reinterpret_cast<hz_nand_header *>(page.data());
	auto checksum = [&] { return nand_header_checksum(header); };
	expect_covered(page.data(), 0, offsetof(hz_nand_header, checksum), checksum);
	expect_covered(page.data(), offsetof(hz_nand_header, formatting), sizeof(hz_nand_header), checksum);
	expect_covered(page.data(), HZ_NAND_CONFIG_OFFSET, HZ_NAND_CONFIG_OFFSET + sizeof(hz_device_config), checksum);
}

TEST(Checksums, OfABlockAndOfOobCoverTheirFieldsAndTheirPlace)
{
	hz_nand_block block{};
	auto of_block = [&] { return nand_block_checksum(&block, 5); };
	expect_covered(&block, 0, offsetof(hz_nand_block, checksum), of_block);
	expect_covered(&block, offsetof(hz_nand_block, program_ns), offsetof(hz_nand_block, read_count), of_block);
	EXPECT_NE(nand_block_checksum(&block, 6), of_block());
	hz_nand_oob oob{};
	const uint32_t before = nand_oob_checksum(&oob, 5);
	EXPECT_NE(nand_oob_checksum(&oob, 6), before);
	for (int i = 0; i < 6; i++) {
		hz_nand_oob other{};
		(i == 0 ? other.lpa : i == 1 ? other.generation : other.data_checksum) = i < 3;
		if (i == 3)
			other.kind = 1;
		if (i == 4)
			other.stream = 1;
		if (i == 5)
			other.sequence = 1;
		EXPECT_NE(nand_oob_checksum(&other, 5), before) << i;
	}
}

TEST(Errors, TheRateFollowsItsFormula)
{
	hz_device_config cfg = with_errors(1000, 40);
	cfg.rber_per_erase = 70;
	cfg.rber_per_hour = 30;
	cfg.rber_per_read = 2;
	hz_nand_block block{};
	EXPECT_EQ(nand_error_rate(&cfg, &block, 500 * hour_ns), 1000u) << "nothing is programmed";
	block.program_ns = 10 * hour_ns;
	block.erase_count = 9;
	block.read_count = 1000;
	EXPECT_EQ(nand_error_rate(&cfg, &block, 110 * hour_ns + 5), 1000u + 70 * 9 + 10 * (30 * 100 + 2 * 1000));
	cfg.rber_per_hour = UINT32_MAX;
	EXPECT_EQ(nand_error_rate(&cfg, &block, UINT64_MAX), 500000000000u) << "half of the bits, at most";
}

// Mean and variance of the sampled counts against the binomial they stand for.
TEST(Errors, CountsSpreadLikeTheBinomial)
{
	for (uint64_t rate : {100000000ull, 1000000000ull, 10000000000ull}) {
		const double p = static_cast<double>(rate) * 1e-12, mean = 32768 * p, n = 20000;
		double sum = 0, squares = 0;
		for (uint64_t i = 0; i < static_cast<uint64_t>(n); i++) {
			double errors = static_cast<double>(nand_bit_errors(rate, nand_mix(rate, i))) / 256;
			sum += errors;
			squares += errors * errors;
		}
		EXPECT_NEAR(sum / n, mean, 0.02 * mean + 0.05) << rate;
		EXPECT_NEAR(std::sqrt(squares / n - sum * sum / n / n), std::sqrt(mean), 0.1 * std::sqrt(mean) + 0.1) << rate;
	}
}

// 32768 bits at 10^-3: 32.8 errors in the mean. ECC of 100 bits needs no retry; less needs one per halving; too little loses the page.
TEST(Errors, RetriesCostTheirLatencyAndThenThePageIsLost)
{
	const uint64_t read_ns = 56200, rest_ns = 200 + 20000;
	struct {
		uint32_t ecc_bits;
		uint64_t least, most;
		nand_status status;
	} cases[] = {
		{100, 0, 0, NAND_OK},
		{25, 0, 2, NAND_OK},
		{12, 1, 3, NAND_OK},
		{5, 2, 4, NAND_OK},
	};
	for (auto &c : cases) {
		Rig r(with_errors(1000000000, c.ecc_bits));
		r.run(r.program(0, 4, 0, 2));
		Txn &read = r.run(r.read(0, 4, 0, 2));
		EXPECT_EQ(read.txn.status, c.status);
		const uint64_t tries = (read.took_ns() - rest_ns) / read_ns - 1;
		EXPECT_EQ((read.took_ns() - rest_ns) % read_ns, 0u);
		EXPECT_GE(tries, c.least) << c.ecc_bits;
		EXPECT_LE(tries, c.most) << c.ecc_bits;
		EXPECT_EQ(r.run(r.read(0, 4, 0, 2)).took_ns(), read.took_ns()) << "the same cells, the same errors";
	}
	hz_device_config cfg = with_errors(1000000000, 5);
	cfg.retry_percent = 100;
	Rig r(cfg);
	Txn &program = r.program(0, 4, 0, 2);
	program.buffer.assign(program.buffer.size(), 0x5a);
	r.run(program);
	Txn &read = r.run(r.read(0, 4, 0, 2));
	EXPECT_EQ(read.txn.status, NAND_UNCORRECTABLE);
	EXPECT_EQ(read.took_ns(), rest_ns + 6 * read_ns) << "all retries were made";
	EXPECT_EQ(read.buffer[100], 0);
	EXPECT_EQ(read.oob[1].kind, HZ_OOB_DATA) << "the record has an ECC of its own";
	EXPECT_TRUE(read.oob[1].flags & HZ_OOB_LOST);
	EXPECT_EQ(r.run(r.read(0, 5, 0, 2)).txn.status, NAND_OK) << "an erased page has no data to lose";
}

// Program time and age survive a restart; time without power counts once it is reported.
TEST(Errors, AgeIsKeptInTheImage)
{
	hz_device_config cfg = with_errors(0, 40);
	cfg.rber_per_hour = 1000000;
	auto r = std::make_unique<Rig>(cfg);
	r->run(r->program(0, 4, 0, 2));
	const uint64_t programmed = block_of(*r, 4).program_ns;
	EXPECT_EQ(programmed, 1000u + 200 + 20000 + 381200);
	r->run(r->program(0, 4, 2, 2));
	EXPECT_EQ(block_of(*r, 4).program_ns, programmed) << "the oldest data count";
	r->run(r->program(0, 5, 0, 2));
	const uint64_t latest = block_of(*r, 5).program_ns;
	auto image = r->image();
	cfg.shelf_hours = 10000;
	r = std::make_unique<Rig>(cfg, nullptr, image);
	EXPECT_EQ(r->media.epoch_ns, latest + 10000 * hour_ns);
	// 10^-2 of 32768 bits are wrong: 328, halved to 41 or less within 3 or 4 retries.
	EXPECT_GT(r->run(r->read(0, 4, 0, 2)).took_ns(), 200u + 3 * 56200 + 20000);
	r->run(r->erase(0, 4));
	EXPECT_EQ(block_of(*r, 4).program_ns, 0u);
	r->run(r->program(0, 4, 0, 2));
	EXPECT_EQ(r->run(r->read(0, 4, 0, 2)).took_ns(), 200u + 56200 + 20000) << "fresh data";
}

TEST(Errors, ReadsDisturbTheBlock)
{
	hz_device_config cfg = with_errors(0, 20);
	cfg.rber_per_read = 10000000;
	Rig r(cfg);
	r.run(r.program(0, 4, 0, 2));
	const uint64_t alone = r.run(r.read(0, 4, 0, 2)).took_ns();
	EXPECT_EQ(alone, 200u + 56200 + 20000);
	for (int i = 0; i < 200; i++)
		r.run(r.read(0, 4, 0, 1));
	EXPECT_GT(r.run(r.read(0, 4, 0, 2)).took_ns(), alone);
	EXPECT_EQ(block_of(r, 4).read_count, 202u);
	EXPECT_EQ(r.run(r.read(0, 5, 0, 2)).took_ns(), alone) << "another block";
}

TEST(Errors, TheChosenOperationFailsAndNoOther)
{
	hz_device_config cfg = rig::small_config();
	cfg.fail_program_at = 3;
	cfg.fail_erase_at = 2;
	cfg.fail_read_at = 4;
	Rig r(cfg);
	for (uint32_t i = 1; i <= 5; i++)
		EXPECT_EQ(r.run(r.program(0, 2 + i, 0, 2)).txn.status, i == 3 ? NAND_PROGRAM_FAILED : NAND_OK) << i;
	for (uint32_t i = 1; i <= 5; i++)
		EXPECT_EQ(r.run(r.read(0, 3, 0, 2)).txn.status, i == 4 ? NAND_UNCORRECTABLE : NAND_OK) << i;
	for (uint32_t i = 1; i <= 3; i++)
		EXPECT_EQ(r.run(r.erase(0, i == 3 ? 6 : 2 + i)).txn.status, i == 2 ? NAND_ERASE_FAILED : NAND_OK) << i;
	EXPECT_TRUE(r.refusals.empty());
}
