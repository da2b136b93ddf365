// Copy: the result inside the device is that of a write of the same data, and costs no link.
// SPDX-License-Identifier: BSD-3-Clause
#include "conventional_model.hpp"

using namespace ftl_rig;

namespace {

using Sources = std::vector<std::pair<uint64_t, uint32_t>>;

struct CopyRequest : Request {
	CopyRequest(uint64_t to, const Sources &sources, uint8_t flags = 0, ftl_op op = FTL_COPY) : Request(op, to, 8, flags)
	{
		name_sources(sources);
	}
};

uint16_t copy(Rig &rig, uint64_t to, const Sources &sources, uint8_t flags = 0)
{
	CopyRequest request(to, sources, flags);
	return rig.run(request);
}

class Copy : public testing::Test {
protected:
	explicit Copy(const hz_device_config &cfg = ftl_config()) : rig(cfg) {}
	void SetUp() override
	{
		ASSERT_TRUE(rig.boot()) << rig.error;
		ASSERT_EQ(rig.write(0, 0, 96, 1000), 0);
		ASSERT_EQ(rig.write(1, 0, 40, 2000), 0);
	}
	void TearDown() override { EXPECT_EQ(rig.check(), ""); }
	Rig rig;
};

} // namespace

TEST_F(Copy, RangesLieOneBehindTheOther)
{
	const hz_log_ftl before = rig.counters();
	ASSERT_EQ(copy(rig, rig.lba_of(2), {{rig.lba_of(0, 90), 6}, {rig.lba_of(1), 3}, {rig.lba_of(0), 30}, {rig.lba_of(1, 50), 2}}), 0);
	EXPECT_EQ(rig.compare(2, 0, 6, 1090), "");
	EXPECT_EQ(rig.compare(2, 6, 3, 2000), "");
	EXPECT_EQ(rig.compare(2, 9, 30, 1000), "");
	EXPECT_EQ(rig.compare(2, 39, 2, 0), "") << "never written";
	const hz_log_ftl after = rig.counters();
	EXPECT_EQ(after.copied_sectors - before.copied_sectors, 41u);
	EXPECT_EQ(after.host_write_sectors, before.host_write_sectors);
	EXPECT_EQ(after.host_read_sectors - before.host_read_sectors, 41u) << "what was compared here";
}

TEST_F(Copy, AsManyRangesAsThereMayBe)
{
	Sources sources;
	for (uint32_t i = 0; i < HZ_COPY_RANGES; i++)
		sources.emplace_back(rig.lba_of(0, i * 5 % 96), 1);
	ASSERT_EQ(copy(rig, rig.lba_of(2), {sources.begin(), sources.begin() + 96}), 0);
	for (uint32_t i = 0; i < 96; i++)
		ASSERT_EQ(rig.compare(2, i, 1, 1000 + i * 5 % 96), "");
	EXPECT_EQ(copy(rig, rig.lba_of(3), sources), NVME_ZONE_BOUNDARY) << "more than a zone holds";
	EXPECT_EQ(rig.zone_state(3), NVME_ZS_EMPTY);
}

TEST_F(Copy, WhatIsRefusedChangesNothing)
{
	const uint64_t to = rig.lba_of(2), end = rig.shape.namespace_sectors;
	EXPECT_EQ(copy(rig, to + 1, {{rig.lba_of(0), 4}}), NVME_ZONE_INVALID_WRITE);
	EXPECT_EQ(copy(rig, rig.lba_of(0), {{rig.lba_of(1), 4}}), NVME_ZONE_FULL);
	EXPECT_EQ(copy(rig, to, {{rig.lba_of(0), 1}, {end, 1}}), NVME_LBA_OUT_OF_RANGE | NVME_DNR);
	EXPECT_EQ(copy(rig, to, {{end - 1, 2}}), NVME_LBA_OUT_OF_RANGE | NVME_DNR);
	EXPECT_EQ(copy(rig, to, {{UINT64_MAX, 2}}), NVME_LBA_OUT_OF_RANGE | NVME_DNR);
	EXPECT_EQ(copy(rig, end - 1, {{0, 2}}), NVME_LBA_OUT_OF_RANGE | NVME_DNR);
	EXPECT_EQ(copy(rig, to, {{0, 129}}), NVME_SIZE_LIMIT | NVME_DNR);
	EXPECT_EQ(copy(rig, to, {{0, 64}, {0, 65}}), NVME_SIZE_LIMIT | NVME_DNR);
	EXPECT_EQ(rig.zone_state(2), NVME_ZS_EMPTY);
	EXPECT_EQ(rig.counters().copied_sectors, 0u);
}

