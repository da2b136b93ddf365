// Sectors of sequential zones that are written in place: the last data written are read, before and after a power cut at every operation;
// the budget holds; finish folds them, reset frees them.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <random>
#include <set>

#include "model_cuts.hpp"

using namespace ftl_rig;

namespace {

constexpr uint32_t budget = 24;

struct Layout {
	const char *name;
	void (*change)(hz_device_config &);
};
const Layout layouts[] = {
	{"MapInRam", [](hz_device_config &) {}},
	{"MapOfZones", [](hz_device_config &cfg) { cfg.l2p_kind = HZ_L2P_KIND_ZONE, cfg.l2p_zone_log = 1; }},
	{"MapInFlash",
	 [](hz_device_config &cfg) {
		 cfg.l2p_cache_bytes = 16 * HZ_MAP_ENTRY_BYTES, cfg.l2p_levels = HZ_MAP_ZONE, cfg.l2p_chunk_sectors = 16,
		 cfg.l2p_log_entries = 256;
	 }},
	{"SlcPages", [](hz_device_config &cfg) { cfg.slc_program_sectors = 4; }},
	{"Tuples", [](hz_device_config &cfg) { cfg.protection = HZ_PROTECTION_TYPE1, cfg.buffer_idle_ns = 1; }},
	{"TwoPlanesRefreshed", [](hz_device_config &cfg) { use_planes(cfg, 2), cfg.refresh_reads = 40; }},
	{"Slots", [](hz_device_config &cfg) { use_slots(cfg, 30, HZ_SLOTS_LOCK_FREE, HZ_BUFFER_FLUSH_UNIT); }},
};

hz_device_config in_place(const Layout &layout)
{
	hz_device_config cfg = ftl_config();
	cfg.slc_blocks_per_plane = 11;
	cfg.blocks_per_plane = 21;
	cfg.in_place_sectors = budget;
	layout.change(cfg);
	return cfg;
}

uint64_t used(Rig &rig) { return ftl_in_place_sectors(rig.ftl); }

// A write in place; sector i gets tag + i.
struct Update : Request {
	Update(uint64_t lba, uint32_t sectors, uint64_t tag, uint8_t flags = 0) : Request(FTL_UPDATE, lba, sectors, flags)
	{
		for (uint32_t i = 0; i < sectors; i++)
			fill_sector(pages[i], tag + i);
	}
};
uint16_t update(Rig &rig, uint32_t zone, uint32_t offset, uint32_t sectors, uint64_t tag)
{
	Update request(rig.lba_of(zone, offset), sectors, tag);
	return rig.run(request);
}

class InPlace : public testing::TestWithParam<Layout> {
protected:
	void SetUp() override { ASSERT_TRUE(rig.boot()) << rig.error; }
	void TearDown() override { EXPECT_EQ(rig.check(), ""); }
	uint32_t capacity() const { return static_cast<uint32_t>(rig.shape.zone_capacity_sectors); }
	Rig rig{in_place(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Layouts, InPlace, testing::ValuesIn(layouts), [](const auto &test) { return test.param.name; });

} // namespace

TEST_P(InPlace, TheLastOneIsRead)
{
	ASSERT_EQ(rig.write(0, 0, 40, 1000), 0);
	ASSERT_EQ(update(rig, 0, 7, 1, 2000), 0);
	ASSERT_EQ(update(rig, 0, 30, 5, 3000), 0) << "of what is in the buffer, too";
	ASSERT_EQ(update(rig, 0, 7, 1, 4000), 0);
	for (int boot = 0; boot < 3; boot++) {
		EXPECT_EQ(rig.compare(0, 0, 7, 1000), "");
		EXPECT_EQ(rig.compare(0, 7, 1, 4000), "");
		EXPECT_EQ(rig.compare(0, 8, 22, 1008), "");
		EXPECT_EQ(rig.compare(0, 30, 5, 3000), "");
		EXPECT_EQ(rig.compare(0, 35, boot ? 0 : 5, 1035), "") << "behind the last one nothing had to be durable";
		EXPECT_EQ(used(rig), 6u);
		EXPECT_EQ(rig.check(), "");
		if (boot == 1) {
			ASSERT_EQ(rig.shut_down_cleanly(), 0);
		}
		ASSERT_TRUE(rig.boot()) << rig.error;
	}
	Request all(FTL_READ, rig.lba_of(0), 35);
	ASSERT_EQ(rig.run(all), 0);
	for (uint32_t i = 0; i < 35; i++)
		EXPECT_TRUE(sector_is(all.pages[i], i == 7 ? 4000 : i >= 30 ? 2970 + i : 1000 + i)) << i;
}

TEST_P(InPlace, OfAFullZone)
{
	ASSERT_EQ(rig.write(1, 0, capacity(), 1000), 0);
	ASSERT_EQ(update(rig, 1, capacity() - 3, 3, 2000), 0);
	ASSERT_EQ(update(rig, 1, 0, 3, 3000), 0);
	EXPECT_EQ(rig.zone_state(1), NVME_ZS_FULL);
	for (int boot = 0; boot < 2; boot++) {
		EXPECT_EQ(rig.compare(1, 0, 3, 3000), "");
		EXPECT_EQ(rig.compare(1, 3, capacity() - 6, 1003), "");
		EXPECT_EQ(rig.compare(1, capacity() - 3, 3, 2000), "");
		ASSERT_TRUE(rig.boot()) << rig.error;
	}
}

TEST_P(InPlace, WhereNothingIsTheyAreRefused)
{
	ASSERT_EQ(rig.write(0, 0, 10, 1000), 0);
	EXPECT_EQ(update(rig, 0, 5, 6, 2000), NVME_ZONE_INVALID_WRITE) << "across the write pointer";
	EXPECT_EQ(update(rig, 0, 11, 1, 2000), NVME_ZONE_INVALID_WRITE) << "beyond it";
	EXPECT_EQ(update(rig, 2, 1, 1, 2000), NVME_ZONE_INVALID_WRITE);
	EXPECT_EQ(rig.compare(0, 0, 10, 1000), "");
	EXPECT_EQ(used(rig), 0u);
	EXPECT_EQ(update(rig, 0, 10, 3, 3000), 0) << "at it, it is a plain write";
	EXPECT_EQ(rig.compare(0, 10, 3, 3000), "");
	EXPECT_EQ(used(rig), 0u);
	ASSERT_EQ(rig.write(1, 0, capacity(), 1), 0);
	EXPECT_EQ(update(rig, 1, capacity() - 1, 2, 2000), NVME_ZONE_INVALID_WRITE) << "into the next zone";
}

TEST_P(InPlace, TheBudgetHolds)
{
	ASSERT_EQ(rig.write(0, 0, 60, 1000), 0);
	ASSERT_EQ(rig.write(2, 0, 30, 2000), 0);
	for (uint32_t i = 0; i < budget; i += 4)
		ASSERT_EQ(update(rig, i % 8 ? 0 : 2, i, 4, 5000 + i), 0);
	EXPECT_EQ(used(rig), budget);
	EXPECT_EQ(update(rig, 0, 50, 1, 1), NVME_HZ_IN_PLACE_BUDGET);
	EXPECT_EQ(update(rig, 0, 5, 2, 6000), 0) << "which have theirs";
	EXPECT_EQ(update(rig, 0, 4, 5, 7000), NVME_HZ_IN_PLACE_BUDGET) << "one of these has not";
	EXPECT_EQ(used(rig), budget);
	EXPECT_EQ(rig.compare(0, 4, 1, 5004), "") << "nothing of it";
	EXPECT_EQ(rig.compare(0, 5, 2, 6000), "");
	EXPECT_EQ(rig.compare(0, 8, 4, 1008), "");
	EXPECT_EQ(rig.counters().in_place_refusals, 2u);
	EXPECT_EQ(rig.check(), "");
	EXPECT_EQ(rig.run_op(FTL_ZONE_RESET, 0), 0);
	EXPECT_EQ(used(rig), budget / 2);
	EXPECT_EQ(update(rig, 2, 5, 1, 8000), 0);
	EXPECT_EQ(rig.compare(0, 0, 8, 0), "");
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(used(rig), budget / 2 + 1);
	EXPECT_EQ(rig.compare(2, 5, 1, 8000), "");
	EXPECT_EQ(rig.compare(2, 8, 4, 5008), "");
}

TEST_P(InPlace, FinishFolds)
{
	ASSERT_EQ(rig.write(0, 0, 50, 1000), 0);
	ASSERT_EQ(update(rig, 0, 3, 6, 2000), 0);
	ASSERT_EQ(rig.run_op(FTL_ZONE_FINISH, 0), 0);
	lt_host_run_until_idle();
	EXPECT_EQ(used(rig), 0u);
	EXPECT_EQ(rig.counters().update_folds, 1u);
	EXPECT_EQ(rig.counters().folded_updates, 6u);
	for (int boot = 0; boot < 3; boot++) {
		EXPECT_EQ(rig.compare(0, 0, 3, 1000), "");
		EXPECT_EQ(rig.compare(0, 3, 6, 2000), "");
		EXPECT_EQ(rig.compare(0, 9, 41, 1009), "");
		EXPECT_EQ(rig.check(), "");
		ASSERT_TRUE(rig.boot()) << rig.error;
		EXPECT_EQ(used(rig), 0u) << "what was folded is dead";
	}
	ASSERT_EQ(update(rig, 0, 4, 1, 3000), 0) << "and again";
	EXPECT_EQ(rig.compare(0, 3, 1, 2000), "");
	EXPECT_EQ(rig.compare(0, 4, 1, 3000), "");
	EXPECT_EQ(used(rig), 1u);
}

// Three quarters of the budget are in use: the updates of full zones are folded, one zone after the other.
TEST_P(InPlace, AScarceBudgetFolds)
{
	ASSERT_EQ(rig.write(0, 0, capacity(), 1000), 0);
	ASSERT_EQ(rig.write(1, 0, capacity(), 2000), 0);
	uint64_t last[2][96];
	for (uint32_t i = 0; i < 96; i++)
		last[0][i] = 1000 + i, last[1][i] = 2000 + i;
	std::mt19937_64 random(GetParam().name[0]);
	for (uint32_t n = 0; n < 400; n++) {
		const uint32_t zone = static_cast<uint32_t>(random() % 2), offset = static_cast<uint32_t>(random() % 96);
		const uint16_t status = update(rig, zone, offset, 1, 10000 + n);
		ASSERT_TRUE(status == 0 || status == NVME_HZ_IN_PLACE_BUDGET) << status;
		if (!status)
			last[zone][offset] = 10000 + n;
		ASSERT_LE(used(rig), budget);
	}
	lt_host_run_until_idle();
	EXPECT_GT(rig.counters().update_folds, 5u);
	EXPECT_EQ(rig.check(), "");
	for (uint32_t i = 0; i < 192; i++)
		ASSERT_EQ(rig.compare(i / 96, i % 96, 1, last[i / 96][i % 96]), "");
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (uint32_t i = 0; i < 192; i++)
		ASSERT_EQ(rig.compare(i / 96, i % 96, 1, last[i / 96][i % 96]), "");
}

// The zone that is written cannot be folded. The full zone that has had copies for longest is, then the next one.
TEST_P(InPlace, AnOpenZoneFoldsTheOldestFullOne)
{
	for (uint32_t zone : {2u, 0u})
		ASSERT_EQ(rig.write(zone, 0, capacity(), 1000 * (zone + 1)), 0);
	ASSERT_EQ(update(rig, 2, 5, 6, 5000), 0);
	ASSERT_EQ(update(rig, 0, 5, 5, 6000), 0);
	ASSERT_EQ(rig.write(1, 0, 60, 2000), 0);
	for (uint32_t i = 0; i < 8; i++)
		ASSERT_EQ(update(rig, 1, 4 * i, 1, 7000 + 4 * i), 0);
	lt_host_run_until_idle();
	EXPECT_EQ(rig.counters().update_folds, 1u) << "19 of 24 are scarce";
	EXPECT_EQ(rig.counters().folded_updates, 6u) << "of zone 2";
	EXPECT_EQ(used(rig), 13u);
	for (uint32_t i = 8; i < 14; i++)
		ASSERT_EQ(update(rig, 1, 4 * i, 1, 7000 + 4 * i), 0);
	lt_host_run_until_idle();
	EXPECT_EQ(rig.counters().folded_updates, 11u) << "of zone 0, too";
	EXPECT_EQ(used(rig), 14u);
	for (int boot = 0; boot < 2; boot++) {
		EXPECT_EQ(rig.compare(2, 0, 5, 3000), "");
		EXPECT_EQ(rig.compare(2, 5, 6, 5000), "");
		EXPECT_EQ(rig.compare(2, 11, capacity() - 11, 3011), "");
		EXPECT_EQ(rig.compare(0, 5, 5, 6000), "");
		for (uint32_t i = 0; i < 14; i++)
			EXPECT_EQ(rig.compare(1, 4 * i, 1, 7000 + 4 * i), "");
		EXPECT_EQ(rig.check(), "");
		ASSERT_TRUE(rig.boot()) << rig.error;
	}
}

// A write that needs more than is left is refused, though three quarters of the budget are not in use: it is room for the next one.
TEST_P(InPlace, ARefusalFoldsAFullZone)
{
	ASSERT_EQ(rig.write(0, 0, capacity(), 1000), 0);
	ASSERT_EQ(update(rig, 0, 3, 12, 2000), 0);
	ASSERT_EQ(rig.write(1, 0, 60, 3000), 0);
	EXPECT_EQ(update(rig, 1, 10, 13, 4000), NVME_HZ_IN_PLACE_BUDGET);
	lt_host_run_until_idle();
	EXPECT_EQ(used(rig), 0u);
	EXPECT_EQ(update(rig, 1, 10, 13, 4000), 0);
	EXPECT_EQ(update(rig, 1, 0, 10, 5000), 0);
	EXPECT_EQ(update(rig, 1, 30, 2, 6000), NVME_HZ_IN_PLACE_BUDGET) << "nothing can be folded any more";
	EXPECT_EQ(rig.compare(0, 3, 12, 2000), "");
	EXPECT_EQ(rig.compare(1, 10, 13, 4000), "");
}

// A log whose last block is written again and again, in zone after zone. No zone is finished before it is full.
TEST_P(InPlace, ALogNeverRunsOut)
{
	uint64_t last[3][96];
	for (uint32_t round = 0; round < 6; round++) {
		const uint32_t zone = round % 3;
		if (round > 2)
			ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, zone), 0);
		for (uint32_t at = 0; at < 96; at++) {
			ASSERT_EQ(rig.write(zone, at, 1, 1000 * round + at), 0);
			last[zone][at] = 1000 * round + at;
			if (at % 8)
				continue;
			ASSERT_EQ(update(rig, zone, at, 1, 50000 + last[zone][at]), 0) << "round " << round << " at " << at;
			last[zone][at] += 50000;
		}
	}
	lt_host_run_until_idle();
	EXPECT_EQ(rig.counters().in_place_refusals, 0u);
	EXPECT_GE(rig.counters().update_folds, 3u);
	for (int boot = 0; boot < 2; boot++) {
		for (uint32_t i = 0; i < 3 * 96; i++)
			ASSERT_EQ(rig.compare(i / 96, i % 96, 1, last[i / 96][i % 96]), "");
		ASSERT_TRUE(rig.boot()) << rig.error;
	}
}

