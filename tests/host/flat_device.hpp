// FlatDevice: a block device behind the Port interface. A command takes effect at some moment between its arrival and its completion,
// so commands that are under way together overtake each other in every way that NVMe allows.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "arrivals.hpp"
#include "replay/port.hpp"
#include "workload/source.hpp"

namespace hz::replay {

class FlatDevice : public Port {
public:
	struct Faults {
		uint64_t lose_write = 0; // number of the write that is acknowledged and forgotten, from 1
		uint64_t fail_write = 0; // number of the write that stores its first sector and fails
		uint64_t lose_trim = 0;  // number of the deallocation that is acknowledged and not done, from 1
	};
	FlatDevice(uint64_t sectors, unsigned depth, uint64_t seed) : FlatDevice(sectors, depth, seed, Faults()) {}
	FlatDevice(uint64_t sectors, unsigned depth, uint64_t seed, Faults faults)
		: faults_(faults), random_(seed), flash_(sectors * sector), buffers_(depth, std::vector<std::byte>(128 * sector))
	{
		for (unsigned cid = 0; cid < depth; cid++)
			free_.push_back(uint16_t(cid));
	}

	unsigned qid() const override { return 1; }
	uint32_t turnaround_ns() const override { return 4000; }
	std::optional<uint16_t> acquire() override
	{
		const uint16_t cid = free_.front();
		free_.pop_front();
		return cid;
	}
	void release(uint16_t cid) override { free_.push_back(cid); }
	std::span<std::byte> data(uint16_t cid) override { return buffers_[cid]; }
	void open(uint64_t) override {}
	void promise() override {}
	void close() override {}

	uint64_t submit(uint16_t cid, const wl::Request &r, uint64_t arrival_ns) override
	{
		Running running{};
		running.request = r;
		running.done.cid = cid;
		running.number = r.op == wl::Op::write ? ++writes : r.op == wl::Op::deallocate ? ++trims : 0;
		running.service_ns = 20000 + random_() % 100000;
		running.effect_ns = random_() % running.service_ns;
		arrivals_.submit(std::move(running), arrival_ns);
		lbas.push_back(r.lba);
		let_arrive();
		return arrival_ns;
	}

	std::span<const Completion> wait(unsigned) override
	{
		seen_.clear();
		const auto first = std::min_element(running_.begin(), running_.end(), [](const Running &a, const Running &b) {
			return a.done.completed_ns < b.done.completed_ns;
		});
		take_effect(first->done.completed_ns);
		seen_.push_back(first->done);
		arrivals_.completed(first->done.completed_ns);
		running_.erase(first);
		let_arrive();
		return seen_;
	}

	uint64_t writes = 0, trims = 0;
	uint64_t overlaps = 0;      // reads that were submitted while a write of the same sectors was under way
	std::vector<uint64_t> lbas; // in submission order

private:
	static constexpr size_t sector = 4096;
	struct Running {
		Completion done;
		wl::Request request;
		uint64_t effect_ns, service_ns, number;
		bool happened = false;
	};

	void let_arrive()
	{
		while (auto arrived = arrivals_.next()) {
			Running &running = arrived->first;
			running.done.arrival_ns = arrived->second;
			running.effect_ns += arrived->second;
			running.done.completed_ns = arrived->second + running.service_ns;
			count_overlaps(running.request);
			running_.push_back(std::move(running));
		}
	}

	void count_overlaps(const wl::Request &r)
	{
		for (const Running &other : running_)
			overlaps += r.op == wl::Op::read && other.request.op == wl::Op::write && other.request.lba < r.lba + r.sectors &&
				    r.lba < other.request.lba + other.request.sectors;
	}

	void take_effect(uint64_t until_ns)
	{
		std::vector<Running *> due;
		for (Running &r : running_)
			if (!r.happened && r.effect_ns <= until_ns)
				due.push_back(&r);
		std::stable_sort(due.begin(), due.end(), [](const Running *a, const Running *b) { return a->effect_ns < b->effect_ns; });
		for (Running *r : due)
			execute(*r);
	}

	void execute(Running &r)
	{
		auto &buffer = buffers_[r.done.cid];
		std::byte *place = &flash_[r.request.lba * sector];
		r.happened = true;
		if (r.request.op == wl::Op::read)
			memcpy(buffer.data(), place, r.request.sectors * sector);
		if (r.request.op == wl::Op::deallocate && r.number != faults_.lose_trim)
			memset(place, 0, r.request.sectors * sector);
		if (r.request.op != wl::Op::write || r.number == faults_.lose_write)
			return;
		const bool fails = r.number == faults_.fail_write;
		memcpy(place, buffer.data(), (fails ? 1 : r.request.sectors) * sector);
		r.done.status = fails ? NVME_WRITE_FAULT : 0;
	}

	Faults faults_;
	std::mt19937_64 random_;
	std::vector<std::byte> flash_;
	std::vector<std::vector<std::byte>> buffers_;
	std::deque<uint16_t> free_;
	Arrivals<Running> arrivals_{turnaround_ns()};
	std::vector<Running> running_;
	std::vector<Completion> seen_;
};

} // namespace hz::replay
