// QueuePair against a scripted device that obeys the time contract of protocol/shm.h: data, ids, promises and repeatability.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <span>
#include <thread>
#include <unistd.h>

#include "session/machine/error.hpp"
#include "session/machine/futex.hpp"
#include "session/machine/interrupt.hpp"
#include "base_config.hpp"
#include "session/machine/machine.hpp"
#include "session/nvme/promise_file.hpp"
#include "session/nvme/queue_pair.hpp"
#include "session/machine/region_heap.hpp"

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr uint64_t forever = UINT64_MAX;

template <class Word> Word load(Word &word) { return std::atomic_ref(word).load(std::memory_order_acquire); }
template <class Word> void store(Word &word, Word value) { std::atomic_ref(word).store(value, std::memory_order_release); }

// A run directory with a region, joined as a machine that another process owns.
struct Bench {
	explicit Bench(bool virtual_clock, uint64_t bytes = 64 << 20, const hz_device_config &config = {})
		: directory(make()), owner(hz::Region::create(directory / "shm", bytes, config, virtual_clock)), heap(owner),
		  bells(heap.allocate(4096))
	{
		machine = hz::Machine::attach(directory);
	}
	~Bench()
	{
		machine.reset();
		fs::remove_all(directory);
	}
	static fs::path make()
	{
		auto path = fs::temp_directory_path() / ("hz-bench-" + std::to_string(getpid()));
		fs::remove_all(path);
		fs::create_directory(path);
		return path;
	}
	// The controller's part in the creation of a queue pair.
	std::unique_ptr<hz::QueuePair> queue(unsigned qid, const hz::QueueOptions &options)
	{
		const hz::QueueGrant grant{qid, heap.allocate(hz::layout_of(options).bytes), bells};
		return std::make_unique<hz::QueuePair>(*machine, grant, options);
	}
	fs::path directory;
	hz::Region owner;
	hz::RegionHeap heap;
	hz::BusAddress bells;
	std::unique_ptr<hz::Machine> machine;
};

// A device with a fixed number of queues, run by one thread: conservative, earliest event first, ties by queue.
class Device {
public:
	struct Queue {
		hz_queue_clock *clock;
		uint32_t *sq_bell;
		nvme_sqe *sq;
		nvme_cqe *cq;
		unsigned depth;
		uint64_t fetched = 0, completed = 0, last_arrival = 0;
		std::multimap<uint64_t, nvme_sqe> arriving, finishing;
		std::map<uint16_t, bool> busy;
	};

	Device(hz::Region &region, hz::BusAddress bells, const std::vector<std::unique_ptr<hz::QueuePair>> &pairs)
	{
		for (const auto &p : pairs) {
			Queue q{};
			q.clock = &region.queue_clock(p->qid());
			q.sq_bell = reinterpret_cast<uint32_t *>(region.at(bells, 4096)) + 2 * p->qid();
			q.sq = reinterpret_cast<nvme_sqe *>(region.at(p->sq_base()));
			q.cq = reinterpret_cast<nvme_cqe *>(region.at(p->cq_base()));
			q.depth = p->depth();
			queues_.push_back(std::move(q));
		}
		thread_ = std::thread([this] {
			while (!stop_.load())
				step();
		});
	}
	~Device() { end(); }
	void end()
	{
		stop_ = true;
		if (thread_.joinable())
			thread_.join();
	}
	std::vector<std::string> log;
	std::vector<std::string> breaches;

private:
	// When the next command arrives; forever before the completion that it follows.
	uint64_t arrival(const Queue &q) const
	{
		uint64_t word = load(q.clock->arrival_ns[q.fetched % q.depth]), number = q.fetched - hz_arrival_back(word);
		if (!(word & HZ_ARRIVAL_FOLLOWS))
			return word;
		if (number >= q.completed)
			return forever;
		return std::max(q.last_arrival, q.clock->completed_ns[number % q.depth] + q.clock->turnaround_ns) +
		       hz_arrival_think_ns(word);
	}

