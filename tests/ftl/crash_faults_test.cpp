// Power cuts on a device with failing programs, erases and reads, again and again on one image. No durable sector vanishes in silence: it
// reads as written, or with an error; never as zeros, never as something older. (A conventional sector may be older if mount reports that
// number.)
// Environment: HARTZONE_TEST_SEED is the first seed, HARTZONE_TEST_ROUNDS how many follow one another (a round is one image and eight cuts).
// SPDX-License-Identifier: BSD-3-Clause
#include "l2p_rig.hpp"
#include "conventional_model.hpp"

extern "C" {
#include "tsu/tsu_report.h"
}

using namespace ftl_rig;

namespace {

// Totals of all rounds: a run without any fault proves nothing.
struct Seen {
	uint64_t cuts = 0, failures = 0, mounts_refused = 0, right = 0, reported = 0, write_errors = 0, read_only_zones = 0;
	uint64_t older = 0; // counted by mount as unknown: a version before the lost one reads
} seen;

// One zone as the host knows it. After an error nothing more is written to it.
struct Zone {
	std::vector<uint64_t> tags; // of all sectors written, by offset
	uint32_t acked = 0, durable = 0;
	bool closed = false, reset_pending = false;
	bool doubtful = false; // a Flush failed: volatile data may be lost then, also by later flushes
};

// Device and host side, with faults that come and go.
class Round {
public:
	explicit Round(const hz_device_config &cfg, uint64_t seed) : rig(cfg), dice(seed) {}

	uint32_t roll(uint32_t n) { return static_cast<uint32_t>(dice() % n); }
	void set_faults(bool on)
	{
		rig.cfg.program_fail_ppb = on && roll(2) ? 10000000 : 0;
		rig.cfg.erase_fail_ppb = on && roll(2) ? 20000000 : 0;
		rig.cfg.read_fail_ppb = on && roll(2) ? 10000000 : 0;
	}
	// With failures, or if so the mount finds too much damage, without.
	bool boot()
	{
		nand_policy policy{};
		policy.power_cut_op = 1 + roll(250);
		policy.cut_before = roll(2);
		set_faults(true);
		if (!rig.boot(policy)) {
			seen.mounts_refused++;
			EXPECT_EQ(std::string(rig.error).rfind("The NAND image is damaged: ", 0), 0u) << rig.error;
			rig.cfg.read_fail_ppb = 0;
			EXPECT_TRUE(rig.boot(policy)) << rig.error;
		}
		return rig.ftl && !testing::Test::HasFailure();
	}
	// Looks at everything without failures. visit(index of the sector, its content or null if it is an error).
	template <typename F> void each_sector(uint64_t lba, uint32_t count, F visit)
	{
		for (uint32_t at = 0; at < count; at += 16) {
			Request read(FTL_READ, lba + at, std::min(16u, count - at));
			bool good = rig.run(read) == 0;
			for (uint32_t i = 0; i < read.req.sectors; i++)
				good ? visit(at + i, read.pages[i]) : visit_one(lba + at + i, at + i, visit);
		}
	}

	Rig rig;
	std::mt19937_64 dice;

private:
	template <typename F> void visit_one(uint64_t lba, uint32_t at, F visit)
	{
		Request read(FTL_READ, lba, 1);
		uint16_t status = rig.run(read);
		EXPECT_TRUE(status == 0 || status == NVME_HZ_MARKED || status == NVME_UNRECOVERED_READ) << status;
		if (status == NVME_HZ_MARKED)
			fill_sector(read.pages[0], marked_tag);
		visit(at, status == NVME_UNRECOVERED_READ ? nullptr : read.pages[0]);
	}
};

// --- zones ---

class ZoneRound : public Round {
public:
	ZoneRound(const hz_device_config &cfg, uint64_t seed) : Round(cfg, seed), zones_(rig.shape.zones) {}

