// Repeat: a thread for each lane, which places commands ahead while slots are free; repeat_dependent.cpp has one for all.
// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/repeat.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "fabrics/backend.hpp"
#include "session/machine/error.hpp"
#include "session/machine/test_delay.hpp"

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

// From the first arrival to the last completion.
uint64_t recorded_ns(const Recording &recording)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	for (const RecordedCompletion &done : recording.completions) {
		first_ns = std::min(first_ns, done.arrival_ns);
		last_ns = std::max(last_ns, done.completed_ns);
	}
	return last_ns > first_ns ? last_ns - first_ns : 0;
}

} // namespace

// A command for all namespaces is counted at the first.
res::QueueAccount &Repeat::Lane::account(const nvme_sqe &sqe)
{
	const uint32_t nsid = sqe.nsid == NVME_NSID_ALL ? 1 : sqe.nsid;
	res::QueueAccount &account = accounts[nsid];
	account.qid = pair->qid();
	account.nsid = nsid;
	return account;
}

uint64_t Repeat::shared_bytes(const RecordHead &head) { return lane_options(head).shared_bytes(); }

Repeat::Repeat(Controller &controller, const Recording &recording, const std::optional<std::vector<Wait>> &waits)
	: controller_(controller), recording_(recording)
{
	if (waits)
		time_.emplace(recording, *waits);
	Lanes made = make_lanes(controller, lane_options(recording.head));
	for (auto &pair : made.pairs) {
		lanes_.emplace_back();
		lanes_.back().number.resize(pair->depth());
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

// As the device saw it: if the lane took part in time later than the command arrived, then.
uint64_t Repeat::recorded_arrival(const Lane &lane) const
{
	const RecordedCompletion *then = lane.recorded[lane.placed];
	return std::max(lane.commands[lane.placed]->arrival_ns, then ? then->arrival_ns : 0);
}

// Not before what was promised. Of a command that waited for a slot: not before the effects of the completion that freed it.
uint64_t Repeat::not_before(const Lane &lane)
{
	const size_t slots = lane.pair->depth() - 1;
	if (lane.placed < slots)
		return lane.promised_ns;
	return std::max(lane.promised_ns, lane.done[lane.placed - slots].completed_ns + lane.pair->turnaround_ns());
}

// The lane's next command, there or later. Returns its arrival.
uint64_t Repeat::place(Lane &lane, uint64_t arrival_ns)
{
	QueuePair &pair = *lane.pair;
	const RecordedCommand &command = *lane.commands[lane.placed];
	const uint64_t arrival = std::max(arrival_ns, not_before(lane));
	const uint16_t cid = *pair.acquire();
	lane.moved += arrival != arrival_ns;
	std::copy(command.ranges.begin(), command.ranges.end(), pair.data(cid).begin());
	lane.number[cid] = lane.placed++;
	res::QueueAccount &account = lane.account(command.sqe);
	account.submitted++;
	account.first_arrival_ns = std::min(account.first_arrival_ns, arrival);
	return pair.submit(cid, command.sqe, arrival);
}

// A lane that was full then is full now; on a slower device it stays full for longer, and delayed
// commands arrive when there is room.
void Repeat::place_all(Lane &lane)
{
	while (lane.placed < lane.until && lane.pair->can_acquire())
		place(lane, recorded_arrival(lane));
}

void Repeat::note(Lane &lane, const Completion &c)
{
	const uint64_t number = lane.number[c.cid];
	const nvme_sqe &sqe = lane.commands[number]->sqe;
	res::QueueAccount &account = lane.account(sqe);
	res::KindAccount &kind = account.of(account_of(sqe.opcode));
	lane.done.push_back({lane.pair->qid(), number, c.arrival_ns, c.completed_ns, c.result, c.status});
	account.digest.u16(static_cast<uint16_t>(lane.pair->qid())); // as that of any run (docs/reference/results.md)
	account.digest.u16(c.cid);
	account.digest.u16(c.status);
	account.digest.u64(c.latency_ns());
	account.completed++;
	account.appends += sqe.opcode == NVME_IO_ZONE_APPEND && !c.status;
	account.last_completion_ns = std::max(account.last_completion_ns, c.completed_ns);
	if (c.status) {
		kind.errors++;
		account.errors[c.status]++;
		return;
	}
	kind.ops++;
	kind.bytes += counted_bytes(sqe);
	kind.latency.add(c.latency_ns());
	account.series.add(c.completed_ns, c.latency_ns());
}

// A lane that is done leaves device time; the last one holds it at the end of the part. Its last completion is published together with that: a
// promise of nothing more would let device time run on.
void Repeat::run_lane(Lane &lane)
{
	QueuePair &pair = *lane.pair;
	TestDelay delay;
	for (;;) {
		delay.maybe();
		const bool all = lane.placed == lane.until;
		for (const Completion &c : pair.wait(all ? pair.outstanding() : 1)) {
			note(lane, c);
			pair.release(c.cid);
		}
		place_all(lane);
		if (!pair.outstanding())
			break;
		pair.promise_nothing_more();
	}
	if (--busy_ || until_ns_ == UINT64_MAX)
		pair.close();
	else
		promise(lane, until_ns_);
}

// Of a lane without commands: on a slower device not before the effects of its last completion.
void Repeat::promise(Lane &lane, uint64_t horizon_ns)
{
	lane.promised_ns = std::max(horizon_ns, lane.pair->next_arrival_ns());
	lane.pair->promise_until(lane.promised_ns);
}

// Lanes that have commands in this part. All are open before the first of them promises, and before the device can see a command of one: else
// device time would go on to that command, on a busy host, before the other lanes take part in it. Until then the lane that holds it does so.
std::vector<Repeat::Lane *> Repeat::open_part()
{
	TestDelay delay;
	std::vector<Lane *> busy;
	for (Lane &lane : lanes_)
		if (lane.placed < lane.until)
			busy.push_back(&lane);
	for (Lane *lane : busy)
		if (!lane->pair->is_open()) {
			lane->pair->open();
			delay.maybe();
		}
	return busy;
}

std::vector<Repeat::Lane *> Repeat::begin_part()
{
	TestDelay delay;
	std::vector<Lane *> busy = open_part();
	for (Lane *lane : busy)
		place_all(*lane);
	for (Lane &lane : lanes_)
		if (!busy.empty() && lane.pair->is_open() && !lane.pair->outstanding())
			lane.pair->close();
	busy_ = busy.size();
	for (Lane *lane : busy) {
		lane->pair->promise_nothing_more();
		delay.maybe();
	}
	return busy;
}

void Repeat::run_part(const std::function<void()> &abort)
{
	std::mutex lock;
	std::exception_ptr failed;
	std::vector<std::thread> threads;
	const std::vector<Lane *> busy = begin_part();
	if (busy.empty())
		hold(until_ns_);
	for (Lane *lane : busy)
		threads.emplace_back([&, lane] {
			try {
				run_lane(*lane);
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

void Repeat::hold(uint64_t horizon_ns)
{
	for (Lane &lane : lanes_)
		if (lane.pair->is_open())
			promise(lane, horizon_ns);
}

// Device time stands at the command's doorbell, and then may go on to the next one of the recording, by which it had answered. Another device
// may need longer: then nothing holds device time until its answer.
void Repeat::run_admin(const RecordedCommand &command, uint64_t next_ns)
{
	std::vector<std::byte> in(command.in_bytes);
	const auto begun = std::chrono::steady_clock::now();
	bool promised = false;
	controller_.admin(command.sqe, in, command.ranges, [&] {
		if (!std::exchange(promised, true))
			hold(next_ns);
		else if (std::chrono::steady_clock::now() - begun > admin_patience)
			close_lanes();
	});
}

void Repeat::close_lanes()
{
	for (Lane &lane : lanes_)
		if (lane.pair->is_open())
			lane.pair->close();
}

// Of the commands from there on the earliest arrival, or UINT64_MAX.
uint64_t Repeat::next_ns(size_t from) const
{
	uint64_t next_ns = UINT64_MAX;
	for (size_t i = from; i < recording_.commands.size(); i++) {
		next_ns = std::min(next_ns, recording_.commands[i].arrival_ns);
		if (!recording_.commands[i].lane)
			break;
	}
	return next_ns;
}

// A part ends with an admin command. Before the first I/O command no lane takes part in device time, and an admin command arrives at 0.
void Repeat::run_parts(const std::function<void()> &abort)
{
	const auto &commands = recording_.commands;
	for (size_t i = 0; i < commands.size(); i++) {
		if (commands[i].lane) {
			lanes_[commands[i].lane - 1].until++;
			continue;
		}
		until_ns_ = commands[i].arrival_ns;
		if (until_ns_)
			run_part(abort);
		run_admin(commands[i], next_ns(i + 1));
	}
	until_ns_ = UINT64_MAX;
	run_part(abort);
}

void Repeat::run(const std::function<void()> &abort, const std::function<void(uint64_t)> &progress)
{
	if (time_)
		run_dependent(progress);
	else
		run_parts(abort);
	close_lanes();
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
	all.recorded_ns = recorded_ns(recording_);
	all.digest = digest.text();
	all.recorded_digest = recording_.digest;
	return all;
}

std::vector<res::QueueAccount> Repeat::accounts() const
{
	std::vector<res::QueueAccount> all;
	for (const Lane &lane : lanes_)
		for (const auto &[nsid, account] : lane.accounts)
			all.push_back(account);
	return all;
}

void Repeat::delete_queues()
{
	for (Lane &lane : lanes_)
		controller_.delete_queue(std::move(lane.pair));
}

} // namespace hz::fabrics
