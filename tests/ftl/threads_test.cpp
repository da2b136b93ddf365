// The same FTL on real threads: eight harts, every worker at once on shared zones, buffers and SLC (run it under TSan).
#include <atomic>

#include "model.hpp"

using namespace ftl_rig;

namespace {

// One host queue: appends to a zone of its own and to one that all share, flushes, reads back what it has seen completed, resets.
struct Queue {
	Rig *rig = nullptr;
	uint32_t index = 0, step = 0, steps = 0;
	std::mt19937_64 random;
	std::unique_ptr<Request> request;
	std::vector<std::pair<uint64_t, uint64_t>> written; // LBA, tag
	std::atomic<uint32_t> *left = nullptr;
	uint64_t tag = 0;
	uint32_t wrong = 0;
	bool own_full = false;

	uint32_t OwnZone() const { return index; }
	void Make(ftl_op op, uint64_t lba, uint32_t sectors, uint8_t flags = 0)
	{
		request = std::make_unique<Request>(op, lba, sectors, flags);
		request->then = [this](Request &r) { Ended(r); };
	}
	void Next()
	{
		if (step > steps) {
			if (--*left == 0)
				lt_harts_stop();
			return;
		}
		if (step++ == steps) {
			Make(FTL_FLUSH, 0, 0);
			rig->Submit(*request, index);
			return;
		}
		uint32_t dice = static_cast<uint32_t>(random() % 100);
		if (own_full || dice < 4) {
			Make(FTL_ZONE_RESET, rig->Lba(OwnZone()), 0);
		} else if (dice < 60) {
			uint32_t zone = dice < 20 ? rig->shape.zones - 1 : OwnZone();
			tag = (uint64_t(index) << 32 | step) + 1;
			Make(FTL_APPEND, rig->Lba(zone), 1 + random() % 9, random() % 4 ? 0 : FTL_FUA);
			for (auto *page : request->pages)
				FillPage(page, tag);
		} else if (dice < 92 && !written.empty()) {
			auto [lba, expected] = written[random() % written.size()];
			tag = expected;
			Make(FTL_READ, lba, 1);
		} else {
			Make(FTL_FLUSH, 0, 0);
		}
		rig->Submit(*request, index);
	}
	void Ended(Request &r)
	{
		uint16_t status = r.status();
		bool shared = r.req.op == FTL_APPEND && r.req.lba != rig->Lba(OwnZone());
		if (r.req.op == FTL_APPEND && status == 0) {
			for (uint32_t i = 0; i < r.req.sectors; i++)
				written.emplace_back(r.req.result + i, tag);
		} else if (r.req.op == FTL_APPEND) {
			wrong += status != NVME_ZONE_BOUNDARY && status != NVME_ZONE_FULL;
			own_full = own_full || !shared;
		} else if (r.req.op == FTL_READ) {
			wrong += status != 0 || !PageIs(r.pages[0], tag);
		} else {
			wrong += status != 0;
		}
		if (r.req.op == FTL_ZONE_RESET) {
			own_full = false;
			std::erase_if(written, [this](auto &w) {
				return w.first >= rig->Lba(OwnZone()) && w.first < rig->Lba(OwnZone() + 1);
			});
		}
		Next();
	}
};

class Threads : public testing::TestWithParam<int> {};

} // namespace