	// One operation per zone, side by side. False: power was cut.
	bool run_batch()
	{
		std::vector<std::unique_ptr<Running>> running;
		for (uint32_t z = 0; z < 5; z++)
			running.push_back(issue(z));
		lt_host_run_until_idle();
		bool alive = !lt_load(&rig.media.off);
		for (auto &run : running)
			settle(*run, alive);
		return alive;
	}
	void check_recovered()
	{
		auto report = rig.report_zones();
		uint32_t read_fails = rig.cfg.read_fail_ppb;
		rig.cfg.read_fail_ppb = 0;
		for (uint32_t z = 0; z < zones_.size(); z++)
			look(z, report[z].state >> 4, static_cast<uint32_t>(report[z].write_pointer - report[z].start));
		rig.cfg.read_fail_ppb = read_fails;
		EXPECT_EQ(rig.check(), "");
	}

private:
	struct Running {
		Running(ftl_op op, uint32_t z, uint64_t lba, uint32_t sectors, uint8_t flags) : zone(z), request(op, lba, sectors, flags) {}
		uint32_t zone;
		Request request;
		std::vector<uint32_t> acked; // of all zones, when it was submitted
	};

	std::unique_ptr<Running> issue(uint32_t z)
	{
		Zone &zone = zones_[z];
		uint32_t what = roll(100), room = capacity() - static_cast<uint32_t>(zone.tags.size());
		bool write = what < 75 && !zone.closed && room;
		ftl_op op = write ? FTL_WRITE : what < 85 ? FTL_FLUSH : what < 95 || zone.closed ? FTL_ZONE_RESET : FTL_ZONE_FINISH;
		uint32_t sectors = write ? 1 + roll(std::min(room, 30u)) : 0;
		auto run = std::make_unique<Running>(op, z, rig.lba_of(z, write ? static_cast<uint32_t>(zone.tags.size()) : 0), sectors,
						     static_cast<uint8_t>(write && !roll(3) ? FTL_FUA : 0));
		for (uint32_t i = 0; i < sectors; i++) {
			fill_sector(run->request.pages[i], ++tag_);
			zone.tags.push_back(tag_);
		}
		zone.reset_pending |= op == FTL_ZONE_RESET;
		for (const Zone &other : zones_)
			run->acked.push_back(other.acked);
		rig.submit(run->request, z % rig.cfg.worker_count);
		return run;
	}
	void settle(Running &run, bool alive)
	{
		Zone &zone = zones_[run.zone];
		EXPECT_TRUE(run.request.done || !alive) << "an operation of zone " << run.zone << " never completed";
		if (!run.request.done || run.request.status()) {
			bool refused = run.request.status() == NVME_TOO_MANY_ACTIVE || run.request.status() == NVME_TOO_MANY_OPEN;
			if (run.request.done && refused)
				zone.tags.resize(zone.acked);
			zone.closed |= run.request.done && !refused;
			for (Zone &other : zones_)
				other.doubtful |= run.request.req.op == FTL_FLUSH && other.acked > other.durable;
			seen.write_errors += run.request.done && !refused;
			return;
		}
		if (run.request.req.op == FTL_WRITE)
			zone.acked = static_cast<uint32_t>(zone.tags.size());
		if (run.request.req.op == FTL_ZONE_RESET)
			zone = Zone();
		zone.closed |= run.request.req.op == FTL_ZONE_FINISH;
		if (run.request.req.flags & FTL_FUA || run.request.req.op == FTL_ZONE_FINISH)
			zone.durable = zone.acked;
		for (uint32_t z = 0; run.request.req.op == FTL_FLUSH && z < zones_.size(); z++)
			if (!zones_[z].doubtful)
				zones_[z].durable = std::max(zones_[z].durable, std::min(run.acked[z], zones_[z].acked));
	}
	void look(uint32_t z, uint8_t state, uint32_t wp)
	{
		Zone &zone = zones_[z];
		bool ended = state == NVME_ZS_FULL || state == NVME_ZS_READ_ONLY || state == NVME_ZS_OFFLINE;
		seen.read_only_zones += state == NVME_ZS_READ_ONLY;
		if (zone.reset_pending && state == NVME_ZS_EMPTY)
			zone = Zone();
		EXPECT_TRUE(ended || wp >= zone.durable)
			<< "zone " << z << " lost durable sectors: write pointer " << wp << ", " << zone.durable;
		EXPECT_TRUE(ended || wp <= zone.tags.size()) << "zone " << z << " has sectors that nobody wrote";
		uint32_t there = 0;
		each_sector(rig.lba_of(z), capacity(), [&](uint32_t at, const uint8_t *page) {
			uint64_t tag = at < zone.tags.size() ? zone.tags[at] : 0;
			bool right = page && sector_is(page, tag), zeros = page && sector_is(page, 0);
			bool owed = at < zone.durable || (!ended && at < wp);
			EXPECT_TRUE(right || !page || (zeros && !owed))
				<< "zone " << z << " sector " << at << " reads wrong, state " << int(state);
			seen.right += owed && right;
			seen.reported += owed && !page;
			if (at < zone.tags.size() && (right || !page))
				there = at + 1;
		});
		if (!ended)
			there = wp;
		zone.tags.resize(there);
		zone.acked = zone.durable = there;
		zone.closed = ended;
		zone.reset_pending = zone.doubtful = false;
	}
	uint32_t capacity() const { return static_cast<uint32_t>(rig.shape.zone_capacity_sectors); }

