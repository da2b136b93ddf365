// A worn-out SLC log: with too few superblocks left for all writers, every request still ends, durable data stay readable, and no
// volatile data are called durable.
// SPDX-License-Identifier: BSD-3-Clause
#include "l2p_rig.hpp"
#include "conventional_model.hpp"

using namespace ftl_rig;

namespace {

// Writes and flushes at random, several at a time, never two to the same zone; possible contents of each sector.
class Wear {
public:
	Wear(Rig &rig, uint64_t seed) : rig_(rig), random_(seed), zones_(rig.shape.zones) {}

	// Until that many requests have failed; false: the device outlived us.
	bool until_failed(unsigned most)
	{
		for (int batch = 0; batch < 6000 && failed_ < most && !all_over() && !testing::Test::HasFailure(); batch++)
			run_batch();
		return failed_ >= most || all_over();
	}
	// Every readable sector has a possible content; without a power cut in between, the last accepted one, or it is a read error.
	void verify(bool after_cut)
	{
		for (uint32_t z = 0; z < zones_.size() && !testing::Test::HasFailure(); z++)
			for (uint32_t i = 0; i < rig_.shape.zone_capacity_sectors; i++)
				verify_sector(z, i, after_cut);
	}
	unsigned failed() const { return failed_; }

private:
	// Oldest first: from the last durable content on, everything written since.
	struct Sector {
		std::vector<uint64_t> tags{0};
		uint64_t latest = 0; // acknowledged last
		bool sure = true;    // nothing was attempted since, and refused
	};
	struct Zone {
		std::map<uint32_t, Sector> sectors;
		uint32_t next = 0;
		bool over = false; // a command failed on it
		bool reset_failed = false;
	};
	struct Running {
		std::unique_ptr<Request> request;
		uint32_t zone, at;
		uint64_t tag;
	};

	uint32_t roll(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
	bool conventional(uint32_t zone) const { return zone < rig_.shape.conventional_zones; }

	bool all_over() const
	{
		return std::all_of(zones_.begin(), zones_.end(), [](const Zone &zone) { return zone.over; });
	}
	void run_batch()
	{
		std::vector<Running> running;
		for (uint32_t z = roll(3); z < zones_.size(); z += 1 + roll(3))
			issue(running, z);
		const bool table_was_lost = table_lost_;
		lt_host_run_until_idle();
		for (Running &r : running) {
			settle(r);
			const bool written = r.request->req.op == FTL_WRITE && !r.request->status();
			EXPECT_FALSE(written && table_was_lost) << "zone " << r.zone << " was written though no record of it can be";
		}
		EXPECT_EQ(rig_.check(), "");
	}
	void issue(std::vector<Running> &running, uint32_t z)
	{
		const auto capacity = static_cast<uint32_t>(rig_.shape.zone_capacity_sectors);
		Zone &zone = zones_[z];
		if (zone.over)
			return;
		const uint32_t at = conventional(z) ? roll(capacity) : zone.next;
		if (at == capacity || (!conventional(z) && roll(40) == 0)) {
			const ftl_op op = at < capacity && roll(3) == 0 ? FTL_ZONE_FINISH : FTL_ZONE_RESET;
			running.push_back({std::make_unique<Request>(op, rig_.lba_of(z), 0), z, 0, 0});
		} else {
			const uint32_t sectors = std::min(1 + roll(4), capacity - at);
			const uint8_t flags = roll(3) ? FTL_FUA : 0;
			running.push_back({std::make_unique<Request>(FTL_WRITE, rig_.lba_of(z, at), sectors, flags), z, at, next_tag_});
			for (uint32_t i = 0; i < sectors; i++)
				fill_sector(running.back().request->pages[i], next_tag_++);
		}
		rig_.submit(*running.back().request, z & 1);
	}
	void settle(Running &r)
	{
		const ftl_request &req = r.request->req;
		Zone &zone = zones_[r.zone];
		ASSERT_TRUE(r.request->done) << "op " << int(req.op) << " of zone " << r.zone << " never completed";
		const uint16_t status = r.request->status();
		const bool failed = status == NVME_WRITE_FAULT || status == NVME_ZONE_READ_ONLY || status == NVME_ZONE_INVALID_TRANSITION;
		ASSERT_TRUE(!status || failed || status == NVME_TOO_MANY_ACTIVE) << "status " << status;
		failed_ += failed;
		zone.over |= failed && !conventional(r.zone);
		zone.reset_failed |= failed && req.op == FTL_ZONE_RESET;
		table_lost_ |= status == NVME_WRITE_FAULT && req.op == FTL_ZONE_RESET; // the only reason of a failed reset
		if (req.op == FTL_WRITE && status != NVME_TOO_MANY_ACTIVE)
			note_write(zone, r, status);
		else if (req.op == FTL_ZONE_RESET && !status)
			zone = {};
		else if (req.op == FTL_ZONE_FINISH && !status)
			zone.next = static_cast<uint32_t>(rig_.shape.zone_capacity_sectors);
	}
	static void note_write(Zone &zone, const Running &r, uint16_t status)
	{
		const ftl_request &req = r.request->req;
		for (uint32_t i = 0; i < req.sectors; i++) {
			Sector &sector = zone.sectors[r.at + i];
			if (!status && req.flags & FTL_FUA)
				sector.tags.clear();
			sector.tags.push_back(r.tag + i);
			sector.latest = status ? sector.latest : r.tag + i;
			sector.sure = !status;
		}
		zone.next = status ? zone.next : r.at + req.sectors;
	}
	void verify_sector(uint32_t z, uint32_t i, bool after_cut)
	{
		const auto &sectors = zones_[z].sectors;
		const auto found = sectors.find(i);
		Sector sector = found == sectors.end() ? Sector{} : found->second;
		if (zones_[z].reset_failed && after_cut)
			sector.tags.push_back(0);          // whether it has taken effect shows itself then
		const bool lossy = sector.tags.size() > 1; // something of it was not durable
		Request read(FTL_READ, rig_.lba_of(z, i), 1);
		const uint16_t status = rig_.run(read);
		if (status) {
			EXPECT_EQ(status, NVME_UNRECOVERED_READ);
			EXPECT_TRUE(lossy || zones_[z].over) << "durable sector " << i << " of zone " << z << " is lost";
			return;
		}
		const bool held = !after_cut && sector.sure ? sector_is(read.pages[0], sector.latest)
							    : std::any_of(sector.tags.begin(), sector.tags.end(),
									  [&](uint64_t tag) { return sector_is(read.pages[0], tag); });
		EXPECT_TRUE(held) << "sector " << i << " of zone " << z << " holds " << *reinterpret_cast<uint64_t *>(read.pages[0])
				  << ", cut " << after_cut << " sure " << sector.sure << " latest " << sector.latest << " tags "
				  << testing::PrintToString(sector.tags);
	}

	Rig &rig_;
	std::mt19937_64 random_;
	std::vector<Zone> zones_;
	uint64_t next_tag_ = 1;
	unsigned failed_ = 0;
	bool table_lost_ = false;
};

struct Variant {
	const char *name;
	hz_device_config cfg;
	bool without_runs = false; // the map finds no room in RAM for changes of staged sectors
};

void PrintTo(const Variant &variant, std::ostream *out) { *out << variant.name; }

std::vector<Variant> variants()
{
	hz_device_config blocking = map_config();
	blocking.l2p_log_policy = HZ_L2P_LOG_BLOCKING;
	return {{"MapInRam", ftl_config()},
		{"MapInFlash", map_config()},
		{"BlockingLog", blocking},
		{"MapInFlashWithoutRuns", map_config(), true},
		{"Patches", patched_config()},
		{"Conventional", conventional_config()},
		{"ConventionalMapInFlash", mapped_conventional_config()},
		{"BlockNamespace", mapped_conventional_config(true, HZ_L2P_LOG_BLOCKING)}};
}

class WornSlc : public testing::TestWithParam<Variant> {
protected:
	unsigned unclean_ = 0; // shutdowns that could not be recorded

