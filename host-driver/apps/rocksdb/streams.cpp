// Streams: RocksDB's events.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/rocksdb/streams.hpp"

#include <algorithm>
#include <ctime>

namespace hz::rocks {

namespace {

constexpr uint64_t think_step_ns = 10000; // CPU time is no more exact, and a trace of few numbers is small

uint64_t cpu_ns()
{
	timespec time;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return uint64_t(time.tv_sec) * 1000000000u + uint64_t(time.tv_nsec);
}

} // namespace

// Threads get their numbers when they appear.
Streams::Stream &Streams::current()
{
	const auto [place, fresh] = streams_.try_emplace(std::this_thread::get_id());
	if (fresh)
		place->second.number = streams_.size() - 1;
	return place->second;
}

// Of one stream the latest point counts.
void Streams::wait_for(Stream &stream, const Point &point)
{
	if (!point.records || point.stream == stream.number)
		return;
	for (Point &wait : stream.waits)
		if (wait.stream == point.stream) {
			wait.records = std::max(wait.records, point.records);
			return;
		}
	stream.waits.push_back(point);
}

// Once the flush of the memtable before has completed: the recorded program waits for that too.
void Streams::add_fill_wait(Stream &stream)
{
	const size_t before = sealed_.size() - 1;
	if (before && flushed_.size() < before)
		return;
	full_ = false;
	if (before)
		wait_for(stream, flushed_[before - 1]);
	wait_for(stream, compacted_);
}

void Streams::mark(trace::Record &record)
{
	const std::lock_guard lock(mutex_);
	Stream &stream = current();
	if (full_ && stream.number == filling_)
		add_fill_wait(stream);
	record.stream = stream.number;
	record.think_ns = stream.think_ns / think_step_ns * think_step_ns;
	stream.records++;
	std::copy_n(stream.waits.begin(), std::min(stream.waits.size(), record.after.size()), record.after.begin());
	stream.waits.erase(stream.waits.begin(), stream.waits.begin() + long(std::min(stream.waits.size(), record.after.size())));
}

uint64_t Streams::before_command()
{
	const std::lock_guard lock(mutex_);
	Stream &stream = current();
	stream.think_ns = cpu_ns() - stream.computed_ns;
	return 0;
}

void Streams::after_command()
{
	const std::lock_guard lock(mutex_);
	current().computed_ns = cpu_ns();
}

void Streams::sealed()
{
	const std::lock_guard lock(mutex_);
	sealed_.push_back(point());
	filling_ = current().number;
	full_ = true;
}

void Streams::flush_begins()
{
	const std::lock_guard lock(mutex_);
	flushing_ = sealed_.size();
	if (flushing_)
		wait_for(current(), sealed_.back());
}

void Streams::flush_ended()
{
	const std::lock_guard lock(mutex_);
	flushed_.resize(std::max(flushed_.size(), flushing_), point());
}

void Streams::compaction_begins()
{
	const std::lock_guard lock(mutex_);
	if (!flushed_.empty())
		wait_for(current(), flushed_.back());
}

void Streams::compaction_ended()
{
	const std::lock_guard lock(mutex_);
	compacted_ = point();
}

} // namespace hz::rocks