	// How far the queue lets time go; also takes new commands from it.
	uint64_t limit(Queue &q)
	{
		uint64_t seen = load(q.clock->seen), horizon = load(q.clock->horizon_ns), submitted = load(q.clock->submitted);
		for (; q.fetched < submitted; q.fetched++) {
			uint64_t at = arrival(q);
			if (at == forever)
				return forever;
			q.last_arrival = at;
			nvme_sqe sqe = q.sq[q.fetched % q.depth];
			if (at < now_)
				breaches.push_back("a command arrives at " + std::to_string(at) + ", now is " + std::to_string(now_));
			if (std::exchange(q.busy[sqe.cid], true))
				breaches.push_back("id " + std::to_string(sqe.cid) + " is used twice");
			q.arriving.emplace(at, sqe);
		}
		if (!load(q.clock->open))
			return forever;
		if (seen < q.completed)
			horizon = std::min(horizon, q.clock->completed_ns[seen % q.depth] + q.clock->turnaround_ns);
		return std::max(horizon, q.arriving.empty() ? 0 : q.last_arrival); // when another one may still arrive
	}

	void step()
	{
		uint64_t bound = forever, next = forever;
		bool any_open = false;
		for (auto &q : queues_) {
			bound = std::min(bound, limit(q));
			any_open |= load(q.clock->open) != 0;
		}
		for (auto &q : queues_)
			for (auto *events : {&q.arriving, &q.finishing})
				if (!events->empty())
					next = std::min(next, events->begin()->first);
		if (!any_open || next >= bound) {
			for (auto &q : queues_)
				wake(q);
			std::this_thread::yield();
			return;
		}
		now_ = next;
		for (size_t i = 0; i < queues_.size(); i++)
			run_queue(i);
	}

	void run_queue(size_t index)
	{
		Queue &q = queues_[index];
		while (!q.finishing.empty() && q.finishing.begin()->first == now_) {
			post(q, q.finishing.begin()->second);
			note(index, "done", q.finishing.begin()->second);
			q.finishing.erase(q.finishing.begin());
		}
		while (!q.arriving.empty() && q.arriving.begin()->first == now_) {
			nvme_sqe sqe = q.arriving.begin()->second;
			note(index, "came", sqe);
			q.finishing.emplace(now_ + 2000 + (sqe.cdw10 * 2654435761u >> 16) % 50000, sqe);
			q.arriving.erase(q.arriving.begin());
		}
	}

	void note(size_t index, const char *what, const nvme_sqe &sqe)
	{
		log.push_back(std::to_string(now_) + " q" + std::to_string(index) + " " + what + " id " + std::to_string(sqe.cid) +
			      " lba " + std::to_string(sqe.cdw10) + " prp " + std::to_string(sqe.prp1) + "," + std::to_string(sqe.prp2));
	}

	void post(Queue &q, const nvme_sqe &sqe)
	{
		size_t slot = q.completed % q.depth;
		q.busy[sqe.cid] = false;
		store(q.clock->completed_ns[slot], now_);
		nvme_cqe cqe{};
		cqe.dw0 = sqe.cdw10 + 1;
		cqe.cid = sqe.cid;
		std::memcpy(static_cast<void *>(&q.cq[slot]), &cqe, 14);
		uint16_t phase = q.completed / q.depth % 2 == 0;
		store(q.cq[slot].status, static_cast<uint16_t>(phase | (sqe.opcode == NVME_IO_FLUSH ? NVME_WRITE_FAULT << 1 : 0)));
		q.completed++;
		std::atomic_ref(q.clock->completed).store(q.completed, std::memory_order_seq_cst);
		if (q.completed >= load(q.clock->wake_at))
			wake(q);
	}

	void wake(Queue &q)
	{
		if (std::atomic_ref(q.clock->waiters).load(std::memory_order_seq_cst))
			hz::futex_wake_all(reinterpret_cast<uint32_t *>(&q.clock->completed));
	}

	std::vector<Queue> queues_;
	uint64_t now_ = 0;
	std::atomic<bool> stop_{false};
	std::thread thread_;
};