	std::vector<Zone> zones_;
	uint64_t tag_ = 1000;
};

// --- overwritable sectors ---

class ConventionalRound : public Round {
public:
	ConventionalRound(const hz_device_config &cfg, uint64_t seed) : Round(cfg, seed), driver_(rig, seed)
	{
		driver_.writes_may_fail = driver_.reads_may_fail = true;
	}

	bool run_batch() { return driver_.run_batch(driver_.random_batch()); }
	void check_recovered()
	{
		uint32_t read_fails = rig.cfg.read_fail_ppb;
		rig.cfg.read_fail_ppb = 0;
		uint64_t older = 0;
		each_sector(0, driver_.sector_count(), [&](uint32_t at, const uint8_t *page) {
			bool right = page && driver_.sectors[at].recover(page);
			older += page && !right && take_over(driver_.sectors[at], page);
			seen.right += right;
			seen.reported += !page;
		});
		EXPECT_LE(older, rig.found_damage().unknown_sectors) << "sectors of older versions that mount did not tell of";
		seen.older += older;
		rig.cfg.read_fail_ppb = read_fails;
		EXPECT_EQ(rig.check(), "");
	}

private:
	static bool take_over(ConventionalSector &sector, const uint8_t *page)
	{
		uint64_t tag;
		std::memcpy(&tag, page, sizeof tag);
		EXPECT_TRUE(sector_is(page, tag)) << "a sector of nobody's data";
		sector.groups = {{0, {tag}}};
		return true;
	}