// Many at once, of one zone, while it folds and while others read; a reset waits for them.
TEST_P(InPlace, ManyAtOnce)
{
	ASSERT_EQ(rig.write(0, 0, 80, 1000), 0);
	for (int round = 0; round < 20; round++) {
		std::deque<Update> updates;
		std::deque<Request> reads;
		for (uint32_t i = 0; i < 20; i++) {
			rig.submit(updates.emplace_back(rig.lba_of(0, i), 1, 5000 + 100 * round + i), i % 2);
			rig.submit(reads.emplace_back(FTL_READ, rig.lba_of(0, i), 4), i % 2);
			lt_host_run_until(clock_now_ns() + 20000);
		}
		if (round == 10)
			ASSERT_EQ(rig.run_op(FTL_ZONE_FINISH, 0), 0);
		lt_host_run_until_idle();
		for (uint32_t i = 0; i < 20; i++) {
			ASSERT_TRUE(updates[i].done && reads[i].done);
			ASSERT_EQ(updates[i].status(), 0);
			ASSERT_EQ(reads[i].status(), 0);
			ASSERT_EQ(rig.compare(0, i, 1, 5000 + 100 * round + i), "");
		}
		ASSERT_EQ(rig.check(), "");
	}
	EXPECT_GT(rig.counters().update_folds, 0u);
	std::deque<Update> updates;
	for (uint32_t i = 0; i < 20; i++)
		rig.submit(updates.emplace_back(rig.lba_of(0, i), 1, 9000 + i), i % 2);
	Request reset(FTL_ZONE_RESET, rig.lba_of(0), 0);
	rig.submit(reset);
	lt_host_run_until_idle();
	EXPECT_EQ(reset.status(), 0);
	for (const Update &update : updates) // those behind the reset found an empty zone
		EXPECT_TRUE(update.done && (update.status() == 0 || update.status() == NVME_ZONE_INVALID_WRITE)) << update.status();
	EXPECT_EQ(rig.check(), "");
}

