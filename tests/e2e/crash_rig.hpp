// CrashRig: a NAND image that outlives its machines, four queues with a CrashSource each, and every way to end a machine.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "crash_source.hpp"
#include "replay/port.hpp"
#include "session/controller.hpp"
#include "session/machine/machine.hpp"

namespace e2e {

class CrashRig {
public:
	static constexpr unsigned queues = 4;

	CrashRig(bool virtual_clock, uint64_t seed, const std::string &device = "crash");
	~CrashRig();

	// How a run ends before its commands do. All zero: it does not.
	struct End {
		uint64_t kill_at_command = 0; // SIGKILL to QEMU after this number of commands, over all queues
		uint64_t kill_after_us = 0;   // SIGKILL to QEMU so long after the first command
		uint64_t cut_op = 0, cut_ns = 0;
	};
	// Boots on the image, verifies and adopts its content, then runs `commands` per queue.
	// True: to the end.
	bool boot_and_run(uint64_t commands, const End &end);
	// Ends a machine that ran to the end.
	void shutdown();
	void kill();
	// Boots and checks only.
	void check() { boot_and_run(0, {}); }

	uint64_t durable_sectors() const;
	uint64_t lost_sectors() const;
	uint64_t cuts() const { return cuts_; }
	std::mt19937_64 &random() { return random_; }
	void settle();

private:
	void boot(const End &end);
	void verify();
	void share_active_zones();
	void run(uint64_t commands, const End &end);
	void drop();

	bool virtual_clock_;
	std::mt19937_64 random_;
	std::filesystem::path folder_;
	hz_device_config config_;
	std::vector<std::unique_ptr<CrashSource>> sources_;
	std::unique_ptr<hz::Machine> machine_;
	std::unique_ptr<hz::Controller> controller_;
	std::vector<std::unique_ptr<hz::QueuePair>> pairs_;
	uint64_t cuts_ = 0;
};

} // namespace e2e
