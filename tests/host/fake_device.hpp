// FakeDevice: a zoned device behind the Port interface, with a clock of its own and the rules of ZNS.
//
// It keeps data, checks write pointers, and completes commands in the order of finish times drawn from a seed, so that commands
// overtake each other across zones and reads overtake writes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <random>
#include <vector>

#include "arrivals.hpp"
#include "replay/port.hpp"
#include "workload/source.hpp"

namespace hz::replay {

class FakeDevice : public Port {
public:
	struct Faults {
		uint64_t fail_write;   // number of the write that fails, from 1
		uint64_t corrupt_read; // number of the read that gets a flipped bit, from 1
	};
	FakeDevice(const wl::ZoneShare &zones, unsigned depth, uint64_t seed) : FakeDevice(zones, depth, seed, Faults{0, 0}) {}
	FakeDevice(const wl::ZoneShare &zones, unsigned depth, uint64_t seed, Faults faults);

	unsigned qid() const override { return 1; }
	uint32_t turnaround_ns() const override { return 4000; }
	std::optional<uint16_t> acquire() override;
	void release(uint16_t cid) override;
	std::span<std::byte> data(uint16_t cid) override;
	uint64_t submit(uint16_t cid, const wl::Request &request, uint64_t arrival_ns) override;
	std::span<const Completion> wait(unsigned) override;
	void open(uint64_t) override { opened = true; }
	void promise() override {}
	void close() override { closed = true; }
	// At most this number of completions is visible at once; on a real device it depends on the
	// host's scheduling.
	void set_batch(size_t most) { batch_ = most; }

	// Sectors of random write areas, and by what multiples they move; without, zones that are opened with one are refused.
	void set_areas(uint64_t sectors, uint64_t unit) { area_ = sectors, unit_ = unit; }

	bool opened = false, closed = false;
	uint64_t most_under_way = 0, resets = 0, commits = 0, rewrites = 0; // commits: explicit ones; rewrites: of sectors
	std::vector<std::string> history;                                   // every command as text, in the order of arrivals

private:
	struct Zone {
		uint64_t pointer = 0, busy_until = 0;
		bool finished = false;
		bool area = false;  // ahead of the pointer
		uint64_t begun = 0; // the end of what was written
	};
	struct Submitted {
		uint16_t cid;
		wl::Request request;
	};
	void let_arrive();
	void arrive(uint16_t cid, const wl::Request &request, uint64_t arrival_ns);
	uint16_t execute(const wl::Request &request, uint16_t cid, uint64_t &result);
	uint16_t write(const wl::Request &request, uint16_t cid, uint64_t &result);
	uint16_t check_write(const wl::Request &request, Zone &zone, uint64_t at);
	uint16_t open_zrwa(Zone &zone);
	uint16_t commit(Zone &zone, uint64_t last);
	uint16_t read(const wl::Request &request, uint16_t cid);

	wl::ZoneShare zones_;
	Faults faults_;
	std::mt19937_64 random_;
	std::vector<Zone> state_;
	std::vector<std::byte> flash_;
	std::vector<std::vector<std::byte>> buffers_;
	std::deque<uint16_t> free_;
	Arrivals<Submitted> arrivals_{turnaround_ns()};
	std::vector<Completion> running_; // in the order in which they complete
	std::vector<Completion> seen_;
	uint64_t writes_ = 0, reads_ = 0, last_done_ns_ = 0;
	size_t batch_ = SIZE_MAX;
	uint64_t area_ = 0, unit_ = 0;
};

} // namespace hz::replay