TEST_P(InPlace, LongOnesTakeTheirTurns)
{
	ASSERT_EQ(rig.write(0, 0, 60, 1000), 0);
	std::deque<Update> updates;
	for (uint32_t i = 0; i < 6; i++)
		rig.submit(updates.emplace_back(rig.lba_of(0, 10), budget, 2000 + 100 * i), 0);
	lt_host_run_until_idle();
	for (const Update &update : updates)
		ASSERT_TRUE(update.done && update.status() == 0);
	Request read(FTL_READ, rig.lba_of(0, 10), budget);
	ASSERT_EQ(rig.run(read), 0);
	for (uint32_t i = 0; i < budget; i++) {
		uint64_t tag;
		std::memcpy(&tag, read.pages[i], sizeof tag);
		EXPECT_TRUE(tag >= 2000 && tag < 2600 && tag % 100 == i) << tag;
	}
}

// The controller is reset in the middle of many: those that had not begun end, and nothing of the budget is lost.
TEST_P(InPlace, AControllerReset)
{
	ASSERT_EQ(rig.write(0, 0, 80, 1000), 0);
	for (uint64_t after_ns = 0; after_ns < 400000; after_ns += 17000) {
		std::deque<Update> updates;
		for (uint32_t i = 0; i < 6; i++)
			rig.submit(updates.emplace_back(rig.lba_of(0, 10 * i), 4, 5000 + after_ns), i % 2);
		lt_host_run_until(clock_now_ns() + after_ns);
		rig.cancel([&] { return std::all_of(updates.begin(), updates.end(), [](const Update &u) { return u.done; }); });
		lt_host_run_until_idle();
		for (const Update &update : updates)
			ASSERT_TRUE(update.done && (update.status() == 0 || update.status() == NVME_ABORT_REQUESTED)) << update.status();
		ASSERT_LE(used(rig), budget);
		ASSERT_EQ(rig.check(), "");
	}
	EXPECT_EQ(rig.run_op(FTL_ZONE_RESET, 0), 0);
	EXPECT_EQ(used(rig), 0u);
}

