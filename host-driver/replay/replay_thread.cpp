/* One host thread on one queue pair. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/replay_thread.hpp"

#include "replay/pattern.hpp"
#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"

#include <algorithm>

namespace hz::replay {
namespace {

bool carries_data_out(const wl::Request &r) { return r.op == wl::Op::write || r.op == wl::Op::append; }

auto sector_of(std::span<std::byte> data, size_t index)
{
	return std::span<std::byte, sector_bytes>(data.data() + index * sector_bytes, sector_bytes);
}

} // namespace

res::Kind kind_of(const wl::Request &request)
{
	const bool gc = request.cause == wl::Cause::gc;
	switch (request.op) {
	case wl::Op::read: return gc ? res::Kind::gc_read : res::Kind::read;
	case wl::Op::write:
	case wl::Op::append: return gc ? res::Kind::gc_write : res::Kind::write;
	case wl::Op::flush: return res::Kind::flush;
	case wl::Op::deallocate: return res::Kind::trim;
	default: return res::Kind::zone;
	}
}

ReplayThread::ReplayThread(Port &port, wl::Source &source, const ThreadOptions &options)
	: port_(port), source_(source), options_(options), last_arrival_ns_(options.start_ns)
{
	account_.qid = port.qid();
}

bool ReplayThread::prime()
{
	primed_ = source_.next(spare_) == wl::Step::issue;
	if (!primed_)
		progress_ = 1000000;
	return primed_;
}

void ReplayThread::run(const std::atomic<bool> &stop)
{
	ahead_ = source_.plans_ahead() ? options_.ahead : 0;
	pump(options_.start_ns);
	while (outstanding_) {
		delay_.maybe();
		port_.promise();
		for (const Completion &done : port_.wait(1 + placed_ahead() / 2)) {
			delay_.maybe();
			finish(done);
			let_arrive();
			pump(done.completed_ns + port_.turnaround_ns());
		}
		progress_.store(source_.progress_ppm(), std::memory_order_relaxed);
		if (stop.load(std::memory_order_relaxed))
			return;
	}
	if (!done_)
		throw wl::WorkloadError("internal: the workload waits although nothing is under way");
	progress_.store(1000000, std::memory_order_relaxed);
	port_.close();
}

/* Commands that the queue has no room for yet. */
unsigned ReplayThread::placed_ahead() const { return outstanding_ > options_.queue_depth ? outstanding_ - options_.queue_depth : 0; }

bool ReplayThread::may_take_another() { return outstanding_ < options_.queue_depth || (placed_ahead() < ahead_ && source_.foresees()); }

/* Issues all commands possible after one completion (or at the start). */
void ReplayThread::pump(uint64_t cause_ns)
{
	source_.at(cause_ns - options_.start_ns);
	while (!done_ && may_take_another()) {
		if (stop_asked()) {
			account_.interrupted = done_ = true;
			return;
		}
		const wl::Step step = primed_ ? wl::Step::issue : source_.next(spare_);
		primed_ = false;
		done_ = step == wl::Step::done;
		if (step != wl::Step::issue)
			return;
		const auto cid = port_.acquire();
		if (!cid)
			throw wl::WorkloadError("internal: queue depth " + std::to_string(options_.queue_depth) +
						" exceeds the queue's ids");
		if (*cid >= requests_.size())
			requests_.resize(*cid + 1u);
		std::swap(requests_[*cid], spare_);
		issue(*cid, cause_ns);
	}
}

void ReplayThread::issue(uint16_t cid, uint64_t cause_ns)
{
	const wl::Request &r = requests_[cid];
	if (options_.verify && carries_data_out(r)) {
		const auto data = port_.data(cid);
		for (uint32_t i = 0; i < r.sectors; i++)
			fill_sector(sector_of(data, i), options_.seed, r.stamps[i]);
	}
	const uint64_t cause = completions_before_next();
	const uint64_t arrival_ns = port_.submit(cid, r, foreseen(cause) ? arrival_behind(cause, r) : arrival_now(cause_ns, r));
	if (!foreseen(cause)) {
		last_arrival_ns_ = arrival_ns;
		account_.first_arrival_ns = std::min(account_.first_arrival_ns, arrival_ns);
	}
	coming_.push_back({cid, cause, cause > last_cause_ && cause > room_for_next()});
	last_cause_ = cause;
	account_.submitted++;
	outstanding_++;
	let_arrive();
}

