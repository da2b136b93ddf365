// Protection information inside the device: a sector's tuple goes with it, and a fault on the way becomes a status.
// SPDX-License-Identifier: BSD-3-Clause
#include "conventional_model.hpp"

using namespace ftl_rig;

namespace {

hz_device_config tuples_config()
{
	hz_device_config cfg = ftl_config();
	cfg.protection = HZ_PROTECTION_TYPE1;
	return cfg;
}

// A request with explicit protection fields.
struct Chosen : Request {
	Chosen(ftl_op op, uint64_t lba, uint32_t sectors, uint8_t protect, hz_tuple expected) : Request(op, lba, sectors)
	{
		chosen = true;
		tuples.assign(sectors * HZ_TUPLE_BYTES, 0xaa);
		req.tuples = tuples.data();
		req.expected = expected;
		req.tag_mask = 0xffff;
		req.protect = protect;
	}
};

uint16_t read_status(Rig &rig, uint32_t zone, uint32_t offset)
{
	Request read(FTL_READ, rig.lba_of(zone, offset), 1), verify(FTL_VERIFY, rig.lba_of(zone, offset), 1);
	const uint16_t status = rig.run(read);
	EXPECT_EQ(rig.run(verify), status);
	return status;
}

// Of a conventional LBA, in a backing zone.
uint64_t newest_record(Rig &rig, uint32_t lba)
{
	uint64_t newest = UINT64_MAX;
	for (uint32_t at = 0; at < rig.shape.backing_zones * rig.shape.zone_capacity_sectors; at++) {
		const auto capacity = static_cast<uint32_t>(rig.shape.zone_capacity_sectors);
		const uint64_t record = rig.record_at(rig.shape.zones + at / capacity, at % capacity);
		const hz_nand_oob &oob = rig.media.oob[record == UINT64_MAX ? 0 : record];
		if (record != UINT64_MAX && oob.kind == HZ_OOB_DATA && oob.generation == lba &&
		    (newest == UINT64_MAX || oob.sequence > rig.media.oob[newest].sequence))
			newest = record;
	}
	return newest;
}

struct Harm {
	const char *name;
	uint32_t byte; // of data and tuple
	uint16_t status;
};
std::ostream &operator<<(std::ostream &out, const Harm &harm) { return out << harm.name; }
constexpr Harm harms[] = {
	{"Data", 1234, NVME_GUARD_CHECK},
	{"Guard", HZ_SECTOR_BYTES, NVME_GUARD_CHECK},
	{"ApplicationTag", HZ_SECTOR_BYTES + 3, NVME_APPLICATION_CHECK},
	{"ReferenceTag", HZ_SECTOR_BYTES + 7, NVME_REFERENCE_CHECK},
};

class Harmed : public testing::TestWithParam<Harm> {
protected:
	Harmed() : rig(tuples_config()) {}
	void SetUp() override { ASSERT_TRUE(rig.boot()) << rig.error; }
	// One bit of a copy on flash, unseen by ECC.
	static void harm(nand_media &media, uint64_t record)
	{
		ASSERT_NE(record, UINT64_MAX);
		auto *tuple = reinterpret_cast<uint8_t *>(rig::tuple_of(media, record));
		const uint32_t byte = GetParam().byte;
		(byte < HZ_SECTOR_BYTES ? rig::data_of(media, record)[byte] : tuple[byte - HZ_SECTOR_BYTES]) ^= 0x10;
		rig::make_plausible(media, record);
	}
	void harm_flash(uint32_t zone, uint32_t offset) { harm(rig.media, rig.record_at(zone, offset)); }
	Rig rig;
};
INSTANTIATE_TEST_SUITE_P(Parts, Harmed, testing::ValuesIn(harms), [](const auto &test) { return std::string(test.param.name); });

} // namespace

TEST_P(Harmed, InAWriteBuffer)
{
	ASSERT_EQ(rig.write(0, 0, 3, 1), 0);
	rig_buffered(rig.ftl, 0, 1)[GetParam().byte] ^= 0x10;
	EXPECT_EQ(read_status(rig, 0, 1), GetParam().status);
	EXPECT_EQ(read_status(rig, 0, 0), 0);
	EXPECT_EQ(rig.write(0, 3, 93, 4), 0);
	EXPECT_EQ(read_status(rig, 0, 1), GetParam().status) << "nor was it healed on its way to flash";
	EXPECT_EQ(read_status(rig, 0, 2), 0);
}

TEST_P(Harmed, OnFlash)
{
	ASSERT_EQ(rig.write(0, 0, 96, 1), 0);
	harm_flash(0, 40);
	EXPECT_EQ(read_status(rig, 0, 40), GetParam().status);
	EXPECT_EQ(rig.compare(0, 0, 40, 1), "");
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(read_status(rig, 0, 40), GetParam().status);
}

