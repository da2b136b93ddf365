// The offline check on images that were used, damaged, or never were images.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "device_fields.h"
#include "image/image_check.hpp"
#include "session/machine/error.hpp"
#include "units_model.hpp"

using namespace ftl_rig;
namespace fs = std::filesystem;

namespace {

// Two conventional zones of four besides sequential ones: written, staged, finished; then a file of it.
struct Image {
	explicit Image(const hz_device_config &config) : rig(config) {}
	Image() : rig(conventional_config())
	{
		EXPECT_TRUE(rig.boot());
		EXPECT_EQ(rig.write(4, 0, 40, 5000, FTL_FUA), 0);
		EXPECT_EQ(rig.write(5, 0, 96, 6000), 0);
		ConventionalDriver driver(rig, 1);
		EXPECT_TRUE(driver.run_batch({{FTL_WRITE, 0, 30}, {FTL_WRITE, 100, 20}}));
		EXPECT_TRUE(driver.run_batch({{FTL_WRITE, 10, 5}}));
		Request flush(FTL_FLUSH, 0, 0);
		EXPECT_EQ(rig.run(flush), 0);
	}
	~Image() { fs::remove(file); }
	// The check mounts with harts of its own: the rig's device is of no use afterwards, its image is.
	hz::ImageReport check(const std::optional<hz_device_config> &device = {})
	{
		std::ofstream(file, std::ios::binary)
			.write(reinterpret_cast<const char *>(rig.bytes()), static_cast<std::streamsize>(rig.image_bytes()));
		const auto before = fs::last_write_time(file);
		const hz::ImageReport report = hz::check_image(file, device);
		EXPECT_EQ(fs::last_write_time(file), before);
		EXPECT_FALSE(hz::text_of(report, "f").empty());
		EXPECT_EQ(hz::json_of(report)["why"], report.why);
		return report;
	}

	Rig rig;
	fs::path file = fs::temp_directory_path() / ("hz-image-" + std::to_string(getpid()) + ".img");
};

uint64_t lost_of(const hz::ImageReport &report, uint32_t zone) { return report.zones.at(zone).lost; }

} // namespace

TEST(ImageCheck, AUsedImageIsSoundAndReportedZoneByZone)
{
	for (bool clean : {false, true}) {
		Image image;
		ASSERT_EQ(clean ? image.rig.shut_down_cleanly() : 0, 0);
		const hz::ImageReport report = image.check();
		EXPECT_EQ(report.verdict, hz::Verdict::sound) << report.why;
		EXPECT_TRUE(report.mounted);
		EXPECT_EQ(report.clean, clean);
		EXPECT_EQ(report.power_cycles, 1u);
		EXPECT_EQ(report.repaired, 0u);
		ASSERT_EQ(report.zones.size(), 6u);
		EXPECT_EQ(report.zones[0].state, "conventional");
		EXPECT_EQ(report.zones[0].written, 30u);
		EXPECT_EQ(report.zones[1].written, 20u);
		EXPECT_EQ(report.zones[2].written, 0u);
		EXPECT_EQ(report.zones[4].state, "closed");
		EXPECT_EQ(report.zones[4].written, 40u);
		EXPECT_EQ(report.zones[5].state, "full");
		EXPECT_EQ(report.flash.programmed, report.flash.readable);
		EXPECT_GT(report.flash.programmed, 186u);
		EXPECT_EQ(report.lost_sectors, 0u);
	}
	Image image;
	hz_device_config other = image.rig.cfg;
	other.zones = 5;
	const hz::ImageReport report = image.check(other);
	EXPECT_EQ(report.verdict, hz::Verdict::damaged);
	EXPECT_NE(report.why.find("made for zones 6, but the device config says 5"), std::string::npos) << report.why;
}