/* Number of completions after which the queue has room for the next command, */
uint64_t ReplayThread::room_for_next() const
{
	const uint64_t number = account_.submitted, depth = options_.queue_depth;
	return number < depth ? 0 : number - depth + 1;
}

/* and number after which it arrives: later if the source provides it only now. */
uint64_t ReplayThread::completions_before_next() const { return std::max(room_for_next(), account_.completed); }

/* With others ahead, all that a completion lets arrive follows it by itself. */
bool ReplayThread::foreseen(uint64_t cause) const { return ahead_ && cause; }

uint64_t ReplayThread::arrival_behind(uint64_t cause, const wl::Request &r) const
{
	return hz_arrival_following(uint32_t(account_.submitted - cause + 1), r.think_ns);
}

uint64_t ReplayThread::arrival_now(uint64_t cause_ns, const wl::Request &r)
{
	const uint64_t ready_ns = std::max(cause_ns, last_arrival_ns_) + r.think_ns;
	const uint64_t wanted_ns = options_.start_ns + r.not_before_ns;
	account_.late_arrivals += r.not_before_ns && ready_ns > wanted_ns;
	return std::max(ready_ns, wanted_ns);
}

void ReplayThread::let_arrive()
{
	for (; !coming_.empty() && coming_.front().completed <= account_.completed; coming_.pop_front())
		source_.arrives(requests_[coming_.front().cid], coming_.front().held);
}

void ReplayThread::finish(const Completion &done)
{
	const wl::Request &r = requests_[done.cid];
	res::KindAccount &kind = account_.of(kind_of(r));
	outstanding_--;
	account_.completed++;
	if (account_.spans.size() < options_.most_spans)
		account_.spans.push_back({kind_of(r), done.completed_ns - done.latency_ns(), done.completed_ns});
	account_.last_completion_ns = std::max(account_.last_completion_ns, done.completed_ns);
	if (done.status == 0) {
		kind.ops++;
		kind.bytes += uint64_t(r.sectors) * sector_bytes;
		kind.latency.add(done.latency_ns());
		if (r.cause != wl::Cause::gc)
			account_.series.add(done.completed_ns, done.latency_ns());
		account_.appends += r.op == wl::Op::append;
		if (options_.verify && r.op == wl::Op::read)
			check_data(done, r);
	} else {
		kind.errors++;
		account_.errors[done.status]++;
		if (!source_.provokes(done.status) && !(options_.accept_unreadable && done.status == NVME_UNRECOVERED_READ))
			note_failure(done, r);
	}
	account_.digest.u16(uint16_t(port_.qid()));
	account_.digest.u16(done.cid);
	account_.digest.u16(done.status);
	account_.digest.u64(done.latency_ns());
	source_.at(done.completed_ns - options_.start_ns);
	source_.complete(r, done.status, done.result);
	port_.release(done.cid);
}

void ReplayThread::note_failure(const Completion &done, const wl::Request &r)
{
	account_.failures++;
	if (!account_.first_failure.empty())
		return;
	account_.first_failure = "queue " + std::to_string(port_.qid()) + ", " + std::string(res::kind_names[size_t(kind_of(r))]);
	if (r.sectors)
		account_.first_failure += " of " + std::to_string(r.sectors) + " sectors";
	if (r.op != wl::Op::flush)
		account_.first_failure += " at LBA " + std::to_string(r.lba);
	account_.first_failure += ": " + status_text(done.status);
}

void ReplayThread::check_data(const Completion &done, const wl::Request &r)
{
	const auto data = port_.data(done.cid);
	for (uint32_t i = 0; i < r.sectors; i++) {
		if (r.stamps[i].version == wl::unknown_version)
			continue;
		if (check_versions(sector_of(data, i), options_.seed, r.stamps[i], source_.newest_version(r, i)) ||
		    (source_.newest_zeros(r, i) && check_sector(sector_of(data, i), options_.seed, {r.stamps[i].key, 0}))) {
			account_.verified_bytes += sector_bytes;
			continue;
		}
		account_.mismatched_sectors++;
		if (account_.first_mismatch.empty())
			account_.first_mismatch = describe_mismatch(sector_of(data, i), options_.seed, r.stamps[i], r.lba + i);
	}
}

} // namespace hz::replay
