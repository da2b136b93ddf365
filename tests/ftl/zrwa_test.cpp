// Zone random write areas: writes in windows, commits, their limits; the last data written are read, before and after a power cut at every
// operation.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <random>
#include <set>

#include "model_cuts.hpp"

using namespace ftl_rig;

namespace {

constexpr uint32_t window = 16, unit = 4, count = 2;

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
	{"TwoPlanes", [](hz_device_config &cfg) { use_planes(cfg, 2); }},
	{"Slots", [](hz_device_config &cfg) { use_slots(cfg, 30, HZ_SLOTS_LOCK_FREE, HZ_BUFFER_FLUSH_UNIT); }},
};

hz_device_config with_windows(const Layout &layout)
{
	hz_device_config cfg = ftl_config();
	cfg.slc_blocks_per_plane = 12;
	cfg.blocks_per_plane = 22;
	cfg.zrwa_count = count;
	cfg.zrwa_sectors = window;
	cfg.zrwa_flush_sectors = unit;
	layout.change(cfg);
	return cfg;
}

uint64_t used(Rig &rig) { return ftl_in_place_sectors(rig.ftl); }
uint16_t open(Rig &rig, uint32_t zone) { return rig.run_op(FTL_ZONE_OPEN, zone, FTL_ZRWA); }
uint16_t commit(Rig &rig, uint32_t zone, uint32_t last)
{
	Request request(FTL_ZONE_COMMIT, rig.lba_of(zone, last), 0);
	return rig.run(request);
}
uint32_t filled(Rig &rig, uint32_t zone)
{
	const auto found = rig.report_zones()[zone];
	return static_cast<uint32_t>(found.write_pointer - found.start);
}
bool has_window(Rig &rig, uint32_t zone) { return rig.report_zones()[zone].attributes & NVME_ZA_ZRWA_VALID; }

