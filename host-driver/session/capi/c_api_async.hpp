// AsyncRequests: the requests of one queue under way, and the file descriptor that signals
// completions.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "hartzone.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "session/nvme/queue_pair.hpp"

namespace hz::capi {

// One caller at a time; the descriptor's watcher is the only other thread. A call that throws Error
// has changed nothing, unless the device died.
class AsyncRequests {
public:
	AsyncRequests(QueuePair &pair, bool virtual_clock) : pair_(pair), virtual_clock_(virtual_clock), contexts_(pair.depth()) {}
	~AsyncRequests();

	void submit(const hartzone_request &request, nvme_sqe sqe, uint32_t blocks);
	void commit();
	// How many were stored, at most `most`. wait(): at least one, unless nothing is under way.
	unsigned reap(hartzone_completion *out, unsigned most);
	unsigned wait(hartzone_completion *out, unsigned most);
	// Waits for everything that is under way.
	void drain();
	int event_fd();

private:
	struct Context { // of a command id
		uint64_t token;
		bool appends;
		std::vector<iovec> into; // of a read
	};
	void let_go();
	void take(std::span<const Completion> completions);
	unsigned hand_out(hartzone_completion *out, unsigned most);
	void watch();

	QueuePair &pair_;
	bool virtual_clock_, running_ = false; // running: device time passes until a completion is taken
	std::vector<Context> contexts_;
	std::deque<hartzone_completion> done_;
	std::mutex lock_; // all above
	std::condition_variable armed_or_ending_;
	bool armed_ = false, ending_ = false;
	int fd_ = -1;
	std::thread watcher_;
};

} // namespace hz::capi