// A run injects them, not the image.
TEST(ImageCheck, FaultsOfADeviceAreLeftOut)
{
	const std::pair<uint32_t hz_device_config::*, uint32_t> faults[] = {
		{&hz_device_config::program_fail_ppb, HZ_BILLION},
		{&hz_device_config::erase_fail_ppb, HZ_BILLION},
		{&hz_device_config::read_fail_ppb, HZ_BILLION},
		{&hz_device_config::read_retry_ppb, HZ_BILLION},
		{&hz_device_config::fail_program_at, 1},
		{&hz_device_config::fail_erase_at, 1},
		{&hz_device_config::fail_read_at, 1},
		{&hz_device_config::failed_die, 1},
		{&hz_device_config::ecc_bits, 1},
	};
	EXPECT_EQ(std::ssize(faults), (std::count_if(std::begin(hz_device_fields), std::end(hz_device_fields),
						     [](const hz_field &field) { return field.fault; })));
	for (const auto &[member, value] : faults) {
		Image image;
		ASSERT_EQ(image.rig.shut_down_cleanly(), 0);
		hz_device_config faulty = image.rig.cfg;
		faulty.*member = value;
		faulty.rber_base = UINT32_MAX;
		const hz::ImageReport report = image.check(faulty);
		EXPECT_EQ(report.verdict, hz::Verdict::sound) << report.why;
		EXPECT_EQ(report.lost_sectors, 0u);
	}
}

TEST(ImageCheck, LostSectorsAreListed)
{
	Image image;
	ASSERT_EQ(image.rig.shut_down_cleanly(), 0);
	rig::flip_data(image.rig.media, image.rig.record_at(5, 95));
	rig::lose_record(image.rig.media, image.rig.record_at(5, 7));
	rig::flip_data(image.rig.media, image.rig.record_at(4, 39)); // staged
	rig::flip_data(image.rig.media,
		       image.rig.record_at(6, 3)); // the first backing zone: conventional sector 3, or its companions in the write
	const hz::ImageReport report = image.check();
	EXPECT_EQ(report.verdict, hz::Verdict::damaged);
	EXPECT_EQ(lost_of(report, 5), 2u);
	EXPECT_EQ(report.zones[5].lost_lbas, (std::vector<uint64_t>{image.rig.lba_of(5, 7), image.rig.lba_of(5, 95)}));
	EXPECT_EQ(lost_of(report, 4), 1u);
	EXPECT_EQ(lost_of(report, 0) + lost_of(report, 1), 1u);
	EXPECT_EQ(report.lost_sectors, 4u);
	EXPECT_NE(report.why.find("4 sectors that zones hold cannot be read"), std::string::npos) << report.why;
	EXPECT_EQ(report.flash.lost, 3u);
	EXPECT_EQ(report.flash.unknown, 1u);
}

// Parity over three dies: zone 1 is full, zone 2 is in the middle of a row, zone 3 is finished in the middle of one.
namespace {

constexpr uint32_t rain_sectors[] = {0, 96, 36, 30}; // by zone; a row is 24

struct RainImage : Image {
	explicit RainImage(nand_policy policy = {}, uint32_t slow_die = 0) : Image(config(slow_die))
	{
		EXPECT_TRUE(rig.boot(policy)) << rig.error;
		if (policy.power_cut_op)
			return;
		for (uint32_t zone : {1, 2, 3})
			EXPECT_EQ(rig.write(zone, 0, rain_sectors[zone], 100 * zone), 0);
		EXPECT_EQ(rig.run_op(FTL_ZONE_FINISH, 3), 0);
		EXPECT_EQ(rig.shut_down_cleanly(), 0);
	}
	static hz_device_config config(uint32_t slow_die)
	{
		hz_device_config cfg = ftl_config();
		use_rain(cfg);
		cfg.slow_die = slow_die, cfg.slow_percent = slow_die ? 1000 : 100;
		return cfg;
	}
	uint64_t sectors_on(uint32_t die, uint32_t zone)
	{
		uint64_t found = 0;
		for (uint32_t at = 0; at < rain_sectors[zone]; at++)
			found += flash_addr_of(&rig.map, rig_place_of(rig.ftl, zone, at)).die_index == die;
		return found;
	}
	// All that is programmed on the die; without the records too.
	void kill(uint32_t die, bool records)
	{
		for (uint64_t record = 0; record < rig::count_records(rig.media); record++) {
			const auto plane = static_cast<uint32_t>(record / rig.media.oob_per_block / rig.cfg.blocks_per_plane);
			if (flash_plane(&rig.cfg, plane).die_index == die && rig.media.oob[record].checksum)
				records ? rig::lose_record(rig.media, record) : rig::flip_data(rig.media, record);
		}
	}
	// How many of the zone's first sectors a device on this image does not read.
	uint64_t unread(uint32_t zone, uint64_t sectors)
	{
		uint64_t lost = 0;
		EXPECT_TRUE(rig.boot()) << rig.error;
		for (uint32_t at = 0; at < sectors; at++) {
			Request read(FTL_READ, rig.lba_of(zone, at), 1);
			lost += rig.run(read) != 0;
			EXPECT_TRUE(read.status() || sector_is(read.pages[0], 100 * zone + at)) << zone << " " << at;
		}
		return lost;
	}
};

} // namespace