class Windows : public testing::TestWithParam<Layout> {
protected:
	void SetUp() override { ASSERT_TRUE(rig.boot()) << rig.error; }
	void TearDown() override { EXPECT_EQ(rig.check(), ""); }
	uint32_t capacity() const { return static_cast<uint32_t>(rig.shape.zone_capacity_sectors); }
	Rig rig{with_windows(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Layouts, Windows, testing::ValuesIn(layouts), [](const auto &test) { return test.param.name; });

} // namespace

TEST_P(Windows, InAnyOrderAndAgain)
{
	ASSERT_EQ(open(rig, 0), 0);
	EXPECT_TRUE(has_window(rig, 0));
	ASSERT_EQ(rig.write(0, 9, 3, 1000), 0);
	ASSERT_EQ(rig.write(0, 2, 4, 2000), 0);
	ASSERT_EQ(rig.write(0, 10, 1, 3000), 0);
	EXPECT_EQ(filled(rig, 0), 0u) << "nothing is committed";
	EXPECT_EQ(rig.counters().in_place_sectors, 1u) << "written again";
	EXPECT_EQ(rig.counters().update_folds, 0u);
	EXPECT_EQ(used(rig), 7u);
	for (int boot = 0; boot < 3; boot++) {
		EXPECT_EQ(rig.compare(0, 9, 1, 1000), "");
		EXPECT_EQ(rig.compare(0, 10, 1, 3000), "");
		EXPECT_EQ(rig.compare(0, 11, 1, 1002), "");
		EXPECT_EQ(rig.compare(0, 2, 4, 2000), "");
		EXPECT_EQ(rig.compare(0, 0, 2, 0), "");
		EXPECT_TRUE(has_window(rig, 0)) << "it has data";
		EXPECT_EQ(rig.zone_state(0), boot ? NVME_ZS_CLOSED : NVME_ZS_EXPLICIT_OPEN);
		EXPECT_EQ(rig.check(), "");
		if (boot == 1) {
			ASSERT_EQ(rig.shut_down_cleanly(), 0);
		}
		ASSERT_TRUE(rig.boot()) << rig.error;
	}
	ASSERT_EQ(commit(rig, 0, 11), 0);
	EXPECT_EQ(filled(rig, 0), 12u);
	EXPECT_EQ(used(rig), 0u);
	EXPECT_EQ(rig.compare(0, 2, 4, 2000), "");
	EXPECT_EQ(rig.compare(0, 6, 3, 0), "");
	EXPECT_EQ(rig.compare(0, 10, 1, 3000), "");
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(filled(rig, 0), 12u);
	EXPECT_EQ(rig.compare(0, 9, 1, 1000), "");
	EXPECT_FALSE(has_window(rig, 0)) << "it had no data";
}

TEST_P(Windows, AWriteBehindTheWindowCommits)
{
	ASSERT_EQ(open(rig, 0), 0);
	ASSERT_EQ(rig.write(0, 0, 16, 1000), 0);
	EXPECT_EQ(filled(rig, 0), 0u);
	ASSERT_EQ(rig.write(0, 16, 1, 2000), 0);
	EXPECT_EQ(filled(rig, 0), 4u) << "a unit";
	ASSERT_EQ(rig.write(0, 5, 1, 3000), 0);
	ASSERT_EQ(rig.write(0, 4, 32, 4000), 0) << "the whole of two windows";
	EXPECT_EQ(filled(rig, 0), 20u);
	EXPECT_EQ(rig.compare(0, 0, 4, 1000), "");
	EXPECT_EQ(rig.compare(0, 4, 32, 4000), "");
	EXPECT_EQ(rig.counters().update_folds, 2u);
	EXPECT_EQ(rig.counters().folded_updates, 20u);
	EXPECT_EQ(rig.write(0, 36, 17, 5000), NVME_ZONE_INVALID_WRITE) << "one sector too far";
	EXPECT_EQ(rig.write(0, 19, 1, 5000), NVME_ZONE_INVALID_WRITE) << "committed";
	EXPECT_EQ(filled(rig, 0), 20u);
	EXPECT_EQ(rig.compare(0, 4, 32, 4000), "");
}

TEST_P(Windows, CommitsAreChecked)
{
	ASSERT_EQ(rig.write(1, 0, 8, 1000), 0);
	EXPECT_EQ(commit(rig, 1, 11), NVME_INVALID_ZONE_OP) << "no window";
	ASSERT_EQ(open(rig, 0), 0);
	EXPECT_EQ(commit(rig, 0, 16), NVME_ZONE_BOUNDARY);
	EXPECT_EQ(commit(rig, 0, 4), NVME_INVALID_FIELD) << "no multiple of the granularity";
	EXPECT_EQ(commit(rig, 0, 7), 0);
	EXPECT_EQ(commit(rig, 0, 7), NVME_ZONE_BOUNDARY) << "before the write pointer";
	EXPECT_EQ(filled(rig, 0), 8u);
	EXPECT_EQ(rig.compare(0, 0, 8, 0), "") << "never written";
	EXPECT_EQ(rig.run_op(FTL_ZONE_CLOSE, 0), 0);
	EXPECT_TRUE(has_window(rig, 0));
	EXPECT_EQ(commit(rig, 0, 11), 0);
	EXPECT_EQ(rig.zone_state(0), NVME_ZS_IMPLICIT_OPEN);
}

TEST_P(Windows, ThereAreOnlySoMany)
{
	ASSERT_EQ(open(rig, 0), 0);
	EXPECT_EQ(open(rig, 0), 0) << "it has one";
	ASSERT_EQ(open(rig, 1), 0);
	EXPECT_EQ(open(rig, 2), NVME_ZRWA_UNAVAILABLE);
	EXPECT_EQ(rig.zone_state(2), NVME_ZS_EMPTY);
	ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, 0), 0);
	EXPECT_FALSE(has_window(rig, 0));
	EXPECT_EQ(open(rig, 2), 0);
	ASSERT_EQ(rig.run_op(FTL_ZONE_FINISH, 1), 0);
	EXPECT_FALSE(has_window(rig, 1));
	ASSERT_EQ(rig.write(0, 0, 4, 1000), 0) << "in order";
	EXPECT_EQ(open(rig, 0), NVME_INVALID_ZONE_OP) << "not EMPTY";
	ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, 0), 0);
	EXPECT_EQ(open(rig, 0), 0);
	Request append(FTL_APPEND, rig.lba_of(0), 1);
	EXPECT_EQ(rig.run(append), NVME_INVALID_ZONE_OP);
}

