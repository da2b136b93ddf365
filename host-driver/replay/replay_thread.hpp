/* One host thread on one queue pair: takes commands from its source, makes the promises of virtual
 * time, verifies the data. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/port.hpp"
#include "results/account.hpp"
#include "session/machine/test_delay.hpp"

#include <atomic>
#include <deque>
#include <vector>

namespace hz::replay {

struct ThreadOptions {
	uint64_t seed = 1;        /* of the data patterns, equal for all threads of a run */
	uint64_t start_ns = 0;    /* device time of the first arrival */
	unsigned queue_depth = 8; /* commands under way at most */
	unsigned ahead = 0;       /* further commands that the device gets before they arrive, if the source foresees them */
	bool verify = true;
	bool accept_unreadable = false; // such reads count as errors, and not as failures
	size_t most_spans = 0;          /* commands to keep in the account, for a timeline */
};

/* Arrival of a command = the later of its cause's completion + turn-around and the thread's
 * previous arrival, + think time; or the trace's time, if later. A thread is one program: it acts
 * sequentially.
 *
 * Completions are handled one by one in the device's order, so batching on the host has no effect:
 * all results are a function of device time. */
class ReplayThread {
public:
	ReplayThread(Port &port, wl::Source &source, const ThreadOptions &options);

	/* Takes the first command from the source, before the port is open. False: there is none, the port need not open. */
	bool prime();
	/* On an open port: runs until the source is done or the user asks to stop
	 * (session/machine/interrupt.hpp), and no command is under way, then closes it. Stops
	 * early, without closing, when `stop` is set. Throws the exceptions of port and source. */
	void run(const std::atomic<bool> &stop);

	const res::QueueAccount &account() const { return account_; }
	uint32_t progress_ppm() const { return progress_.load(std::memory_order_relaxed); }

private:
	void pump(uint64_t cause_ns);
	unsigned placed_ahead() const;
	bool may_take_another();
	void issue(uint16_t cid, uint64_t cause_ns);
	uint64_t room_for_next() const;
	uint64_t completions_before_next() const;
	bool foreseen(uint64_t cause) const;
	uint64_t arrival_behind(uint64_t cause, const wl::Request &request) const;
	uint64_t arrival_now(uint64_t cause_ns, const wl::Request &request);
	void let_arrive();
	void finish(const Completion &done);
	void note_failure(const Completion &done, const wl::Request &request);
	void check_data(const Completion &done, const wl::Request &request);

	Port &port_;
	wl::Source &source_;
	ThreadOptions options_;
	TestDelay delay_;
	std::vector<wl::Request> requests_; /* by command id */
	wl::Request spare_;
	struct Coming { /* a command that arrives after this number of completions */
		uint16_t cid;
		uint64_t completed;
		bool held; /* the source had kept it back */
	};
	std::deque<Coming> coming_;
	uint64_t last_cause_ = 0; /* `completed` of the last one */
	unsigned ahead_ = 0;      /* in this phase */
	unsigned outstanding_ = 0;
	bool primed_ = false; /* spare_ holds the first command */
	bool done_ = false;
	uint64_t last_arrival_ns_;
	std::atomic<uint32_t> progress_{0};
	res::QueueAccount account_;
};

res::Kind kind_of(const wl::Request &request);

} // namespace hz::replay
