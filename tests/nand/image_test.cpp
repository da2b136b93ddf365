// Duplicated structures of an image: any damage to one copy is repaired, damage to both is
// reported, and nothing is ever formatted by mistake.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "damage.hpp"
#include "flash_rig.hpp"

using rig::Rig;
using rig::Txn;

namespace {

hz_nand_layout layout_of(const hz_device_config &cfg)
{
	hz_nand_layout layout;
	hz_nand_layout_of(&cfg, &layout);
	return layout;
}

// An image with a little of everything in it: programmed sectors in an SLC and a normal block, an erased block, a power history.
std::shared_ptr<rig::Image> used_image(const hz_device_config &cfg)
{
	Rig r(cfg);
	r.run(r.program(0, 4, 0, 2));
	r.run(r.program(0, 0, 0, 1));
	r.run(r.program(0, 5, 0, 2));
	r.run(r.erase(0, 5));
	r.media.nand.ops->mark_clean(&r.media.nand, 0, 7);
	hz_nand_controller controller{};
	controller.saved = 1 << 6;
	r.media.nand.ops->set_controller(&r.media.nand, &controller);
	r.media.nand.ops->shut_down(&r.media.nand, true);
	return r.image();
}

uint8_t *byte_at(const rig::Image &image, uint64_t offset) { return static_cast<uint8_t *>(image.base()) + offset; }

std::vector<uint8_t> bytes_at(const rig::Image &image, uint64_t from, uint64_t bytes)
{
	return {byte_at(image, from), byte_at(image, from + bytes)};
}

// Header without power history, which every start changes; block table; all OOB records.
void expect_whole(Rig &r, const char *what)
{
	ASSERT_EQ(r.mount_error, nullptr) << what;
	nand_history history;
	r.media.nand.ops->history(&r.media.nand, &history);
	EXPECT_EQ(history.power_cycles, 2u) << what;
	EXPECT_EQ(history.unsafe_shutdowns, 0u) << what;
	EXPECT_EQ(r.media.blocks[4].write_sector, 2u) << what;
	EXPECT_EQ(r.media.blocks[5].erase_count, 1u) << what;
	EXPECT_EQ(r.run(r.read(0, 4, 0, 2)).txn.status, NAND_OK) << what;
	hz_nand_controller controller;
	r.media.nand.ops->controller(&r.media.nand, &controller);
	EXPECT_EQ(controller.saved, 1u << 6) << what;
}

} // namespace

// Every bit of the header, the config behind it and the block table, in either copy; and every page of them.
TEST(Image, OneDamagedCopyIsRepaired)
{
	const hz_device_config cfg = rig::small_config();
	const hz_nand_layout layout = layout_of(cfg);
	struct Part {
		uint64_t offset, bytes;
		const char *name;
	};
	const uint64_t table = 8 * sizeof(hz_nand_block), first = offsetof(hz_nand_block, read_count); // unrelated to any repair
	const Part parts[] = {{0, sizeof(hz_nand_header), "header"},
			      {layout.header_copy_offset, sizeof(hz_nand_header), "header copy"},
			      {HZ_NAND_CONFIG_OFFSET, 64, "config"},
			      {layout.header_copy_offset + HZ_NAND_CONFIG_OFFSET, 64, "config copy"},
			      {layout.blocks_offset, table, "block table"},
			      {layout.blocks_copy_offset, table, "block table's copy"},
			      {HZ_NAND_NAMESPACES_OFFSET, sizeof(hz_nand_namespaces), "namespaces"},
			      {layout.header_copy_offset + HZ_NAND_NAMESPACES_OFFSET, sizeof(hz_nand_namespaces), "namespaces' copy"},
			      {HZ_NAND_CONTROLLER_OFFSET, 64, "controller"},
			      {layout.header_copy_offset + HZ_NAND_CONTROLLER_OFFSET, 64, "controller's copy"}};
	auto image = used_image(cfg);
	const auto before = bytes_at(*image, 0, image->bytes());
	const auto namespaces = bytes_at(*image, HZ_NAND_NAMESPACES_OFFSET, sizeof(hz_nand_namespaces));
	for (const Part &part : parts)
		for (uint64_t bit = 0; bit < part.bytes * 8; bit++) {
			*byte_at(*image, part.offset + bit / 8) ^= static_cast<uint8_t>(1 << bit % 8);
			Rig r(cfg, nullptr, image);
			expect_whole(r, part.name);
			for (const uint64_t offset : {layout.blocks_offset, layout.blocks_copy_offset})
				for (uint64_t b = 0; b < table; b += sizeof(hz_nand_block))
					EXPECT_EQ(std::memcmp(byte_at(*image, offset + b), &before[offset + b], first), 0)
						<< part.name << ": the entry of block " << b / sizeof(hz_nand_block)
						<< " is there twice again";
			for (const uint64_t offset : {uint64_t(0), layout.header_copy_offset})
				EXPECT_EQ(bytes_at(*image, offset + HZ_NAND_NAMESPACES_OFFSET, sizeof(hz_nand_namespaces)), namespaces)
					<< part.name;
			ASSERT_FALSE(HasFailure()) << "bit " << bit;
			std::memcpy(image->base(), before.data(), before.size());
		}
	for (const Part &part : parts) {
		std::memset(byte_at(*image, part.offset / 4096 * 4096), 0, 4096);
		Rig r(cfg, nullptr, image);
		expect_whole(r, part.name);
		EXPECT_GT(lt_load(&r.media.repaired), 0u);
		EXPECT_NE(bytes_at(*image, part.offset, 8), std::vector<uint8_t>(8)) << part.name << " is there twice again";
		std::memcpy(image->base(), before.data(), before.size());
	}
}