TEST(ImageCheck, SectorsThatParityRebuildsAreNotLost)
{
	uint64_t lost = 0;
	for (uint32_t die = 0; die < 3; die++)
		for (bool records : {false, true}) {
			SCOPED_TRACE(testing::Message() << "die " << die << (records ? " with its records" : ""));
			RainImage image;
			const uint64_t full = image.sectors_on(die, 1), begun = image.sectors_on(die, 2), ended = image.sectors_on(die, 3);
			image.kill(die, records);
			const hz::ImageReport report = image.check();
			ASSERT_TRUE(report.mounted) << report.why;
			EXPECT_EQ(report.zones.at(1).rebuilt, full);
			EXPECT_EQ(report.zones[3].rebuilt, ended);
			EXPECT_EQ(lost_of(report, 1) + lost_of(report, 3), 0u);
			EXPECT_EQ(report.zones[2].rebuilt + lost_of(report, 2), begun);
			EXPECT_EQ(lost_of(report, 2), image.unread(2, 36)) << "its last row has no parity yet";
			EXPECT_EQ(image.unread(1, 96) + image.unread(3, 30), 0u);
			EXPECT_EQ(report.rebuilt_sectors, full + report.zones[2].rebuilt + ended);
			EXPECT_EQ(report.verdict, report.lost_sectors ? hz::Verdict::damaged : hz::Verdict::sound);
			lost += report.lost_sectors;
		}
	EXPECT_GT(lost, 0u);
}

// Parity may be on flash without a unit of its row.
TEST(ImageCheck, AfterAPowerCutTheCheckAndReadsAgree)
{
	uint64_t rebuilt = 0, lost = 0;
	for (uint64_t op = 1; op < 40; op++)
		for (uint32_t die = 0; die < 3; die++) {
			SCOPED_TRACE(testing::Message() << "cut " << op << ", die " << die);
			nand_policy policy{};
			policy.power_cut_op = op, policy.cut_before = op % 2;
			RainImage image(policy, 1 + op % 3);
			Request write(FTL_WRITE, image.rig.lba_of(1), 96);
			for (uint32_t i = 0; i < 96; i++)
				fill_sector(write.pages[i], 100 + i);
			image.rig.submit(write);
			lt_host_run_until_idle();
			image.kill(die, false);
			const hz::ImageReport report = image.check();
			ASSERT_TRUE(report.mounted) << report.why;
			EXPECT_EQ(lost_of(report, 1), image.unread(1, report.zones[1].written));
			rebuilt += report.rebuilt_sectors, lost += report.lost_sectors;
		}
	EXPECT_GT(rebuilt, 1000u);
	EXPECT_GT(lost, 50u);
}

// A row that could not be read back has filler in place of its parity.
TEST(ImageCheck, FillerIsNoParity)
{
	RainImage image;
	Rig &rig = image.rig;
	rig::flip_data(rig.media, rig.record_at(2, 25));
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(rig.write(2, 36, 60, 236), 0);
	ASSERT_EQ(rig.shut_down_cleanly(), 0);
	rig::flip_data(rig.media, rig.record_at(2, 27)); // of another stripe
	const hz::ImageReport report = image.check();
	EXPECT_EQ(report.zones.at(2).lost_lbas, (std::vector<uint64_t>{256 + 25, 256 + 27}));
	EXPECT_EQ(report.rebuilt_sectors, 0u);
}