TEST_P(Windows, AreRefusedWithTheZone)
{
	for (uint32_t z = 3; z < 6; z++)
		ASSERT_EQ(rig.run_op(FTL_ZONE_OPEN, z), 0);
	EXPECT_EQ(open(rig, 0), NVME_TOO_MANY_OPEN);
	EXPECT_EQ(open(rig, 1), NVME_TOO_MANY_OPEN);
	for (uint32_t z = 3; z < 6; z++)
		ASSERT_EQ(rig.run_op(FTL_ZONE_CLOSE, z), 0);
	EXPECT_EQ(open(rig, 0), 0) << "no window was lost";
	EXPECT_EQ(open(rig, 1), 0);
}

TEST_P(Windows, EndWithTheZone)
{
	ASSERT_EQ(open(rig, 0), 0);
	for (uint32_t at = 0; at < capacity(); at += 12)
		ASSERT_EQ(rig.write(0, at, 12, 1000 + at), 0);
	EXPECT_EQ(filled(rig, 0), capacity() - window);
	EXPECT_EQ(rig.write(0, capacity() - 1, 2, 1), NVME_ZONE_BOUNDARY);
	ASSERT_EQ(commit(rig, 0, capacity() - 1), 0);
	EXPECT_EQ(rig.zone_state(0), NVME_ZS_FULL);
	EXPECT_EQ(rig.write(0, capacity() - 1, 1, 1), NVME_ZONE_FULL);
	ASSERT_EQ(open(rig, 1), 0);
	ASSERT_EQ(rig.write(1, 6, 3, 2000), 0);
	ASSERT_EQ(rig.run_op(FTL_ZONE_FINISH, 1), 0) << "commits what was written";
	EXPECT_EQ(used(rig), 0u);
	for (int boot = 0; boot < 2; boot++) {
		EXPECT_EQ(rig.compare(0, 0, capacity(), 1000), "");
		EXPECT_EQ(rig.compare(1, 6, 3, 2000), "");
		EXPECT_EQ(rig.compare(1, 9, 10, 0), "");
		EXPECT_EQ(rig.zone_state(1), NVME_ZS_FULL);
		ASSERT_TRUE(rig.boot()) << rig.error;
	}
	EXPECT_EQ(open(rig, 2), 0);
	EXPECT_EQ(open(rig, 3), 0);
}

TEST_P(Windows, ZerosAndCopies)
{
	ASSERT_EQ(open(rig, 0), 0);
	ASSERT_EQ(rig.write(0, 0, 8, 1000), 0);
	Request zeroes(FTL_WRITE_ZEROES, rig.lba_of(0, 3), 2), marked(FTL_WRITE_UNCORRECTABLE, rig.lba_of(0, 5), 1);
	ASSERT_EQ(rig.run(zeroes), 0);
	EXPECT_EQ(rig.run(marked), NVME_INVALID_ZONE_OP);
	EXPECT_EQ(rig.compare(0, 0, 3, 1000), "");
	EXPECT_EQ(rig.compare(0, 3, 2, 0), "");
	EXPECT_EQ(rig.compare(0, 5, 3, 1005), "");
}

// Many at once, in a shuffled order that no host may send to a plain zone; each lies in the window whatever came before it.
TEST_P(Windows, ManyAtOnce)
{
	ASSERT_EQ(open(rig, 0), 0);
	std::mt19937_64 random(7);
	for (uint32_t base = 0; base + window <= capacity(); base += window) {
		std::vector<uint32_t> order(window);
		for (uint32_t i = 0; i < window; i++)
			order[i] = i;
		std::shuffle(order.begin(), order.end(), random);
		std::deque<Request> writes;
		for (uint32_t i : order) {
			fill_sector(writes.emplace_back(FTL_WRITE, rig.lba_of(0, base + i), 1).pages[0], 1000 + base + i);
			rig.submit(writes.back(), i % 2);
		}
		Request flush(FTL_ZONE_COMMIT, rig.lba_of(0, base + window - 1), 0);
		lt_host_run_until_idle();
		for (Request &write : writes)
			ASSERT_TRUE(write.done && write.status() == 0) << write.status();
		ASSERT_EQ(rig.run(flush), 0);
	}
	EXPECT_EQ(rig.compare(0, 0, capacity(), 1000), "");
	EXPECT_EQ(rig.zone_state(0), NVME_ZS_FULL);
}

