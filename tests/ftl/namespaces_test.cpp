// Several FTLs on one TSU and one image: each has its data, its place and its rest to itself, also through power cuts and on real threads.
// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <set>

#include "port/ftl_namespaces.h"
#include "ftl_rig.hpp"
#include "namespaces.h"

using namespace ftl_rig;

namespace {

struct Layout {
	const char *name;
	uint32_t namespaces, shares; // of the blocks of each plane
	std::vector<uint32_t> channels, planes;
};
std::ostream &operator<<(std::ostream &out, const Layout &layout) { return out << layout.name; }

const Layout apart{"channels", 2, 1, {hz_range_word(0, 0), hz_range_word(1, 1)}, {}};
const Layout together{"shared", 2, 2, {}, {}};
const Layout three{"mixed", 3, 2, {hz_range_word(0, 0), hz_range_word(1, 1), hz_range_word(1, 1)}, {}};
const Layout half{"planes", 2, 1, {}, {hz_range_word(0, 0), hz_range_word(1, 1)}};

hz_device_config config_of(const Layout &layout)
{
	hz_device_config cfg = ftl_config();
	cfg.slc_blocks_per_plane = layout.shares * 9;
	cfg.blocks_per_plane = cfg.slc_blocks_per_plane + layout.shares * 8;
	cfg.flush_unit_planes = 1;
	cfg.write_buffers = 4;
	cfg.namespaces = layout.namespaces;
	for (size_t i = 0; i < layout.channels.size(); i++)
		cfg.namespace_channels[i] = layout.channels[i];
	for (size_t i = 0; i < layout.planes.size(); i++)
		cfg.namespace_planes[i] = layout.planes[i];
	return cfg;
}

uint64_t tag_of(uint32_t number, uint64_t lba, uint64_t round) { return uint64_t(number + 1) << 48 | round << 32 | (lba + 1); }

// A device with all its FTLs.
class Spaces {
public:
	explicit Spaces(const hz_device_config &config) : cfg(config), image_(hz_nand_image_bytes(&config))
	{
		char text[256];
		if (const char *broken = hz_device_config_check(&cfg, text, sizeof text)) {
			fprintf(stderr, "%s\n", broken);
			abort();
		}
		for (uint32_t i = 0; i < cfg.namespaces; i++)
			hz_namespace_shape(&cfg, i, &shape[i]);
	}