TEST(InPlaceImage, AnImageWithMoreThanTheBudgetIsRefused)
{
	hz_device_config cfg = in_place(layouts[0]);
	auto image = std::make_shared<rig::Image>(hz_nand_image_bytes(&cfg));
	Rig rig(cfg, image);
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(rig.write(0, 0, 40, 1000), 0);
	ASSERT_EQ(update(rig, 0, 3, 9, 2000), 0);
	for (uint32_t less : {8u, 0u}) {
		cfg.in_place_sectors = less;
		Rig other(cfg, image);
		EXPECT_FALSE(other.boot());
		EXPECT_NE(std::string(other.error).find("zones.in_place"), std::string::npos);
	}
	cfg.in_place_sectors = 9;
	Rig same(cfg, image);
	ASSERT_TRUE(same.boot()) << same.error;
	EXPECT_EQ(same.compare(0, 3, 9, 2000), "");
}

// A program in SLC fails: it is done again elsewhere, and the host hears nothing of it.
TEST_P(InPlace, AFailedProgram)
{
	for (uint32_t at = 1; at < 12; at++) {
		hz_device_config cfg = in_place(GetParam());
		cfg.fail_program_at = at;
		Rig other(cfg);
		ASSERT_TRUE(other.boot()) << other.error;
		ASSERT_EQ(other.write(0, 0, 24, 1000), 0);
		ASSERT_EQ(other.write(0, 24, 20, 1024), 0);
		for (uint32_t i = 0; i < 6; i++)
			ASSERT_EQ(update(other, 0, 5 * i, 2, 2000 + 5 * i), 0);
		for (uint32_t i = 0; i < 6; i++)
			ASSERT_EQ(other.compare(0, 5 * i, 2, 2000 + 5 * i), "");
		ASSERT_EQ(other.check(), "");
	}
}

