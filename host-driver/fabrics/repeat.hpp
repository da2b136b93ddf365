// Repeat: a recording on a device, without the host that it was made with: each command in its lane, at its arrival. On the device that it
// was recorded on, started alike, each ends when it did then, to the nanosecond; on another one the arrivals stay (an open loop).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <functional>
#include <map>
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
		uint64_t moved = 0, promised_ns = 0;              // promised: while it had no commands
		std::map<uint32_t, res::QueueAccount> accounts;   // by namespace

		res::QueueAccount &account(const nvme_sqe &sqe);
	};
	uint64_t recorded_arrival(const Lane &lane) const;
	uint64_t arrival_of(const Lane &lane) const;
	void place(Lane &lane);
	void run_lane(Lane &lane);
	void close_lanes();
	std::vector<Lane *> begin_part();
	void run_part(const std::function<void()> &abort);
	static void promise(Lane &lane, uint64_t horizon_ns);
	// Of the lane that is open, if any: all others are not.
	void hold(uint64_t horizon_ns);
	uint64_t next_ns(size_t from) const;
	void run_admin(const RecordedCommand &command, uint64_t next_ns);
	void note(Lane &lane, const Completion &completion);

	Controller &controller_;
	const Recording &recording_;
	std::vector<Lane> lanes_;
	std::atomic<size_t> busy_{0}; // lanes that have commands to go in this part
	uint64_t until_ns_ = 0;       // end of this part in device time; UINT64_MAX: of the last one
};

} // namespace hz::fabrics