TEST_P(Windows, AControllerReset)
{
	for (uint64_t after_ns = 0; after_ns < 6000000; after_ns += 131000) {
		ASSERT_EQ(open(rig, 0), 0);
		ASSERT_EQ(rig.write(0, 0, window, 5000), 0);
		std::deque<Request> requests;
		for (uint32_t i = 0; i < 6; i++)
			rig.submit(requests.emplace_back(FTL_WRITE, rig.lba_of(0, 2 * i), 24), i % 2);
		rig.submit(requests.emplace_back(FTL_ZONE_COMMIT, rig.lba_of(0, 3), 0), 0);
		lt_host_run_until(clock_now_ns() + after_ns);
		rig.cancel([&] { return std::all_of(requests.begin(), requests.end(), [](const Request &r) { return r.done; }); });
		lt_host_run_until_idle();
		for (const Request &request : requests)
			ASSERT_TRUE(request.done);
		ASSERT_EQ(rig.check(), "");
		ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, 0), 0);
		ASSERT_EQ(used(rig), 0u);
	}
}

TEST_P(Windows, AFailedProgram)
{
	for (uint32_t at = 1; at < 24; at++) {
		hz_device_config cfg = with_windows(GetParam());
		cfg.fail_program_at = at;
		SCOPED_TRACE(testing::Message() << "program " << at);
		Rig other(cfg);
		ASSERT_TRUE(other.boot()) << other.error;
		ASSERT_EQ(open(other, 0), 0);
		for (uint32_t i = 0; i < 60; i += 5)
			ASSERT_EQ(other.write(0, i, 5, 2000 + i), 0);
		ASSERT_EQ(other.compare(0, 0, 60, 2000), "");
		ASSERT_EQ(other.check(), "");
		ASSERT_TRUE(other.boot()) << other.error;
		ASSERT_EQ(other.compare(0, 0, 60, 2000), "");
	}
}

// No superblock is left for a commit: the zone becomes READ ONLY, and what its window holds can be read, also after a start.
TEST_P(Windows, AZoneThatCannotBeCommitted)
{
	hz_device_config cfg = with_windows(GetParam());
	cfg.normal.endurance = 1;
	Rig other(cfg);
	ASSERT_TRUE(other.boot()) << other.error;
	uint16_t status = 0;
	uint64_t tag = 1000;
	for (int i = 0; i < 200 && !status; i++) {
		ASSERT_EQ(open(other, 0), 0);
		ASSERT_EQ(other.write(0, 0, window, tag += 100), 0);
		status = commit(other, 0, 7);
		if (!status)
			ASSERT_EQ(other.run_op(FTL_ZONE_RESET, 0), 0);
	}
	ASSERT_EQ(status, NVME_WRITE_FAULT);
	lt_host_run_until_idle();
	for (int boot = 0; boot < 2; boot++) {
		EXPECT_EQ(other.zone_state(0), boot ? other.zone_state(0) : NVME_ZS_READ_ONLY);
		EXPECT_FALSE(!boot && has_window(other, 0));
		EXPECT_EQ(other.compare(0, 0, window, tag), "");
		EXPECT_EQ(other.check(), "");
		if (!boot) {
			EXPECT_EQ(other.write(0, 9, 1, 1), NVME_ZONE_READ_ONLY);
			EXPECT_EQ(commit(other, 0, 7), NVME_INVALID_ZONE_OP);
		}
		ASSERT_TRUE(other.boot()) << other.error;
	}
}

TEST(WindowsImage, AnImageWithMoreIsRefused)
{
	hz_device_config cfg = with_windows(layouts[0]);
	auto image = std::make_shared<rig::Image>(hz_nand_image_bytes(&cfg));
	Rig rig(cfg, image);
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (uint32_t z : {0u, 1u}) {
		ASSERT_EQ(open(rig, z), 0);
		ASSERT_EQ(rig.write(z, 0, 9, 2000), 0);
	}
	for (uint32_t less : {1u, 0u}) {
		cfg.zrwa_count = less;
		Rig other(cfg, image);
		EXPECT_FALSE(other.boot());
		EXPECT_NE(std::string(other.error).find("zrwa.count"), std::string::npos);
	}
	cfg.zrwa_count = 2;
	Rig same(cfg, image);
	ASSERT_TRUE(same.boot()) << same.error;
	EXPECT_EQ(same.compare(1, 0, 9, 2000), "");
}

