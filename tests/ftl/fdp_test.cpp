// Flexible data placement: whose superblock a write fills, status and update of reclaim unit handles, events; the last data written are
// read, before and after a power cut at every operation.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <deque>
#include <functional>
#include <map>

#include "conventional_model.hpp"
#include "host_queues.hpp"
#include "inside.h"
#include "model_cuts.hpp"

using namespace ftl_rig;

namespace {

constexpr uint32_t handles = 3;

struct Layout {
	const char *name;
	void (*change)(hz_device_config &);
};
const Layout layouts[] = {
	{"MapInRam", [](hz_device_config &) {}},
	{"MapInFlash", [](hz_device_config &cfg) { cfg = mapped_conventional_config(true); }},
	{"OneBuffer", [](hz_device_config &cfg) { cfg.conventional_buffers = 1; }},
	{"Patched", [](hz_device_config &cfg) { lay_out(cfg, true, false); }},
	{"InSlc", [](hz_device_config &cfg) { lay_out(cfg, false, true); }},
	{"TwoPlanes", [](hz_device_config &cfg) { use_planes(cfg, 2); }},
	{"SharedMemory", [](hz_device_config &cfg) { share_memory(cfg, 60); }},
	{"Protected", [](hz_device_config &cfg) { protect_memory(cfg, 30, 20); }},
	{"LentBuffers", [](hz_device_config &cfg) { lend_buffers(cfg); }},
};

hz_device_config with_handles(const Layout &layout, uint32_t count = handles)
{
	hz_device_config cfg = conventional_config(true);
	layout.change(cfg);
	use_handles(cfg, count);
	fit_slc(cfg);
	return cfg;
}

uint16_t write_to(Rig &rig, uint64_t lba, uint32_t sectors, uint64_t tag, uint16_t placement, uint8_t flags = 0)
{
	Request write(FTL_WRITE, lba, sectors, flags);
	write.req.placement = placement;
	for (uint32_t i = 0; i < sectors; i++)
		fill_sector(write.pages[i], tag + i);
	return rig.run(write, static_cast<unsigned>(lba % rig.cfg.worker_count));
}

std::string reads(Rig &rig, uint64_t lba, uint32_t sectors, uint64_t tag)
{
	Request read(FTL_READ, lba, sectors);
	if (uint16_t status = rig.run(read))
		return "status " + std::to_string(status);
	for (uint32_t i = 0; i < sectors; i++)
		if (!sector_is(read.pages[i], tag ? tag + i : 0))
			return "sector " + std::to_string(lba + i);
	return "";
}

uint16_t update(Rig &rig, const std::vector<uint16_t> &identifiers)
{
	Request request(FTL_PLACEMENT_UPDATE, 0, 1);
	request.name_handles(identifiers);
	return rig.run(request);
}

// Blocks left in the reclaim unit of each handle.
std::vector<uint64_t> room(Rig &rig)
{
	Request status(FTL_PLACEMENT_STATUS, 0, 1);
	EXPECT_EQ(rig.run(status), 0);
	nvme_handles_status head;
	std::memcpy(&head, status.data.data(), sizeof head);
	std::vector<uint64_t> left;
	for (uint32_t i = 0; i < head.count; i++) {
		nvme_handle_status one;
		std::memcpy(&one, status.data.data() + sizeof head + i * sizeof one, sizeof one);
		EXPECT_EQ(one.placement, i);
		EXPECT_EQ(one.handle, i);
		left.push_back(one.blocks_left);
	}
	return left;
}

uint32_t superblock_of(Rig &rig, uint64_t lba) { return ppa_superblock(&rig.map, rig_conventional_place(rig.ftl, lba)); }

std::vector<ftl_placement_event> events(Rig &rig, bool of_host)
{
	std::vector<ftl_placement_event> all(NVME_FDP_EVENTS_MOST);
	all.resize(ftl_placement_events(rig.ftl, of_host, all.data()));
	return all;
}

constexpr uint32_t all_types = 0xffffffff;

class Placement : public testing::TestWithParam<Layout> {
protected:
	void SetUp() override { ASSERT_TRUE(rig.boot()) << rig.error; }
	void TearDown() override { EXPECT_EQ(rig.check(), ""); }
	uint32_t unit() const { return static_cast<uint32_t>(rig.shape.backing_sectors); }
	Rig rig{with_handles(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Layouts, Placement, testing::ValuesIn(layouts), [](const auto &test) { return test.param.name; });

class PlacementInterleaved : public testing::TestWithParam<Layout> {};
INSTANTIATE_TEST_SUITE_P(Layouts, PlacementInterleaved, testing::ValuesIn(layouts), [](const auto &test) { return test.param.name; });

} // namespace

// Until something is collected no superblock holds data of two handles, also across starts.
TEST_P(Placement, HandlesShareNoSuperblock)
{
	std::mt19937 random(3);
	std::map<uint64_t, uint16_t> handle_of;
	std::map<uint32_t, uint16_t> owner;
	uint64_t lba = 0;
	for (int i = 0; i < 60; i++) {
		const auto handle = static_cast<uint16_t>(random() % handles);
		const uint32_t sectors = 1 + random() % 9;
		ASSERT_EQ(write_to(rig, lba, sectors, 1000 + lba, handle, random() % 4 ? 0 : FTL_FUA), 0);
		for (uint32_t s = 0; s < sectors; s++)
			handle_of[lba++] = handle;
		if (i % 20 == 19) {
			Request flush(FTL_FLUSH, 0, 0);
			ASSERT_EQ(rig.run(flush), 0);
			ASSERT_TRUE(rig.boot()) << rig.error;
			EXPECT_EQ(rig_left_partly_written(rig.ftl), 0u);
		}
	}
	ASSERT_EQ(rig.counters().conventional_gc_runs, 0u);
	for (const auto &[at, handle] : handle_of) {
		const auto [found, fresh] = owner.emplace(superblock_of(rig, at), handle);
		ASSERT_EQ(found->second, handle) << "sector " << at;
		ASSERT_EQ(reads(rig, at, 1, 1000 + at), "");
	}
	EXPECT_GE(owner.size(), handles);
}

TEST_P(Placement, StatusCountsDown)
{
	ASSERT_EQ(room(rig), std::vector<uint64_t>(handles, unit()));
	ASSERT_EQ(write_to(rig, 0, 5, 1000, 1), 0);
	ASSERT_EQ(write_to(rig, 50, 7, 2000, 0), 0);
	EXPECT_EQ(room(rig), (std::vector<uint64_t>{unit() - 7, unit() - 5, unit()}));
	ASSERT_EQ(write_to(rig, 60, unit() - 5, 3000, 1), 0);
	EXPECT_EQ(room(rig), (std::vector<uint64_t>{unit() - 7, unit(), unit()})) << "full: the next write fills another one";
	ASSERT_EQ(write_to(rig, 60, unit() - 1, 4000, 2), 0);
	ASSERT_EQ(write_to(rig, 10, 3, 5000, 2), 0);
	EXPECT_EQ(room(rig)[2], unit() - 2);
	Request flush(FTL_FLUSH, 0, 0), brief(FTL_PLACEMENT_STATUS, 0, 1, 0, 20), none(FTL_PLACEMENT_STATUS, 0, 0);
	ASSERT_EQ(rig.run(flush), 0);
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(room(rig), (std::vector<uint64_t>{unit() - 7, unit(), unit() - 2})) << "as before";
	brief.data[20] = 0xee;
	EXPECT_EQ(rig.run(brief), 0);
	EXPECT_EQ(brief.data[14], handles);
	EXPECT_EQ(brief.data[20], 0xee) << "not asked for";
	EXPECT_EQ(rig.run(none), 0);
}

TEST_P(Placement, AnInvalidIdentifierIsHandleZero)
{
	ftl_note_placement_events(rig.ftl, 0, ftl_placement_type(NVME_FDP_INVALID_PLACEMENT));
	ASSERT_EQ(write_to(rig, 10, 4, 1000, handles), 0);
	ASSERT_EQ(write_to(rig, 30, unit() + 4, 2000, 0xffff), 0);
	ASSERT_EQ(write_to(rig, 20, 1, 3000, 0), 0);
	EXPECT_EQ(room(rig), (std::vector<uint64_t>{unit() - 9, unit(), unit()}));
	const auto found = events(rig, true);
	ASSERT_EQ(found.size(), 2u) << "one for each write, however many parts it has";
	EXPECT_EQ(found[0].type, NVME_FDP_INVALID_PLACEMENT);
	EXPECT_EQ(found[0].placement, handles);
	EXPECT_EQ(found[0].lba, 10u);
	EXPECT_EQ(found[1].placement, 0xffff);
	EXPECT_LE(found[0].at_ns, found[1].at_ns);
	EXPECT_TRUE(events(rig, false).empty());
	ftl_note_placement_events(rig.ftl, 0, 0);
	ASSERT_EQ(write_to(rig, 10, 4, 1000, handles), 0);
	EXPECT_EQ(events(rig, true).size(), 2u) << "no longer noted";
}

TEST_P(Placement, AnUpdateLeavesTheUnit)
{
	for (uint32_t handle = 0; handle < handles; handle++)
		ftl_note_placement_events(rig.ftl, handle, all_types);
	ASSERT_EQ(update(rig, {0, 1, 2}), 0) << "all are empty";
	EXPECT_TRUE(events(rig, true).empty());
	ASSERT_EQ(write_to(rig, 0, 5, 1000, 1), 0);
	ASSERT_EQ(write_to(rig, 5, 3, 2000, 2), 0);
	EXPECT_EQ(update(rig, {1, handles}), NVME_INVALID_FIELD | NVME_DNR);
	EXPECT_EQ(room(rig)[1], unit() - 5) << "refused as a whole";
	ASSERT_EQ(update(rig, {1, 2, 1}), 0);
	EXPECT_EQ(room(rig), std::vector<uint64_t>(handles, unit()));
	const auto found = events(rig, true);
	ASSERT_EQ(found.size(), 2u);
	for (uint16_t i : {0, 1}) {
		EXPECT_EQ(found[i].type, NVME_FDP_UNIT_NOT_FULL);
		EXPECT_EQ(found[i].placement, i + 1);
	}
	ftl_forget_placement_events(rig.ftl);
	EXPECT_TRUE(events(rig, true).empty()) << "of a namespace that is gone";
	EXPECT_EQ(ftl_placement_events_noted(rig.ftl, 1), 0u);
	ASSERT_EQ(write_to(rig, 8, 2, 3000, 1), 0);
	EXPECT_NE(superblock_of(rig, 0), superblock_of(rig, 8));
	for (int boot = 0; boot < 3; boot++) {
		EXPECT_EQ(reads(rig, 0, 5, 1000), "");
		EXPECT_EQ(reads(rig, 5, 3, 2000), "");
		EXPECT_EQ(reads(rig, 8, 2, 3000), "");
		EXPECT_EQ(rig.check(), "");
		EXPECT_EQ(room(rig), (std::vector<uint64_t>{unit(), unit() - 2, unit()}));
		if (boot == 0) {
			Request flush(FTL_FLUSH, 0, 0);
			ASSERT_EQ(rig.run(flush), 0);
		} else {
			ASSERT_EQ(rig.shut_down_cleanly(), 0);
		}
		ASSERT_TRUE(rig.boot()) << rig.error;
	}
	EXPECT_TRUE(events(rig, true).empty()) << "those of the present start";
	EXPECT_EQ(ftl_placement_events_noted(rig.ftl, 1), 0u);
}

// Every other write is followed by an update: nearly all superblocks are left partly written, and have to be collected.
TEST_P(Placement, ManyUpdates)
{
	ConventionalDriver driver(rig, 5);
	ftl_note_placement_events(rig.ftl, 1, all_types);
	driver.fill();
	for (int i = 0; i < 150; i++) {
		const auto handle = static_cast<uint16_t>(i % handles);
		ASSERT_TRUE(driver.run_batch({{FTL_WRITE, driver.roll(driver.sector_count() - 8), 1 + driver.roll(8), 0, 0, handle},
					      {FTL_PLACEMENT_UPDATE, 0, 1, 0, 0, handle},
					      {FTL_WRITE, driver.roll(driver.sector_count() - 8), 3, 0, 0, handle},
					      {FTL_PLACEMENT_UPDATE, 0, 1, 0, 0, handle},
					      {FTL_FLUSH, 0, 0}}));
		ASSERT_FALSE(HasFailure());
	}
	driver.verify_all();
	EXPECT_GT(rig.counters().conventional_gc_runs, 20u);
	EXPECT_GT(events(rig, true).size(), 30u);
	const auto moved = events(rig, false);
	ASSERT_FALSE(moved.empty());
	for (const auto &event : moved) {
		EXPECT_EQ(event.type, NVME_FDP_MEDIA_REALLOCATED);
		EXPECT_EQ(event.placement, 1);
		EXPECT_GT(event.moved, 0u);
		EXPECT_LE(event.moved, unit());
		EXPECT_LT(event.lba, driver.sector_count());
	}
}

// The update is under way while the controller is reset: the finish goes on, and its handle can be written.
TEST_P(Placement, AControllerReset)
{
	ConventionalDriver driver(rig, 9);
	driver.fill();
	for (uint64_t after_ns = 0; after_ns < 4000000; after_ns += 157000) {
		driver.run_cancelled_batch({{FTL_WRITE, driver.roll(200), 9, 0, 0, 1},
					    {FTL_PLACEMENT_UPDATE, 0, 1, 0, 0, 1},
					    {FTL_WRITE, driver.roll(200), 30, 0, 0, 1},
					    {FTL_PLACEMENT_UPDATE, 0, 1, 0, 0, 2}},
					   after_ns);
		lt_host_run_until_idle();
		ASSERT_EQ(rig.check(), "");
		ASSERT_TRUE(driver.run_batch({{FTL_WRITE, driver.roll(200), 5, 0, 0, 1}}));
		ASSERT_FALSE(HasFailure());
	}
	driver.verify_all();
	EXPECT_GT(driver.cancelled_updates, 0u);
}

// An update ends when its own finish has: workers begin them while others end.
TEST_P(PlacementInterleaved, AnUpdateEndsWithItsFinish)
{
	for (uint64_t seed = 0; seed < 16 && !HasFailure(); seed++) {
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		hz_device_config cfg = with_locks(with_handles(GetParam()), seed);
		eight_harts(cfg, 0);
		Rig other(cfg);
		ASSERT_TRUE(other.boot()) << other.error;
		std::deque<Request> requests;
		uint64_t ended = 0, before = other.counters().zone_finishes;
		std::function<void(uint16_t, int)> begin = [&](uint16_t handle, int left) {
			Request &write = requests.emplace_back(FTL_WRITE, 20u * handle, 3);
			write.req.placement = handle;
			write.then = [&, handle, left](Request &) {
				Request &change = requests.emplace_back(FTL_PLACEMENT_UPDATE, 0, 1);
				change.name_handles({handle});
				change.then = [&, handle, left](Request &) {
					EXPECT_LE(++ended, other.counters().zone_finishes - before);
					if (left)
						begin(handle, left - 1);
				};
				other.submit(change, handle);
			};
			other.submit(write, handle);
		};
		lt_host_interleave(seed, 4u << seed % 8);
		for (uint16_t handle = 0; handle < handles; handle++)
			begin(handle, 30);
		lt_host_run_until_idle();
		EXPECT_EQ(ended, 31u * handles);
		EXPECT_EQ(other.check(), "");
	}
}

// The end of an older controller life wakes only what belongs to it.
TEST_P(Placement, TheEndOfAnotherLife)
{
	rig.life = 2;
	for (uint64_t after_ns = 1000; after_ns < 60000; after_ns *= 2) {
		ASSERT_EQ(write_to(rig, 0, 5, 1000, 1), 0);
		ASSERT_EQ(write_to(rig, 5, 5, 1005, 2), 0);
		const uint64_t before = rig.counters().zone_finishes;
		Request change(FTL_PLACEMENT_UPDATE, 0, 1), next(FTL_PLACEMENT_UPDATE, 0, 1), reset(FTL_CANCEL, 1, 0);
		change.name_handles({1});
		next.name_handles({2});
		change.then = [&](Request &) { EXPECT_EQ(rig.counters().zone_finishes, before + 1); };
		rig.submit(change);
		rig.submit(next);
		lt_host_run_until(clock_now_ns() + after_ns);
		EXPECT_FALSE(change.done);
		ASSERT_EQ(rig.run(reset), 0);
		EXPECT_TRUE(change.done && next.done);
		EXPECT_EQ(change.status() | next.status(), 0);
		EXPECT_EQ(rig.counters().zone_finishes, before + 2);
		EXPECT_LT(next.req.ready_ns, change.answered_ns) << "its list came once, before it waited";
	}
}

// The zone table is lost: an update fails and leaves nothing behind, and writes fail instead of waiting, whether its host is there or not.
TEST_P(Placement, TheFinishFails)
{
	for (bool cancelled : {false, true}) {
		SCOPED_TRACE(cancelled);
		Rig other(with_handles(GetParam()));
		ASSERT_TRUE(other.boot()) << other.error;
		ConventionalDriver(other, 3).fill();
		ftl_note_placement_events(other.ftl, 1, all_types);
		const uint32_t half = other.shape.backing_sectors < 48 ? 16 : 48;
		ASSERT_EQ(write_to(other, 0, half, 5000, 1, FTL_FUA), 0);
		const uint64_t left = room(other)[1];
		ASSERT_EQ(left, other.shape.backing_sectors - half)
			<< "nothing is left to be programmed: the finish makes its record at once";
		{
			Request change(FTL_PLACEMENT_UPDATE, 0, 1);
			change.name_handles({1});
			other.submit(change);
			lt_host_run_until(clock_now_ns() + 1000);
			ASSERT_FALSE(change.done);
			rig_lose_table(other.ftl);
			if (cancelled)
				other.cancel([&] { return change.done; });
			else
				lt_host_run_until_idle();
			ASSERT_TRUE(change.done);
			EXPECT_EQ(change.status(), cancelled ? NVME_ABORT_REQUESTED : NVME_WRITE_FAULT);
		}
		lt_host_run_until_idle();
		EXPECT_EQ(room(other)[1], left) << "it is still there";
		EXPECT_TRUE(events(other, true).empty());
		uint32_t failed = 0;
		for (uint32_t i = 0; i < 40; i++)
			failed += write_to(other, 100 + i, 1, 7000, static_cast<uint16_t>(i % handles)) == NVME_WRITE_FAULT;
		EXPECT_GT(failed, 30u);
		EXPECT_EQ(reads(other, 0, half, 5000), "");
		EXPECT_EQ(other.check(), "");
	}
}

TEST_P(Placement, AFailedProgram)
{
	for (uint32_t at = 1; at < 40; at++) {
		hz_device_config cfg = with_handles(GetParam());
		cfg.fail_program_at = at;
		SCOPED_TRACE(testing::Message() << "program " << at);
		Rig other(cfg);
		ASSERT_TRUE(other.boot()) << other.error;
		for (uint16_t i = 0; i < 12; i++) {
			ASSERT_EQ(write_to(other, 20u * i, 7, 1000 + 20 * i, i % handles), 0);
			ASSERT_EQ(update(other, {static_cast<uint16_t>(i % handles)}), 0);
			ASSERT_EQ(write_to(other, 20u * i + 7, 13, 1007 + 20 * i, i % handles), 0);
		}
		for (int boot = 0; boot < 2; boot++) {
			ASSERT_EQ(reads(other, 0, 240, 1000), "");
			ASSERT_EQ(other.check(), "");
			Request flush(FTL_FLUSH, 0, 0);
			ASSERT_EQ(other.run(flush), 0);
			ASSERT_TRUE(other.boot()) << other.error;
		}
	}
}

// The least legal spare, most handles, more in flight than there is room for.
TEST(PlacementSmallest, NeverStops)
{
	for (uint32_t policy = 0; policy < HZ_GC_POLICIES; policy++)
		for (uint32_t buffers : {1u, 9u}) {
			hz_device_config cfg = conventional_config(true);
			cfg.conventional_gc = policy;
			cfg.conventional_gc_low = 2;
			cfg.zones = cfg.conventional_zones = 3;
			cfg.conventional_buffers = buffers;
			use_handles(cfg, HZ_MAX_HANDLES);
			cfg.conventional_spare = HZ_MAX_HANDLES + 3;
			fit_slc(cfg);
			Rig rig(cfg);
			ASSERT_TRUE(rig.boot()) << rig.error;
			ConventionalDriver driver(rig, policy * 10 + buffers);
			driver.fill();
			ASSERT_NO_FATAL_FAILURE(driver.churn());
			driver.verify_all();
			EXPECT_GT(rig.counters().conventional_gc_runs, 20u);
		}
}

// Handles that the configuration no longer has leave their superblocks as they are; data are read.
TEST(PlacementImage, WithFewerHandlesAndWithout)
{
	hz_device_config cfg = with_handles(layouts[0]);
	auto image = std::make_shared<rig::Image>(hz_nand_image_bytes(&cfg));
	{
		Rig rig(cfg, image);
		ASSERT_TRUE(rig.boot()) << rig.error;
		for (uint16_t handle = 0; handle < handles; handle++)
			ASSERT_EQ(write_to(rig, 20u * handle, 20, 1000 + 20 * handle, handle, FTL_FUA), 0);
	}
	for (uint32_t count : {2u, 0u, 3u}) {
		cfg.fdp_handles = count;
		Rig rig(cfg, image);
		ASSERT_TRUE(rig.boot()) << rig.error;
		EXPECT_EQ(reads(rig, 0, 60, 1000), "");
		ASSERT_EQ(write_to(rig, 100, 5, 7000, 1, FTL_FUA), 0);
		EXPECT_EQ(reads(rig, 100, 5, 7000), "");
		EXPECT_EQ(room(rig).size(), count);
		EXPECT_EQ(update(rig, {2}), count > 2 ? 0 : NVME_INVALID_FIELD | NVME_DNR);
		EXPECT_EQ(rig.check(), "");
	}
}

// A log that goes round and round in nine tenths of the sectors, and as many writes anywhere in the rest: a cache of large and small
// objects. Kept apart, a superblock of the log dies as a whole, and the small objects have all of the spare room.
TEST(PlacementWaf, ALogOfItsOwn)
{
	double copied[2];
	for (uint16_t log : {0, 1}) {
		hz_device_config cfg = conventional_config(true);
		cfg.zones = 30;
		cfg.conventional_spare = 8;
		cfg.conventional_gc_low = 2;
		cfg.blocks_per_plane = 13 + 30 + 8 + 2;
		cfg.slc_blocks_per_plane = 13;
		use_handles(cfg, 2);
		fit_slc(cfg);
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		ConventionalDriver driver(rig, 11);
		driver.fill(48);
		const uint32_t tenth = driver.sector_count() / 10;
		for (uint32_t i = 0, at = 0; i < 4 * driver.sector_count() / 32; i++) {
			std::vector<ConventionalOp> ops(32);
			for (ConventionalOp &op : ops)
				op = driver.roll(2) ? ConventionalOp{FTL_WRITE, at++ % (9 * tenth), 1, 0, 0, log}
						    : ConventionalOp{FTL_WRITE, 9 * tenth + driver.roll(tenth), 1};
			ASSERT_TRUE(driver.run_batch(ops));
		}
		const hz_log_ftl counters = rig.counters();
		copied[log] = static_cast<double>(counters.conventional_gc_sectors) / static_cast<double>(counters.host_write_sectors);
	}
	EXPECT_GT(copied[0], 0.2);
	EXPECT_LT(copied[1], 0.2 * copied[0]);
}

// --- against a model, with power cuts ---

namespace {

// Batches of operations side by side.
class Model {
public:
	Model(Rig &device, uint64_t seed) : rig(device), driver(device, seed) {}
	bool run(const std::vector<ConventionalOp> &step) { return driver.run_batch(step); }
	void recovered()
	{
		driver.check_recovered();
		EXPECT_EQ(rig_left_partly_written(rig.ftl), 0u) << "a handle has at most one";
	}
	std::vector<ConventionalOp> any() { return driver.random_batch(); }

