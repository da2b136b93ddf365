// Exports: places of blocks, and Linux's support for each preset.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "config/device_yaml.hpp"
#include "fabrics/exports.hpp"
#include "namespaces.h"

namespace hz::fabrics {
namespace {

hz_device_config preset(const std::string &name) { return conf::load_device(HZ_TREE "/configs/devices/" + name + ".yaml"); }

Exports exports_of(const hz_device_config &config, std::string_view name = "n")
{
	std::vector<uint32_t> attached(config.namespaces);
	std::iota(attached.begin(), attached.end(), 1u);
	return Exports(config, attached, name);
}

nvme_sqe io(uint8_t opcode, uint64_t block, uint32_t blocks)
{
	nvme_sqe sqe{};
	sqe.opcode = opcode;
	sqe.nsid = 2;
	sqe.cdw10 = static_cast<uint32_t>(block);
	sqe.cdw12 = blocks - 1;
	return sqe;
}

// (first block, blocks) in the device.
std::vector<std::pair<uint64_t, uint64_t>> pieces(const Export &one, const nvme_sqe &sqe, std::span<const std::byte> data = {})
{
	std::vector<Portion> portions;
	std::vector<std::pair<uint64_t, uint64_t>> out;
	EXPECT_EQ(one.portions(sqe, data, portions), 0);
	for (const Portion &portion : portions) {
		EXPECT_EQ(portion.sqe.nsid, one.device_nsid);
		out.push_back({portion.sqe.cdw10, (portion.sqe.cdw12 & 0xffff) + 1});
	}
	return out;
}

uint16_t status_of(const Export &one, const nvme_sqe &sqe, std::span<const std::byte> data = {})
{
	std::vector<Portion> portions;
	return one.portions(sqe, data, portions);
}

using Pieces = std::vector<std::pair<uint64_t, uint64_t>>;

// Eight conventional zones of 12 MiB, 16 MiB apart.
struct Holes : testing::Test {
	const hz_device_config config = preset("conzone-f2fs");
	const Exports exports = exports_of(config);
	const Export &conventional = *exports.find(2), &sequential = *exports.find(1);
	const uint64_t capacity = 3072, distance = 4096;
};

TEST_F(Holes, TheDeviceIsShownAsTwo)
{
	ASSERT_EQ(exports.all().size(), 2u);
	EXPECT_EQ(exports.count(), 2u);
	EXPECT_EQ(conventional.blocks, 8 * capacity);
	EXPECT_FALSE(conventional.zoned);
	EXPECT_EQ(sequential.first, 8 * distance);
	EXPECT_EQ(sequential.blocks, 120 * distance);
	EXPECT_EQ(exports.list(0), (std::vector<uint32_t>{1, 2}));
	EXPECT_EQ(exports.list(1), (std::vector<uint32_t>{2}));
	EXPECT_EQ(exports.list(0, NVME_CSI_ZNS), (std::vector<uint32_t>{1}));
	EXPECT_EQ(exports.list(0, NVME_CSI_NVM), (std::vector<uint32_t>{2}));
	EXPECT_NE(conventional.unique, sequential.unique);
	EXPECT_EQ(exports_of(config).find(1)->unique, sequential.unique) << "stable";
	EXPECT_NE(exports_of(config, "other").find(1)->unique, sequential.unique);
}

TEST_F(Holes, ACommandOverAHoleIsCut)
{
	EXPECT_EQ(pieces(conventional, io(NVME_IO_WRITE, 0, 8)), (Pieces{{0, 8}}));
	EXPECT_EQ(pieces(conventional, io(NVME_IO_READ, capacity, 8)), (Pieces{{distance, 8}}));
	EXPECT_EQ(pieces(conventional, io(NVME_IO_READ, capacity - 3, 8)), (Pieces{{capacity - 3, 3}, {distance, 5}}));
	EXPECT_EQ(pieces(conventional, io(NVME_IO_WRITE_ZEROES, capacity - 1, capacity + 2)),
		  (Pieces{{capacity - 1, 1}, {distance, capacity}, {2 * distance, 1}}));
	EXPECT_EQ(pieces(conventional, io(NVME_IO_WRITE_UNCORRECTABLE, capacity - 1, 2)), (Pieces{{capacity - 1, 1}, {distance, 1}}));
	std::vector<Portion> portions;
	ASSERT_EQ(conventional.portions(io(NVME_IO_WRITE, capacity - 3, 8), Bytes(8 * 4096), portions), 0);
	EXPECT_EQ(portions[1].offset, 3u * 4096);
	EXPECT_EQ(portions[1].bytes, 5u * 4096);
}

TEST_F(Holes, NothingReachesBehindItsEnd)
{
	const uint64_t blocks = conventional.blocks;
	EXPECT_EQ(status_of(conventional, io(NVME_IO_READ, blocks - 1, 1)), 0);
	EXPECT_EQ(status_of(conventional, io(NVME_IO_READ, blocks - 1, 2)), NVME_LBA_OUT_OF_RANGE);
	EXPECT_EQ(status_of(conventional, io(NVME_IO_WRITE, blocks, 1)), NVME_LBA_OUT_OF_RANGE);
	EXPECT_EQ(status_of(sequential, io(NVME_IO_READ, sequential.blocks, 1)), NVME_LBA_OUT_OF_RANGE);
	EXPECT_EQ(status_of(sequential, io(NVME_IO_ZONE_MGMT_SEND, sequential.blocks, 1)), NVME_LBA_OUT_OF_RANGE);
	EXPECT_EQ(status_of(conventional, io(NVME_IO_ZONE_APPEND, 0, 1)), NVME_INVALID_OPCODE);
	EXPECT_EQ(status_of(conventional, io(NVME_IO_ZONE_MGMT_RECV, 0, 1)), NVME_INVALID_OPCODE);
}

TEST_F(Holes, SequentialZonesAreMoved)
{
	EXPECT_EQ(pieces(sequential, io(NVME_IO_WRITE, 0, 4)), (Pieces{{8 * distance, 4}}));
	EXPECT_EQ(pieces(sequential, io(NVME_IO_ZONE_APPEND, distance, 4)), (Pieces{{9 * distance, 4}}));
	Bytes report(64 + 64);
	write_record(std::span(report), uint64_t(1));
	nvme_zone_descriptor zone{};
	zone.start = zone.write_pointer = 9 * distance;
	write_record(std::span(report), zone, 64);
	sequential.translate_report(report);
	EXPECT_EQ(read_record<nvme_zone_descriptor>(report, 64).start, distance);
	EXPECT_EQ(read_record<nvme_zone_descriptor>(report, 64).write_pointer, distance);
	zone.write_pointer = UINT64_MAX;
	write_record(std::span(report), zone, 64);
	sequential.translate_report(report);
	EXPECT_EQ(read_record<nvme_zone_descriptor>(report, 64).write_pointer, UINT64_MAX);
}

TEST_F(Holes, RangesAreCutToo)
{
	Bytes data(2 * sizeof(nvme_dsm_range));
	write_record(std::span(data), nvme_dsm_range{0, static_cast<uint32_t>(capacity + 10), capacity - 5});
	write_record(std::span(data), nvme_dsm_range{0, 7, 100}, sizeof(nvme_dsm_range));
	nvme_sqe sqe = io(NVME_IO_DATASET_MANAGEMENT, 1, 1);
	std::vector<Portion> portions;
	ASSERT_EQ(conventional.portions(sqe, data, portions), 0);
	ASSERT_EQ(portions.size(), 1u);
	EXPECT_EQ(portions[0].sqe.cdw10, 3u) << "four ranges";
	const auto range = [&](size_t i) { return read_record<nvme_dsm_range>(portions[0].ranges, i * sizeof(nvme_dsm_range)); };
	EXPECT_EQ(range(0).slba, capacity - 5);
	EXPECT_EQ(range(0).nlb, 5u);
	EXPECT_EQ(range(1).slba, distance);
	EXPECT_EQ(range(1).nlb, capacity);
	EXPECT_EQ(range(2).slba, 2 * distance);
	EXPECT_EQ(range(2).nlb, 5u);
	EXPECT_EQ(range(3).slba, 100u);
	write_record(std::span(data), nvme_dsm_range{0, 2, conventional.blocks - 1});
	EXPECT_EQ(status_of(conventional, sqe, data), NVME_LBA_OUT_OF_RANGE);
}

TEST_F(Holes, MoreRangesThanACommandHasAreSeveral)
{
	Bytes data(256 * sizeof(nvme_dsm_range));
	for (size_t i = 0; i < 256; i++)
		write_record(std::span(data), nvme_dsm_range{0, 2, capacity - 1}, i * sizeof(nvme_dsm_range));
	std::vector<Portion> portions;
	ASSERT_EQ(conventional.portions(io(NVME_IO_DATASET_MANAGEMENT, 255, 1), data, portions), 0);
	ASSERT_EQ(portions.size(), 2u);
	EXPECT_EQ(portions[0].bytes, 256 * sizeof(nvme_dsm_range));
	EXPECT_EQ(portions[1].bytes, 256 * sizeof(nvme_dsm_range));
}

TEST_F(Holes, ACopyOverAHoleIsRefused)
{
	Bytes data(sizeof(nvme_copy_range));
	nvme_copy_range range{};
	range.slba = capacity - 1;
	range.nlb = 1;
	write_record(std::span(data), range);
	EXPECT_EQ(status_of(conventional, io(NVME_IO_COPY, 0, 1), data), NVME_INVALID_FIELD);
	range.slba = capacity;
	write_record(std::span(data), range);
	std::vector<Portion> portions;
	ASSERT_EQ(conventional.portions(io(NVME_IO_COPY, 2 * capacity, 1), data, portions), 0);
	EXPECT_EQ(portions[0].sqe.cdw10, 2 * distance);
	EXPECT_EQ(read_record<nvme_copy_range>(portions[0].ranges).slba, distance);
	EXPECT_EQ(status_of(conventional, io(NVME_IO_COPY, capacity - 1, 1), data), NVME_INVALID_FIELD);
}

TEST(Exports, WhatIsNotSplitIsAsTheDeviceHasIt)
{
	const Exports exports = exports_of(preset("default"));
	ASSERT_EQ(exports.all().size(), 1u);
	EXPECT_EQ(exports.count(), 1u);
	EXPECT_EQ(pieces(exports.all()[0], io(NVME_IO_WRITE, 1 << 30, 8)), (Pieces{{1 << 30, 8}})) << "the device refuses it";
}

// Of each preset, and with the reason where Linux does not.
TEST(Linux, TakesEveryPresetThatHasZonesOfAPowerOfTwo)
{
	std::string taken, refused;
	for (const auto &file : std::filesystem::directory_iterator(HZ_TREE "/configs/devices")) {
		const std::string name = file.path().stem();
		const hz_device_config config = preset(name);
		const Exports exports = exports_of(config);
		ASSERT_FALSE(exports.all().empty()) << name;
		for (const Export &one : exports.all()) {
			const Verdict verdict = linux_verdict(one, config);
			EXPECT_EQ(verdict.taken, !one.zoned || std::has_single_bit(one.zone_blocks)) << name;
			EXPECT_EQ(verdict.taken, verdict.why.empty()) << name;
			(verdict.taken ? taken : refused) += name + " " + std::to_string(one.nsid) + "\n";
		}
		hz_shape shape;
		hz_namespace_shape(&config, 0, &shape);
		EXPECT_EQ(exports.all().size(),
			  config.namespaces * (shape.conventional_zones && config.namespace_kind == HZ_NS_ZONED ? 2 : 1))
			<< name;
	}
	EXPECT_EQ(refused, "") << "no preset needs to be one that Linux does not take";
	EXPECT_NE(taken.find("conzone-f2fs 2\n"), std::string::npos);
}

TEST(Linux, LearnsWhyItTakesOneNot)
{
	hz_device_config config = conf::parse_device("name: odd\nzones: {size: 13 MiB, capacity: 12 MiB}\n", "odd");
	const Exports exports = exports_of(config);
	const Verdict verdict = linux_verdict(exports.all()[0], config);
	EXPECT_FALSE(verdict.taken);
	EXPECT_EQ(verdict.why,
		  "its zones lie 13 MiB apart, and Linux takes powers of two alone: zones.size: 16 MiB would do, the capacity may stay");
	EXPECT_NE(linux_text(exports, config).find("Linux takes it not, because its zones lie 13 MiB apart"), std::string::npos);
}

TEST(Linux, HearsWhatFileSystemsNeed)
{
	const auto notes = [](const std::string &name, uint32_t nsid) {
		const hz_device_config config = preset(name);
		const Exports exports = exports_of(config);
		std::string all;
		for (const std::string &note : linux_verdict(*exports.find(nsid), config).notes)
			all += note + "\n";
		return all;
	};
	EXPECT_NE(notes("conzone-f2fs-patched", 1).find("btrfs needs at least 8 active zones, it has 6"), std::string::npos);
	EXPECT_EQ(notes("conzone-f2fs-patched", 2), "");
	EXPECT_NE(notes("default", 1).find("F2FS needs a second, conventional device"), std::string::npos);
	EXPECT_EQ(notes("default", 1).find("btrfs"), std::string::npos);
	EXPECT_NE(notes("zms", 1).find("media: store"), std::string::npos);
}

} // namespace
} // namespace hz::fabrics