TEST_P(Harmed, StagedAndFolded)
{
	ASSERT_EQ(rig.write(0, 0, 3, 1, FTL_FUA), 0);
	ASSERT_TRUE(rig.boot()) << rig.error; // else the buffer still has it
	harm_flash(0, 1);
	EXPECT_EQ(read_status(rig, 0, 1), GetParam().status);
	ASSERT_EQ(rig.write(0, 3, 93, 4), 0);
	EXPECT_EQ(read_status(rig, 0, 1), GetParam().status) << "folded as it was";
	EXPECT_EQ(rig.compare(0, 2, 94, 3), "");
}

// A program fails: the zone moves to another superblock.
TEST_P(Harmed, Moved)
{
	ASSERT_EQ(rig.write(0, 0, 48, 1), 0);
	const uint64_t before = rig.record_at(0, 5);
	harm_flash(0, 5);
	rig.media.policy.fail_op = nand_media_operations(&rig.media) + 1;
	ASSERT_EQ(rig.write(0, 48, 48, 49), 0);
	ASSERT_NE(rig.record_at(0, 5), before) << "it did not move";
	EXPECT_EQ(read_status(rig, 0, 5), GetParam().status);
	EXPECT_EQ(rig.compare(0, 6, 90, 7), "");
}

// All but one sector of each zone is written again and again: the collector copies them, since no backing zone is without any.
TEST_P(Harmed, Collected)
{
	hz_device_config cfg = conventional_config(true);
	cfg.protection = HZ_PROTECTION_TYPE1;
	Rig block(cfg);
	ASSERT_TRUE(block.boot()) << block.error;
	for (uint32_t zone = 0; zone < block.shape.zones; zone++)
		ASSERT_EQ(block.write(zone, 0, 96, 1), 0);
	ASSERT_EQ(block.run_op(FTL_FLUSH, 0), 0);
	const uint64_t first = newest_record(block, 50);
	harm(block.media, first);
	EXPECT_EQ(read_status(block, 0, 50), GetParam().status);
	for (int round = 0; round < 8; round++)
		for (uint32_t zone = 0; zone < block.shape.zones; zone++) {
			ASSERT_EQ(block.write(zone, 0, 50, 1), 0);
			ASSERT_EQ(block.write(zone, 51, 45, 52), 0);
		}
	ASSERT_EQ(block.run_op(FTL_FLUSH, 0), 0);
	EXPECT_NE(newest_record(block, 50), first) << "nobody collected it";
	EXPECT_EQ(read_status(block, 0, 50), GetParam().status);
	EXPECT_EQ(block.compare(0, 51, 45, 52), "");
}