TEST_F(Copy, ANamespaceMayBeSmallerThanItsFlash)
{
	const uint64_t end = rig.lba_of(3);
	auto copy_in = [&](uint64_t to, const Sources &sources) {
		CopyRequest request(to, sources);
		request.req.namespace_sectors = end;
		return rig.run(request);
	};
	EXPECT_EQ(copy_in(rig.lba_of(2), {{rig.lba_of(0), 1}, {end, 1}}), NVME_LBA_OUT_OF_RANGE | NVME_DNR);
	EXPECT_EQ(copy_in(rig.lba_of(2), {{end - 1, 2}}), NVME_LBA_OUT_OF_RANGE | NVME_DNR);
	EXPECT_EQ(copy_in(end - 1, {{0, 2}}), NVME_LBA_OUT_OF_RANGE | NVME_DNR);
	EXPECT_EQ(copy_in(rig.lba_of(2), {{rig.lba_of(0), 4}, {end - 1, 1}}), 0);
}

TEST_F(Copy, AppendsTellWhere)
{
	for (uint32_t i = 0; i < 3; i++) {
		CopyRequest append(rig.lba_of(1), {{rig.lba_of(0, i), 2}, {rig.lba_of(0, 50), 1}}, 0, FTL_COPY_APPEND);
		ASSERT_EQ(rig.run(append), 0);
		ASSERT_EQ(append.req.result, rig.lba_of(1, 40 + 3 * i));
		ASSERT_EQ(rig.compare(1, 40 + 3 * i, 2, 1000 + i), "");
		ASSERT_EQ(rig.compare(1, 42 + 3 * i, 1, 1050), "");
	}
	CopyRequest inside(rig.lba_of(1, 1), {{rig.lba_of(0), 1}}, 0, FTL_COPY_APPEND);
	EXPECT_EQ(rig.run(inside), NVME_INVALID_FIELD) << "no start of a zone";
}

TEST_F(Copy, ManyAtOnceWaitForMemory)
{
	std::vector<std::unique_ptr<CopyRequest>> all;
	for (uint32_t i = 0; i < 12; i++) {
		all.push_back(std::make_unique<CopyRequest>(rig.lba_of(2), Sources{{rig.lba_of(0, i), 8}}, 0, FTL_COPY_APPEND));
		rig.submit(*all.back());
	}
	lt_host_run_until_idle();
	for (uint32_t i = 0; i < 12; i++) {
		ASSERT_TRUE(all[i]->done && !all[i]->status()) << i;
		EXPECT_EQ(rig.compare(2, static_cast<uint32_t>(all[i]->req.result - rig.lba_of(2)), 8, 1000 + i), "");
	}
}

// Data take their time across the link, the list of ranges next to none.
TEST(CopyLink, DataStayInside)
{
	hz_device_config cfg = ftl_config();
	cfg.pcie_bytes_per_s = 1000000;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(rig.write(0, 0, 32, 1000), 0);
	lt_host_run_until(clock_now_ns() + 1000000000);
	const uint64_t start_ns = clock_now_ns();
	CopyRequest inside(rig.lba_of(1), {{rig.lba_of(0), 32}});
	ASSERT_EQ(rig.run(inside), 0);
	EXPECT_LT(inside.done_ns - start_ns, 20000000u);
	EXPECT_GE(inside.done_ns - start_ns, 32000u) << "the list: 32 bytes";
	const uint64_t then_ns = clock_now_ns();
	Request read(FTL_READ, rig.lba_of(1), 32);
	ASSERT_EQ(rig.run(read), 0);
	EXPECT_GE(read.done_ns - then_ns, 32 * 4096 * 1000u);
}

