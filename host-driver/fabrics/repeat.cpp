// Repeat: a thread for each lane, which places commands ahead while slots are free.
// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/repeat.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "fabrics/backend.hpp"
#include "session/machine/error.hpp"

namespace hz::fabrics {

namespace {

LaneOptions lane_options(const RecordHead &head)
{
	LaneOptions options;
	options.lanes = head.lanes;
	options.depth = head.depth;
	options.transport_ns = head.turnaround_ns;
	return options;
}

res::Kind account_of(uint8_t opcode)
{
	switch (opcode) {
	case NVME_IO_FLUSH: return res::Kind::flush;
	case NVME_IO_READ:
	case NVME_IO_COMPARE:
	case NVME_IO_VERIFY: return res::Kind::read;
	case NVME_IO_DATASET_MANAGEMENT: return res::Kind::trim;
	case NVME_IO_ZONE_MGMT_SEND:
	case NVME_IO_ZONE_MGMT_RECV: return res::Kind::zone;
	default: return res::Kind::write;
	}
}

// As counted by the device: Copy's data are not host data.
uint64_t counted_bytes(const nvme_sqe &sqe)
{
	switch (account_of(sqe.opcode)) {
	case res::Kind::read:
	case res::Kind::write: return sqe.opcode == NVME_IO_COPY ? 0 : ((sqe.cdw12 & 0xffff) + 1ull) * HZ_SECTOR_BYTES;
	default: return 0;
	}
}

bool as_recorded(const RecordedCompletion &a, const RecordedCompletion &b)
{
	return a.arrival_ns == b.arrival_ns && a.completed_ns == b.completed_ns && a.status == b.status && a.result == b.result;
}

std::string difference(const RecordedCompletion &now, const RecordedCompletion &then)
{
	const auto words = [](const RecordedCompletion &c) {
		return "status " + std::to_string(c.status) + ", arrived at " + std::to_string(c.arrival_ns) + " ns, completed at " +
		       std::to_string(c.completed_ns) + " ns";
	};
	return "lane " + std::to_string(now.lane) + ", command " + std::to_string(now.command) + ": " + words(now) +
	       "; recorded: " + words(then);
}

} // namespace

uint64_t Repeat::shared_bytes(const RecordHead &head) { return lane_options(head).shared_bytes(); }

Repeat::Repeat(Controller &controller, const Recording &recording) : controller_(controller), recording_(recording)
{
	Lanes made = make_lanes(controller, lane_options(recording.head));
	for (auto &pair : made.pairs) {
		lanes_.emplace_back();
		lanes_.back().number.resize(pair->depth());
		lanes_.back().account.qid = pair->qid();
		lanes_.back().pair = std::move(pair);
	}
	for (const RecordedCommand &command : recording.commands)
		if (command.lane)
			lanes_[command.lane - 1].commands.push_back(&command);
	for (Lane &lane : lanes_)
		lane.recorded.resize(lane.commands.size());
	for (const RecordedCompletion &done : recording.completions)
		lanes_[done.lane - 1].recorded[done.command] = &done;
}

// Arrival of a command that waited for a slot: not before the effects of the completion that freed
// it.
uint64_t Repeat::arrival_of(const Lane &lane) const
{
	const uint64_t recorded = lane.commands[lane.placed]->arrival_ns;
	const size_t slots = lane.pair->depth() - 1;
	if (lane.placed < slots)
		return recorded;
	return std::max(recorded, lane.done[lane.placed - slots].completed_ns + lane.pair->turnaround_ns());
}

// A lane that was full then is full now; on a slower device it stays full for longer, and delayed
// commands arrive when there is room.
void Repeat::place(Lane &lane)
{
	QueuePair &pair = *lane.pair;
	while (lane.placed < lane.until && pair.can_acquire()) {
		const RecordedCommand &command = *lane.commands[lane.placed];
		const uint64_t arrival = arrival_of(lane);
		const uint16_t cid = *pair.acquire();
		lane.moved += arrival != command.arrival_ns;
		std::copy(command.ranges.begin(), command.ranges.end(), pair.data(cid).begin());
		lane.number[cid] = lane.placed++;
		lane.account.submitted++;
		lane.account.first_arrival_ns = std::min(lane.account.first_arrival_ns, arrival);
		pair.submit(cid, command.sqe, arrival);
	}
}

void Repeat::note(Lane &lane, const Completion &c)
{
	const uint64_t number = lane.number[c.cid];
	const nvme_sqe &sqe = lane.commands[number]->sqe;
	res::KindAccount &kind = lane.account.of(account_of(sqe.opcode));
	lane.done.push_back({lane.pair->qid(), number, c.arrival_ns, c.completed_ns, c.result, c.status});
	lane.account.digest.u16(static_cast<uint16_t>(lane.pair->qid())); // as that of any run (docs/reference/results.md)
	lane.account.digest.u16(c.cid);
	lane.account.digest.u16(c.status);
	lane.account.digest.u64(c.latency_ns());
	lane.account.completed++;
	lane.account.appends += sqe.opcode == NVME_IO_ZONE_APPEND && !c.status;
	lane.account.last_completion_ns = std::max(lane.account.last_completion_ns, c.completed_ns);
	if (c.status) {
		kind.errors++;
		lane.account.errors[c.status]++;
		return;
	}
	kind.ops++;
	kind.bytes += counted_bytes(sqe);
	kind.latency.add(c.latency_ns());
	lane.account.series.add(c.completed_ns, c.latency_ns());
}

// The last completion is published together with the end of device time: a promise of nothing more
// would let it run on.
void Repeat::run_lane(Lane &lane, uint64_t stands_ns)
{
	QueuePair &pair = *lane.pair;
	for (;;) {
		const bool all = lane.placed == lane.until;
		for (const Completion &c : pair.wait(all ? pair.outstanding() : 1)) {
			note(lane, c);
			pair.release(c.cid);
		}
		place(lane);
		if (!pair.outstanding())
			break;
		pair.promise_nothing_more();
	}
	pair.promise_until(std::max(stands_ns, pair.next_arrival_ns()));
	pair.close();
}

// All lanes are open before the first of them promises.
void Repeat::run_part(uint64_t stands_ns, const std::function<void()> &abort)
{
	std::mutex lock;
	std::exception_ptr failed;
	std::vector<std::thread> threads;
	std::vector<Lane *> busy;
	for (Lane &lane : lanes_)
		if (lane.placed < lane.until)
			busy.push_back(&lane);
	for (Lane *lane : busy) {
		const uint64_t first_ns = lane->commands[lane->placed]->arrival_ns;
		place(*lane);
		lane->pair->open(first_ns);
	}
	for (Lane *lane : busy)
		lane->pair->promise_nothing_more();
	for (Lane *lane : busy)
		threads.emplace_back([&, lane] {
			try {
				run_lane(*lane, stands_ns);
			} catch (...) {
				std::lock_guard hold(lock);
				if (!failed)
					failed = std::current_exception(), abort();
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	if (failed)
		std::rethrow_exception(failed);
}

void Repeat::run_admin(const RecordedCommand &command)
{
	std::vector<std::byte> in(command.in_bytes);
	controller_.admin(command.sqe, in, command.ranges);
}

void Repeat::run(const std::function<void()> &abort)
{
	for (const RecordedCommand &command : recording_.commands) {
		if (command.lane) {
			lanes_[command.lane - 1].until++;
			continue;
		}
		run_part(command.arrival_ns, abort);
		run_admin(command);
	}
	run_part(0, abort);
}

RepeatFigures Repeat::figures() const
{
	RepeatFigures all;
	RecordDigest digest(recording_.head.lanes);
	for (const Lane &lane : lanes_) {
		all.moved += lane.moved;
		for (const RecordedCompletion &done : lane.done) {
			digest.add(done);
			all.commands++;
			const RecordedCompletion *then = lane.recorded[done.command];
			if (!then || as_recorded(done, *then))
				continue;
			const uint64_t apart = done.completed_ns > then->completed_ns ? done.completed_ns - then->completed_ns
										      : then->completed_ns - done.completed_ns;
			if (!all.differ++)
				all.first_difference = difference(done, *then);
			all.furthest_ns = std::max(all.furthest_ns, apart);
		}
	}
	all.digest = digest.text();
	all.recorded_digest = recording_.digest;
	return all;
}

std::vector<res::QueueAccount> Repeat::accounts() const
{
	std::vector<res::QueueAccount> all;
	for (const Lane &lane : lanes_)
		if (!lane.commands.empty())
			all.push_back(lane.account);
	return all;
}

void Repeat::delete_queues()
{
	for (Lane &lane : lanes_)
		controller_.delete_queue(std::move(lane.pair));
}

} // namespace hz::fabrics