// --- against a model, with power cuts ---

namespace {

struct Step {
	enum { WRITE, UPDATE, FLUSH, RESET, FINISH } kind;
	uint32_t zone, offset, sectors;
};

// One step at a time. Acknowledged data are there after a power cut; of an interrupted step each sector is, or is not.
class Model {
public:
	Model(Rig &device, uint64_t seed) : rig(device), zones(device.shape.zones), random(seed) {}

	// False: power went.
	bool run(const Step &step)
	{
		Zone &zone = zones[step.zone];
		const uint64_t tag = next_tag;
		next_tag += step.sectors;
		static constexpr ftl_op ops[] = {FTL_WRITE, FTL_UPDATE, FTL_FLUSH, FTL_ZONE_RESET, FTL_ZONE_FINISH};
		const uint32_t offset = step.kind == Step::WRITE ? static_cast<uint32_t>(zone.tags.size()) : step.offset;
		Request request(ops[step.kind], rig.lba_of(step.zone, step.kind >= Step::FLUSH ? 0 : offset), step.sectors);
		for (uint32_t i = 0; i < step.sectors; i++)
			fill_sector(request.pages[i], tag + i);
		rig.submit(request, step.zone % 2);
		lt_host_run_until_idle();
		if (lt_load(&rig.media.off)) {
			cut(step, offset, tag, request.done, request.status());
			return false;
		}
		EXPECT_TRUE(request.done);
		settle(step, offset, tag, request.status());
		return true;
	}
	void recovered()
	{
		const auto report = rig.report_zones();
		for (uint32_t z = 0; z < zones.size(); z++)
			recovered_zone(z, report[z]);
		ASSERT_EQ(rig.check(), "");
	}
	Step any()
	{
		const uint32_t zone = static_cast<uint32_t>(random() % 3), size = static_cast<uint32_t>(zones[zone].tags.size());
		const uint32_t capacity = static_cast<uint32_t>(rig.shape.zone_capacity_sectors),
			       dice = static_cast<uint32_t>(random() % 100);
		if (dice < 55 && size) {
			const uint32_t offset = static_cast<uint32_t>(random() % size);
			return {Step::UPDATE, zone, offset, static_cast<uint32_t>(1 + random() % std::min(3u, size - offset))};
		}
		if (dice < 85 && !zones[zone].full)
			return {Step::WRITE, zone, 0, static_cast<uint32_t>(1 + random() % std::min(30u, capacity - size))};
		if (dice < 92 && size && !zones[zone].full)
			return {Step::FINISH, zone, 0, 0};
		return dice < 95 || !zones[zone].full ? Step{Step::FLUSH, zone, 0, 0} : Step{Step::RESET, zone, 0, 0};
	}

