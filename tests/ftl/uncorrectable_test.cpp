// Write Uncorrectable: a mark on each sector, from the write buffer to the last move in flash, until the sector is written again or goes away.
// SPDX-License-Identifier: BSD-3-Clause
#include "conventional_model.hpp"

using namespace ftl_rig;

namespace {

uint16_t mark_at(Rig &rig, uint64_t lba, uint32_t sectors, uint8_t flags = 0)
{
	Request request(FTL_WRITE_UNCORRECTABLE, lba, sectors, flags);
	return rig.run(request);
}

uint16_t write_tags(Rig &rig, uint64_t lba, uint32_t sectors, uint64_t tag, uint8_t flags = 0)
{
	Request request(FTL_WRITE, lba, sectors, flags);
	for (uint32_t i = 0; i < sectors; i++)
		fill_sector(request.pages[i], tag + i);
	return rig.run(request);
}

// By sector: '!' marked, '.' zeros, '=' tag + i, '?' anything else. All commands that read agree, for each sector and for the whole.
std::string seen_at(Rig &rig, uint64_t lba, uint32_t sectors, uint64_t tag)
{
	std::string seen;
	for (uint32_t i = 0; i < sectors; i++) {
		Request read(FTL_READ, lba + i, 1), verify(FTL_VERIFY, lba + i, 1), compare(FTL_COMPARE, lba + i, 1);
		const uint16_t status = rig.run(read);
		std::memcpy(compare.pages[0], read.pages[0], HZ_SECTOR_BYTES);
		EXPECT_EQ(rig.run(verify), status) << "sector " << i;
		EXPECT_EQ(rig.run(compare), status) << "sector " << i;
		seen += status == NVME_HZ_MARKED            ? '!'
			: status                            ? '?'
			: sector_is(read.pages[0], tag + i) ? '='
			: sector_is(read.pages[0], 0)       ? '.'
							    : '?';
	}
	Request all(FTL_READ, lba, sectors);
	EXPECT_EQ(rig.run(all), seen.find('!') == seen.npos ? NVME_SUCCESS : NVME_HZ_MARKED);
	return seen;
}

void start_again(Rig &rig) { ASSERT_TRUE(rig.boot()) << rig.error; }

} // namespace

// In the buffer, staged in SLC, and in a complete unit at its place.
TEST(Uncorrectable, AZoneTakesMarksAsWrites)
{
	Rig rig(ftl_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(rig.write(0, 0, 2, 100), 0);
	EXPECT_EQ(mark_at(rig, rig.lba_of(0, 3), 1), NVME_ZONE_INVALID_WRITE);
	EXPECT_EQ(mark_at(rig, rig.lba_of(0, 1), 1), NVME_ZONE_INVALID_WRITE);
	EXPECT_EQ(mark_at(rig, rig.lba_of(0, 2), 95), NVME_ZONE_BOUNDARY);
	ASSERT_EQ(mark_at(rig, rig.lba_of(0, 2), 2), 0);
	EXPECT_EQ(rig.report_zones()[0].write_pointer, rig.lba_of(0, 4));
	EXPECT_EQ(seen_at(rig, rig.lba_of(0), 6, 100), "==!!..");
	ASSERT_EQ(rig.run_op(FTL_FLUSH, 0), 0);
	start_again(rig);
	EXPECT_EQ(seen_at(rig, rig.lba_of(0), 6, 100), "==!!..") << "staged";
	ASSERT_EQ(rig.write(0, 4, 20, 104, FTL_FUA), 0);
	EXPECT_EQ(seen_at(rig, rig.lba_of(0), 6, 100), "==!!==") << "folded";
	start_again(rig);
	EXPECT_EQ(seen_at(rig, rig.lba_of(0), 24, 100), "==!!" + std::string(20, '='));
	ASSERT_EQ(mark_at(rig, rig.lba_of(0, 24), 72), 0);
	EXPECT_EQ(rig.zone_state(0), NVME_ZS_FULL);
	EXPECT_EQ(mark_at(rig, rig.lba_of(0), 1), NVME_ZONE_FULL);
	EXPECT_EQ(seen_at(rig, rig.lba_of(0, 23), 73, 123), "=" + std::string(72, '!'));
	EXPECT_EQ(rig.check(), "");
	ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, 0), 0);
	EXPECT_EQ(seen_at(rig, rig.lba_of(0), 4, 100), "....");
	ASSERT_EQ(rig.write(0, 0, 4, 500, FTL_FUA), 0);
	EXPECT_EQ(seen_at(rig, rig.lba_of(0), 4, 500), "====");
	start_again(rig);
	EXPECT_EQ(seen_at(rig, rig.lba_of(0), 4, 500), "====");
}