TEST_F(Copy, DurableWhereAWriteIs)
{
	const Sources sources = {{rig.lba_of(0, 7), 5}};
	Request flush(FTL_FLUSH, 0, 0);
	ASSERT_EQ(rig.run(flush), 0);
	ASSERT_EQ(copy(rig, rig.lba_of(2), sources, FTL_FUA), 0);
	ASSERT_EQ(copy(rig, rig.lba_of(2, 5), sources), 0);
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.compare(2, 0, 5, 1007), "");
}

TEST_F(Copy, AnUnreadableSourceIsReported)
{
	Request flush(FTL_FLUSH, 0, 0);
	ASSERT_EQ(rig.run(flush), 0);
	rig.cfg.read_fail_ppb = 1000000000;
	EXPECT_EQ(copy(rig, rig.lba_of(2), {{rig.lba_of(0), 5}, {rig.lba_of(0, 8), 5}, {rig.lba_of(0, 20), 5}}), NVME_UNRECOVERED_READ);
	rig.cfg.read_fail_ppb = 0;
	EXPECT_EQ(rig.zone_state(2), NVME_ZS_EMPTY);
	EXPECT_EQ(copy(rig, rig.lba_of(2), {{rig.lba_of(0), 5}}), 0) << "the memory is free again";
}

namespace {

hz_device_config protected_config()
{
	hz_device_config cfg = ftl_config();
	cfg.protection = HZ_PROTECTION_TYPE1;
	return cfg;
}

class ProtectedCopy : public Copy {
protected:
	ProtectedCopy() : Copy(protected_config()) {}
	// Checks of source and destination; tuples go along with the data, or new ones are made.
	uint16_t run(uint32_t at, uint8_t source, uint8_t destination, uint32_t source_tag, uint32_t tag)
	{
		CopyRequest request(rig.lba_of(2, at), {{rig.lba_of(0, 7), 3}});
		auto *range = reinterpret_cast<nvme_copy_range *>(request.data.data());
		range->eilbrt = source_tag;
		request.chosen = true;
		request.req.source_checks = source;
		request.req.protect = destination;
		request.req.expected = {0, application_tag, tag};
		request.req.tag_mask = 0xffff;
		return rig.run(request);
	}
};

} // namespace

TEST_F(ProtectedCopy, NewTuplesAreMade)
{
	const auto to = static_cast<uint32_t>(rig.lba_of(2)), from = static_cast<uint32_t>(rig.lba_of(0, 7));
	ASSERT_EQ(run(0, HZ_CHECK_ALL, HZ_CHECK_ALL, from, to), 0);
	EXPECT_EQ(rig.compare(2, 0, 3, 1007), "") << "its tuples are checked, too";
	EXPECT_EQ(run(3, HZ_CHECK_ALL, HZ_CHECK_ALL, from + 1, to + 3), NVME_INVALID_PROTECTION | NVME_DNR);
	EXPECT_EQ(rig.counters().copied_sectors, 3u);
}

TEST_F(ProtectedCopy, TuplesGoAlong)
{
	const auto to = static_cast<uint32_t>(rig.lba_of(2)), from = static_cast<uint32_t>(rig.lba_of(0, 7));
	const uint8_t along = int(FTL_HOST_TUPLES) | HZ_CHECK_GUARD | HZ_CHECK_APPLICATION;
	ASSERT_EQ(run(0, HZ_CHECK_ALL, along, from, to), 0);
	Request read(FTL_READ, rig.lba_of(2), 3);
	read.chosen = true;
	read.tuples.assign(3 * HZ_TUPLE_BYTES, 0);
	read.req.tuples = read.tuples.data();
	read.req.protect = FTL_HOST_TUPLES;
	ASSERT_EQ(rig.run(read), 0);
	EXPECT_EQ(read.tuple(2).reference, from + 2) << "they are those of the source";
	EXPECT_EQ(run(3, HZ_CHECK_ALL, along | HZ_CHECK_REFERENCE, from, to + 3), NVME_REFERENCE_CHECK);
	EXPECT_EQ(rig.counters().copied_sectors, 3u);
}