	Rig &rig;
	ConventionalDriver driver;
};

const std::vector<std::vector<ConventionalOp>> body = {
	{{FTL_WRITE, 0, 7, 0, 0, 1}, {FTL_WRITE, 20, 5, FTL_FUA, 0, 2}, {FTL_WRITE, 40, 3}},
	{{FTL_PLACEMENT_UPDATE, 0, 1, 0, 0, 1}, {FTL_WRITE, 4, 9, 0, 0, 1}},
	{{FTL_FLUSH, 0, 0}},
	{{FTL_WRITE, 100, 60, 0, 0, 2}, {FTL_PLACEMENT_UPDATE, 0, 1, 0, 0, 0}, {FTL_WRITE, 42, 4, 0, 0, 0}},
	{{FTL_WRITE, 2, 6, FTL_FUA, 0, 1}, {FTL_DEALLOCATE, 22, 2}},
	{{FTL_PLACEMENT_UPDATE, 0, 1, 0, 0, 2}, {FTL_PLACEMENT_UPDATE, 0, 1, 0, 0, 1}},
	{{FTL_COPY, 200, 6, 0, 100, 2}, {FTL_FLUSH, 0, 0}},
	{{FTL_WRITE, 210, 60, 0, 0, 0}, {FTL_WRITE, 280, 60, 0, 0, 1}},
	{{FTL_PLACEMENT_UPDATE, 0, 1, 0, 0, 0}, {FTL_WRITE, 300, 50, FTL_FUA, 0, 1}, {FTL_WRITE, 212, 70, 0, 0, 0}},
	{{FTL_FLUSH, 0, 0}},
};

} // namespace

TEST_P(Placement, PowerCutsAtEveryOperation) { cut_at_every_operation<Model>(with_handles(GetParam()), body); }

TEST_P(Placement, ChainsOfPowerCuts)
{
	chains_of_cuts<Model>(
		with_handles(GetParam()), [](Rig &) {}, [](const Model &) {});
}