// Volatile as a write: a cut before any flush leaves the older data, or nothing.
TEST(Uncorrectable, AMarkIsAsDurableAsAWrite)
{
	Rig rig(conventional_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(write_tags(rig, 0, 4, 100, FTL_FUA), 0);
	ASSERT_EQ(mark_at(rig, 1, 1), 0);
	EXPECT_EQ(seen_at(rig, 0, 4, 100), "=!==");
	start_again(rig);
	EXPECT_EQ(seen_at(rig, 0, 4, 100), "====");
	ASSERT_EQ(mark_at(rig, 1, 2, FTL_FUA), 0);
	start_again(rig);
	EXPECT_EQ(seen_at(rig, 0, 4, 100), "=!!=");
}

TEST(Uncorrectable, AWriteOrADeallocationClearsAMark)
{
	for (bool mapped : {false, true}) {
		Rig rig(mapped ? mapped_conventional_config(true) : conventional_config(true));
		ASSERT_TRUE(rig.boot()) << rig.error;
		ASSERT_EQ(write_tags(rig, 10, 6, 100), 0);
		ASSERT_EQ(mark_at(rig, 10, 4, FTL_FUA), 0);
		EXPECT_EQ(seen_at(rig, 10, 6, 100), "!!!!==");
		ASSERT_EQ(write_tags(rig, 10, 1, 100, FTL_FUA), 0);
		Request zeroes(FTL_WRITE_ZEROES, 11, 1), frees(FTL_WRITE_ZEROES, 12, 1, FTL_FREES),
			deallocate(FTL_DEALLOCATE, 0, 1, FTL_FUA);
		deallocate.name_ranges({{0, 1, 13}});
		EXPECT_EQ(rig.run(zeroes), 0);
		EXPECT_EQ(rig.run(frees), 0);
		EXPECT_EQ(rig.run(deallocate), 0);
		EXPECT_EQ(seen_at(rig, 10, 6, 100), "=...==");
		ASSERT_EQ(rig.run_op(FTL_FLUSH, 0), 0);
		start_again(rig);
		EXPECT_EQ(seen_at(rig, 10, 6, 100), "=...==");
	}
}

// No copy of a marked sector is made: the host learns of the mark.
TEST(Uncorrectable, ACopyEndsAtAMark)
{
	Rig rig(conventional_config(true));
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(write_tags(rig, 0, 4, 100), 0);
	ASSERT_EQ(mark_at(rig, 2, 1), 0);
	Request copy(FTL_COPY, 50, 1);
	copy.name_sources({{0, 4}});
	EXPECT_EQ(rig.run(copy), NVME_HZ_MARKED);
	EXPECT_EQ(seen_at(rig, 0, 4, 100), "==!=");
}

// Marked sectors are collected again and again; their zones do not count as lost.
TEST(Uncorrectable, TheCollectorCarriesMarksAlong)
{
	for (bool mapped : {false, true}) {
		Rig rig(mapped ? mapped_conventional_config(true) : conventional_config(true));
		ASSERT_TRUE(rig.boot()) << rig.error;
		const auto sectors = static_cast<uint32_t>(rig.shape.namespace_sectors);
		std::mt19937 dice(5);
		for (uint32_t at = 0; at < sectors; at += 32)
			ASSERT_EQ(write_tags(rig, at, 32, 1000 + at), 0);
		for (uint32_t at = 0; at < sectors; at += 16)
			ASSERT_EQ(mark_at(rig, at, 2), 0);
		for (int i = 0; i < 2500; i++) {
			const auto at = static_cast<uint32_t>(dice() % (sectors / 16) * 16 + 2 + dice() % 14);
			ASSERT_EQ(write_tags(rig, at, 1, 1000 + at), 0);
		}
		EXPECT_GT(rig.counters().conventional_gc_sectors, 500u);
		EXPECT_EQ(rig.check(), "");
		for (int boots = 0; boots < 2; boots++) {
			for (uint32_t at = 0; at < sectors; at += 16)
				ASSERT_EQ(seen_at(rig, at, 16, 1000 + at), "!!==============")
					<< "sector " << at << " after " << boots << " cuts";
			ASSERT_EQ(rig.run_op(FTL_FLUSH, 0), 0);
			start_again(rig);
		}
		hz_log_flash log;
		tsu_report(rig.tsu, &log);
		EXPECT_EQ(log.failed_reads, 0u) << "a mark is no failure of flash";
	}
}

TEST(Uncorrectable, ADataCacheHidesNoMark)
{
	for (uint64_t choice = 0; choice < 32; choice++) {
		hz_device_config cfg = conventional_config(true);
		use_data_cache(cfg, 32, choice);
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		ASSERT_EQ(write_tags(rig, 0, 8, 100), 0);
		ASSERT_EQ(seen_at(rig, 0, 8, 100), "========");
		ASSERT_EQ(mark_at(rig, 3, 2), 0);
		EXPECT_EQ(seen_at(rig, 0, 8, 100), "===!!===") << "choice " << choice;
		ASSERT_EQ(rig.run_op(FTL_FLUSH, 0), 0);
		EXPECT_EQ(seen_at(rig, 0, 8, 100), "===!!===") << "choice " << choice;
		start_again(rig);
		EXPECT_EQ(seen_at(rig, 0, 8, 100), "===!!===") << "choice " << choice;
		ASSERT_EQ(write_tags(rig, 3, 1, 103), 0);
		EXPECT_EQ(seen_at(rig, 0, 8, 100), "====!===") << "choice " << choice;
		EXPECT_EQ(rig.check(), "");
	}
}

// Capacitors dump the mark with the buffer; after a killed run the next start finds it in the memory that they kept.
TEST(Uncorrectable, CapacitorsKeepMarks)
{
	for (bool killed : {false, true})
		for (uint32_t flush = 0; flush < HZ_PLP_FLUSHES; flush++) {
			hz_device_config cfg = ftl_config();
			protect_memory(cfg, 60, 60);
			cfg.plp_flush = flush;
			Rig rig(cfg);
			ASSERT_TRUE(rig.boot()) << rig.error;
			ASSERT_EQ(rig.write(0, 0, 3, 100), 0);
			ASSERT_EQ(mark_at(rig, rig.lba_of(0, 3), 2, FTL_FUA), 0);
			ASSERT_EQ(rig.write(0, 5, 7, 105, FTL_FUA), 0);
			ASSERT_EQ(rig.counters().slc_sectors, 0u) << "all is in the buffer";
			rig.killed = killed;
			start_again(rig);
			EXPECT_EQ(seen_at(rig, rig.lba_of(0), 13, 100), "===!!=======.") << "killed " << killed << " flush " << flush;
			EXPECT_EQ(rig.check(), "");
		}
}

// A zone that many reads came from moves, with its marks.
TEST(Uncorrectable, ARefreshCarriesMarksAlong)
{
	hz_device_config cfg = ftl_config();
	cfg.refresh_reads = 12;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(rig.write(0, 0, 40, 100), 0);
	ASSERT_EQ(mark_at(rig, rig.lba_of(0, 40), 3), 0);
	ASSERT_EQ(rig.write(0, 43, 53, 143, FTL_FUA), 0);
	for (int i = 0; i < 30; i++)
		ASSERT_EQ(rig.compare(0, 1, 1, 101), "");
	EXPECT_GE(rig.counters().refreshed_reads, 1u);
	EXPECT_EQ(rig.counters().refresh_failures, 0u);
	EXPECT_EQ(seen_at(rig, rig.lba_of(0, 38), 8, 138), "==!!!===");
	start_again(rig);
	EXPECT_EQ(seen_at(rig, rig.lba_of(0, 38), 8, 138), "==!!!===");
	EXPECT_EQ(rig.check(), "");
}

// A program that fails moves the zone: marked sectors in flash, and those still in the buffer.
TEST(Uncorrectable, AnyOneOperationMayFail)
{
	uint64_t operations = 100;
	for (uint64_t fail = 1; fail <= operations; fail++) {
		Rig rig(ftl_config());
		nand_policy policy{};
		policy.fail_op = fail;
		ASSERT_TRUE(rig.boot(policy)) << rig.error;
		ASSERT_EQ(mark_at(rig, rig.lba_of(0), 9), 0);
		ASSERT_EQ(rig.write(0, 9, 30, 109), 0);
		ASSERT_EQ(mark_at(rig, rig.lba_of(0, 39), 5, FTL_FUA), 0);
		ASSERT_EQ(rig.write(0, 44, 20, 144, FTL_FUA), 0);
		const std::string wanted = std::string(9, '!') + std::string(30, '=') + std::string(5, '!') + std::string(20, '=');
		operations = nand_media_operations(&rig.media);
		EXPECT_EQ(seen_at(rig, rig.lba_of(0), 64, 100), wanted) << "operation " << fail << " fails";
		start_again(rig);
		EXPECT_EQ(seen_at(rig, rig.lba_of(0), 64, 100), wanted) << "operation " << fail << " fails";
		ASSERT_FALSE(HasFailure());
	}
}

// A sector that flash has lost says so, marked or not: it is no mark for a self-test to pass over.
TEST(Uncorrectable, ALossIsNoMark)
{
	Rig rig(ftl_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(mark_at(rig, rig.lba_of(0), 1), 0);
	ASSERT_EQ(rig.write(0, 1, 23, 101, FTL_FUA), 0);
	EXPECT_EQ(seen_at(rig, rig.lba_of(0), 3, 100), "!==");
	Request read(FTL_READ, rig.lba_of(0), 2);
	rig.cfg.ecc_bits = 10; // of the page, which no retry corrects
	rig.cfg.rber_base = 2000000000;
	rig.cfg.read_retries = 2;
	rig.cfg.retry_percent = 90;
	EXPECT_EQ(rig.run(read), NVME_UNRECOVERED_READ);
	rig.cfg.rber_base = 0;
	EXPECT_EQ(rig.run(read), NVME_HZ_MARKED);
	rig.cfg.read_fail_ppb = 1000000000;
	EXPECT_EQ(rig.run(read), NVME_UNRECOVERED_READ);
}

TEST(Uncorrectable, WithProtectionInformation)
{
	hz_device_config cfg = conventional_config(true);
	cfg.protection = HZ_PROTECTION_TYPE1;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(write_tags(rig, 0, 40, 100), 0);
	ASSERT_EQ(mark_at(rig, 2, 2), 0);
	for (int boots = 0; boots < 2; boots++) {
		Request read(FTL_READ, 2, 1), good(FTL_READ, 4, 1);
		EXPECT_EQ(rig.run(read), NVME_HZ_MARKED);
		EXPECT_EQ(rig.run(good), 0);
		EXPECT_TRUE(sector_is(good.pages[0], 104));
		ASSERT_EQ(rig.run_op(FTL_FLUSH, 0), 0);
		start_again(rig);
	}
	ASSERT_EQ(write_tags(rig, 2, 1, 102), 0);
	Request read(FTL_READ, 2, 1);
	EXPECT_EQ(rig.run(read), 0);
}