	Rig &rig;
	uint64_t refusals = 0;

private:
	struct Zone {
		std::vector<std::set<uint64_t>> tags; // possible contents of each sector: the last acknowledged one, and interrupted ones
		uint32_t durable = 0;
		bool full = false, may_be_empty = false, may_be_full = false;
	};

	void settle(const Step &step, uint32_t offset, uint64_t tag, uint16_t status)
	{
		Zone &zone = zones[step.zone];
		if (step.kind == Step::UPDATE && status == NVME_HZ_IN_PLACE_BUDGET) {
			refusals++;
			return;
		}
		ASSERT_EQ(status, 0) << "step " << step.kind;
		switch (step.kind) {
		case Step::WRITE:
			for (uint32_t i = 0; i < step.sectors; i++)
				zone.tags.push_back({tag + i});
			zone.full |= zone.tags.size() == rig.shape.zone_capacity_sectors;
			break;
		case Step::UPDATE:
			for (uint32_t i = 0; i < step.sectors; i++)
				zone.tags[offset + i] = {tag + i};
			zone.durable = std::max(zone.durable, offset + step.sectors);
			break;
		case Step::FLUSH:
			for (Zone &any : zones)
				any.durable = static_cast<uint32_t>(any.tags.size());
			break;
		case Step::RESET: zone = Zone(); break;
		case Step::FINISH: zone.full = true; zone.durable = static_cast<uint32_t>(zone.tags.size());
		}
	}
	void cut(const Step &step, uint32_t offset, uint64_t tag, bool done, uint16_t status)
	{
		Zone &zone = zones[step.zone];
		if (done) {
			settle(step, offset, tag, status);
			return;
		}
		for (uint32_t i = 0; i < step.sectors && step.kind == Step::WRITE; i++)
			zone.tags.push_back({tag + i});
		for (uint32_t i = 0; i < step.sectors && step.kind == Step::UPDATE; i++)
			zone.tags[offset + i].insert(tag + i);
		zone.may_be_empty = step.kind == Step::RESET;
		zone.may_be_full = step.kind == Step::FINISH;
	}
	void recovered_zone(uint32_t z, const nvme_zone_descriptor &found)
	{
		Zone &zone = zones[z];
		const uint8_t state = found.state >> 4;
		const bool full = state == NVME_ZS_FULL;
		uint32_t size = full ? static_cast<uint32_t>(zone.tags.size()) : static_cast<uint32_t>(found.write_pointer - found.start);
		if (zone.may_be_empty && state == NVME_ZS_EMPTY)
			zone = Zone();
		ASSERT_TRUE(state == NVME_ZS_EMPTY || state == NVME_ZS_CLOSED || full) << "zone " << z << " state " << int(state);
		ASSERT_TRUE(!full || zone.full || zone.may_be_full || zone.tags.size() == rig.shape.zone_capacity_sectors) << "zone " << z;
		ASSERT_GE(size, zone.durable) << "zone " << z;
		ASSERT_LE(size, zone.tags.size()) << "zone " << z;
		zone.tags.resize(size);
		for (uint32_t i = 0; i < size; i++) {
			ASSERT_NO_FATAL_FAILURE(expect_one_of(rig, z, i, zone.tags[i]));
		}
		zone.durable = size;
		zone.full = full;
		zone.may_be_empty = zone.may_be_full = false;
	}