// One closed-loop thread: keeps `in_flight` commands going, each submitted at completion +
// turn-around. ahead: number of further commands placed before they arrive.
void closed_loop(hz::QueuePair &qp, unsigned in_flight, unsigned total, uint64_t seed, unsigned slow_us, unsigned ahead)
{
	std::mt19937_64 random(seed), delays(std::random_device{}());
	unsigned sent = 0, done = 0;
	std::vector<uint64_t> arrived, expected;
	auto pause_ns = [&](uint64_t number) { return (number + seed) % 5 ? 0u : 30000u; };
	auto send = [&](uint64_t arrival) {
		auto cid = qp.acquire();
		ASSERT_TRUE(cid);
		qp.submit(*cid, hz::QueuePair::read(random() % 1000000, 1 + random() % 4), arrival);
		sent++;
	};
	auto send_ahead = [&] {
		while (ahead && sent < std::min(total, done + in_flight + ahead))
			send(hz_arrival_following(in_flight, pause_ns(sent)));
	};
	for (unsigned i = 0; i < in_flight; i++) {
		send(i);
		expected.push_back(i);
	}
	send_ahead();
	qp.promise_nothing_more();
	while (done < total) {
		auto batch = qp.wait(1 + ahead / 2);
		for (const auto &c : batch) {
			qp.release(c.cid);
			done++;
			EXPECT_GE(c.completed_ns, c.arrival_ns + 2000);
			arrived.push_back(c.arrival_ns);
			if (expected.size() < total) {
				const uint64_t before_ns = std::max(c.completed_ns + qp.turnaround_ns(), expected.back());
				expected.push_back(before_ns + pause_ns(expected.size()));
			}
			if (sent < total && !ahead)
				send(expected.back());
			send_ahead();
		}
		if (slow_us && delays() % 16 == 0)
			std::this_thread::sleep_for(std::chrono::microseconds(delays() % slow_us));
		if (done < total)
			qp.promise_nothing_more();
	}
	std::sort(arrived.begin(), arrived.end());
	EXPECT_EQ(arrived, expected) << "what the pair says of its commands";
	qp.close();
}

std::vector<std::string> simulate(unsigned threads, unsigned depth, unsigned in_flight, unsigned total, uint64_t seed, unsigned slow_us,
				  unsigned ahead = 0)
{
	Bench bench(true);
	std::vector<std::unique_ptr<hz::QueuePair>> pairs;
	for (unsigned i = 0; i < threads; i++)
		pairs.push_back(bench.queue(i + 1, {depth, 16384, 4000}));
	Device device(bench.machine->region(), bench.bells, pairs);
	for (auto &p : pairs)
		p->open(0);
	std::vector<std::thread> workers;
	for (unsigned i = 0; i < threads; i++)
		workers.emplace_back([&, i] { closed_loop(*pairs[i], in_flight, total, seed + i, slow_us, ahead); });
	for (auto &w : workers)
		w.join();
	device.end();
	EXPECT_EQ(device.breaches, std::vector<std::string>{});
	EXPECT_EQ(device.log.size(), 2u * threads * total);
	return device.log;
}

TEST(QueuePair, ClosedLoopIsTheSameHoweverSlowTheHost)
{
	// With the first one, a command of a queue arrives when others of it and one of another queue do something.
	for (const uint64_t seed : {uint64_t{2048869332}, uint64_t{std::random_device{}()}}) {
		SCOPED_TRACE("seed " + std::to_string(seed));
		auto reference = simulate(3, 17, 7, 400, seed, 0);
		EXPECT_EQ(simulate(3, 17, 7, 400, seed, 300), reference);
		EXPECT_EQ(simulate(3, 17, 7, 400, seed, 50), reference);
		EXPECT_NE(simulate(3, 17, 7, 400, seed + 1, 0), reference);
	}
}

TEST(QueuePair, CommandsAheadArriveWhenTheyWould)
{
	const auto reference = simulate(3, 17, 7, 400, 5, 0);
	for (unsigned ahead : {1u, 4u, 9u})
		for (unsigned slow_us : {0u, 300u})
			EXPECT_EQ(simulate(3, 17, 7, 400, 5, slow_us, ahead), reference) << ahead;
}

