// kill -9 of the process that writes the image, at random instants: no sector ever has a valid OOB over partial or foreign data.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>

#include "flash_rig.hpp"

using rig::Rig;

namespace {

uint64_t word(uint64_t sequence, uint32_t i) { return sequence * 0x9e3779b97f4a7c15ull + i; }

struct Buffer {
	uint64_t words[2][512];
	uint8_t *pages[2] = {reinterpret_cast<uint8_t *>(words[0]), reinterpret_cast<uint8_t *>(words[1])};
	sgl list{pages, 0, 8192};
};

// Writes block after block, whole and in parts, and erases each before it comes round again; never returns.
[[noreturn]] void write_forever(Rig &r, std::atomic<uint64_t> *progress)
{
	Buffer b;
	hz_oob oob[2];
	for (uint64_t sequence = 1;;) {
		uint32_t block = 2 + static_cast<uint32_t>(sequence % 5);
		if (r.media.nand.ops->erase(&r.media.nand, r.addr(0, block, 0)) != NAND_OK)
			_exit(1);
		for (uint32_t sector = 0; sector < 2 * (1 + sequence % 16); sector += 2) {
			for (uint32_t s = 0; s < 2; s++, sequence++) {
				for (uint32_t i = 0; i < 512; i++)
					b.words[s][i] = word(sequence, i);
				oob[s] = {sequence, sector + s, {block}, HZ_OOB_DATA, 0, 0};
			}
			if (r.media.nand.ops->program(&r.media.nand, r.addr(0, block, sector), 2, &b.list, 0, oob) != NAND_OK)
				_exit(1);
			++*progress;
		}
	}
}

// Readable sectors hold exactly the last programmed data of this place, and blocks that are not
// half erased are usable.
void check_image(const hz_device_config &cfg, const std::shared_ptr<rig::Image> &image)
{
	Rig r(cfg, nullptr, image);
	ASSERT_EQ(r.mount_error, nullptr);
	for (uint32_t block = 2; block < 7; block++) {
		const hz_nand_block *state = r.media.nand.ops->block(&r.media.nand, r.addr(0, block, 0));
		uint32_t lost = 0;
		for (uint32_t sector = 0; sector < 32; sector++) {
			Buffer b;
			hz_oob oob;
			nand_status status = r.media.nand.ops->read(&r.media.nand, r.addr(0, block, sector), 1, &b.list, 0, &oob);
			lost += status == NAND_UNCORRECTABLE;
			if (oob.kind == HZ_OOB_ERASED)
				continue;
			ASSERT_EQ(status, NAND_OK);
			ASSERT_LT(sector, state->write_sector);
			ASSERT_EQ(oob.lpa, sector);
			ASSERT_EQ(oob.generation, block);
			for (uint32_t i = 0; i < 512; i++)
				ASSERT_EQ(b.words[0][i], word(oob.sequence, i));
		}
		if (state->flags & HZ_BLOCK_ERASING)
			EXPECT_EQ(r.media.nand.ops->erase(&r.media.nand, r.addr(0, block, 0)), NAND_OK);
		else
			EXPECT_LE(lost, 2u) << "only the unit under the pen may be torn";
	}
}

} // namespace

TEST(Crash, AKilledWriterLeavesOnlyWholeOrTornSectors)
{
	hz_device_config cfg = rig::small_config();
	std::mt19937_64 random(11);
	auto image = std::make_shared<rig::Image>(hz_nand_image_bytes(&cfg), true);
	rig::Image shared(4096, true);
	auto *progress = new (shared.base()) std::atomic<uint64_t>(0);
	for (int round = 0; round < 60; round++) {
		*progress = 0;
		pid_t child = fork();
		if (child == 0) {
			Rig r(cfg, nullptr, image);
			for (uint32_t block = 2; block < 7; block++)
				r.media.nand.ops->erase(&r.media.nand, r.addr(0, block, 0));
			write_forever(r, progress);
		}
		uint64_t target = 1 + random() % 40, spins = random() % 4000;
		while (*progress < target && waitpid(child, nullptr, WNOHANG) == 0)
			;
		for (uint64_t i = 0; i < spins && *progress; i++)
			;
		kill(child, SIGKILL);
		int status = 0;
		waitpid(child, &status, 0);
		ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself in round " << round;
		check_image(cfg, image);
		if (HasFatalFailure())
			return;
	}
}
