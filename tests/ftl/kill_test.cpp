// A kill is a power cut with working capacitors: at each instant the image has all data acknowledged as durable, and no start needs the
// memory of the run before it.
// SPDX-License-Identifier: BSD-3-Clause
#include "ftl_rig.hpp"

using namespace ftl_rig;

namespace {

// The image just before or after the n-th call that changes it, and the data acknowledged by then.
struct Instant {
	uint64_t wanted = 0, seen = 0; // wanted 0: none
	Rig *rig = nullptr;
	const nand_ops *real = nullptr;
	std::vector<uint8_t> image;
	std::vector<uint32_t> acked = std::vector<uint32_t>(3), kept; // durable sectors by zone
} instant;

void look()
{
	if (++instant.seen != instant.wanted)
		return;
	instant.image.assign(instant.rig->bytes(), instant.rig->bytes() + instant.rig->image_bytes());
	instant.kept = instant.acked;
}
nand_status program(nand *n, flash_addr addr, uint32_t count, const sgl *data, uint32_t at, const hz_oob *oob)
{
	look();
	return instant.real->program(n, addr, count, data, at, oob);
}
nand_status erase(nand *n, flash_addr addr)
{
	look();
	return instant.real->erase(n, addr);
}
void keep(nand *n, uint32_t place, const uint8_t *sector, const hz_oob *oob)
{
	look();
	instant.real->keep(n, place, sector, oob);
}
void keep_nothing(nand *n)
{
	look();
	instant.real->keep_nothing(n);
}
void power_off(nand *n)
{
	look();
	instant.real->power_off(n);
}

void watch(Rig &rig)
{
	static nand_ops watched;
	instant.real = rig.media.nand.ops == &watched ? instant.real : rig.media.nand.ops;
	instant.rig = &rig;
	watched = *instant.real;
	watched.program = program;
	watched.erase = erase;
	watched.keep = keep;
	watched.keep_nothing = keep_nothing;
	watched.power_off = power_off;
	rig.media.nand.ops = &watched;
}

constexpr uint64_t tag(uint32_t zone, uint32_t at) { return 1000 * (zone + 1) + at; }

void durable(Rig &rig, uint32_t zone, uint32_t at, uint32_t sectors, uint8_t flags)
{
	ASSERT_EQ(rig.write(zone, at, sectors, tag(zone, at), flags), 0) << "zone " << zone << " sector " << at;
	if (flags & FTL_FUA)
		instant.acked[zone] = at + sectors;
}

// Two zones filled side by side, one with plain writes before durable ones, and a third that is reset and refilled.
void work(Rig &rig)
{
	ASSERT_TRUE(rig.boot()) << rig.error;
	durable(rig, 0, 0, 7, FTL_FUA);
	durable(rig, 1, 0, 10, 0);
	durable(rig, 1, 10, 1, FTL_FUA);
	durable(rig, 2, 0, 20, FTL_FUA);
	instant.acked[2] = 0;
	ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, 2), 0);
	durable(rig, 2, 0, 3, FTL_FUA);
	durable(rig, 1, 11, 30, FTL_FUA);
	ASSERT_EQ(rig.run_op(FTL_FLUSH, 0), 0);
	durable(rig, 0, 7, 30, FTL_FUA);
	durable(rig, 0, 37, 5, 0);
	durable(rig, 0, 42, 20, FTL_FUA);
}

// All acknowledged data are there, and any other data of a zone are as written to it.
void check(Rig &rig, const std::vector<uint32_t> &acked)
{
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.found_damage().lost_sectors + rig.found_damage().unknown_sectors, 0u);
	const auto zones = rig.report_zones();
	for (uint32_t zone = 0; zone < acked.size(); zone++) {
		const auto end = static_cast<uint32_t>(zones[zone].write_pointer - rig.lba_of(zone));
		EXPECT_GE(end, acked[zone]) << "zone " << zone;
		if (end)
			EXPECT_EQ(rig.compare(zone, 0, end, tag(zone, 0)), "");
	}
	EXPECT_EQ(rig.check(), "");
}

struct Kind {
	const char *name;
	hz_device_config (*config)();
};
hz_device_config protected_config(uint32_t flush)
{
	hz_device_config cfg = ftl_config();
	cfg.write_buffers = 3;
	protect_memory(cfg, 60, 60);
	cfg.plp_flush = flush;
	return cfg;
}
const Kind kinds[] = {
	{"Balanced", [] { return protected_config(HZ_PLP_BALANCED); }},
	{"InPlace", [] { return protected_config(HZ_PLP_IN_PLACE); }},
	{"SlcPages",
	 [] {
		 hz_device_config cfg = ftl_config();
		 cfg.write_buffers = 3;
		 cfg.slc_program_sectors = 2;
		 protect_memory(cfg, 60, 60);
		 return cfg;
	 }},
	{"Tuples",
	 [] {
		 hz_device_config cfg = protected_config(HZ_PLP_BALANCED);
		 cfg.protection = HZ_PROTECTION_TYPE1;
		 return cfg;
	 }},
};

