// Any damage to an image: it is refused in one sentence, or mounted; what is mounted can be read, written, shut down and started again,
// whatever it holds. Some damage has right checksums, so that it comes as far as the checks of what records say.
// Environment: HARTZONE_TEST_SEED is the first seed, HARTZONE_TEST_ROUNDS how many follow one another.
// SPDX-License-Identifier: BSD-3-Clause
#include "l2p_rig.hpp"
#include "conventional_model.hpp"

using namespace ftl_rig;

namespace {

// A used image, shut down or not.
class Fuzzed {
public:
	Fuzzed(const hz_device_config &cfg, bool rest) : rig(cfg)
	{
		EXPECT_TRUE(rig.Boot()) << rig.error;
		for (uint32_t round = 0; round < 3; round++)
			for (uint32_t z = 0; z < 5; z++)
				rig.Write(z, round * 22, 22, 1 + z * 100 + round * 22, z % 2 ? FTL_FUA : 0);
		rig.Op(FTL_ZONE_RESET, 5);
		Request flush(FTL_FLUSH, 0, 0);
		EXPECT_EQ(rig.Run(flush), 0);
		EXPECT_EQ(rest ? rig.ComeToRest() : 0, 0);
		saved_.assign(rig.Bytes(), rig.Bytes() + rig.ImageBytes());
	}
	// True: it was mounted.
	bool Round(uint64_t seed)
	{
		std::mt19937_64 dice(seed);
		std::memcpy(rig.Bytes(), saved_.data(), saved_.size());
		forged_ = false;
		for (uint32_t n = 1 + static_cast<uint32_t>(dice() % 6); n; n--)
			Damage(dice);
		for (int start = 0; start < 2; start++) {
			if (!rig.Boot()) {
				EXPECT_NE(std::string(rig.error), "");
				EXPECT_EQ(std::string(rig.error).find('\n'), std::string::npos) << rig.error;
				return false;
			}
			Use();
		}
		return true;
	}

	Rig rig;

private:
	void Damage(std::mt19937_64 &dice)
	{
		nand_media &media = rig.media;
		const uint64_t used = Used(dice), at = dice(), what = dice() % 6;
		forged_ |= what == 3 || what == 4;
		switch (what) {
		case 0: rig.Bytes()[at % HZ_NAND_HEADER_BYTES] ^= static_cast<uint8_t>(1 << dice() % 8); break;
		case 1:
			reinterpret_cast<uint8_t *>(
				&(dice() % 2 ? media.oob : media.oob_copy)[used])[at % sizeof(hz_nand_oob)] ^= static_cast<uint8_t>(dice());
			break;
		case 2: rig::Data(media, used)[at % HZ_SECTOR_BYTES] ^= static_cast<uint8_t>(1 + dice() % 255); break;
		case 3: Resealed(used, dice); break;
		case 4: ResealedBlock(static_cast<uint32_t>(used / media.oob_per_block), dice); break;
		default: rig::LoseRecord(media, used); break;
		}
	}
	// A sector that was programmed.
	uint64_t Used(std::mt19937_64 &dice)
	{
		for (;;) {
			const uint64_t record = dice() % rig::Records(rig.media);
			if (record % rig.media.oob_per_block < rig.media.blocks[record / rig.media.oob_per_block].write_sector)
				return record;
		}
	}
	// One word or field becomes another one, the checksums are right; so is that of the data.
	void Resealed(uint64_t number, std::mt19937_64 &dice)
	{
		hz_nand_oob record;
		if (!nand_oob_load(&rig.media, number, &record))
			return;
		const uint64_t value = dice() % 2 ? dice() % 200 : dice();
		uint8_t *data = rig::Data(rig.media, number);
		switch (dice() % 7) {
		case 0: record.kind = value % 16; break;
		case 1: record.lpa = static_cast<uint32_t>(value); break;
		case 2: record.generation = static_cast<uint32_t>(value); break;
		case 3: record.sequence = value; break;
		case 4: record.stream = value % 16; break;
		case 5: record.flags = value % 8; break;
		default: std::memcpy(data + value % 512 * 8, &value, sizeof(value)); break;
		}
		record.data_checksum = nand_data_checksum(record.flags & HZ_OOB_ZERO ? nullptr : data, &record);
		nand_oob_store(&rig.media, number, &record);
	}
	void ResealedBlock(uint32_t number, std::mt19937_64 &dice)
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
	// Only that everything ends, and with a status that says what it is.
	void Use()
	{
		const uint32_t capacity = static_cast<uint32_t>(rig.shape.zone_capacity_sectors);
		for (uint32_t z = 0; z < rig.shape.zones; z++)
			for (uint32_t at = 0; at < capacity; at += 16) {
				Request read(FTL_READ, rig.Lba(z, at), std::min(16u, capacity - at));
				const uint16_t status = rig.Run(read);
				EXPECT_TRUE(status == 0 || status == NVME_UNRECOVERED_READ) << status;
			}
		for (uint32_t z = 0; z < rig.shape.zones; z++) {
			Request append(rig.cfg.namespace_kind == HZ_NS_BLOCK ? FTL_WRITE : FTL_APPEND, rig.Lba(z), 5, FTL_FUA);
			rig.Run(append);
		}
		rig.ComeToRest();
		EXPECT_TRUE(rig.Check() == "" || forged_) << rig.Check(); // a forged record may lie, but must do no harm
	}

	std::vector<uint8_t> saved_;
	bool forged_ = false; // in this round
};

struct Kind {
	const char *name;
	hz_device_config (*config)();
};
const Kind kKinds[] = {
	{"Zones", [] { return Config(); }},
	{"MapInFlash", [] { return MapConfig(); }},
	{"Patched", PatchedConfig},
	{"Blocks", [] { return PageConfig(true); }},
	{"BlocksMapInFlash", [] { return MappedPageConfig(true); }},
};

class DamageFuzz : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Kinds, DamageFuzz, testing::Range(0, int(std::size(kKinds))), [](const auto &i) { return kKinds[i.param].name; });

} // namespace

TEST_P(DamageFuzz, IsRefusedOrMounted)
{
	const uint64_t first = Environment("HARTZONE_TEST_SEED", 1), rounds = Environment("HARTZONE_TEST_ROUNDS", 40);
	uint64_t mounted = 0;
	for (bool rest : {true, false}) {
		Fuzzed fuzzed(kKinds[GetParam()].config(), rest);
		for (uint64_t seed = first; seed < first + rounds && !HasFailure(); seed++) {
			SCOPED_TRACE(testing::Message() << (rest ? "at rest" : "running") << ", HARTZONE_TEST_SEED=" << seed);
			mounted += fuzzed.Round(seed);
		}
	}
	std::printf("%s: %lu of %lu damaged images were mounted\n", kKinds[GetParam()].name, mounted, 2 * rounds);
	EXPECT_GT(mounted, 0u);
	EXPECT_LT(mounted, 2 * rounds) << "nothing was refused";
}