	ConventionalDriver driver_;
};

// Failed programs, erases and reads since the boot.
uint64_t count_failures(const Rig &rig)
{
	hz_log_flash log;
	tsu_report(rig.tsu, &log);
	return log.failed_programs + log.failed_erases + log.failed_reads;
}

template <typename R> void one_round(const char *name, const hz_device_config &cfg, uint64_t seed)
{
	R round(cfg, seed);
	for (int boot = 0; boot < 8 && !testing::Test::HasFailure(); boot++) {
		SCOPED_TRACE(testing::Message() << name << " HARTZONE_TEST_SEED=" << seed << " boot " << boot);
		if (!round.boot())
			return;
		round.check_recovered();
		round.set_faults(true);
		for (int batch = 0; batch < 150 && !testing::Test::HasFailure() && round.run_batch(); batch++)
			;
		seen.cuts += lt_load(&round.rig.media.off);
		seen.failures += count_failures(round.rig);
	}
}

template <typename R> void each_round(const char *name, const hz_device_config &cfg, uint64_t usual)
{
	uint64_t first = environment("HARTZONE_TEST_SEED", 1), rounds = environment("HARTZONE_TEST_ROUNDS", usual);
	seen = {};
	for (uint64_t seed = first; seed < first + rounds && !testing::Test::HasFailure(); seed++)
		one_round<R>(name, cfg, seed);
	std::printf(
		"%s: %lu rounds, %lu cuts, %lu failures of flash; %lu sectors right, %lu reported as lost, %lu write errors, %lu read-only zones, %lu mounts refused, "
		"%lu sectors in older versions, as mount reported\n",
		name, rounds, seen.cuts, seen.failures, seen.right, seen.reported, seen.write_errors, seen.read_only_zones,
		seen.mounts_refused, seen.older);
	if (rounds < usual)
		return;
	EXPECT_GT(seen.right, 100 * rounds);
	EXPECT_GT(seen.failures, 2 * rounds) << "too little went wrong: this proves nothing";
	EXPECT_GT(seen.cuts, 4 * rounds);
}

// Blocks enough for failures.
hz_device_config with_spare(hz_device_config cfg)
{
	cfg.slc_blocks_per_plane += 20;
	cfg.spare_superblocks += 20;
	cfg.blocks_per_plane += 40;
	return cfg;
}

// Every zone and spare superblock takes a patch from the SLC region.
hz_device_config roomy_patched_config()
{
	hz_device_config cfg = with_spare(ftl_config());
	cfg.zone_capacity_sectors = 110;
	cfg.zone_size_sectors = 128;
	cfg.slc_blocks_per_plane += 32;
	cfg.blocks_per_plane += 32;
	return cfg;
}

hz_device_config narrow(hz_device_config cfg)
{
	use_planes(cfg, 2);
	return cfg;
}

hz_device_config lent(hz_device_config cfg)
{
	lend_buffers(cfg);
	cfg.write_buffers = 2;
	return cfg;
}

hz_device_config rain(hz_device_config cfg)
{
	use_rain(cfg);
	return cfg;
}

} // namespace

TEST(CrashFaults, ZonesWithRain) { each_round<ZoneRound>("zones with rain", rain(with_spare(ftl_config())), 6); }
TEST(CrashFaults, ZonesWithRainAndTheMapInFlash)
{
	each_round<ZoneRound>("zones with rain, map in flash", rain(with_spare(map_config())), 6);
}
TEST(CrashFaults, Zones) { each_round<ZoneRound>("zones", with_spare(ftl_config()), 6); }
TEST(CrashFaults, ZonesWhoseBuffersAreLent) { each_round<ZoneRound>("zones, buffers lent", lent(with_spare(ftl_config())), 6); }
TEST(CrashFaults, ZonesWithTheMapInFlash) { each_round<ZoneRound>("zones, map in flash", with_spare(map_config()), 6); }
TEST(CrashFaults, PatchedZones) { each_round<ZoneRound>("patched zones", roomy_patched_config(), 6); }
TEST(CrashFaults, ZonesOnAPartOfThePlanes)
{
	each_round<ZoneRound>("zones on two planes of four, map in flash", narrow(with_spare(map_config())), 6);
}
TEST(CrashFaults, Blocks) { each_round<ConventionalRound>("blocks", with_spare(conventional_config(true)), 6); }
TEST(CrashFaults, BlocksWithTheMapInFlash)
{
	each_round<ConventionalRound>("blocks, map in flash", with_spare(mapped_conventional_config(true)), 6);
}
// A failed program in one lane of the SLC log once sent writes of another lane out of order.
TEST(CrashFaults, SlcWritesPlacedAnewKeepTheirOrder)
{
	one_round<ZoneRound>("zones, map in flash", with_spare(map_config()), 102);
	one_round<ConventionalRound>("blocks, map in flash", with_spare(mapped_conventional_config(true)), 44);
}