	bool boot(nand_policy policy = {}, bool test_clock = true)
	{
		arena *const space = &memory_.space();
		if (test_clock)
			lt_host_clock_test(1000);
		else
			lt_host_clock_steady();
		memory_.restart();
		lt_harts_init(space, cfg.harts, 16 * cfg.namespaces);
		EXPECT_EQ(ftl_lock_classes_init(space, &cfg), nullptr);
		lt_locks_check(true);
		flash_map_init(&map_, space, &cfg);
		policy.refused = [](void *, const char *rule) { ADD_FAILURE() << "flash rule broken: " << rule; };
		media = {};
		error = nand_media_init(&media, &cfg, &map_, image_.base(), image_.bytes(), &policy);
		if (error)
			return false;
		tsu_ = tsu_init(space, &cfg, &map_, &media.nand);
		link_init(&links_.to_host, cfg.pcie_bytes_per_s);
		link_init(&links_.to_device, cfg.pcie_bytes_per_s);
		error = ftl_namespaces_init(&all, space, &cfg, &map_, tsu_, &links_);
		if (test_clock)
			lt_host_clock_set(clock_now_ns());
		return !error;
	}
	void submit(uint32_t number, Request &r, unsigned worker = 0)
	{
		r.done = false;
		r.req.reply_to = &hil_;
		r.req.life = 1;
		ftl_submit(all.ftl[number], worker, &r.req);
	}
	uint16_t run(uint32_t number, Request &r)
	{
		submit(number, r);
		lt_host_run_until_idle();
		return r.done ? r.status() : 0xffff; // power went
	}
	uint64_t lba_of(uint32_t number, uint32_t zone, uint32_t offset = 0) const
	{
		return zone * shape[number].zone_size_sectors + offset;
	}
	uint16_t write(uint32_t number, uint32_t zone, uint32_t offset, uint32_t sectors, uint64_t round, uint8_t flags = 0)
	{
		Request r(FTL_WRITE, lba_of(number, zone, offset), sectors, flags);
		for (uint32_t i = 0; i < sectors; i++)
			fill_sector(r.pages[i], tag_of(number, r.req.lba + i, round));
		return run(number, r);
	}
	std::string compare(uint32_t number, uint32_t zone, uint32_t offset, uint32_t sectors, uint64_t round)
	{
		Request r(FTL_READ, lba_of(number, zone, offset), sectors);
		if (uint16_t status = run(number, r))
			return "status " + std::to_string(status);
		for (uint32_t i = 0; i < sectors; i++)
			if (!sector_is(r.pages[i], tag_of(number, r.req.lba + i, round)))
				return "namespace " + std::to_string(number) + " zone " + std::to_string(zone) + " sector " +
				       std::to_string(offset + i) + " differs";
		return "";
	}
	uint16_t flush(uint32_t number, uint8_t flags = 0)
	{
		Request r(FTL_FLUSH, 0, 0, flags);
		return run(number, r);
	}
	// Programmed sectors and erases of the blocks of each owner; cfg.namespaces: of no owner.
	std::map<uint32_t, uint64_t> touched() const
	{
		std::map<uint32_t, uint64_t> sum;
		for (uint32_t plane = 0; plane < map_.shape.planes; plane++)
			for (uint32_t block = 0; block < cfg.blocks_per_plane; block++) {
				const hz_nand_block &state = media.blocks[plane * cfg.blocks_per_plane + block];
				sum[hz_window_at(&cfg, media.window, plane, block)] += state.write_sector + state.erase_count;
			}
		return sum;
	}
	std::string check()
	{
		const char *broken = ftl_namespaces_check(&all);
		return broken ? broken : "";
	}
	bool is_clean(uint32_t number) { return media.nand.ops->clean_mark(&media.nand, number).clean; }
	bool off() { return lt_load(&media.off); }

	hz_device_config cfg;
	hz_shape shape[HZ_MAX_NAMESPACES]{};
	nand_media media{};
	ftl_namespaces all{};
	const char *error = nullptr;

private:
	rig::Image image_;
	rig::DeviceMemory memory_{96 << 20};
	flash_map map_{};
	struct tsu *tsu_ = nullptr;
	link_pair links_{};
	lt_thread hil_{"hil", 0};
};

class Namespaces : public testing::TestWithParam<Layout> {};

// Fills two zones of each, a piece of one after a piece of the other; zone 1 stays in the buffer but for a Flush at its end.
void write_in_turn(Spaces &device, uint64_t round)
{
	const uint32_t piece = 8;
	for (uint32_t zone = 0; zone < 2; zone++)
		for (uint32_t at = 0; at < 40; at += piece)
			for (uint32_t number = 0; number < device.cfg.namespaces; number++)
				ASSERT_EQ(device.write(number, zone, at, piece, round), 0);
}

void expect_data(Spaces &device, uint64_t round)
{
	for (uint32_t number = 0; number < device.cfg.namespaces; number++)
		for (uint32_t zone = 0; zone < 2; zone++)
			EXPECT_EQ(device.compare(number, zone, 0, 40, round), "");
}

} // namespace

TEST_P(Namespaces, KeepTheirDataApart)
{
	Spaces device(config_of(GetParam()));
	ASSERT_TRUE(device.boot()) << device.error;
	write_in_turn(device, 1);
	expect_data(device, 1);
	for (uint32_t i = 0; i < device.cfg.namespaces; i++)
		ASSERT_EQ(device.flush(i), 0);
	EXPECT_EQ(device.check(), "");
	ASSERT_TRUE(device.boot()) << device.error;
	expect_data(device, 1);
	EXPECT_EQ(device.check(), "");
}