TEST(Protect, ErrorsThatEccSeesAreUnrecoveredReads)
{
	Rig rig(tuples_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(rig.write(0, 0, 96, 1), 0);
	rig::flip_data(rig.media, rig.record_at(0, 7));
	*rig::tuple_of(rig.media, rig.record_at(0, 9)) ^= 1;
	EXPECT_EQ(read_status(rig, 0, 7), NVME_UNRECOVERED_READ);
	EXPECT_EQ(read_status(rig, 0, 9), NVME_UNRECOVERED_READ);
}

// Another sector's data, whole and with their own tuple.
TEST(Protect, MisplacedDataHaveAnotherReferenceTag)
{
	Rig rig(tuples_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(rig.write(0, 0, 96, 1), 0);
	const uint64_t from = rig.record_at(0, 11), to = rig.record_at(0, 12);
	std::memcpy(rig::data_of(rig.media, to), rig::data_of(rig.media, from), HZ_SECTOR_BYTES);
	*rig::tuple_of(rig.media, to) = *rig::tuple_of(rig.media, from);
	rig::make_plausible(rig.media, to);
	EXPECT_EQ(read_status(rig, 0, 12), NVME_REFERENCE_CHECK);
	EXPECT_EQ(read_status(rig, 0, 11), 0);
}

TEST(Protect, OnlyWhatIsAskedForIsChecked)
{
	Rig rig(tuples_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(rig.write(0, 0, 3, 1), 0);
	rig_buffered(rig.ftl, 0, 1)[100] ^= 1;
	for (uint8_t asked : {HZ_CHECK_REFERENCE, HZ_CHECK_APPLICATION, HZ_CHECK_GUARD}) {
		Chosen read(FTL_READ, 1, 1, asked | FTL_HOST_TUPLES, {0, 0x1234, 1});
		EXPECT_EQ(rig.run(read), asked == HZ_CHECK_GUARD ? NVME_GUARD_CHECK : 0);
		EXPECT_EQ(read.data[100] != read.data[108], asked != HZ_CHECK_GUARD) << "wrong data are handed out only unchecked";
	}
	Chosen masked(FTL_READ, 0, 1, HZ_CHECK_APPLICATION, {0, 0x12ff, 0});
	masked.req.tag_mask = 0xff00;
	EXPECT_EQ(rig.run(masked), 0);
	EXPECT_EQ(masked.tuples, std::vector<uint8_t>(HZ_TUPLE_BYTES, 0xaa)) << "stripped";
	masked.req.tag_mask = 0xff01;
	EXPECT_EQ(rig.run(masked), NVME_APPLICATION_CHECK);
	rig_buffered(rig.ftl, 0, 1)[HZ_SECTOR_BYTES + 2] = rig_buffered(rig.ftl, 0, 1)[HZ_SECTOR_BYTES + 3] = 0xff;
	EXPECT_EQ(read_status(rig, 0, 1), 0) << "an application tag of FFFFh turns the checks off";
}

TEST(Protect, TuplesMadeByTheDevice)
{
	Rig rig(tuples_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	Chosen write(FTL_WRITE, 0, 4, 0, {0, 0x1234, 0});
	for (uint32_t i = 0; i < 4; i++)
		fill_sector(write.pages[i], 7 + i);
	ASSERT_EQ(rig.run(write), 0);
	Chosen append(FTL_APPEND, 0, 2, 0, {0, 0x1234, 0}); // made for the zone's start
	fill_sector(append.pages[0], 11);
	fill_sector(append.pages[1], 12);
	ASSERT_EQ(rig.run(append), 0);
	EXPECT_EQ(append.req.result, 4u);
	Chosen zeroes(FTL_WRITE_ZEROES, 6, 2, 0, {0, 0x1234, 6});
	ASSERT_EQ(rig.run(zeroes), 0);
	EXPECT_EQ(rig.compare(0, 0, 6, 7), "");
	EXPECT_EQ(rig.compare(0, 6, 2, 0), "");
}

TEST(Protect, TuplesOfZerosAndOfNothing)
{
	Rig rig(tuples_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	Chosen zeroes(FTL_WRITE_ZEROES, 0, 2, FTL_HOST_TUPLES, {});
	zeroes.req.tuples = nullptr;
	ASSERT_EQ(rig.run(zeroes), 0);
	Chosen read(FTL_READ, 1, 2, FTL_HOST_TUPLES, {});
	ASSERT_EQ(rig.run(read), 0);
	EXPECT_EQ(read.tuples, (std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}));
}

// The tags of an append count from the zone's start, wherever it lands; on flash they are those of the LBAs.
TEST(Protect, TagsOfAnAppendAreRemapped)
{
	Rig rig(tuples_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (uint32_t round = 0; round < 12; round++) {
		Request append(FTL_APPEND, rig.lba_of(2), 8);
		for (uint32_t i = 0; i < 8; i++)
			fill_sector(append.pages[i], 1 + 8 * round + i);
		ASSERT_EQ(rig.run(append), 0);
	}
	EXPECT_EQ(rig.compare(2, 0, 96, 1), "");
}

TEST(Protect, TuplesCrossTheLink)
{
	uint64_t took_ns[2];
	for (uint32_t strip = 0; strip < 2; strip++) {
		hz_device_config cfg = tuples_config();
		cfg.pcie_bytes_per_s = 1000000000;
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		Chosen read(FTL_READ, 0, 128, strip ? 0 : FTL_HOST_TUPLES, {});
		const uint64_t began_ns = clock_now_ns();
		ASSERT_EQ(rig.run(read), 0);
		took_ns[strip] = read.done_ns - began_ns;
	}
	EXPECT_EQ(took_ns[0] - took_ns[1], 128u * HZ_TUPLE_BYTES);
}

// Everything of a device without protection information but the tuples; and neither takes the other's image.
TEST(Protect, ImagesKeepWhatTheyWereMadeWith)
{
	for (bool made : {false, true}) {
		hz_device_config cfg = ftl_config(), other = tuples_config();
		if (made)
			std::swap(cfg, other);
		auto image = std::make_shared<rig::Image>(std::max(hz_nand_image_bytes(&cfg), hz_nand_image_bytes(&other)));
		Rig rig(cfg, image);
		ASSERT_TRUE(rig.boot()) << rig.error;
		Rig second(other, image);
		EXPECT_FALSE(second.boot());
		EXPECT_NE(std::string(second.error).find(made ? "made for protection type1" : "made for protection none"),
			  std::string::npos)
			<< second.error;
	}
}