TEST(Image, ALossOfBothCopiesOfARecordIsReported)
{
	const hz_device_config cfg = rig::small_config();
	const struct {
		const char *of;
		uint64_t last; // byte of the record
	} records[] = {{"namespaces", HZ_NAND_NAMESPACES_OFFSET + sizeof(hz_nand_namespaces) - 1},
		       {"controller", HZ_NAND_CONTROLLER_OFFSET + sizeof(hz_nand_controller) - 1}};
	for (const auto &record : records) {
		auto image = used_image(cfg);
		for (const uint64_t offset : {uint64_t(0), layout_of(cfg).header_copy_offset})
			*byte_at(*image, offset + record.last) ^= 1;
		Rig r(cfg, nullptr, image);
		EXPECT_EQ(std::string(r.mount_error ? r.mount_error : ""),
			  std::string("The NAND image is damaged: neither copy of the record of its ") + record.of + " can be believed.");
	}
}

// What an image had before there was such a record.
TEST(Image, NoRecordOfTheControllerIsANewOne)
{
	const hz_device_config cfg = rig::small_config();
	auto image = used_image(cfg);
	for (const uint64_t offset : {uint64_t(0), layout_of(cfg).header_copy_offset})
		std::memset(byte_at(*image, offset + HZ_NAND_CONTROLLER_OFFSET), 0, sizeof(hz_nand_controller));
	Rig r(cfg, nullptr, image);
	ASSERT_EQ(r.mount_error, nullptr);
	hz_nand_controller controller;
	r.media.nand.ops->controller(&r.media.nand, &controller);
	EXPECT_EQ(controller.saved, 0u);
	EXPECT_EQ(lt_load(&r.media.repaired), 0u);
}

TEST(Image, BothHeadersLostIsReportedAndNeverFormatted)
{
	const hz_device_config cfg = rig::small_config();
	const hz_nand_layout layout = layout_of(cfg);
	for (int byte : {0, 0xa5}) {
		auto image = used_image(cfg);
		std::memset(image->base(), byte, HZ_NAND_HEADER_BYTES);
		std::memset(byte_at(*image, layout.header_copy_offset), byte, HZ_NAND_HEADER_BYTES);
		const auto before = bytes_at(*image, 0, image->bytes());
		Rig r(cfg, nullptr, image);
		ASSERT_NE(r.mount_error, nullptr);
		EXPECT_NE(std::string(r.mount_error).find(byte ? "magic number is wrong" : "either of its two copies"), std::string::npos)
			<< r.mount_error;
		EXPECT_EQ(bytes_at(*image, 0, image->bytes()), before) << "nothing was changed";
	}
}