// --- against a model, with power cuts ---

namespace {

struct Step {
	enum { OPEN, WRITE, COMMIT, FINISH, RESET } kind;
	uint32_t zone, at, sectors; /* at: from the write pointer on */
};

// One step at a time. What a write to a window has acknowledged is there after a power cut; of an interrupted one each sector is, or is not.
class Model {
public:
	Model(Rig &device, uint64_t seed) : rig(device), zones(3), random(seed) { forget(); }

	// False: power went.
	bool run(const Step &step)
	{
		static constexpr ftl_op ops[] = {FTL_ZONE_OPEN, FTL_WRITE, FTL_ZONE_COMMIT, FTL_ZONE_FINISH, FTL_ZONE_RESET};
		Zone &zone = zones[step.zone];
		const bool writes = step.kind == Step::WRITE, of_zone = !writes && step.kind != Step::COMMIT;
		const uint32_t at = of_zone ? 0 : zone.wp + step.at;
		Request request(ops[step.kind], rig.lba_of(step.zone, at), writes ? step.sectors : 0,
				step.kind == Step::OPEN ? FTL_ZRWA : FTL_FUA * writes);
		const uint64_t tag = next_tag;
		next_tag += step.sectors;
		for (uint32_t i = 0; writes && i < step.sectors; i++)
			fill_sector(request.pages[i], tag + i);
		rig.submit(request, step.zone % 2);
		lt_host_run_until_idle();
		const bool off = lt_load(&rig.media.off);
		EXPECT_TRUE(off || request.done);
		if (request.done) {
			EXPECT_EQ(request.status(), 0) << "step " << step.kind << " zone " << step.zone << " at " << at;
		}
		apply(step, at, tag, request.done);
		return !off;
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
		const uint32_t z = static_cast<uint32_t>(random() % zones.size()), dice = static_cast<uint32_t>(random() % 100);
		const Zone &zone = zones[z];
		const uint32_t left = capacity() - zone.wp;
		if (zone.full || dice < 3)
			return {Step::RESET, z, 0, 0};
		if (!zone.has_window)
			return zone.wp ? Step{Step::WRITE, z, 0, std::min(left, 1 + dice % 20)} : opening(z);
		if (dice < 6)
			return {Step::FINISH, z, 0, 0};
		if (dice < 20) {
			const uint32_t sectors = std::min({left, window, unit * (1 + dice % 4)});
			return {Step::COMMIT, z, sectors - 1, 0};
		}
		const uint32_t most = std::min(left, 2 * window), at = static_cast<uint32_t>(random() % std::min(most, window + 6));
		return {Step::WRITE, z, at, static_cast<uint32_t>(1 + random() % std::min(most - at, dice < 90 ? 6u : 40u))};
	}
	uint64_t commits = 0;

private:
	struct Zone {
		std::vector<std::set<uint64_t>> tags; // possible contents of each sector
		uint32_t wp = 0, wp_most = 0;         // after an interrupted step: up to there
		bool has_window = false, full = false, may_be_full = false, may_be_empty = false;
	};