TEST(ImageCheck, LostParityRebuildsNothing)
{
	RainImage image;
	uint32_t die = 0;
	while (image.sectors_on(die, 1))
		die++;
	image.kill(die, false);
	rig::flip_data(image.rig.media, image.rig.record_at(1, 40));
	EXPECT_EQ(lost_of(image.check(), 1), 1u);
}

TEST(ImageCheck, TheReportTellsRebuiltFromLost)
{
	RainImage image;
	rig::flip_data(image.rig.media, image.rig.record_at(1, 40));
	hz::ImageReport report = image.check();
	EXPECT_EQ(report.verdict, hz::Verdict::sound);
	EXPECT_EQ(report.why, "The image is sound: 1 unreadable sector is rebuilt from parity.");
	EXPECT_EQ(hz::json_of(report)["rebuilt_sectors"], 1);
	EXPECT_EQ(hz::json_of(report)["zones"][1]["rebuilt_sectors"], 1);
	EXPECT_EQ(hz::json_of(report)["lost_sectors"], 0);
	EXPECT_NE(hz::text_of(report, "f").find("full, 96 sectors from LBA 128, 1 rebuilt from parity\n"), std::string::npos);
	RainImage other;
	for (uint32_t at : {0, 6, 40}) // 0 and 6 are of one stripe
		rig::flip_data(other.rig.media, other.rig.record_at(1, at));
	report = other.check();
	EXPECT_EQ(report.verdict, hz::Verdict::damaged);
	EXPECT_EQ(report.zones[1].lost_lbas, (std::vector<uint64_t>{128, 134}));
	EXPECT_EQ(report.rebuilt_sectors, 1u);
	EXPECT_NE(report.why.find("2 sectors that zones hold cannot be read; all others can, 1 of them rebuilt from parity."),
		  std::string::npos)
		<< report.why;
}

// A file that has been extended.
TEST(ImageCheck, AnotherSizeIsReported)
{
	Image image;
	ASSERT_EQ(image.rig.shut_down_cleanly(), 0);
	ASSERT_EQ(image.check().verdict, hz::Verdict::sound);
	fs::resize_file(image.file, 2 * image.rig.image_bytes());
	const hz::ImageReport report = hz::check_image(image.file);
	EXPECT_EQ(report.verdict, hz::Verdict::damaged);
	EXPECT_NE(report.why.find("it was made longer"), std::string::npos) << report.why;
}

// Killed, then any one place lost with its records: each flushed sector reads right, or with an error, or the device warns; and the check
// reports the same as a mount.
namespace {

struct Flushed {
	std::map<uint64_t, uint64_t> tags; // by LBA
	std::set<uint64_t> wrong(Rig &rig) const
	{
		std::set<uint64_t> all;
		for (const auto &[lba, tag] : tags) {
			Request read(FTL_READ, lba, 1);
			if (rig.run(read) || !sector_is(read.pages[0], tag))
				all.insert(lba);
		}
		return all;
	}
	bool silent(Rig &rig) const
	{
		for (uint64_t lba : wrong(rig)) {
			Request read(FTL_READ, lba, 1);
			if (!rig.run(read))
				return true;
		}
		return false;
	}
	void put(Rig &rig, ftl_op op, uint64_t lba, uint32_t sectors)
	{
		Request write(op, lba, sectors);
		for (uint32_t i = 0; i < sectors; i++)
			fill_sector(write.pages[i], tags[lba + i] = ++next);
		ASSERT_EQ(rig.run(write), 0);
	}
	uint64_t next = 1000;
};

struct Device {
	const char *name;
	hz_device_config (*config)();
	uint32_t first; // sequential zone
};
const Device devices[] = {
	{"Zones", [] { return ftl_config(); }, 0},
	{"InPlace",
	 [] {
		 hz_device_config cfg = ftl_config();
		 cfg.in_place_sectors = 20;
		 cfg.slc_blocks_per_plane += 3;
		 cfg.blocks_per_plane += 3;
		 return cfg;
	 },
	 0},
	{"Conventional", [] { return conventional_config(); }, 4},
	{"ConventionalMapInFlash", [] { return mapped_conventional_config(); }, 4},
	{"TwoMaps", [] { return units_config(true); }, 3},
};

class Killed : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Cases, Killed, testing::Range(0, int(std::size(devices))), [](const auto &i) { return devices[i.param].name; });

} // namespace