class Kill : public testing::TestWithParam<int> {
protected:
	void SetUp() override { instant = {}; }
	hz_device_config config() const { return kinds[GetParam()].config(); }

	// Each of the instants from `first` on, every `step`-th: `act` is watched, and the image of that instant is given to `then`.
	template <typename Act, typename Then> uint64_t each_instant(uint64_t step, Act act, Then then)
	{
		uint64_t count = 0;
		for (uint64_t n = 1; !HasFailure(); n += step, count++) {
			instant = {};
			instant.wanted = n;
			Rig rig(config());
			rig.before_mount = [&] { watch(rig); };
			act(rig);
			if (instant.image.empty())
				return count;
			SCOPED_TRACE(testing::Message() << "instant " << n << " of " << instant.seen);
			const std::vector<uint32_t> acked = instant.kept;
			std::memcpy(rig.bytes(), instant.image.data(), instant.image.size());
			instant.wanted = 0;
			rig.killed = true;
			then(rig, acked);
		}
		return count;
	}
};
INSTANTIATE_TEST_SUITE_P(Kinds, Kill, testing::Range(0, int(std::size(kinds))), [](const auto &i) { return kinds[i.param].name; });

} // namespace

TEST_P(Kill, LosesNothingDurable)
{
	Rig rig(config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.write(0, 0, 10, 1000), 0);
	EXPECT_EQ(rig.write(0, 10, 1, 1010, FTL_FUA), 0);
	EXPECT_EQ(rig.write(0, 11, 5, 1011), 0);
	EXPECT_EQ(rig.write(1, 0, 5, 2000), 0);
	rig.killed = true;
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.compare(0, 0, 11, 1000), "");
	EXPECT_EQ(rig.compare(0, 11, 5, 0), "") << "plain writes behind it";
	EXPECT_EQ(rig.compare(1, 0, 5, 0), "");
	EXPECT_EQ(rig.check(), "");
	ASSERT_EQ(rig.write(0, 11, 3, 1011, FTL_FUA), 0);
	rig.killed = true;
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.compare(0, 0, 14, 1000), "");
}

TEST_P(Kill, AtEachInstantOfARun)
{
	EXPECT_GT(each_instant(
			  3, [](Rig &rig) { work(rig); }, [](Rig &rig, auto &acked) { check(rig, acked); }),
		  30u);
}

// Power has gone, and the run is killed while its capacitors work.
TEST_P(Kill, AtEachInstantOnCapacitors)
{
	uint64_t on_capacitors = 0;
	const auto act = [&](Rig &rig) {
		work(rig);
		instant.seen = 0; // those of the run have their own test
		instant.image.clear();
		rig_lose_power(rig.tsu);
		on_capacitors = instant.seen;
	};
	each_instant(1, act, [](Rig &rig, auto &acked) { check(rig, acked); });
	EXPECT_GT(on_capacitors, 10u);
}

// The start after a kill is killed in its turn, at each instant, again and again.
TEST_P(Kill, AtEachInstantOfTheStartAfterOne)
{
	Rig rig(config());
	rig.before_mount = [&] { watch(rig); };
	work(rig);
	const std::vector<uint32_t> acked = instant.acked;
	const std::vector<uint8_t> image(rig.bytes(), rig.bytes() + rig.image_bytes());
	uint64_t instants = 0;
	for (uint64_t n = 1; !HasFailure(); n++, instants++) {
		SCOPED_TRACE(testing::Message() << "instant " << n);
		std::memcpy(rig.bytes(), image.data(), image.size());
		bool killed = false;
		for (int again = 0; again < 4; again++) {
			instant.wanted = instant.seen + n + static_cast<uint64_t>(again);
			instant.image.clear();
			rig.killed = true;
			ASSERT_TRUE(rig.start()) << rig.error;
			if (instant.image.empty())
				break;
			killed = true;
			std::memcpy(rig.bytes(), instant.image.data(), instant.image.size());
		}
		instant.wanted = 0;
		if (!killed)
			break;
		rig.killed = true;
		check(rig, acked);
	}
	EXPECT_GT(instants, 10u);
}
