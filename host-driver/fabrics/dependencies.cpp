// Dependencies: from the order of a recording's lines to waits, and from completions to arrivals.
// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/dependencies.hpp"

#include <algorithm>
#include <utility>

#include "session/machine/error.hpp"

namespace hz::fabrics {

namespace {

constexpr uint64_t not_seen = UINT64_MAX;
constexpr uint64_t not_recorded = UINT64_MAX;

// By lane and number of the command: the place of its completion.
std::vector<std::vector<uint64_t>> places_of(const Recording &recording)
{
	std::vector<std::vector<uint64_t>> place(recording.head.lanes);
	for (const RecordedCommand &command : recording.commands)
		if (command.lane)
			place[command.lane - 1].push_back(not_recorded);
	for (size_t i = 0; i < recording.completions.size(); i++)
		place[recording.completions[i].lane - 1][recording.completions[i].command] = i;
	return place;
}

// As the device saw them: a command's lane may have taken part in time later than the command came, and then the next ones arrive no earlier.
std::vector<uint64_t> arrivals_of(const Recording &recording)
{
	const auto place = places_of(recording);
	std::vector<size_t> number(recording.head.lanes);
	std::vector<uint64_t> arrivals;
	uint64_t latest_ns = 0;
	for (const RecordedCommand &command : recording.commands) {
		latest_ns = std::max(latest_ns, command.arrival_ns);
		const uint64_t at = command.lane ? place[command.lane - 1][number[command.lane - 1]++] : not_recorded;
		if (at != not_recorded)
			latest_ns = std::max(latest_ns, recording.completions[at].arrival_ns);
		arrivals.push_back(latest_ns);
	}
	return arrivals;
}

size_t lanes_used(const Recording &recording)
{
	std::vector<bool> used(recording.head.lanes + 1);
	for (const RecordedCommand &command : recording.commands)
		used[command.lane] = command.lane != 0;
	return static_cast<size_t>(std::count(used.begin(), used.end(), true));
}

[[noreturn]] void fail(const std::string &file, const RecordedCommand &command, const std::string &before)
{
	throw Error(file + ":" + std::to_string(command.line) + ": the command arrives at " + std::to_string(command.arrival_ns) +
		    " ns, before " + before + ": so it is not known what it waited for");
}

} // namespace

std::vector<Wait> waits_of(const Recording &recording, const std::string &file)
{
	const std::vector<uint64_t> arrivals = arrivals_of(recording);
	if (!recording.head.turnaround_ns && lanes_used(recording) > 1)
		throw Error(file +
			    ":1: commands came in several queues with no time of transport: so it is not known what waited for what");
	std::vector<Wait> waits;
	uint64_t seen = 0, completed_ns = 0, last_ns = 0, front_ns = 0;
	for (size_t i = 0; i < recording.commands.size(); i++) {
		const RecordedCommand &command = recording.commands[i];
		for (; seen < command.completions_before; seen++)
			completed_ns = std::max(completed_ns, recording.completions[seen].completed_ns);
		last_ns = std::max(last_ns, completed_ns);
		const uint64_t answered_ns = completed_ns + (seen && command.lane ? recording.head.turnaround_ns : 0);
		if (command.arrival_ns < std::exchange(front_ns, command.arrival_ns))
			fail(file, command, "the one in front of it");
		if (arrivals[i] < answered_ns)
			fail(file, command,
			     "a host could answer the completions in front of it, at " + std::to_string(answered_ns) + " ns");
		waits.push_back({seen, arrivals[i] - last_ns});
		if (!command.lane)
			last_ns = arrivals[i];
	}
	return waits;
}

WaitFigures figures_of(const Recording &recording, const std::vector<Wait> &waits)
{
	WaitFigures figures;
	uint64_t before = 0;
	for (size_t i = 0; i < waits.size(); i++) {
		const uint64_t own = waits[i].completions - std::exchange(before, waits[i].completions);
		if (!own || !recording.commands[i].lane)
			continue;
		figures.commands++;
		figures.completions += own;
		figures.think_ns += waits[i].think_ns;
	}
	return figures;
}

DependentTime::DependentTime(const Recording &recording, std::vector<Wait> waits)
	: recording_(recording), waits_(std::move(waits)), place_(places_of(recording)),
	  completed_ns_(recording.completions.size(), not_seen)
{
}

void DependentTime::completed(unsigned lane, uint64_t command, uint64_t completed_ns)
{
	const uint64_t place = place_[lane - 1][command];
	if (place != not_recorded)
		completed_ns_[place] = completed_ns;
}

void DependentTime::count(uint64_t completions)
{
	for (; counted_ < completions && completed_ns_[counted_] != not_seen; counted_++)
		last_ns_ = std::max(last_ns_, completed_ns_[counted_]);
}

bool DependentTime::is_due(size_t command)
{
	count(waits_[command].completions);
	return counted_ == waits_[command].completions;
}

uint64_t DependentTime::arrival_ns(size_t command)
{
	count(waits_[command].completions);
	return std::max(arrived_ns_, last_ns_ + waits_[command].think_ns);
}

uint64_t DependentTime::earliest_ns(size_t command, uint64_t now_ns)
{
	count(waits_[command].completions);
	return std::max(arrived_ns_, std::max(last_ns_, now_ns) + waits_[command].think_ns);
}

void DependentTime::began(size_t command, uint64_t arrival_ns)
{
	arrived_ns_ = arrival_ns;
	if (!recording_.commands[command].lane)
		last_ns_ = std::max(last_ns_, arrival_ns);
}

} // namespace hz::fabrics