TEST(QueuePair, FollowsOnlyWhatItCan)
{
	Bench bench(true);
	const auto pair = bench.queue(1, {8, 4096, 4000});
	hz::QueuePair &qp = *pair;
	const auto place = [&](uint64_t arrival) { return qp.submit(qp.acquire().value(), hz::QueuePair::read(0, 1), arrival); };
	const auto refuses = [&](uint64_t arrival) {
		const uint16_t cid = qp.acquire().value();
		EXPECT_THROW(qp.submit(cid, hz::QueuePair::read(0, 1), arrival), hz::Error);
		qp.release(cid);
	};
	refuses(hz_arrival_following(1, 0)); // nothing was placed
	EXPECT_EQ(place(100), 100u);
	refuses(hz_arrival_following(0, 0));
	refuses(hz_arrival_following(2, 0));
	refuses(hz_arrival_following(1, HZ_ARRIVAL_MOST_NS + 1));
	EXPECT_EQ(place(hz_arrival_following(1, 7)), hz_arrival_following(1, 7));
	refuses(1000000); // after a command with an undetermined arrival
	EXPECT_EQ(qp.outstanding(), 2u);
	Bench real(false);
	const auto other = real.queue(1, {8, 4096, 0});
	other->submit(other->acquire().value(), hz::QueuePair::read(0, 1), 0);
	EXPECT_THROW(other->submit(other->acquire().value(), hz::QueuePair::read(0, 1), hz_arrival_following(1, 0)), hz::Error);
}

TEST(QueuePair, FullDepthWrapsManyTimes)
{
	for (unsigned depth : {2u, 3u, 8u, 1024u})
		simulate(1, depth, depth - 1, 3000, depth, 0);
}

TEST(QueuePair, OpenLoopArrivesAtItsTimestamps)
{
	Bench bench(true);
	std::vector<std::unique_ptr<hz::QueuePair>> pairs;
	pairs.push_back(bench.queue(1, {256, 4096, 4000}));
	Device device(bench.machine->region(), bench.bells, pairs);
	auto &qp = *pairs[0];
	qp.open(0);
	std::vector<uint64_t> arrivals;
	unsigned done = 0;
	for (unsigned i = 0; i < 200; i++) {
		uint64_t at = i * 7000ull;
		qp.submit(*qp.acquire(), hz::QueuePair::read(i, 1), at);
		qp.promise_until(i == 199 ? forever : at + 7000);
		if (i < 199) {
			EXPECT_THROW(qp.submit(0, hz::QueuePair::read(0, 1), at), hz::Error);
		}
		for (const auto &c : qp.reap()) {
			EXPECT_EQ(c.arrival_ns % 7000, 0u);
			done++;
		}
	}
	while (done < 200) {
		qp.promise_nothing_more(); // completions reaped above are seen: until the device knows that, no more arrive
		done += qp.wait().size();
	}
	qp.close();
	device.end();
	EXPECT_EQ(device.breaches, std::vector<std::string>{});
}

TEST(QueuePair, IdsAndBuffersAreDistinctAndComeBackInOrder)
{
	Bench bench(false);
	const auto pair = bench.queue(5, {8, 8192, 0});
	hz::QueuePair &qp = *pair;
	std::set<std::byte *> buffers;
	std::vector<uint16_t> ids;
	while (auto cid = qp.acquire()) {
		ids.push_back(*cid);
		buffers.insert(qp.data(*cid).data());
		EXPECT_EQ(qp.data(*cid).size(), 8192u);
	}
	EXPECT_EQ(ids.size(), 7u);
	EXPECT_EQ(buffers.size(), 7u);
	for (uint16_t cid : {3, 1, 6})
		qp.release(cid);
	EXPECT_EQ(*qp.acquire(), 3);
	EXPECT_EQ(*qp.acquire(), 1);
	EXPECT_EQ(*qp.acquire(), 6);
	EXPECT_FALSE(qp.acquire());
	EXPECT_THROW(qp.release(7), hz::Error);
}