TEST_P(Killed, NoPlaceIsLostInSilence)
{
	const Device &c = devices[GetParam()];
	Image image(c.config());
	Rig &rig = image.rig;
	Flushed flushed;
	ASSERT_TRUE(rig.boot()) << rig.error;
	flushed.put(rig, FTL_WRITE, rig.lba_of(c.first), 9);
	flushed.put(rig, FTL_WRITE, rig.lba_of(c.first + 1), 31);
	if (c.first)
		for (uint32_t at : {0, 20, 3, 0})
			flushed.put(rig, FTL_WRITE, rig.lba_of(1, at), 7);
	ASSERT_EQ(rig.run_op(FTL_FLUSH, 0), 0);
	for (uint32_t i = 0; rig.cfg.in_place_sectors && i < 2; i++)
		flushed.put(rig, FTL_UPDATE, rig.lba_of(c.first + 1, 5), 3);
	const std::vector<uint8_t> saved(rig.bytes(), rig.bytes() + rig.image_bytes());
	uint64_t reported = 0, checked = 0;
	for (uint64_t number = 0; number < rig::count_records(rig.media) && !HasFailure(); number++) {
		if (!rig.media.oob[number].checksum)
			continue;
		SCOPED_TRACE(testing::Message() << "record " << number);
		rig.media.oob[number] = rig.media.oob_copy[number] = {};
		ASSERT_TRUE(rig.boot()) << rig.error;
		const ftl_damage found = rig.found_damage();
		const bool warns = found.lost_sectors || found.unknown_sectors, errors = !flushed.wrong(rig).empty();
		EXPECT_TRUE(warns || !flushed.silent(rig)) << "lost in silence";
		reported += warns || errors;
		std::memcpy(rig.bytes(), saved.data(), saved.size());
		if (number % 3 == 0) {
			rig.media.oob[number] = rig.media.oob_copy[number] = {};
			EXPECT_EQ(image.check().verdict, warns || errors ? hz::Verdict::damaged : hz::Verdict::sound);
			checked++;
			std::memcpy(rig.bytes(), saved.data(), saved.size());
			ASSERT_TRUE(rig.boot()) << "the check has used its harts";
			std::memcpy(rig.bytes(), saved.data(), saved.size());
		}
	}
	EXPECT_GT(reported, 20u);
	EXPECT_GT(checked, 10u);
}

TEST(ImageCheck, DamagedCopiesAreNoDamage)
{
	Image image;
	ASSERT_EQ(image.rig.shut_down_cleanly(), 0);
	image.rig.media.oob[image.rig.record_at(5, 7)].lpa ^= 1;
	image.rig.media.blocks[3].erase_count ^= 1;
	std::memset(image.rig.bytes(), 0, 4096);
	const hz::ImageReport report = image.check();
	EXPECT_EQ(report.verdict, hz::Verdict::sound) << report.why;
	EXPECT_EQ(report.repaired, 3u);
}