	static uint64_t rounds() { return environment("HARTZONE_TEST_ROUNDS", 6); }
	// The device with a worn-out SLC log, by failing erases or programs.
	void live(hz_device_config cfg, uint64_t seed)
	{
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		if (GetParam().without_runs)
			rig_waste_runs(rig.ftl);
		ftl_health health;
		ftl_report_health(rig.ftl, &health);
		EXPECT_EQ(health.spare_percent, 100);
		Wear wear(rig, seed);
		ASSERT_TRUE(wear.until_failed(12)) << "only " << wear.failed() << " requests failed";
		ftl_report_health(rig.ftl, &health);
		EXPECT_EQ(health.spare_percent, 0);
		wear.verify(false);
		Request flush(FTL_FLUSH, 0, 0);
		rig.run(flush);
		const bool clean = rig.shut_down_cleanly() == NVME_SUCCESS;
		EXPECT_EQ(clean, rig.is_clean()) << "an image is called clean that is not, or the other way round";
		unclean_ += !clean;
		rig.cfg.program_fail_ppb = 0;
		ASSERT_TRUE(rig.boot()) << rig.error;
		wear.verify(true);
	}
};

TEST_P(WornSlc, EveryRequestEndsWhenSuperblocksWearOut)
{
	hz_device_config cfg = GetParam().cfg;
	cfg.slc.endurance = 4;
	for (uint64_t seed = 1; seed <= rounds() && !HasFailure(); seed++)
		live(cfg, seed);
	EXPECT_GT(unclean_, 0u) << "no shutdown was refused: the log was not as worn as it should be";
}

TEST_P(WornSlc, EveryRequestEndsWhenProgramsFail)
{
	hz_device_config cfg = GetParam().cfg;
	cfg.program_fail_ppb = 20000000;
	for (uint64_t seed = 1; seed <= rounds() && !HasFailure(); seed++)
		live(cfg, seed);
}

INSTANTIATE_TEST_SUITE_P(All, WornSlc, testing::ValuesIn(variants()), [](const auto &test) { return std::string(test.param.name); });

} // namespace