TEST(QueuePair, WritesOfWhoLooksAtNoDataTakeZerosFromOneBuffer)
{
	hz_device_config config{};
	config.protection = HZ_PROTECTION_TYPE1;
	Bench bench(false, 64 << 20, config);
	const auto placed = [&](hz::QueuePair &qp, const nvme_sqe &sqe) {
		const uint16_t cid = *qp.acquire();
		std::memset(qp.data(cid).data(), qp.qid() == 1 ? 0xee : 0, 8192);
		qp.submit(cid, sqe, 0);
		const auto *ring = reinterpret_cast<const nvme_sqe *>(bench.machine->region().at(qp.sq_base()));
		return std::find_if(ring, ring + qp.depth(),
				    [&](const nvme_sqe &one) { return one.cid == cid && one.opcode == sqe.opcode; });
	};
	const auto zeros = bench.queue(1, {.depth = 8, .data_bytes = 8192, .writes_zeros = true}),
		   own = bench.queue(2, {.depth = 8, .data_bytes = 8192});
	uint16_t cid = 0;
	for (const nvme_sqe &sqe : {hz::QueuePair::write(7, 2), hz::QueuePair::append(7, 2)}) {
		const nvme_sqe *shared = placed(*zeros, sqe), *mine = placed(*own, sqe);
		EXPECT_EQ(shared->prp1, zeros->data_bus(7));
		EXPECT_EQ(shared->prp2, zeros->data_bus(7) + 4096);
		EXPECT_EQ(mine->prp1, own->data_bus(cid++));
		EXPECT_EQ(std::memcmp(bench.machine->region().at(shared->mptr), bench.machine->region().at(mine->mptr), 2 * HZ_TUPLE_BYTES),
			  0)
			<< "guards of zeros";
	}
	for (const nvme_sqe &sqe : {hz::QueuePair::read(7, 2), hz::QueuePair::compare(7, 2), hz::QueuePair::deallocate(1)})
		EXPECT_EQ(placed(*zeros, sqe)->prp1, zeros->data_bus(cid++));
	EXPECT_EQ(std::ranges::count(zeros->data(7), std::byte(0)), 8192);
}

TEST(QueuePair, RunsOneCommandAndReportsStatus)
{
	Bench bench(true);
	std::vector<std::unique_ptr<hz::QueuePair>> pairs;
	pairs.push_back(bench.queue(1, {4, 4096, 100}));
	Device device(bench.machine->region(), bench.bells, pairs);
	for (uint32_t i = 0; i < 10; i++) {
		auto c = pairs[0]->run(hz::QueuePair::read(i, 1));
		EXPECT_EQ(c.status, 0);
		EXPECT_EQ(c.result, i + 1);
		EXPECT_EQ(pairs[0]->run(hz::QueuePair::flush()).status, NVME_WRITE_FAULT);
	}
	EXPECT_EQ(hz::status_text(NVME_ZONE_FULL), "Zone Is Full: The accessed zone is in ZSF:Full state");
}

TEST(QueuePair, WaitHearsCtrlC)
{
	Bench bench(true);
	const auto pair = bench.queue(1, {4, 4096, 0});
	hz::QueuePair &qp = *pair;
	qp.submit(*qp.acquire(), hz::QueuePair::flush(), 0);
	qp.open(forever);
	std::thread later([] {
		std::this_thread::sleep_for(50ms);
		hz::set_interrupted(true);
	});
	EXPECT_THROW(qp.wait(), hz::Interrupted);
	later.join();
	hz::set_interrupted(false);
}

TEST(QueuePair, ReportsMustFitItsBuffers)
{
	Bench bench(true);
	const auto pair = bench.queue(1, {4, 4096, 0});
	EXPECT_THROW(pair->submit(*pair->acquire(), hz::QueuePair::zone_report(0, 4100), 0), hz::Error);
	EXPECT_THROW(pair->submit(*pair->acquire(), hz::QueuePair::read(0, 2), 0), hz::Error);
	pair->submit(*pair->acquire(), hz::QueuePair::zone_report(0, 4096), 0);
}

