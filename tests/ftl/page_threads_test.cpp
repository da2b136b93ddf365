// The page space on real threads: eight harts overwrite and read conventional sectors while the collector runs (run it under TSan).
#include <atomic>

#include "page_model.hpp"

using namespace ftl_rig;

namespace {

// One host queue. Sectors n with n mod queues = index are its own, so it knows what they hold; they share zones with everybody's. Now and then
// it writes a run over all queues' last sectors, which nobody checks but which crosses everything.
struct Queue {
	Rig *rig = nullptr;
	uint32_t index = 0, queues = 0, step = 0, steps = 0, wrong = 0;
	std::mt19937_64 random;
	std::unique_ptr<Request> request;
	std::vector<uint64_t> tags;
	std::atomic<uint32_t> *left = nullptr;
	uint32_t at = 0;
	uint64_t tag = 0;

	uint64_t Lba(uint32_t own) const { return own * queues + index; }
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
		uint32_t dice = static_cast<uint32_t>(random() % 100);
		at = static_cast<uint32_t>(random() % tags.size());
		if (step++ == steps || dice < 2) {
			Make(FTL_FLUSH, 0, 0);
		} else if (dice < 70) {
			tag = (uint64_t(index) << 32 | step) + 1;
			Make(FTL_WRITE, Lba(at), 1, random() % 16 ? 0 : FTL_FUA);
			FillPage(request->pages[0], tag);
		} else if (dice < 76) {
			Make(FTL_WRITE, tags.size() * queues + random() % 60, 1 + random() % 30);
		} else {
			Make(FTL_READ, Lba(at), 1);
		}
		rig->Submit(*request, index);
	}
	void Ended(Request &r)
	{
		wrong += r.status() != 0;
		if (r.req.op == FTL_READ)
			wrong += !PageIs(r.pages[0], tags[at]);
		if (r.req.op == FTL_WRITE && r.req.lba < tags.size() * queues)
			tags[at] = tag;
		Next();
	}
};

class PageThreads : public testing::TestWithParam<int> {};

} // namespace

TEST_P(PageThreads, EightHartsOverwriteUnderTheCollector)
{
	hz_device_config cfg = GetParam() % 2 ? MappedPageConfig(true) : PageConfig(true);
	cfg.l2p_cache_bytes *= 8;
	cfg.l2p_prefetch = GetParam() % 4 == 3 ? 95 : 0; // lines of four entries
	cfg.harts = 8;
	cfg.tsu_count = 2;
	cfg.tsu_hart[0] = 1;
	cfg.tsu_hart[1] = 2;
	cfg.worker_count = 5;
	for (uint8_t i = 0; i < 5; i++)
		cfg.worker_hart[i] = 3 + i;
	cfg.conventional_gc = static_cast<uint32_t>(GetParam()) % HZ_GC_POLICIES;
	cfg.conventional_streams = 1 + GetParam() % 2;
	cfg.conventional_buffers = 1 + GetParam() % 3;
	cfg.conventional_gc_low = 2 + GetParam() % 2;
	cfg.lock_shards[HZ_LC_L2P] = GetParam() % 2 ? 1 : 0;
	for (uint8_t &kind : cfg.lock_kind)
		kind = static_cast<uint8_t>(HZ_LOCK_TAS + GetParam() % 5);
	// Short times: the clock is the machine's.
	cfg.slc = {{2000}, {3000}, 9000, 0};
	cfg.normal = {{2000, 2000, 2000}, {5000}, 12000, 0};
	cfg.channel_bytes_per_s = 0;
	Rig rig(cfg);
	ASSERT_TRUE(rig.Boot()) << rig.error;
	{
		PageDriver driver(rig, 1);
		driver.Fill(96);
		ASSERT_TRUE(driver.Batch({{FTL_WRITE_ZEROES, 0, driver.Sectors()}}));
		ASSERT_TRUE(driver.Batch({{FTL_FLUSH, 0, 0}}));
	}
	ASSERT_TRUE(rig.Boot({}, false)) << rig.error;
	std::atomic<uint32_t> left{cfg.worker_count};
	std::vector<Queue> queues(cfg.worker_count);
	for (uint32_t i = 0; i < cfg.worker_count; i++) {
		queues[i].rig = &rig;
		queues[i].index = i;
		queues[i].queues = cfg.worker_count;
		queues[i].tags.assign((rig.shape.namespace_sectors - 100) / cfg.worker_count, 0);
		queues[i].random.seed(GetParam() * 100 + i);
		queues[i].steps = 1200;
		queues[i].left = &left;
		queues[i].Next();
	}
	lt_host_start_harts();
	lt_host_join_harts();
	EXPECT_EQ(left, 0u);
	for (const Queue &queue : queues)
		EXPECT_EQ(queue.wrong, 0u) << "queue " << queue.index;
	EXPECT_GT(rig.Counters().page_gc_runs, 10u);
	// The stop came in the middle of collections and programs, like a power cut; everything was flushed before.
	ASSERT_TRUE(rig.Boot()) << rig.error;
	EXPECT_EQ(rig.Check(), "");
	for (const Queue &queue : queues)
		for (uint32_t at = 0; at < queue.tags.size(); at++) {
			Request read(FTL_READ, queue.Lba(at), 1);
			ASSERT_EQ(rig.Run(read), 0);
			ASSERT_TRUE(PageIs(read.pages[0], queue.tags[at])) << "LBA " << queue.Lba(at);
		}
}
INSTANTIATE_TEST_SUITE_P(Policies, PageThreads, testing::Range(0, 6));