	uint32_t capacity() const { return static_cast<uint32_t>(rig.shape.zone_capacity_sectors); }
	Step opening(uint32_t z)
	{
		uint32_t windows = 0;
		for (const Zone &zone : zones)
			windows += zone.has_window;
		return windows < count ? Step{Step::OPEN, z, 0, 0} : Step{Step::WRITE, z, 0, 5};
	}
	void forget()
	{
		for (Zone &zone : zones)
			zone = empty();
	}
	Zone empty() const
	{
		Zone zone;
		zone.tags.assign(capacity(), {0});
		return zone;
	}
	uint32_t pointer_after(const Zone &zone, const Step &step, uint32_t at) const
	{
		const uint32_t end = at + step.sectors;
		if (step.kind == Step::COMMIT)
			return at + 1;
		if (step.kind == Step::WRITE && !zone.has_window)
			return end;
		if (step.kind == Step::WRITE && end > zone.wp + window)
			return std::min(capacity(), zone.wp + (end - zone.wp - window + unit - 1) / unit * unit);
		if (step.kind != Step::FINISH)
			return zone.wp;
		uint32_t last = zone.wp;
		for (uint32_t i = zone.wp; i < capacity(); i++)
			if (zone.tags[i] != std::set<uint64_t>{0})
				last = i + 1;
		return std::min(capacity(), zone.wp + (last - zone.wp + unit - 1) / unit * unit);
	}
	void apply(const Step &step, uint32_t at, uint64_t tag, bool done)
	{
		Zone &zone = zones[step.zone];
		const uint32_t after = pointer_after(zone, step, at);
		commits += done && zone.has_window && after > zone.wp;
		for (uint32_t i = 0; step.kind == Step::WRITE && i < step.sectors; i++) {
			if (done)
				zone.tags[at + i] = {tag + i};
			else
				zone.tags[at + i].insert(tag + i);
		}
		if (step.kind == Step::RESET && done)
			zone = empty();
		else
			zone.wp_most = std::max(zone.wp, after);
		zone.may_be_empty = step.kind == Step::RESET && !done;
		zone.may_be_full = step.kind == Step::FINISH || zone.wp_most == capacity();
		if (!done)
			return;
		zone.wp = zone.wp_most;
		zone.has_window |= step.kind == Step::OPEN;
		zone.full = step.kind != Step::RESET && zone.may_be_full;
		zone.has_window &= !zone.full;
	}
	void recovered_zone(uint32_t z, const nvme_zone_descriptor &found)
	{
		Zone &zone = zones[z];
		const uint8_t state = found.state >> 4;
		if (zone.may_be_empty && state == NVME_ZS_EMPTY)
			zone = empty();
		zone.has_window = found.attributes & NVME_ZA_ZRWA_VALID;
		ASSERT_TRUE(state == NVME_ZS_EMPTY || state == NVME_ZS_CLOSED || state == NVME_ZS_FULL) << "zone " << z;
		if (state == NVME_ZS_FULL) {
			ASSERT_TRUE(zone.full || zone.may_be_full) << "zone " << z;
			zone.wp = zone.wp_most;
		} else {
			const uint32_t wp = static_cast<uint32_t>(found.write_pointer - found.start);
			ASSERT_GE(wp, zone.wp) << "zone " << z;
			ASSERT_LE(wp, zone.wp_most) << "zone " << z;
			ASSERT_FALSE(zone.full);
			zone.wp = wp;
		}
		zone.full = state == NVME_ZS_FULL;
		zone.wp_most = zone.wp;
		zone.may_be_full = zone.may_be_empty = false;
		for (uint32_t i = 0; i < capacity(); i++) {
			ASSERT_NO_FATAL_FAILURE(expect_one_of(rig, z, i, zone.tags[i])) << "write pointer " << zone.wp;
			ASSERT_TRUE(i < zone.wp || zone.tags[i].count(0) || zone.has_window || zone.full)
				<< "zone " << z << " sector " << i;
		}
	}

	Rig &rig;
	std::vector<Zone> zones;
	std::mt19937_64 random;
	uint64_t next_tag = 1000;
};

const std::vector<Step> body = {
	{Step::OPEN, 0, 0, 0},   {Step::WRITE, 0, 3, 2},   {Step::WRITE, 0, 0, 3},   {Step::WRITE, 0, 4, 1},  {Step::COMMIT, 0, 3, 0},
	{Step::WRITE, 0, 14, 4}, {Step::OPEN, 1, 0, 0},    {Step::WRITE, 1, 0, 32},  {Step::WRITE, 0, 2, 5},  {Step::WRITE, 0, 16, 16},
	{Step::WRITE, 1, 2, 1},  {Step::COMMIT, 1, 15, 0}, {Step::FINISH, 0, 0, 0},  {Step::RESET, 1, 0, 0},  {Step::OPEN, 1, 0, 0},
	{Step::WRITE, 1, 7, 2},  {Step::OPEN, 2, 0, 0},    {Step::WRITE, 2, 15, 12}, {Step::FINISH, 2, 0, 0},
};

} // namespace

TEST_P(Windows, PowerCutsAtEveryOperation) { cut_at_every_operation<Model>(with_windows(GetParam()), body); }

TEST_P(Windows, ChainsOfPowerCuts)
{
	uint64_t commits = 0;
	chains_of_cuts<Model>(
		with_windows(GetParam()), [](Rig &) {}, [&](const Model &model) { commits += model.commits; });
	EXPECT_GT(commits, 50u);
}
