// AdminQueue: the admin queue pair over the register link. Several threads may have a command under way.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "control.hpp"
#include "link.hpp"

namespace hz {

class AdminQueue {
public:
	static constexpr unsigned depth = 32;
	static constexpr uint64_t sq_bytes = 4096, cq_bytes = 4096;

	AdminQueue(Region &region, Link &link) : region_(region), link_(link) {}

	// Sets both rings empty and at these addresses, which are zero; the controller is disabled.
	void place(BusAddress sq, BusAddress cq);

	// Called about every 20 ms while a command is under way, the first time when the device has its doorbell.
	using Meanwhile = std::function<void()>;
	// Runs a command; its id is chosen here. Throws Error when the machine died, or after `limit`.
	AdminResult run(nvme_sqe sqe, std::chrono::seconds limit, const Meanwhile &meanwhile = {});
	// While it is closed, every run() throws Error, also one that waits.
	void close(bool closed) { closed_ = closed; }
	// Throws that Error.
	void check_open() const;

private:
	struct Command {
		std::optional<AdminResult> answer;
		bool abandoned = false; // its caller has given up
	};
	std::optional<uint16_t> submit(nvme_sqe sqe);
	std::optional<AdminResult> take(uint16_t cid);
	void reap();
	void note(const nvme_cqe &cqe);
	void abandon(uint16_t cid);

	Region &region_;
	Link &link_;
	std::mutex lock_; // the fields below, and the order of doorbells; its holder may use the link
	BusAddress sq_ = 0, cq_ = 0;
	unsigned tail_ = 0, head_ = 0, unanswered_ = 0;
	bool phase_ = true;
	uint16_t next_cid_ = 0;
	std::map<uint16_t, Command> under_way_; // by command id
	std::atomic<bool> closed_{false};
};

} // namespace hz