TEST(QueuePair, ACompletionOfNothingIsReported)
{
	for (const uint16_t cid : {1, 3, 4, 1000}) {
		Bench bench(true);
		const auto pair = bench.queue(1, {4, 4096, 0});
		auto *cqe = reinterpret_cast<nvme_cqe *>(bench.machine->region().at(pair->cq_base(), sizeof(nvme_cqe)));
		const uint16_t acquired = *pair->acquire();
		ASSERT_NE(acquired, cid);
		pair->submit(acquired, hz::QueuePair::flush(), 0);
		EXPECT_TRUE(pair->reap().empty());
		cqe->cid = cid;
		store(cqe->status, uint16_t{1});
		try {
			pair->reap();
			ADD_FAILURE() << cid;
		} catch (const hz::Error &e) {
			EXPECT_NE(std::string(e.what()).find("never submitted (id " + std::to_string(cid) + ")"), std::string::npos);
		}
	}
}

static std::string content_of(const fs::path &file)
{
	std::ifstream in(file, std::ios::binary);
	return std::string(std::istreambuf_iterator<char>(in), {});
}

// The record of acknowledged data (keep/ack_record.hpp), as changed by users other than its own.
TEST(PromiseFile, WhatIsOverwrittenIsPromisedToNobody)
{
	const auto directory = Bench::make();
	hz_device_config config = support::base_config();
	config.namespace_kind = HZ_NS_BLOCK;
	config.blocks_per_plane = 64;
	config.pages_per_block = 16;
	const hz::Region owner = hz::Region::create(directory / "shm", 64 << 20, config, true);
	hz_shape shape;
	hz_shape_of(&config, &shape);
	ASSERT_GT(shape.namespace_sectors, 20u);
	const uint64_t end = hz::promise_entries_at + 20 * hz::promise_entry_bytes;
	std::ofstream(directory / "promises") << std::string(hz::promise_foreign_at, 'x') << '\0'
					      << std::string(end - hz::promise_foreign_at - 1, 'x');
	const auto machine = hz::Machine::attach(directory);
	hz::PromiseFile promises(*machine);
	std::string expected(end, 'x');
	const auto content = [&] { return content_of(directory / "promises"); };
	const auto expect = [&](uint64_t lba, uint32_t sectors) {
		expected[hz::promise_foreign_at] = 1;
		expected.replace(hz::promise_entries_at + lba * hz::promise_entry_bytes, sectors * hz::promise_entry_bytes,
				 sectors * hz::promise_entry_bytes, '\0');
		EXPECT_EQ(content(), expected) << lba;
	};
	const auto before = [&](nvme_sqe sqe, std::span<const std::byte> data = {}) {
		sqe.nsid = 1;
		promises.before(sqe, data);
	};
	before(hz::QueuePair::read(3, 2));
	before(hz::QueuePair::flush());
	EXPECT_NE(content()[hz::promise_foreign_at], 1);
	before(hz::QueuePair::write(5, 3));
	expect(5, 3);
	before(hz::QueuePair::write(0, 1));
	expect(0, 1);
	before(hz::QueuePair::write(19, 1));
	expect(19, 1);
	const nvme_dsm_range ranges[] = {{0, 2, 9}, {0, 0, 12}, {0, 1, 14}};
	nvme_sqe gone = hz::QueuePair::deallocate(3);
	gone.cdw11 = 0;
	before(gone, std::as_bytes(std::span(ranges))); // hints only
	expect(19, 1);
	before(hz::QueuePair::deallocate(2), std::as_bytes(std::span(ranges)));
	expect(9, 2);
	before(hz::QueuePair::deallocate(3), std::as_bytes(std::span(ranges)));
	expect(14, 1);
	const nvme_copy_range sources[] = {{0, 900, 2, {}, 0, 0, 0}, {0, 100, 0, {}, 0, 0, 0}};
	before(hz::QueuePair::copy(3, 2, false), std::as_bytes(std::span(sources)));
	expect(3, 4);
	before(hz::QueuePair::copy(0, 2, true), std::as_bytes(std::span(sources)));
	expect(3, 4);
	fs::remove_all(directory);
}

