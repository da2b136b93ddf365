// Arrivals: when the commands of one queue arrive, by the rules of protocol/shm.h. For devices of tests.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "shm.h"

namespace hz::replay {

template <class Command> class Arrivals {
public:
	explicit Arrivals(uint64_t turnaround_ns) : turnaround_ns_(turnaround_ns) {}

	void submit(Command command, uint64_t word) { coming_.push_back({std::move(command), word, submitted_++ - hz_arrival_back(word)}); }
	void completed(uint64_t ns) { ended_ns_.push_back(ns); }

	// The next command and its arrival time, if the completions so far determine it. In order:
	// an undetermined one holds up those behind it.
	std::optional<std::pair<Command, uint64_t>> next()
	{
		if (coming_.empty())
			return std::nullopt;
		Coming &first = coming_.front();
		if (!(first.word & HZ_ARRIVAL_FOLLOWS))
			last_ns_ = first.word;
		else if (first.follows < ended_ns_.size())
			last_ns_ = std::max(last_ns_, ended_ns_[first.follows] + turnaround_ns_) + hz_arrival_think_ns(first.word);
		else
			return std::nullopt;
		std::pair<Command, uint64_t> arrived{std::move(first.command), last_ns_};
		coming_.pop_front();
		return arrived;
	}

private:
	struct Coming {
		Command command;
		uint64_t word, follows; // number of a completion, if the word is a rule
	};
	uint64_t turnaround_ns_;
	std::deque<Coming> coming_;
	std::vector<uint64_t> ended_ns_; // completions in their order
	uint64_t submitted_ = 0, last_ns_ = 0;
};

} // namespace hz::replay
