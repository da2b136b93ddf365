// examples/minimal-ftl under sanitizers: what is written comes back while the collector moves it, a reset waits for every request, and what it
// does not know is refused.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "flash_rig.hpp"
#include "geometry.h"
#include "lt/checks.h"
#include "port/ftl_namespaces.h"

namespace {

constexpr uint32_t workers = 3;

hz_device_config block_config()
{
	hz_device_config cfg = rig::small_config();
	cfg.channels = 2;
	cfg.planes_per_die = 2;
	cfg.plane_scheme = HZ_SCHEME_PCWD;
	cfg.blocks_per_plane = 13;
	cfg.harts = 2 + workers;
	cfg.worker_count = workers;
	for (uint32_t w = 0; w < workers; w++)
		cfg.worker_hart[w] = 2 + w;
	cfg.namespace_kind = HZ_NS_BLOCK;
	cfg.zones = 6;
	cfg.spare_superblocks = 0;
	cfg.conventional_spare = 4;
	cfg.conventional_buffers = 2;
	cfg.conventional_gc_low = 2;
	return cfg;
}

struct Request {
	ftl_request req{};
	std::vector<uint8_t> data;
	std::vector<uint8_t *> pages;
	uint64_t number = 0; // in the order of ends; 0: not yet

	Request(ftl_op op, uint64_t lba, uint32_t sectors, uint8_t flags = 0) : data(size_t(sectors) * HZ_SECTOR_BYTES)
	{
		for (uint32_t i = 0; i < sectors; i++)
			pages.push_back(data.data() + size_t(i) * HZ_SECTOR_BYTES);
		req.op = op;
		req.flags = flags;
		req.lba = lba;
		req.sectors = sectors;
		req.sgl = {pages.data(), 0, uint32_t(data.size())};
		req.done = [](ftl_request *r) { reinterpret_cast<Request *>(r)->number = ++ended; };
	}
	Request(const Request &) = delete;
	uint16_t status() const { return req.status & ~NVME_DNR; }
	static inline uint64_t ended = 0;
};

class MinimalFtl : public testing::Test {
protected:
	void SetUp() override
	{
		flash = std::make_unique<rig::Rig>(block_config());
		start();
		ASSERT_TRUE(ftl) << error;
	}
	// After a test without broken rules.
	void TearDown() override
	{
		lt_host_run_until_idle();
		EXPECT_EQ(flash->refusals, std::vector<std::string>());
		if (ftl)
			EXPECT_EQ(ftl_check(ftl), nullptr);
	}
	void start()
	{
		EXPECT_EQ(ftl_lock_classes_init(flash->memory(), &flash->cfg), nullptr);
		lt_locks_check(true);
		link_init(&links.to_host, flash->cfg.pcie_bytes_per_s);
		link_init(&links.to_device, flash->cfg.pcie_bytes_per_s);
		ftl = ftl_init(flash->memory(), &flash->cfg, &flash->map, flash->tsu, &links, &error);
	}
	Request &submit(ftl_op op, uint64_t lba, uint32_t sectors, uint8_t flags = 0)
	{
		Request &r = all.emplace_back(op, lba, sectors, flags);
		r.req.reply_to = &hil;
		for (uint32_t i = 0; op == FTL_WRITE && i < sectors; i++) {
			content[lba + i] = uint8_t(1 + random() % 255);
			memset(r.pages[i], content[lba + i], HZ_SECTOR_BYTES);
		}
		ftl_submit(ftl, unsigned(random() % workers), &r.req);
		return r;
	}
	Request &run(ftl_op op, uint64_t lba, uint32_t sectors, uint8_t flags = 0)
	{
		Request &r = submit(op, lba, sectors, flags);
		lt_host_run_until_idle();
		EXPECT_GT(r.number, 0u) << "op " << int(op) << " never completed";
		return r;
	}
	void expect_content(uint64_t lba, uint32_t sectors)
	{
		const Request &r = run(FTL_READ, lba, sectors);
		ASSERT_EQ(r.status(), 0);
		for (uint32_t i = 0; i < sectors; i++) {
			const uint8_t want = content.count(lba + i) ? content[lba + i] : 0;
			ASSERT_EQ(std::vector<uint8_t>(r.pages[i], r.pages[i] + HZ_SECTOR_BYTES),
				  std::vector<uint8_t>(HZ_SECTOR_BYTES, want))
				<< "LBA " << lba + i;
		}
	}
	uint64_t erases()
	{
		hz_log_flash log;
		tsu_report(flash->tsu, &log);
		return log.erases[HZ_CAUSE_GC];
	}
	uint64_t programs()
	{
		hz_log_flash log;
		tsu_report(flash->tsu, &log);
		return log.programs[HZ_CAUSE_HOST];
	}
	uint64_t sectors() const { return flash->map.shape.namespace_sectors; }

