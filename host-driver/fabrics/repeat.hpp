// Repeat: a recording on a device, without the host that it was made with: each command in its lane, at its arrival, or by what it waited for
// (dependencies.hpp). On the device that it was recorded on, started alike, each ends when it did then, to the nanosecond. On another one the
// arrivals stay (an open loop), or the commands come as fast as their dependencies allow.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabrics/dependencies.hpp"
#include "fabrics/record.hpp"
#include "results/account.hpp"
#include "session/controller.hpp"

namespace hz::fabrics {

struct RepeatFigures {
	uint64_t commands = 0, differ = 0, furthest_ns = 0; // completions at another time, or with another status or result, than recorded
	uint64_t moved = 0;                                 // arrivals that had to be later than they should: the lane was full
	uint64_t recorded_ns = 0;                           // from the first arrival to the last completion, then
	std::string first_difference;
	std::string digest, recorded_digest; // recorded: empty if the recording was cut off
	bool same() const { return digest == recorded_digest; }
};

class Repeat {
public:
	// Makes the lanes' queue pairs on a device that has none. waits: of each command; without them the arrivals are as recorded.
	Repeat(Controller &controller, const Recording &recording, const std::optional<std::vector<Wait>> &waits = {});
	// Region size for them.
	static uint64_t shared_bytes(const RecordHead &head);

	// Once: runs the parts and the admin commands between them. Throws Error and its
	// subclasses; `abort` is called first and ends the waits of other lanes. progress: called now and
	// then with the number of I/O commands that have been placed.
	void run(const std::function<void()> &abort, const std::function<void(uint64_t)> &progress);
	RepeatFigures figures() const;
	std::vector<res::QueueAccount> accounts() const;
	// By dependencies: the recording with the times and answers of this device. Its lines stay in their order, and so does what waited for what.
	Recording repeated(const RecordHead &head) const;
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
	static uint64_t not_before(const Lane &lane);
	uint64_t place(Lane &lane, uint64_t arrival_ns);
	void place_all(Lane &lane);
	void run_lane(Lane &lane);
	void close_lanes();
	std::vector<Lane *> open_part();
	std::vector<Lane *> begin_part();
	void run_part(const std::function<void()> &abort);
	void run_parts(const std::function<void()> &abort);
	static void promise(Lane &lane, uint64_t horizon_ns);
	// Of the lane that is open, if any: all others are not.
	void hold(uint64_t horizon_ns);
	uint64_t next_ns(size_t from) const;
	void run_admin(const RecordedCommand &command, uint64_t next_ns);
	void note(Lane &lane, const Completion &completion);

	// By dependencies, with one thread for all lanes (repeat_dependent.cpp).
	void began(uint64_t arrival_ns);
	bool place_next();
	void take(Lane &lane, const Completion &completion);
	uint64_t horizon_of_next();
	void await_lane(Lane &lane);
	void await_lanes(const std::vector<Lane *> &busy);
	void run_dependent_part(const std::function<void(uint64_t)> &progress);
	void run_dependent_admin();
	void run_dependent(const std::function<void(uint64_t)> &progress);

	Controller &controller_;
	const Recording &recording_;
	std::vector<Lane> lanes_;
	std::optional<DependentTime> time_; // by dependencies
	size_t next_ = 0;                   // command of the recording
	uint64_t now_ns_ = 0;               // what has completed before has been seen
	std::vector<uint64_t> began_ns_;    // of each command so far
	std::atomic<size_t> busy_{0};       // lanes that have commands to go in this part
	uint64_t until_ns_ = 0;             // end of this part in device time; UINT64_MAX: of the last one
};

} // namespace hz::fabrics