// An impossible record costs its zone.
TEST(ImageCheck, ADamagedRecordIsReportedAndTheOthersAreMounted)
{
	Image image;
	ASSERT_EQ(image.rig.shut_down_cleanly(), 0);
	rig::forge_zone_record(image.rig.media, 5, [](rig::ZoneRecord &r) { r.written = 100000; });
	const hz::ImageReport report = image.check();
	EXPECT_EQ(report.verdict, hz::Verdict::damaged);
	EXPECT_TRUE(report.mounted);
	EXPECT_EQ(report.damaged_records, 1u);
	EXPECT_NE(report.why.find("Records of 1 zones cannot be true"), std::string::npos) << report.why;
	EXPECT_EQ(report.zones.at(5).state, "offline");
	EXPECT_EQ(report.zones.at(4).state, "closed");
	EXPECT_EQ(report.zones.at(4).written, 40u);
	EXPECT_EQ(report.lost_sectors, 0u);
}

// The mount is refused: the report comes from the records alone.
TEST(ImageCheck, WhatARefusedMountLeavesIsReported)
{
	struct Case {
		const char *why;
		void (*damage)(Rig &rig);
	} const cases[] = {
		{"block table, entry of block 20 of plane 1",
		 [](Rig &rig) {
			 uint32_t number = rig.cfg.blocks_per_plane + 20;
			 rig.media.blocks[number].write_sector = 9999;
			 nand_block_store(&rig.media, number);
		 }},
		{"block table, entry of block 0 of plane 0",
		 [](Rig &rig) {
			 std::memset(rig.media.blocks, 0, 4096);
			 std::memset(rig.media.blocks_copy, 0, 4096);
		 }},
		{"zone table, page 0",
		 [](Rig &rig) {
			 for (uint64_t i = 0; i < rig::count_records(rig.media); i++)
				 if (rig.media.oob[i].kind == HZ_OOB_ZONE_TABLE)
					 rig::flip_data(rig.media, i);
		 }},
	};
	for (const Case &c : cases) {
		Image image;
		ASSERT_EQ(image.rig.shut_down_cleanly(), 0);
		c.damage(image.rig);
		const hz::ImageReport report = image.check();
		EXPECT_EQ(report.verdict, hz::Verdict::damaged);
		EXPECT_NE(report.why.find(c.why), std::string::npos) << report.why;
		EXPECT_FALSE(report.mounted);
		EXPECT_GT(report.flash.readable, 150u);
		uint64_t written = 0;
		for (const hz::ZoneReport &zone : report.zones)
			written += zone.written - zone.lost;
		EXPECT_GE(written, 96u + 40u + 50u) << "everything that was written is still there";
	}
}

TEST(ImageCheck, WhatIsNoImageIsReported)
{
	Image image;
	hz_nand_layout layout;
	hz_nand_layout_of(&image.rig.cfg, &layout);
	std::memset(image.rig.bytes(), 0, HZ_NAND_HEADER_BYTES);
	std::memset(image.rig.bytes() + layout.header_copy_offset, 0, HZ_NAND_HEADER_BYTES);
	EXPECT_EQ(image.check().verdict, hz::Verdict::damaged) << "zeros over the headers of a used image";
	std::memset(image.rig.bytes(), 0x55, HZ_NAND_HEADER_BYTES);
	EXPECT_EQ(image.check().verdict, hz::Verdict::no_image);
	auto *header = reinterpret_cast<hz_nand_header *>(image.rig.bytes());
	header->magic = HZ_NAND_MAGIC;
	header->version = 2;
	EXPECT_NE(image.check().why.find("format version 2, this program reads versions " + std::to_string(HZ_NAND_VERSION) + " to " +
					 std::to_string(HZ_NAND_VERSION_LAST)),
		  std::string::npos);
	std::memset(image.rig.bytes(), 0, image.rig.image_bytes());
	EXPECT_TRUE(image.check().is_new);
	std::ofstream(image.file) << "a few words";
	EXPECT_EQ(hz::check_image(image.file).verdict, hz::Verdict::no_image);
	std::ofstream(image.file, std::ios::trunc).close();
	EXPECT_EQ(hz::check_image(image.file).verdict, hz::Verdict::no_image);
	fs::remove(image.file);
	EXPECT_THROW(hz::check_image(image.file), hz::Error);
	EXPECT_EQ(hz::check_image(fs::temp_directory_path()).verdict, hz::Verdict::no_image);
}