TEST_P(Threads, EightHartsShareEverything)
{
	hz_device_config cfg = Config();
	cfg.harts = 8;
	cfg.tsu_count = 2;
	cfg.tsu_hart[0] = 1;
	cfg.tsu_hart[1] = 2;
	cfg.worker_count = 5;
	for (uint8_t i = 0; i < 5; i++)
		cfg.worker_hart[i] = 3 + i;
	cfg.buffer_binding = GetParam() % 2;
	cfg.buffer_idle_ns = GetParam() % 2 ? 20000 : 0;
	cfg.write_buffers = 2;
	cfg.max_open = cfg.max_active = 0;
	if (GetParam() == 3 || GetParam() == 4) { // patched zones
		cfg.zone_capacity_sectors = cfg.zone_size_sectors = 128;
		cfg.slc_blocks_per_plane = 18;
		cfg.blocks_per_plane = 28;
	}
	for (uint8_t &kind : cfg.lock_kind)
		kind = static_cast<uint8_t>(HZ_LOCK_TAS + GetParam() % 5);
	if (GetParam() >= 5) { // map in flash, a cache as small as can be, all strategies
		cfg.slc_blocks_per_plane = 8;
		cfg.blocks_per_plane = 8 + 10;
		cfg.l2p_cache_bytes = (GetParam() == 7 ? 64 : 16) * HZ_MAP_ENTRY_BYTES;
		cfg.l2p_levels = HZ_MAP_ZONE;
		cfg.l2p_chunk_sectors = 16;
		cfg.l2p_log_entries = 256;
		cfg.l2p_strategy = GetParam() % 3;
		cfg.l2p_eviction = GetParam() % 2;
		cfg.l2p_log_policy = GetParam() == 6;
	}
	// Short times: the clock is the machine's.
	cfg.slc = {{2000}, {3000}, 9000, 0};
	cfg.normal = {{2000, 2000, 2000}, {5000}, 12000, 0};
	cfg.channel_bytes_per_s = 0;
	Rig rig(cfg);
	ASSERT_TRUE(rig.Boot({}, false)) << rig.error;
	std::atomic<uint32_t> left{cfg.worker_count};
	std::vector<Queue> queues(cfg.worker_count);
	for (uint32_t i = 0; i < cfg.worker_count; i++) {
		queues[i].rig = &rig;
		queues[i].index = i;
		queues[i].random.seed(GetParam() * 100 + i);
		queues[i].steps = 600;
		queues[i].left = &left;
		queues[i].Next();
	}
	lt_host_start_harts();
	lt_host_join_harts();
	EXPECT_EQ(left, 0u);
	for (const Queue &queue : queues)
		EXPECT_EQ(queue.wrong, 0u) << "queue " << queue.index;
	// The stop came in the middle of collections and programs, like a power cut; everything was flushed before.
	ASSERT_TRUE(rig.Boot()) << rig.error;
	EXPECT_EQ(rig.Check(), "");
	for (const Queue &queue : queues)
		for (auto [lba, tag] : queue.written) {
			Request read(FTL_READ, lba, 1);
			ASSERT_EQ(rig.Run(read), 0);
			ASSERT_TRUE(PageIs(read.pages[0], tag)) << "LBA " << lba;
		}
}
INSTANTIATE_TEST_SUITE_P(Kinds, Threads, testing::Range(0, 8));

// A worker on the TSU's hart overtakes what other harts have sent before, so nothing may depend on the order of two submissions: all workers
// append to the patches of the same zones, and the media refuses a program out of order.
TEST(PatchThreads, RowsReachTheFlashInOrderWhoeverSubmitsThem)
{
	hz_device_config cfg = Config();
	cfg.zone_capacity_sectors = cfg.zone_size_sectors = 128;
	cfg.slc_blocks_per_plane = 18;
	cfg.blocks_per_plane = 28;
	cfg.max_open = cfg.max_active = 0;
	cfg.write_buffers = 8;
	cfg.worker_count = 3;
	cfg.worker_hart[2] = cfg.tsu_hart[0];
	for (uint8_t &kind : cfg.lock_kind)
		kind = HZ_LOCK_MCS;
	cfg.slc.program_ns[0] = 1000;
	cfg.channel_bytes_per_s = 0;
	Rig rig(cfg);
	for (uint32_t round = 0; round < 20; round++) {
		ASSERT_TRUE(rig.Boot()) << rig.error;
		for (uint32_t z = 0; z < rig.shape.zones; z++) {
			ASSERT_EQ(rig.Op(FTL_ZONE_RESET, z), 0);
			ASSERT_EQ(rig.Write(z, 0, 96, 1, FTL_FUA), 0);
		}
		ASSERT_TRUE(rig.Boot({}, false)) << rig.error;
		std::deque<Request> appends;
		uint32_t left = rig.shape.zones * 32;
		for (uint32_t i = 0; i < rig.shape.zones * 32; i++) {
			Request &append = appends.emplace_back(FTL_APPEND, rig.Lba(i / 32), 1);
			append.then = [&left](Request &r) {
				EXPECT_EQ(r.status(), 0);
				if (--left == 0)
					lt_harts_stop();
			};
			rig.Submit(append, i % cfg.worker_count);
		}
		lt_host_start_harts();
		lt_host_join_harts();
		ASSERT_EQ(left, 0u);
		ASSERT_FALSE(HasFailure());
	}
}
