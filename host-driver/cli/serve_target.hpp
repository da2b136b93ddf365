// ServeTarget: the part of `serve` that exports the device to hosts on a network, over NVMe/TCP.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "fabrics/server.hpp"

namespace hz::cli {

struct TargetFlags {
	std::optional<fabrics::Address> address; // none: there is no target
	bool open = false;
	std::string name, record;
	fabrics::Access access;
	uint64_t lanes = 8;
	double transport_us = 20, slow_down = 1;

	void add_to(CLI::App &command);
	// Keys of the environment, where there is no option for them. Throws Error.
	void take_environment();
	// Throws Error for an invalid combination, before anything is started.
	void check(bool virtual_clock) const;
	// Requirements on the device's machine.
	void apply(MachineOptions &options) const;
	fabrics::LaneOptions lane_options() const;

private:
	void add_access(CLI::App &command);
	void check_access() const;
	std::vector<const CLI::Option *> others_; // than --nvme-tcp
};

// A target on a device that is up. Hosts find it from start() on.
class ServeTarget {
public:
	ServeTarget(Controller &controller, const TargetFlags &flags);
	~ServeTarget();

	// The command that attaches a Linux host, and the namespaces that Linux accepts.
	std::string connect_line() const;
	// Settings by which a command finds the target, and the keys.
	std::vector<std::string> settings() const;
	std::string text() const;
	// In this thread, until `stopped`; throws Error when the device dies.
	void run(const std::function<bool()> &stopped);
	// Serves in its own thread, until end().
	void start();
	// The device has died under start()'s thread, which has ended all connections: end() throws. From any thread.
	bool has_failed() const { return has_failed_; }
	// Waits for all commands of hosts. Returns a summary as lines to print. Throws the thread's
	// exception.
	std::string end();
	const fabrics::Address &address() const { return server_.address(); }
	const std::string &subsystem_name() const { return subsystem_->options().name; }

private:
	Controller &controller_;
	fabrics::Server server_;
	std::unique_ptr<fabrics::DeviceBackend> backend_;
	std::shared_ptr<fabrics::Subsystem> subsystem_;
	std::thread thread_;
	std::exception_ptr failed_; // the thread's until it is joined
	std::atomic<bool> has_failed_{false};
	std::string record_;
};

} // namespace hz::cli
