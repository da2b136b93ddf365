// Repeat by dependencies: one thread places each command when all that it waited for has been seen.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "fabrics/repeat.hpp"
#include "session/machine/test_delay.hpp"

namespace hz::fabrics {

namespace {

constexpr uint64_t commands_a_look = 64; // between calls for the progress

} // namespace

void Repeat::began(uint64_t arrival_ns)
{
	time_->began(next_++, arrival_ns);
	began_ns_.push_back(arrival_ns);
}

bool Repeat::place_next()
{
	Lane &lane = lanes_[recording_.commands[next_].lane - 1];
	if (!lane.pair->can_acquire() || !time_->is_due(next_))
		return false;
	began(place(lane, time_->arrival_ns(next_)));
	return true;
}

void Repeat::take(Lane &lane, const Completion &completion)
{
	note(lane, completion);
	lane.pair->release(completion.cid);
	time_->completed(lane.pair->qid(), lane.done.back().command, completion.completed_ns);
}

// The next command could not be placed, so it follows a completion that has not been seen.
uint64_t Repeat::horizon_of_next()
{
	if (next_ == recording_.commands.size())
		return UINT64_MAX;
	const uint64_t arrival_ns = time_->is_due(next_) ? time_->arrival_ns(next_) : time_->earliest_ns(next_, now_ns_);
	return std::max(arrival_ns, now_ns_ + recording_.head.turnaround_ns);
}

// What has not been seen of the only lane holds device time.
void Repeat::await_lane(Lane &lane)
{
	lane.pair->promise_nothing_more();
	for (const Completion &c : lane.pair->wait())
		take(lane, c);
}

// A command of one lane may follow a completion of another one, which does not hold the first one's time. So all promise until the next
// command can come at the earliest. Device time stands there, or at what follows the first completion; what has completed before is seen.
void Repeat::await_lanes(const std::vector<Lane *> &busy)
{
	TestDelay delay;
	const uint64_t horizon_ns = horizon_of_next();
	for (Lane *lane : busy) {
		lane->promised_ns = horizon_ns == UINT64_MAX ? lane->promised_ns : std::max(lane->promised_ns, horizon_ns);
		lane->pair->promise_quietly(horizon_ns == UINT64_MAX ? horizon_ns : lane->promised_ns);
		delay.maybe();
	}
	busy.back()->pair->ring();
	controller_.await_standing();
	uint64_t stands_ns = horizon_ns;
	for (Lane *lane : busy) {
		lane->pair->check();
		for (const Completion &c : lane->pair->reap()) {
			take(*lane, c);
			stands_ns = std::min(stands_ns, c.completed_ns + recording_.head.turnaround_ns);
		}
	}
	now_ns_ = std::max(now_ns_, stands_ns);
}

void Repeat::run_dependent_part(const std::function<void(uint64_t)> &progress)
{
	const std::vector<Lane *> busy = open_part();
	for (Lane &lane : lanes_)
		if (!busy.empty() && lane.pair->is_open() && lane.placed == lane.until)
			lane.pair->close();
	const auto under_way = [](const Lane *lane) { return lane->pair->outstanding() != 0; };
	for (uint64_t shown = next_;;) {
		while (next_ < recording_.commands.size() && recording_.commands[next_].lane && place_next())
			;
		if (std::none_of(busy.begin(), busy.end(), under_way))
			return;
		busy.size() == 1 ? await_lane(*busy.front()) : await_lanes(busy);
		if (next_ >= shown + commands_a_look)
			progress(shown = next_);
	}
}

// Its doorbell: device time stands there, and then may go on to the next command.
void Repeat::run_dependent_admin()
{
	const RecordedCommand &command = recording_.commands[next_];
	const uint64_t at_ns = command.arrival_ns ? time_->arrival_ns(next_) : 0;
	if (at_ns)
		hold(at_ns);
	began(at_ns);
	run_admin(command, next_ < recording_.commands.size() ? time_->arrival_ns(next_) : UINT64_MAX);
}

void Repeat::run_dependent(const std::function<void(uint64_t)> &progress)
{
	const auto &commands = recording_.commands;
	while (next_ < commands.size()) {
		for (size_t i = next_; i < commands.size() && commands[i].lane; i++)
			lanes_[commands[i].lane - 1].until++;
		run_dependent_part(progress);
		if (next_ < commands.size())
			run_dependent_admin();
	}
}

// What had not ended then, as the recording was cut off, ends behind all others: nothing waited for it.
Recording Repeat::repeated(const RecordHead &head) const
{
	Recording again{.head = head, .commands = recording_.commands, .completions = {}, .digest = figures().digest};
	for (size_t i = 0; i < again.commands.size(); i++)
		again.commands[i].arrival_ns = began_ns_[i];
	std::vector<std::vector<const RecordedCompletion *>> done(lanes_.size());
	for (size_t i = 0; i < lanes_.size(); i++) {
		done[i].resize(lanes_[i].commands.size());
		for (const RecordedCompletion &one : lanes_[i].done)
			done[i][one.command] = &one;
	}
	for (const RecordedCompletion &then : recording_.completions)
		again.completions.push_back(*std::exchange(done[then.lane - 1][then.command], nullptr));
	for (const auto &lane : done)
		for (const RecordedCompletion *one : lane)
			if (one)
				again.completions.push_back(*one);
	return again;
}

} // namespace hz::fabrics