	std::vector<Zone> zones;
	std::mt19937_64 random;
	uint64_t next_tag = 1000;
};

const std::vector<Step> body = {
	{Step::WRITE, 0, 0, 20},  {Step::UPDATE, 0, 3, 2},  {Step::UPDATE, 0, 17, 3}, {Step::UPDATE, 0, 3, 1},  {Step::WRITE, 0, 0, 9},
	{Step::UPDATE, 0, 20, 6}, {Step::FINISH, 0, 0, 0},  {Step::UPDATE, 0, 4, 2},  {Step::WRITE, 1, 0, 96},  {Step::UPDATE, 1, 90, 6},
	{Step::UPDATE, 1, 0, 8},  {Step::UPDATE, 1, 40, 3}, {Step::UPDATE, 1, 0, 1},  {Step::UPDATE, 1, 50, 4}, {Step::RESET, 0, 0, 0},
	{Step::WRITE, 0, 0, 12},  {Step::UPDATE, 0, 1, 5},  {Step::FLUSH, 0, 0, 0},   {Step::UPDATE, 1, 3, 1},
};

// Zones 0 and 1 are folded while zone 2 is written.
const std::vector<Step> older = {
	{Step::WRITE, 1, 0, 96}, {Step::UPDATE, 1, 3, 7},  {Step::WRITE, 0, 0, 96}, {Step::UPDATE, 0, 90, 5}, {Step::WRITE, 2, 0, 40},
	{Step::UPDATE, 2, 3, 8}, {Step::UPDATE, 2, 20, 4}, {Step::WRITE, 2, 0, 10}, {Step::UPDATE, 2, 30, 6}, {Step::UPDATE, 1, 4, 1},
};

} // namespace

TEST_P(InPlace, PowerCutsWhileOlderZonesFold) { cut_at_every_operation<Model>(in_place(GetParam()), older); }

TEST_P(InPlace, PowerCutsAtEveryOperation) { cut_at_every_operation<Model>(in_place(GetParam()), body); }

TEST_P(InPlace, ChainsOfPowerCuts)
{
	uint64_t refusals = 0, folds = 0;
	chains_of_cuts<Model>(
		in_place(GetParam()), [&](Rig &device) { folds += device.counters().update_folds; },
		[&](const Model &model) { refusals += model.refusals; });
	EXPECT_GT(refusals + folds, 0u);
}