// A reset, collections and a mount included.
TEST_P(Namespaces, TouchNothingOutsideTheirWindow)
{
	for (uint32_t number = 0; number < GetParam().namespaces; number++) {
		Spaces device(config_of(GetParam()));
		ASSERT_TRUE(device.boot()) << device.error;
		const uint64_t erased = device.touched()[device.cfg.namespaces];
		for (uint64_t round = 0; round < 12; round++) {
			for (uint32_t at = 0; at < 40; at += 5) {
				ASSERT_EQ(device.write(number, 0, at, 5, round, FTL_FUA), 0); // in SLC, until it is full
			}
			Request reset(FTL_ZONE_RESET, 0, 0);
			ASSERT_EQ(device.run(number, reset), 0);
		}
		ASSERT_EQ(device.flush(number, FTL_CLEAN), 0);
		ASSERT_TRUE(device.boot()) << device.error;
		for (const auto &[owner, amount] : device.touched())
			if (owner != number) {
				EXPECT_EQ(amount, owner == device.cfg.namespaces ? erased : 0u)
					<< "owner " << owner << " beside " << number;
			}
	}
}

TEST_P(Namespaces, ComeToRestEachForItself)
{
	Spaces device(config_of(GetParam()));
	ASSERT_TRUE(device.boot()) << device.error;
	write_in_turn(device, 1);
	for (uint32_t i = 0; i < device.cfg.namespaces; i++)
		ASSERT_EQ(device.flush(i, FTL_CLEAN), 0);
	for (uint32_t i = 0; i < device.cfg.namespaces; i++)
		EXPECT_TRUE(device.is_clean(i)) << i << ": what another one records does not end it";
	ASSERT_TRUE(device.boot()) << device.error;
	expect_data(device, 1);
	ASSERT_EQ(device.write(1, 2, 0, 8, 1, FTL_FUA), 0);
	for (uint32_t i = 0; i < device.cfg.namespaces; i++)
		EXPECT_EQ(device.is_clean(i), i != 1);
	ASSERT_TRUE(device.boot()) << device.error;
	expect_data(device, 1);
	EXPECT_EQ(device.compare(1, 2, 0, 8, 1), "");
}

TEST_P(Namespaces, SurviveACutAtEveryOperation)
{
	nand_policy policy{};
	policy.power_cut_op = 1;
	for (bool more = true; more; policy.power_cut_op += 3) {
		SCOPED_TRACE(policy.power_cut_op);
		Spaces device(config_of(GetParam()));
		std::vector<uint32_t> kept(device.cfg.namespaces); // sectors of zone 0 brought to flash by a FUA write
		ASSERT_TRUE(device.boot(policy)) << device.error;
		for (uint32_t at = 0; at < 40 && !device.off(); at += 4)
			for (uint32_t number = 0; number < device.cfg.namespaces; number++)
				if (device.write(number, 0, at, 4, 3, FTL_FUA) == 0)
					kept[number] = at + 4;
		more = device.off();
		ASSERT_TRUE(device.boot()) << device.error;
		for (uint32_t number = 0; number < device.cfg.namespaces; number++) {
			if (kept[number]) {
				EXPECT_EQ(device.compare(number, 0, 0, kept[number], 3), "");
			}
			Request reset(FTL_ZONE_RESET, 0, 0);
			ASSERT_EQ(device.run(number, reset), 0);
			EXPECT_EQ(device.write(number, 0, 0, 8, 4), 0);
			EXPECT_EQ(device.compare(number, 0, 0, 8, 4), "");
		}
		EXPECT_EQ(device.check(), "");
		ASSERT_FALSE(HasFailure());
	}
	EXPECT_GT(policy.power_cut_op, 30u) << "the body must do something";
}
INSTANTIATE_TEST_SUITE_P(Layouts, Namespaces, testing::Values(apart, together, three, half));

// All workers at once, on real threads: each has a zone of each namespace.
class NamespaceThreads : public testing::TestWithParam<uint32_t> {};

