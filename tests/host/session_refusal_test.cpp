// Refused calls of a queue pair change nothing: the region stays equal, byte for byte, and the
// queue behaves as its twin without any wrong call.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <random>

#include "session/machine/error.hpp"
#include "session/machine/machine.hpp"
#include "session/nvme/queue_table.hpp"
#include "session_region.hpp"

namespace {

using session_test::RegionFile;

constexpr unsigned depth = 6;
constexpr uint64_t data_bytes = 2 * 4096;

// A queue pair, and a scripted device.
struct Side {
	explicit Side(bool virtual_clock)
		: file(8 << 20, virtual_clock), table(file.region, [] {}), machine(hz::Machine::attach(RegionFile::folder()))
	{
		table.reset();
		const hz::QueueOptions options{depth, data_bytes, 4000};
		queue = std::make_unique<hz::QueuePair>(*machine, table.take(3, options), options);
	}
	void complete(uint16_t cid)
	{
		auto *cqe = reinterpret_cast<nvme_cqe *>(file.region.at(queue->cq_base())) + completed % depth;
		file.region.queue_clock(3).completed_ns[completed % depth] = 50000 + completed * 10000;
		cqe->cid = cid;
		std::atomic_ref(cqe->status).store(completed / depth % 2 == 0, std::memory_order_release);
		completed++;
		file.region.queue_clock(3).completed = completed;
	}
	// Header, clock records, doorbells and all of the pair's memory; the rest is looked at in the end.
	std::string parts() const
	{
		std::string bytes;
		for (const auto &[from, to] : {std::pair(0, HZ_SHM_QUEUES_OFFSET + 5 * int(sizeof(hz_queue_clock))),
					       std::pair(int(HZ_SHM_HEAP_OFFSET), HZ_SHM_HEAP_OFFSET + (256 << 10))})
			bytes.append(reinterpret_cast<const char *>(file.region.at(from)), to - from);
		return bytes;
	}
	RegionFile file;
	hz::QueueTable table;
	std::unique_ptr<hz::Machine> machine;
	std::unique_ptr<hz::QueuePair> queue;
	uint64_t completed = 0;
};

// The test's model of the queue: states of the ids, and promises.
struct Knowledge {
	std::vector<uint16_t> acquired, under_way;
	bool open = false;
	uint64_t horizon_ns = 0, arrival_ns = 10000;
};

// A legal call, the same on both sides.
void act(Side &side, Knowledge &k, std::mt19937_64 &random)
{
	auto pick = [&](std::vector<uint16_t> &from) {
		std::swap(from[random() % from.size()], from.back());
		const uint16_t cid = from.back();
		from.pop_back();
		return cid;
	};
	switch (random() % 8) {
	case 0:
	case 1:
		if (auto cid = side.queue->acquire())
			k.acquired.push_back(*cid);
		return;
	case 2:
	case 3:
		if (k.acquired.empty())
			return;
		k.under_way.push_back(pick(k.acquired));
		k.arrival_ns += random() % 5000;
		side.queue->submit(k.under_way.back(), hz::QueuePair::write(random() % 100, 1 + random() % 2),
				   std::max(k.arrival_ns, k.horizon_ns == UINT64_MAX ? 0 : k.horizon_ns));
		return;
	case 4:
		if (!k.acquired.empty())
			side.queue->release(pick(k.acquired));
		return;
	case 5:
		if (k.under_way.empty() || !k.open)
			return;
		side.complete(k.under_way.front());
		for (const hz::Completion &done : side.queue->reap())
			k.acquired.push_back(done.cid);
		k.under_way.erase(k.under_way.begin());
		return;
	case 6:
		k.horizon_ns = random() % 2 ? UINT64_MAX : k.horizon_ns == UINT64_MAX ? UINT64_MAX : k.horizon_ns + random() % 9000;
		if (k.open)
			side.queue->promise_until(k.horizon_ns);
		else
			side.queue->open(k.horizon_ns);
		k.open = true;
		return;
	default:
		if (!k.open || !k.under_way.empty())
			return;
		side.queue->close();
		k.open = false;
		k.horizon_ns = 0;
	}
}

using Call = std::function<void(hz::QueuePair &)>;

// Every call that must be refused in this state.
std::vector<Call> wrong_calls(const Knowledge &k, bool virtual_clock)
{
	std::vector<Call> calls;
	const nvme_sqe read = hz::QueuePair::read(0, 1), large = hz::QueuePair::read(0, 3);
	std::vector<uint16_t> not_acquired = {depth - 1, depth, 0xffff};
	for (uint16_t cid = 0; cid < depth - 1; cid++)
		if (!std::count(k.acquired.begin(), k.acquired.end(), cid))
			not_acquired.push_back(cid);
	for (uint16_t cid : not_acquired) {
		calls.push_back([=](auto &q) { q.submit(cid, read, k.arrival_ns); });
		calls.push_back([=](auto &q) { q.submit_raw(cid, read, k.arrival_ns); });
		calls.push_back([=](auto &q) { q.release(cid); });
	}
	for (uint16_t cid : k.acquired)
		calls.push_back([=](auto &q) { q.submit(cid, large, k.arrival_ns); });
	for (uint64_t late : {uint64_t(HZ_ARRIVAL_MOST_NS) + 1, uint64_t(1) << 62, UINT64_MAX}) {
		if (!virtual_clock)
			break;
		for (uint16_t cid : k.acquired) {
			calls.push_back([=](auto &q) { q.submit(cid, read, late); });
			calls.push_back([=](auto &q) { q.submit_raw(cid, read, late); });
		}
		if (late != UINT64_MAX)
			calls.push_back([=](auto &q) { q.promise_until(late); });
		if (late != UINT64_MAX && !k.open)
			calls.push_back([=](auto &q) { q.open(late); });
	}
	if (k.open)
		calls.push_back([](auto &q) { q.open(0); });
	if (!k.under_way.empty())
		calls.push_back([](auto &q) { q.close(); });
	if (k.open || !k.under_way.empty() || k.acquired.size() == depth - 1)
		calls.push_back([=](auto &q) { q.run(read); });
	calls.push_back([=](auto &q) { q.run(large); });
	calls.push_back([=](auto &q) { q.run(read, std::vector<std::byte>(data_bytes + 1)); });
	return calls;
}

class Refusals : public testing::TestWithParam<std::tuple<unsigned, bool>> {};

TEST_P(Refusals, ChangeNothing)
{
	const auto [seed, virtual_clock] = GetParam();
	std::vector<std::string> after;
	unsigned refused = 0;
	for (const bool wrong : {false, true}) {
		Side side(virtual_clock);
		Knowledge known;
		std::mt19937_64 random(seed), other(seed + 1000);
		for (int step = 0; step < 200; step++) {
			act(side, known, random);
			if (!wrong)
				continue;
			const std::vector<Call> calls = wrong_calls(known, virtual_clock);
			const auto before = side.parts();
			for (int i = 0; i < 5; i++, refused++)
				ASSERT_THROW(calls[other() % calls.size()](*side.queue), hz::Error) << "step " << step;
			ASSERT_TRUE(side.parts() == before) << "step " << step;
		}
		after.push_back(side.file.content());
	}
	if (virtual_clock) { // under the real clock arrivals are times of day
		EXPECT_TRUE(after[0] == after[1]);
	}
	EXPECT_EQ(refused, 1000u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, Refusals, testing::Combine(testing::Range(1u, 5u), testing::Bool()));

} // namespace
