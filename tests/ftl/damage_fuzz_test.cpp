// Any damage to an image: it is refused in one sentence, or mounted; a mounted one can be read, written, shut down and started again,
// with any content. Some damage has right checksums, so that it reaches the checks of the records' values.
// Environment: HARTZONE_TEST_SEED is the first seed, HARTZONE_TEST_ROUNDS how many follow one another.
// SPDX-License-Identifier: BSD-3-Clause
#include "l2p_rig.hpp"
#include "conventional_model.hpp"

using namespace ftl_rig;

namespace {

// A used image, shut down or not.
class Fuzzed {
public:
	Fuzzed(const hz_device_config &cfg, bool clean) : rig(cfg)
	{
		EXPECT_TRUE(rig.boot()) << rig.error;
		for (uint32_t round = 0; round < 3; round++)
			for (uint32_t z = 0; z < 5; z++)
				rig.write(z, round * 22, 22, 1 + z * 100 + round * 22, z % 2 ? FTL_FUA : 0);
		rig.run_op(FTL_ZONE_RESET, 5);
		Request flush(FTL_FLUSH, 0, 0);
		EXPECT_EQ(rig.run(flush), 0);
		EXPECT_EQ(clean ? rig.shut_down_cleanly() : 0, 0);
		saved_.assign(rig.bytes(), rig.bytes() + rig.image_bytes());
	}
	// True: it was mounted.
	bool run_round(uint64_t seed)
	{
		std::mt19937_64 dice(seed);
		std::memcpy(rig.bytes(), saved_.data(), saved_.size());
		forged_ = false;
		for (uint32_t n = 1 + static_cast<uint32_t>(dice() % 6); n; n--)
			damage(dice);
		for (int start = 0; start < 2; start++) {
			if (!rig.boot()) {
				EXPECT_NE(std::string(rig.error), "");
				EXPECT_EQ(std::string(rig.error).find('\n'), std::string::npos) << rig.error;
				return false;
			}
			use();
		}
		return true;
	}

	Rig rig;

private:
	void damage(std::mt19937_64 &dice)
	{
		nand_media &media = rig.media;
		const uint64_t used = pick_used(dice), at = dice(), what = dice() % 6;
		forged_ |= what == 3 || what == 4;
		switch (what) {
		case 0: rig.bytes()[at % HZ_NAND_HEADER_BYTES] ^= static_cast<uint8_t>(1 << dice() % 8); break;
		case 1:
			reinterpret_cast<uint8_t *>(
				&(dice() % 2 ? media.oob : media.oob_copy)[used])[at % sizeof(hz_nand_oob)] ^= static_cast<uint8_t>(dice());
			break;
		case 2: rig::data_of(media, used)[at % HZ_SECTOR_BYTES] ^= static_cast<uint8_t>(1 + dice() % 255); break;
		case 3: reseal_record(used, dice); break;
		case 4: reseal_block(static_cast<uint32_t>(used / media.oob_per_block), dice); break;
		default: rig::lose_record(media, used); break;
		}
	}
	// A programmed sector.
	uint64_t pick_used(std::mt19937_64 &dice)
	{
		for (;;) {
			const uint64_t record = dice() % rig::count_records(rig.media);
			if (record % rig.media.oob_per_block < rig.media.blocks[record / rig.media.oob_per_block].write_sector)
				return record;
		}
	}
	// One word or field gets another value, the checksums are right; so is that of the data.
	void reseal_record(uint64_t number, std::mt19937_64 &dice)
	{
		hz_nand_oob record;
		if (!nand_oob_load(&rig.media, number, &record))
			return;
		const uint64_t value = dice() % 2 ? dice() % 200 : dice();
		uint8_t *data = rig::data_of(rig.media, number);
		switch (dice() % 7) {
		case 0: record.kind = value % 16; break;
		case 1: record.lpa = static_cast<uint32_t>(value); break;
		case 2: record.generation = static_cast<uint32_t>(value); break;
		case 3: record.sequence = value; break;
		case 4: record.stream = value % 16; break;
		case 5: record.flags = value % 8; break;
		default: std::memcpy(data + value % 512 * 8, &value, sizeof(value)); break;
		}
		record.data_checksum = nand_data_checksum(record.flags & HZ_OOB_ZERO ? nullptr : data, 0, &record);
		nand_oob_store(&rig.media, number, &record);
	}
	void reseal_block(uint32_t number, std::mt19937_64 &dice)
	{
		hz_nand_block &block = rig.media.blocks[number];
		switch (dice() % 4) {
		case 0: block.write_sector = static_cast<uint32_t>(dice() % 2 ? dice() % 80 : dice()); break;
		case 1: block.flags = static_cast<uint32_t>(dice() % 16); break;
		case 2: block.erase_count = static_cast<uint32_t>(dice()); break;
		default: block.program_ns = dice(); break;
		}
		nand_block_store(&rig.media, number);
	}
	// Only checks that every request ends, with a legal status.
	void use()
	{
		const uint32_t capacity = static_cast<uint32_t>(rig.shape.zone_capacity_sectors);
		for (uint32_t z = 0; z < rig.shape.zones; z++)
			for (uint32_t at = 0; at < capacity; at += 16) {
				Request read(FTL_READ, rig.lba_of(z, at), std::min(16u, capacity - at));
				const uint16_t status = rig.run(read);
				EXPECT_TRUE(status == 0 || status == NVME_UNRECOVERED_READ || (status == NVME_ZONE_OFFLINE && forged_))
					<< status;
			}
		for (uint32_t z = 0; z < rig.shape.zones; z++) {
			Request append(rig.cfg.namespace_kind == HZ_NS_BLOCK ? FTL_WRITE : FTL_APPEND, rig.lba_of(z), 5, FTL_FUA);
			rig.run(append);
		}
		rig.shut_down_cleanly();
		EXPECT_TRUE(rig.check() == "" || forged_) << rig.check(); // a forged record may lie, but must do no harm
	}

	std::vector<uint8_t> saved_;
	bool forged_ = false; // in this round
};

struct Kind {
	const char *name;
	hz_device_config (*config)();
};
const Kind kinds[] = {
	{"Zones", [] { return ftl_config(); }},
	{"MapInFlash", [] { return map_config(); }},
	{"Patched", patched_config},
	{"Blocks", [] { return conventional_config(true); }},
	{"BlocksMapInFlash", [] { return mapped_conventional_config(true); }},
};

class DamageFuzz : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Kinds, DamageFuzz, testing::Range(0, int(std::size(kinds))), [](const auto &i) { return kinds[i.param].name; });

} // namespace

TEST_P(DamageFuzz, IsRefusedOrMounted)
{
	const uint64_t first = environment("HARTZONE_TEST_SEED", 1), rounds = environment("HARTZONE_TEST_ROUNDS", 40);
	uint64_t mounted = 0;
	for (bool clean : {true, false}) {
		Fuzzed fuzzed(kinds[GetParam()].config(), clean);
		for (uint64_t seed = first; seed < first + rounds && !HasFailure(); seed++) {
			SCOPED_TRACE(testing::Message() << (clean ? "clean" : "running") << ", HARTZONE_TEST_SEED=" << seed);
			mounted += fuzzed.run_round(seed);
		}
	}
	std::printf("%s: %lu of %lu damaged images were mounted\n", kinds[GetParam()].name, mounted, 2 * rounds);
	EXPECT_GT(mounted, 0u);
	EXPECT_LT(mounted, 2 * rounds) << "nothing was refused";
}
