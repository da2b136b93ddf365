// Link: controller registers over the vsock byte stream (protocol/link.h).
//
// Any thread may ask; one exchange at a time is under way. IRQ messages that arrive in between are counted per vector.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>

#include "register_link.h"

namespace hz {

class Link {
public:
	// Called at least every 100 ms while waiting; throws to give up (for example Machine::check).
	using Check = std::function<void()>;
	// The clock for limits; by default the host's. A caller with knowledge of the peer can
	// exclude time in which it could not answer (Machine::fair_now).
	using Time = std::function<std::chrono::steady_clock::time_point()>;

	// User-space daemon: connects to `socket`, sends "CONNECT port\n", expects "OK …\n";
	// retries until `timeout`. An attempt is never abandoned: the daemon spins for ever if its
	// caller leaves before the answer.
	static Link connect_daemon(const std::filesystem::path &socket, unsigned port, std::chrono::milliseconds timeout, Check check = {},
				   Time time = {});
	// Kernel vhost-vsock: AF_VSOCK.
	static Link connect_kernel(unsigned cid, unsigned port, std::chrono::milliseconds timeout, Check check = {}, Time time = {});
	// Takes over a connected stream socket.
	explicit Link(int fd, Check check = {}, Time time = {});
	Link(const Link &) = delete;
	Link &operator=(const Link &) = delete;
	~Link();

	// Ends the connection; later callers get an Error.
	void hang_up();

	// Throw Error when the register is refused, the peer breaks the protocol, is gone, or is silent for 60 seconds.
	uint32_t read32(uint32_t offset);
	uint64_t read64(uint32_t offset);
	void write32(uint32_t offset, uint32_t value);
	void write64(uint32_t offset, uint64_t value);

	// Sleeps until an IRQ of `vector` was received since the last call, or the timeout; true if
	// there was one. A concurrent caller may have taken it: use a short timeout if that
	// matters.
	bool wait_irq(unsigned vector, std::chrono::milliseconds timeout);

	std::chrono::steady_clock::time_point now() const { return time_ ? time_() : std::chrono::steady_clock::now(); }

	void set_silence_limit(std::chrono::milliseconds limit) { silence_limit_ = limit; }

private:
	hz_link_message ask(hz_link_message message);
	bool receive(hz_link_message &message, std::chrono::milliseconds timeout);
	void send(const hz_link_message &message);
	bool patient(std::chrono::steady_clock::time_point until) const;
	[[noreturn]] void silent() const;
	[[noreturn]] void lost(const char *words);
	void take_irq(const hz_link_message &message);
	bool take_irqs_of(unsigned vector);

	std::mutex lock_; // the exchange that is under way, and the fields below
	int fd_ = -1;
	Check check_;
	Time time_;
	uint16_t next_tag_ = 1;
	size_t have_ = 0;
	unsigned char partial_[sizeof(hz_link_message)] = {};
	uint32_t irqs_[65] = {};
	std::chrono::milliseconds silence_limit_{60000};
};

} // namespace hz