TEST_P(NamespaceThreads, ShareHartsAndNothingElse)
{
	hz_device_config cfg = config_of(together);
	for (uint32_t &granularity : cfg.lock_granularity)
		granularity = HZ_LOCKS_FINE;
	for (uint32_t c : {HZ_LC_ZONE, HZ_LC_OPEN, HZ_LC_BUFFER, HZ_LC_L2P, HZ_LC_SLC, HZ_LC_BLOCK, HZ_LC_CACHE})
		cfg.lock_granularity[c] = GetParam();
	for (uint8_t &kind : cfg.lock_kind)
		kind = LT_LOCK_MCS;
	Spaces device(cfg);
	ASSERT_TRUE(device.boot({}, false)) << device.error;
	std::deque<Request> writes;
	uint32_t left = cfg.worker_count * cfg.namespaces * 10;
	for (uint32_t at = 0; at < 10; at++)
		for (uint32_t worker = 0; worker < cfg.worker_count; worker++)
			for (uint32_t number = 0; number < cfg.namespaces; number++) {
				Request &w = writes.emplace_back(FTL_WRITE, device.lba_of(number, worker, at * 4), 4, FTL_FUA);
				for (uint32_t i = 0; i < 4; i++)
					fill_sector(w.pages[i], tag_of(number, w.req.lba + i, 1));
				w.then = [&left](Request &r) {
					EXPECT_EQ(r.status(), 0);
					if (--left == 0)
						lt_harts_stop();
				};
				device.submit(number, w, worker);
			}
	lt_host_start_harts();
	lt_host_join_harts();
	ASSERT_EQ(left, 0u);
	ASSERT_TRUE(device.boot()) << device.error;
	for (uint32_t number = 0; number < cfg.namespaces; number++)
		for (uint32_t worker = 0; worker < cfg.worker_count; worker++)
			EXPECT_EQ(device.compare(number, worker, 0, 40, 1), "");
	EXPECT_EQ(device.check(), "");
}
INSTANTIATE_TEST_SUITE_P(Granularities, NamespaceThreads, testing::Values(HZ_LOCKS_FINE, HZ_LOCKS_CLASS, HZ_LOCKS_GLOBAL));

// Locks of one namespace are not those of another, at any granularity: together they are twice as many.
TEST(NamespaceLocks, AreNotShared)
{
	for (const uint32_t granularity : {uint32_t(HZ_LOCKS_CLASS), uint32_t(HZ_LOCKS_GLOBAL)}) {
		hz_device_config cfg = config_of(together);
		for (uint32_t c : {HZ_LC_ZONE, HZ_LC_OPEN, HZ_LC_BUFFER, HZ_LC_L2P, HZ_LC_SLC, HZ_LC_BLOCK, HZ_LC_CACHE})
			cfg.lock_granularity[c] = granularity;
		cfg.lock_stats = HZ_STATS_ALL;
		Spaces device(cfg);
		ASSERT_TRUE(device.boot()) << device.error;
		ASSERT_EQ(device.write(0, 0, 0, 8, 1), 0);
		ASSERT_EQ(device.write(1, 0, 0, 8, 1), 0);
		std::vector<hz_lock_entry> locks(lt_lock_report(nullptr, 0, 0));
		lt_lock_report(locks.data(), 0, static_cast<uint32_t>(locks.size()));
		const uint32_t of = granularity == HZ_LOCKS_GLOBAL ? HZ_LC_GLOBAL : HZ_LC_ZONE;
		std::set<uint32_t> indices;
		for (const hz_lock_entry &lock : locks)
			if (lock.lock_class == of)
				indices.insert(lock.index);
		EXPECT_EQ(indices, (std::set<uint32_t>{0, LT_LOCKS_APART})) << granularity;
	}
}

// An image belongs to its original namespaces.
TEST(NamespaceImage, IsRefusedForOtherNamespaces)
{
	const hz_device_config made = config_of(apart);
	hz_device_config one = made, swapped = made, other = config_of(apart);
	auto image = std::make_shared<rig::Image>(hz_nand_image_bytes(&made));
	auto error_of = [&image](const hz_device_config &cfg) {
		rig::Rig r(cfg, nullptr, image);
		return std::string(r.mount_error ? r.mount_error : "");
	};
	one.namespaces = 1;
	one.namespace_channels[0] = 0;
	std::swap(swapped.namespace_channels[0], swapped.namespace_channels[1]);
	other.namespace_planes[0] = hz_range_word(0, 1); // the same in other words
	EXPECT_EQ(error_of(made), "");
	EXPECT_EQ(error_of(other), "");
	EXPECT_NE(error_of(one).find("made for 2 namespaces, but the device config says 1"), std::string::npos) << error_of(one);
	EXPECT_NE(error_of(swapped).find("other channels, chips, dies or planes of namespace 1"), std::string::npos) << error_of(swapped);
}
