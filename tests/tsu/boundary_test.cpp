// Work that harts do in place of engines: what it takes, to the nanosecond over many units, and where a transaction has it.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "boundary/boundary.h"
#include "flash_rig.hpp"
#include "link.h"

namespace {

hz_device_config config(uint32_t insn = 1, uint32_t mhz = 1000)
{
	hz_device_config cfg = rig::small_config();
	cfg.clock.insn = insn;
	cfg.clock.mhz = mhz;
	return cfg;
}

struct Boundary : testing::Test {
	~Boundary() override { boundary_init(&usual); } // all by engines, for the tests behind
	hz_device_config usual = config();
};

using Work = enum boundary_work; // a function has the name, too

uint64_t spent(Work work, uint32_t units, unsigned times = 1)
{
	const uint64_t before = clock_now_ns();
	clock_freeze();
	for (unsigned i = 0; i < times; i++)
		boundary_work(work, units, 0);
	clock_thaw();
	return clock_now_ns() - before;
}

TEST_F(Boundary, EnginesCostNothing)
{
	rig::Rig r(usual);
	boundary_init(&r.cfg);
	clock_freeze();
	for (unsigned work = 0; work < WORKS; work++)
		EXPECT_EQ(boundary_work(Work(work), 1000, 7), 7u);
	clock_thaw();
	EXPECT_EQ(clock_now_ns(), 1000u);
}

TEST_F(Boundary, EachKeyIsItsWork)
{
	uint32_t hz_device_config::*const keys[] = {
		&hz_device_config::fetch_by,    &hz_device_config::completion_by, &hz_device_config::dma_by, &hz_device_config::checksum_by,
		&hz_device_config::checksum_by, &hz_device_config::parity_by,     &hz_device_config::nand_by};
	rig::Rig r(usual);
	for (unsigned key = 0; key < WORKS; key++) {
		hz_device_config cfg = usual;
		cfg.*keys[key] = HZ_BY_FIRMWARE;
		boundary_init(&cfg);
		for (unsigned work = 0; work < WORKS; work++)
			EXPECT_EQ(spent(Work(work), 3), keys[work] == keys[key] ? 3u * boundary_instructions[work] : 0)
				<< key << ' ' << work;
	}
}

TEST_F(Boundary, NothingIsLostByRounding)
{
	hz_device_config cfg = config(2, 3000);
	rig::Rig r(cfg);
	cfg.fetch_by = HZ_BY_FIRMWARE;
	boundary_init(&cfg);
	const double ns = 1000.0 * boundary_instructions[WORK_FETCH] * 2 / 3;
	EXPECT_NEAR(double(spent(WORK_FETCH, 1, 1000)), ns, 2);
}

TEST(Link, MovesAsManyBytesASecondAsAsked)
{
	for (uint64_t bytes_per_s : {1000000ull, 102400000ull, 1000000000ull, 3145728000ull, 7000000000ull, 128000ull << 20}) {
		struct link link {};
		link_init(&link, bytes_per_s);
		const double ns = 64 * 1e9 * (1 << 20) / double(bytes_per_s);
		uint64_t end_ns = 0;
		for (unsigned i = 0; i < 64; i++)
			end_ns = link_transfer(&link, 0, 1 << 20);
		EXPECT_NEAR(double(end_ns), ns, 64 + ns * 1e-4) << bytes_per_s;
	}
}

TEST_F(Boundary, NoEffectBeginsBeforeItsWorkIsDone)
{
	hz_device_config cfg = usual;
	rig::Rig r(cfg);
	cfg.dma_by = HZ_BY_FIRMWARE;
	boundary_init(&cfg);
	const uint64_t now_ns = clock_now_ns(), two_pages = 2 * boundary_instructions[WORK_DMA];
	struct link link {};
	link_init(&link, 1000000000);
	EXPECT_EQ(link_transfer(&link, now_ns - 500, 8000), now_ns + two_pages + 8000);
	EXPECT_EQ(clock_now_ns(), now_ns + two_pages);
	EXPECT_EQ(link_transfer(&link, now_ns + 90000, 8000), now_ns + 98000) << "data that are not there yet wait for nobody";
}

TEST_F(Boundary, TransactionsHaveTheirWork)
{
	rig::Rig r(usual);
	const uint64_t command = boundary_instructions[WORK_NAND], sum = boundary_instructions[WORK_CHECKSUM];
	auto times = [&r](uint32_t block) {
		return std::vector<uint64_t>{r.run(r.program(0, block, 0, 2)).took_ns(), r.run(r.read(0, block, 0, 2)).took_ns(),
					     r.run(r.read(0, block, 1, 1)).took_ns(), r.run(r.erase(0, block)).took_ns()};
	};
	const std::vector<uint64_t> before = times(3);
	r.cfg.nand_by = HZ_BY_FIRMWARE;
	boundary_init(&r.cfg);
	std::vector<uint64_t> after = times(4);
	for (size_t i = 0; i < after.size(); i++)
		EXPECT_EQ(after[i], before[i] + command) << i;
	r.cfg.nand_by = HZ_BY_ENGINE;
	r.cfg.checksum_by = HZ_BY_FIRMWARE;
	boundary_init(&r.cfg);
	after = times(5);
	EXPECT_EQ(after[0], before[0] + 2 * sum);
	EXPECT_EQ(after[1], before[1] + 2 * sum);
	EXPECT_EQ(after[2], before[2] + sum);
	EXPECT_EQ(after[3], before[3]);
}

} // namespace
