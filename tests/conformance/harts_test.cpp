// The same short tour of the device on 3, 4, 8 and 16 harts, each a machine of its own.
// SPDX-License-Identifier: BSD-3-Clause
#include "command_case.hpp"
#include "config/placement.hpp"

namespace conform {
namespace harts_test {

class Harts : public ::testing::TestWithParam<uint32_t> {
protected:
	static hz_device_config config()
	{
		hz_device_config config = small_config();
		hz::conf::place_roles(config, GetParam() < 8 ? 1 : 2, GetParam() - (GetParam() < 8 ? 2 : 3));
		return config;
	}
	// A command of each kind on queue `queue` and zone `zone`.
	static void tour(hz::QueuePair &queue, uint64_t start)
	{
		Bytes in(30 * 4096);
		EXPECT_EQ(queue.run(hz::QueuePair::zone_send(start, NVME_ZSA_OPEN)).status, NVME_SUCCESS);
		EXPECT_EQ(queue.run(hz::QueuePair::write(start, 30), pattern(start, 30)).status, NVME_SUCCESS);
		EXPECT_EQ(queue.run(hz::QueuePair::write(start, 1), pattern(start, 1)).status, NVME_ZONE_INVALID_WRITE);
		EXPECT_EQ(queue.run(hz::QueuePair::append(start, 30), pattern(start + 30, 30)).result, start + 30);
		EXPECT_EQ(queue.run(hz::QueuePair::flush()).status, NVME_SUCCESS);
		EXPECT_EQ(queue.run(hz::QueuePair::zone_send(start, NVME_ZSA_CLOSE)).status, NVME_SUCCESS);
		for (uint64_t at : {start, start + 30}) {
			EXPECT_EQ(queue.run(hz::QueuePair::read(at, 30), {}, in).status, NVME_SUCCESS);
			EXPECT_TRUE(in == pattern(at, 30));
		}
		EXPECT_EQ(queue.run(hz::QueuePair::zone_send(start, NVME_ZSA_FINISH)).status, NVME_SUCCESS);
		EXPECT_EQ(queue.run(hz::QueuePair::append(start, 1), pattern(start, 1)).status, NVME_ZONE_FULL);
		EXPECT_EQ(queue.run(hz::QueuePair::zone_send(start, NVME_ZSA_OPEN)).status, NVME_ZONE_INVALID_TRANSITION);
		EXPECT_EQ(queue.run(hz::QueuePair::zone_send(start, NVME_ZSA_RESET)).status, NVME_SUCCESS);
		EXPECT_EQ(queue.run(hz::QueuePair::read(1ull << 40, 1)).status, NVME_LBA_OUT_OF_RANGE);
	}
};

INSTANTIATE_TEST_SUITE_P(Count, Harts, ::testing::Values(3, 4, 8, 16), ::testing::PrintToStringParamName());

TEST_P(Harts, TourAndParallelWrites)
{
	Bench b(config());
	auto harts = b.controller().log_harts();
	EXPECT_EQ(harts.harts, GetParam());
	b.controller().enable();
	std::vector<std::unique_ptr<hz::QueuePair>> queues;
	for (unsigned id = 1; id <= GetParam(); id++)
		queues.push_back(b.controller().create_queue(id, {.depth = 16, .data_bytes = 30 * 4096}));
	for (unsigned i = 0; i < queues.size(); i += 3)
		ASSERT_NO_FATAL_FAILURE(tour(*queues[i], b.start(i % b.zones())));
	// Three zones, appended to by every queue at once.
	unsigned written = 0, refused = 0;
	std::vector<hz::QueuePair *> all;
	for (auto &queue : queues) {
		all.push_back(queue.get());
		for (uint32_t i = 0; i < 15; i++)
			queue->submit(*queue->acquire(), hz::QueuePair::append(b.start(i % 3), 5), 0);
	}
	drain(all, [&](hz::QueuePair &, const hz::Completion &c) {
		written += c.status == NVME_SUCCESS;
		refused += c.status == NVME_ZONE_FULL || c.status == NVME_ZONE_BOUNDARY;
	});
	EXPECT_EQ(written, std::min(19u * 3, GetParam() * 15u)) << "a zone of 96 blocks takes 19 appends of 5";
	EXPECT_EQ(written + refused, GetParam() * 15u);
}

} // namespace harts_test
} // namespace conform
