// Server: the listening address, all connections, and the one loop that serves them and the device.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "fabrics/backend.hpp"
#include "fabrics/controller.hpp"

namespace hz::fabrics {

// "127.0.0.1:4420", "[::1]:0", "4420"; empty for an invalid text.
struct Address {
	static constexpr uint16_t usual_port = 4420;
	std::string host = "127.0.0.1";
	uint16_t port = usual_port; // 0: any that is free
	bool is_loopback() const;
};
// Throws Error "takes …".
Address parse_address(const std::string &text);

class Server {
public:
	static constexpr size_t most_connections = 512;

	// Listens. Throws Error if it cannot.
	explicit Server(const Address &address);
	Server(const Server &) = delete;
	Server &operator=(const Server &) = delete;

	// With the port that it got.
	const Address &address() const { return address_; }
	// Runs until stop(), or until `stopped` returns true, polled at least every 100 ms. Throws
	// Error when the device dies; all connections are closed then.
	void run(Backend &backend, const std::shared_ptr<Subsystem> &subsystem, const std::function<bool()> &stopped);
	// From any thread.
	void stop();

	uint64_t accepted() const { return accepted_; }
	size_t connections() const { return connections_.size(); }
	// The reason of the last connection that ended by itself.
	const std::string &last_end() const { return last_end_; }

private:
	void accept_all(const std::shared_ptr<Subsystem> &subsystem);
	void wait(Backend &backend, std::chrono::nanoseconds longest);
	void turn_connections();
	void drop_ended();

	Address address_;
	Descriptor listener_, stop_;
	std::atomic<bool> stopping_{false};
	std::vector<std::shared_ptr<Connection>> connections_;
	std::vector<short> ready_; // of each, from the last wait
	bool knocks_ = false;
	Clock::time_point deaf_until_{}; // to those that knock: no descriptors were left
	std::atomic<uint64_t> accepted_{0};
	std::string last_end_;
};

} // namespace hz::fabrics