// Both copies of an entry, or entries that no media would have written though their checksums are right.
TEST(Image, ABlockTableThatCannotBeIsReported)
{
	const hz_device_config cfg = rig::small_config();
	struct Case {
		const char *words;
		void (*damage)(Rig &r);
	} const cases[] = {
		{"block 4 of plane 0: neither of its two copies",
		 [](Rig &r) { r.media.blocks[4].write_sector++, r.media.blocks_copy[4].flags++; }},
		{"block 0 of plane 0: neither of its two copies",
		 [](Rig &r) {
			 std::memset(r.media.blocks, 0, sizeof(hz_nand_block) * 8);
			 std::memset(r.media.blocks_copy, 0, sizeof(hz_nand_block) * 8);
		 }},
		{"block 4 of plane 0: its write_sector is beyond",
		 [](Rig &r) { r.media.blocks[4].write_sector = 34, nand_block_store(&r.media, 4); }},
		{"block 4 of plane 0: its write_sector is beyond",
		 [](Rig &r) { r.media.blocks[4].write_sector = UINT32_MAX - 1, nand_block_store(&r.media, 4); }},
		{"block 1 of plane 0: its write_sector is beyond",
		 [](Rig &r) { r.media.blocks[1].write_sector = 17, nand_block_store(&r.media, 1); }},
		{"block 4 of plane 0: its write_sector is inside",
		 [](Rig &r) { r.media.blocks[4].write_sector = 3, nand_block_store(&r.media, 4); }},
		{"block 4 of plane 0: its flags are none", [](Rig &r) { r.media.blocks[4].flags = 8, nand_block_store(&r.media, 4); }},
	};
	for (const Case &c : cases) {
		auto image = used_image(cfg);
		{
			Rig r(cfg, nullptr, image);
			c.damage(r);
		}
		Rig r(cfg, nullptr, image);
		ASSERT_NE(r.mount_error, nullptr) << c.words;
		EXPECT_NE(std::string(r.mount_error).find(c.words), std::string::npos) << r.mount_error;
		EXPECT_NE(std::string(r.mount_error).find("hartzone image check"), std::string::npos) << r.mount_error;
	}
}

TEST(Image, AnotherFormatVersionIsReported)
{
	const hz_device_config cfg = rig::small_config();
	auto image = std::make_shared<rig::Image>(hz_nand_image_bytes(&cfg));
	auto *header = static_cast<hz_nand_header *>(image->base());
	header->magic = HZ_NAND_MAGIC;
	header->version = 2; // which had no checksum and no copy
	header->header_bytes = 4096;
	EXPECT_NE(std::string(Rig(cfg, nullptr, image).mount_error)
			  .find("format version 2, but this firmware reads versions " + std::to_string(HZ_NAND_VERSION) + " to " +
				std::to_string(HZ_NAND_VERSION_LAST)),
		  std::string::npos);
}

// What lies where depends on these too: an image that was written otherwise is refused, and not taken for an empty one.
TEST(Image, AnotherLayoutOfTheFirmwareIsReported)
{
	hz_device_config base = rig::small_config();
	base.zones = 4;
	struct Case {
		const char *word;
		void (*change)(hz_device_config &cfg);
	} const cases[] = {
		{"plane_scheme", [](hz_device_config &cfg) { cfg.plane_scheme = 3; }},
		{"slc_program_sectors", [](hz_device_config &cfg) { cfg.slc_program_sectors = 2; }},
		{"program_pages", [](hz_device_config &cfg) { cfg.program_pages = 2; }},
		{"zones", [](hz_device_config &cfg) { cfg.zones = 3; }},
		{"zone_size_sectors", [](hz_device_config &cfg) { cfg.zone_size_sectors = 64; }},
		{"zone_capacity_sectors", [](hz_device_config &cfg) { cfg.zone_capacity_sectors = 30; }},
	};
	for (const Case &c : cases) {
		auto image = used_image(base);
		hz_device_config cfg = base;
		c.change(cfg);
		Rig r(cfg, nullptr, image);
		ASSERT_NE(r.mount_error, nullptr) << c.word;
		EXPECT_NE(std::string(r.mount_error).find(std::string("made for ") + c.word), std::string::npos) << r.mount_error;
	}
}

TEST(Image, AFormatThatWasCutBeginsAgain)
{
	const hz_device_config cfg = rig::small_config();
	auto image = std::make_shared<rig::Image>(hz_nand_image_bytes(&cfg));
	{
		Rig r(cfg, nullptr, image);
		r.media.header->formatting = 1;
		nand_header_store(&r.media);
		std::memset(r.media.blocks + 3, 0, 5 * sizeof(hz_nand_block));
		std::memset(r.media.blocks_copy, 0, 8 * sizeof(hz_nand_block));
	}
	for (int start = 0; start < 2; start++) {
		Rig r(cfg, nullptr, image);
		ASSERT_EQ(r.mount_error, nullptr);
		EXPECT_EQ(r.run(r.program(0, 4, 2 * static_cast<uint32_t>(start), 2)).txn.status, NAND_OK);
	}
}