	std::unique_ptr<rig::Rig> flash;
	link_pair links{};
	struct ftl *ftl = nullptr;
	const char *error = nullptr;
	std::deque<Request> all;
	std::map<uint64_t, uint8_t> content;
	std::mt19937 random{1};
	lt_thread hil{"hil", 0};
};

TEST_F(MinimalFtl, WhatIsWrittenComesBackWhileTheCollectorMovesIt)
{
	for (uint64_t lba = 0; lba < sectors(); lba += 8)
		run(FTL_WRITE, lba, 8);
	for (int round = 0; round < 600; round++) {
		std::set<uint64_t> taken; // in one round each request has a place of its own
		for (int i = 0; i < 12; i++) {
			const uint64_t place = random() % (sectors() / 16);
			if (!taken.insert(place).second)
				continue;
			const uint32_t at = uint32_t(random() % 8);
			submit(random() % 3 ? FTL_WRITE : FTL_READ, place * 16 + at, 1 + uint32_t(random() % 8),
			       random() % 9 ? 0 : FTL_FUA);
			if (random() % 16 == 0)
				submit(FTL_FLUSH, 0, 0);
		}
		lt_host_run_until_idle();
		for (const Request &r : all)
			ASSERT_TRUE(r.number && !r.status());
		all.clear();
		expect_content(random() % (sectors() - 16), 16);
	}
	EXPECT_GT(erases(), 100u) << "there was nothing to collect";
	for (uint64_t lba = 0; lba < sectors(); lba += 16)
		expect_content(lba, 16);
}

TEST_F(MinimalFtl, SectorsThatWereNeverWrittenReadAsZeros)
{
	run(FTL_WRITE, 3, 2);
	expect_content(0, 16);
}

TEST_F(MinimalFtl, AFlushEndsWhenAllBeforeItIsOnFlash)
{
	run(FTL_WRITE, 0, 1);
	EXPECT_EQ(programs(), 0u);
	run(FTL_FLUSH, 0, 0);
	EXPECT_EQ(programs(), 1u) << "the unit is padded";
	run(FTL_WRITE, 40, 3, FTL_FUA);
	EXPECT_EQ(programs(), 3u);
	run(FTL_FLUSH, 0, 0);
	EXPECT_EQ(programs(), 3u) << "nothing is left to program";
	expect_content(0, 48);
}

// More reads than a worker may have at once, and writes that wait for room, are among them.
TEST_F(MinimalFtl, AResetWaitsForEveryRequest)
{
	for (uint64_t lba = 0; lba < sectors(); lba += 8)
		run(FTL_WRITE, lba, 8);
	for (int i = 0; i < 400; i++)
		submit(i % 3 || uint64_t(i) >= sectors() / 8 ? FTL_READ : FTL_WRITE, uint64_t(i) % (sectors() / 8) * 8, 8);
	submit(FTL_FLUSH, 0, 0);
	Request &cancel = submit(FTL_CANCEL, 1, 0);
	lt_host_run_until_idle();
	ASSERT_GT(cancel.number, 0u);
	EXPECT_EQ(cancel.status(), 0);
	for (const Request &r : all)
		EXPECT_LE(r.number, cancel.number);
	EXPECT_GT(run(FTL_CANCEL, 1, 0).number, 0u) << "of an idle device it ends at once";
	expect_content(0, 16);
}

TEST_F(MinimalFtl, WhatItDoesNotKnowIsRefused)
{
	for (const ftl_op op :
	     {FTL_VERIFY, FTL_COMPARE, FTL_APPEND, FTL_UPDATE, FTL_WRITE_ZEROES, FTL_WRITE_UNCORRECTABLE, FTL_DEALLOCATE, FTL_COPY,
	      FTL_COPY_APPEND, FTL_ZONE_OPEN, FTL_ZONE_CLOSE, FTL_ZONE_FINISH, FTL_ZONE_RESET, FTL_ZONE_OFFLINE, FTL_ZONE_REPORT})
		EXPECT_EQ(run(op, 0, 1).status(), NVME_INVALID_OPCODE) << int(op);
}

TEST_F(MinimalFtl, AnImageThatHasBeenWrittenToIsRefused)
{
	run(FTL_WRITE, 0, 1, FTL_FUA);
	flash = std::make_unique<rig::Rig>(block_config(), nullptr, flash->image());
	start();
	EXPECT_EQ(ftl, nullptr);
	EXPECT_STREQ(error, "the minimal FTL keeps its map in RAM only, so it starts on a new image: this one has been written to");
}

// Blocks of one row of large units: each may keep back a quarter of itself from the collector.
hz_device_config tight_config(uint32_t zones)
{
	hz_device_config cfg = block_config();
	cfg.cell = HZ_CELL_TLC;
	cfg.program_pages = 3;
	cfg.pages_per_block = 3;
	cfg.blocks_per_plane = cfg.slc_blocks_per_plane + zones + cfg.conventional_spare;
	cfg.zones = zones;
	return cfg;
}

TEST_F(MinimalFtl, WithTooFewBlocksToCollectItDoesNotStart)
{
	flash = std::make_unique<rig::Rig>(tight_config(8));
	start();
	EXPECT_EQ(ftl, nullptr);
	EXPECT_STREQ(error, "the minimal FTL needs more blocks to collect: raise conventional.spare_superblocks");
}

TEST_F(MinimalFtl, WithTheFewestThatItAcceptsNoWriterWaitsForEver)
{
	flash = std::make_unique<rig::Rig>(tight_config(7));
	start();
	ASSERT_TRUE(ftl) << error;
	for (int round = 0; round < 3000; round++)
		run(FTL_WRITE, round < 200 ? uint64_t(round) * 2 % sectors() : random() % (sectors() - 2), 2, random() % 4 ? 0 : FTL_FUA);
	EXPECT_GT(erases(), 100u);
	for (uint64_t lba = 0; lba + 8 <= sectors(); lba += 8)
		expect_content(lba, 8);
}

} // namespace
