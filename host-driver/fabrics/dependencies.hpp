// Dependencies: what each command of a recording waited for, and so when it arrives where commands end at other times.
//
// The lines of a recording are in the order in which things happened, so its host can have waited for the completions in front of a
// command's line, and for no others. The command waits for all of them, and arrives its think time after the last one. Think time is what
// passed on the recorded device: the host's work, the transport, and the delay of completions that were handed over late. No command
// overtakes the one in front of it. So of the completions only those between the two need to be known. An admin command waits as an I/O
// command does; what is behind it waits for its doorbell, at which all I/O commands in front of it have ended.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabrics/record.hpp"

namespace hz::fabrics {

struct Wait {
	uint64_t completions = 0; // of the recording, from its first one on: all of them
	uint64_t think_ns = 0;    // from the last of them, or of the admin doorbells in front, or from time 0
};

struct WaitFigures {
	uint64_t commands = 0;    // that waited for completions between them and the command in front
	uint64_t completions = 0; // that they waited for
	uint64_t think_ns = 0;    // sum over these commands
};

// Of each command of the recording, in its order. Throws Error "file:line: …" for a command that arrives before the one in front of it, or before
// a host could have answered a completion in front of it. `file`: named there.
std::vector<Wait> waits_of(const Recording &recording, const std::string &file);
WaitFigures figures_of(const Recording &recording, const std::vector<Wait> &waits);

// The same commands on another device. Commands are given by their place in the recording; they begin, and are asked about, in this order.
class DependentTime {
public:
	DependentTime(const Recording &recording, std::vector<Wait> waits);

	// A completion was seen; lane and number of its command.
	void completed(unsigned lane, uint64_t command, uint64_t completed_ns);
	// Has all that this one waits for been seen?
	bool is_due(size_t command);
	// Of one that is due: its arrival.
	uint64_t arrival_ns(size_t command);
	// Of one that is not: it does not arrive before that, if no completion comes before now_ns that has not been seen.
	uint64_t earliest_ns(size_t command, uint64_t now_ns);
	// It arrives then. Of an admin command: its doorbell.
	void began(size_t command, uint64_t arrival_ns);

private:
	void count(uint64_t completions);

	const Recording &recording_;
	std::vector<Wait> waits_;
	std::vector<std::vector<uint64_t>> place_; // of a completion in the recording: by lane and number of the command
	std::vector<uint64_t> completed_ns_;       // by place; UINT64_MAX: not seen
	uint64_t counted_ = 0, last_ns_ = 0;       // completions from the first one on; the last of them and of the doorbells
	uint64_t arrived_ns_ = 0;                  // the last command that began
};

} // namespace hz::fabrics