TEST(PromiseFile, EachNamespaceHasItsOwn)
{
	const auto directory = Bench::make();
	hz_device_config config = support::base_config();
	config.namespace_kind = HZ_NS_BLOCK;
	config.blocks_per_plane = 128;
	config.pages_per_block = 16;
	config.namespaces = 2;
	const hz::Region owner = hz::Region::create(directory / "shm", 64 << 20, config, true);
	const std::string whole(hz::promise_entries_at + 9 * hz::promise_entry_bytes, 'x');
	const auto content = [&](const char *name) { return content_of(directory / name); };
	std::ofstream(directory / "promises") << whole;
	std::ofstream(directory / "promises.2") << whole;
	const auto machine = hz::Machine::attach(directory);
	hz::PromiseFile promises(*machine);
	nvme_sqe write = hz::QueuePair::write(5, 1);
	write.nsid = 2;
	promises.before(write, {});
	EXPECT_EQ(content("promises"), whole);
	EXPECT_EQ(content("promises.2")[hz::promise_entries_at + 5 * hz::promise_entry_bytes], '\0');
	EXPECT_EQ(content("promises.2")[hz::promise_entries_at + 4 * hz::promise_entry_bytes], 'x');
	nvme_sqe manage{};
	manage.opcode = NVME_ADMIN_NAMESPACE_MANAGEMENT;
	manage.nsid = 2;
	hz::PromiseFile::before_admin(*machine, manage);
	EXPECT_EQ(content("promises.2").size(), whole.size()) << "a creation";
	manage.cdw10 = 1;
	hz::PromiseFile::before_admin(*machine, manage);
	const uint64_t nothing = hz::promise_void;
	EXPECT_EQ(content("promises.2"), std::string(reinterpret_cast<const char *>(&nothing), sizeof(nothing)));
	EXPECT_EQ(content("promises"), whole);
	manage.nsid = NVME_NSID_ALL;
	hz::PromiseFile::before_admin(*machine, manage);
	EXPECT_EQ(content("promises").size(), sizeof(nothing));
	fs::remove_all(directory);
}

// Commands without a namespace go to the queue's own.
TEST(QueuePair, ACommandGoesToTheNamespaceThatItNames)
{
	Bench bench(true);
	for (const uint32_t own : {1u, 2u}) {
		const auto queue = bench.queue(own, {.depth = 16, .data_bytes = 4096, .nsid = own});
		const auto nsid_sent = [&](nvme_sqe sqe, bool raw) {
			const uint16_t cid = *queue->acquire();
			const size_t slot = cid; // both count up from 0
			raw ? queue->submit_raw(cid, sqe, 0) : queue->submit(cid, sqe, 0);
			return reinterpret_cast<nvme_sqe *>(bench.owner.at(queue->sq_base()))[slot].nsid;
		};
		for (const bool raw : {false, true}) {
			EXPECT_EQ(nsid_sent(hz::QueuePair::read(0, 1), raw), own);
			for (const uint32_t named : {0u, 1u, 2u, 3u, NVME_NSID_ALL}) {
				nvme_sqe sqe = hz::QueuePair::read(0, 1);
				sqe.nsid = named;
				EXPECT_EQ(nsid_sent(sqe, raw), named) << "on a queue of namespace " << own;
			}
		}
	}
}

TEST(QueuePair, RefusesWrongShapes)
{
	for (const hz::QueueOptions &wrong : {hz::QueueOptions{0, 4096, 0},
					      {1, 4096, 0},
					      {1025, 4096, 0},
					      {~0u, 4096, 0},
					      {8, 0, 0},
					      {8, 1000, 0},
					      {8, 129 * 4096, 0},
					      {8, ~0ull, 0},
					      {8, ~0ull << 12, 0}})
		EXPECT_THROW(hz::layout_of(wrong), hz::Error) << wrong.depth << ", " << wrong.data_bytes;
	const hz::QueueLayout largest = hz::layout_of({1024, 128 * 4096, 0});
	EXPECT_EQ(largest.bytes, (64 << 10) + (16 << 10) + 1024 * (4096 + 128 * HZ_TUPLE_BYTES + (512ull << 10)));
}

} // namespace
