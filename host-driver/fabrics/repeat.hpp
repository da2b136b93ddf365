// Repeat: a recording on a device, without the host that it was made with: each command in its lane, at its arrival. On the device that it
// was recorded on, started alike, each ends when it did then, to the nanosecond; on another one the arrivals stay (an open loop).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fabrics/record.hpp"
#include "results/account.hpp"
#include "session/controller.hpp"

namespace hz::fabrics {

struct RepeatFigures {
	uint64_t commands = 0, differ = 0, furthest_ns = 0; // completions at another time, or with another status or result, than recorded
	uint64_t moved = 0;                                 // arrivals that had to be later than recorded: the lane was full
	std::string first_difference;
	std::string digest, recorded_digest; // recorded: empty if the recording was cut off
	bool same() const { return digest == recorded_digest; }
};

class Repeat {
public:
	// Makes the lanes' queue pairs on a device that has none.
	Repeat(Controller &controller, const Recording &recording);
	// Region size for them.
	static uint64_t shared_bytes(const RecordHead &head);

	// Once: runs the parts and the admin commands between them. Throws Error and its
	// subclasses; `abort` is called first and ends the waits of other lanes.
	void run(const std::function<void()> &abort);
	RepeatFigures figures() const;
	std::vector<res::QueueAccount> accounts() const;
	void delete_queues();

private:
	struct Lane {
		std::unique_ptr<QueuePair> pair;
		std::vector<const RecordedCommand *> commands;
		std::vector<const RecordedCompletion *> recorded; // by the command's number; null: it was not recorded
		std::vector<uint64_t> number;                     // by command id
		size_t placed = 0, until = 0;                     // commands; until: end of this part of the recording
		std::vector<RecordedCompletion> done;             // in the device's order
		uint64_t moved = 0;
		res::QueueAccount account;
	};
	uint64_t arrival_of(const Lane &lane) const;
	void place(Lane &lane);
	void run_lane(Lane &lane, uint64_t stands_ns);
	// stands_ns: the device time at the end of the part.
	void run_part(uint64_t stands_ns, const std::function<void()> &abort);
	void run_admin(const RecordedCommand &command);
	void note(Lane &lane, const Completion &completion);

	Controller &controller_;
	const Recording &recording_;
	std::vector<Lane> lanes_;
};

} // namespace hz::fabrics