// Clean until something is programmed or erased, in whichever way that ends.
TEST(Image, TheCleanMarkIsTakenBackBeforeTheFirstChange)
{
	const hz_device_config cfg = rig::small_config();
	auto mark_of = [](Rig &r) { return r.media.nand.ops->clean_mark(&r.media.nand, 0); };
	void (*const changes[])(Rig & r) = {
		[](Rig &r) { r.run(r.program(0, 4, 2, 2)); },
		[](Rig &r) { r.run(r.erase(0, 4)); },
		[](Rig &r) { r.media.policy.fail_op = 1, r.run(r.program(0, 4, 2, 2)); },
		[](Rig &r) { r.media.policy.fail_op = 1, r.run(r.erase(0, 4)); },
		[](Rig &r) { r.media.policy.power_cut_op = 1, r.run(r.program(0, 4, 2, 2)); },
		[](Rig &r) { r.media.policy.power_cut_op = 1, r.run(r.erase(0, 4)); },
	};
	for (auto *change : changes) {
		auto image = used_image(cfg);
		{
			Rig r(cfg, nullptr, image);
			EXPECT_TRUE(mark_of(r).clean);
			EXPECT_EQ(mark_of(r).record, 7u);
			EXPECT_EQ(r.run(r.read(0, 4, 0, 2)).txn.status, NAND_OK);
			EXPECT_TRUE(mark_of(r).clean) << "a read changes nothing";
			change(r);
			EXPECT_FALSE(mark_of(r).clean);
		}
		Rig r(cfg, nullptr, image);
		EXPECT_FALSE(mark_of(r).clean);
		EXPECT_EQ(mark_of(r).record, 7u) << "which record was the last one is still known";
	}
}

// One copy of the clean mark is enough; killed between the two copies, "changed" counts; both damaged: nothing is known to be clean.
TEST(Image, OneCopyOfTheCleanMarkIsEnough)
{
	const hz_device_config cfg = rig::small_config();
	const hz_nand_layout layout = layout_of(cfg);
	const uint64_t words[] = {HZ_NAND_CLEAN_MARK_OFFSET, layout.header_copy_offset + HZ_NAND_CLEAN_MARK_OFFSET};
	auto image = used_image(cfg);
	const auto before = bytes_at(*image, 0, image->bytes());
	auto mark_after = [&] {
		Rig r(cfg, nullptr, image);
		nand_clean_mark mark = r.media.nand.ops->clean_mark(&r.media.nand, 0);
		std::memcpy(image->base(), before.data(), before.size());
		return mark;
	};
	for (uint64_t at : words)
		for (uint32_t bit = 0; bit < 64; bit++) {
			*byte_at(*image, at + bit / 8) ^= static_cast<uint8_t>(1 << bit % 8);
			nand_clean_mark mark = mark_after();
			ASSERT_TRUE(mark.clean) << bit;
			ASSERT_EQ(mark.record, 7u) << bit;
		}
	const uint64_t changed = 7ull << 32 | (7 ^ HZ_NAND_CHANGED);
	std::memcpy(byte_at(*image, words[0]), &changed, 8);
	EXPECT_FALSE(mark_after().clean);
	for (int byte : {0, 0xa5}) {
		for (uint64_t at : words)
			std::memset(byte_at(*image, at), byte, 8);
		const nand_clean_mark mark = mark_after();
		EXPECT_FALSE(mark.clean);
		EXPECT_EQ(mark.record, 0u) << "the record is not known";
	}
}

// For the tests of the layers above: devices that follow one another have the same memory.
TEST(Image, NothingIsLeftOfADeviceWhoseMemoryTheNextOneGets)
{
	const hz_device_config cfg = rig::small_config();
	const hz_nand_layout layout = layout_of(cfg);
	const void *used;
	{
		Rig r(cfg, nullptr, rig::blank_image(cfg));
		used = r.image()->base();
		std::memset(r.image()->base(), 0x77, layout.data_offset + HZ_SECTOR_BYTES);
		std::memset(byte_at(*r.image(), layout.header_copy_offset), 0x77, HZ_NAND_HEADER_BYTES);
	}
	const auto image = rig::blank_image(cfg);
	ASSERT_EQ(image->base(), used);
	EXPECT_EQ(bytes_at(*image, 0, layout.data_offset), std::vector<uint8_t>(layout.data_offset));
	EXPECT_EQ(bytes_at(*image, layout.header_copy_offset, HZ_NAND_HEADER_BYTES), std::vector<uint8_t>(HZ_NAND_HEADER_BYTES));
	const std::vector<uint8_t> word(8, 0x77);
	EXPECT_NE(bytes_at(*image, layout.data_offset, 8), word);
	EXPECT_NE(bytes_at(*image, layout.data_offset + HZ_SECTOR_BYTES - 8, 8), word);
	EXPECT_EQ(Rig(cfg, nullptr, image).mount_error, nullptr);
}
