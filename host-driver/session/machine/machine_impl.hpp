// Machine::Impl: state shared between the machine's users and its watch thread. Private to machine*.cpp.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "session/machine/descriptor.hpp"
#include "session/machine/machine.hpp"
#include "session/machine/process.hpp"
#include "session/machine/qemu_command.hpp"
#include "session/machine/run_directory.hpp"
#include "session/machine/stall_watch.hpp"

namespace hz {

struct Machine::Impl {
	using Clock = std::chrono::steady_clock;

	~Impl();

	// Launch, in this order, by the launching thread.
	void prepare(const MachineOptions &options);
	void start();
	void wait_boot(std::chrono::milliseconds timeout);
	void open_image(bool format);
	void undo_image() const; // where the launch failed
	void make_wake();

	void follow(); // replaces the three: a machine of another process
	void check() const;
	void check_waiting() const;
	Clock::time_point fair_now() const { return Clock::time_point(fair_time.load(std::memory_order_relaxed)); }
	void signal_qemu(int number);
	void expect_end();

	// Watch thread.
	void watch();
	void start_children();
	Descriptor start_daemon();
	void tick();
	void watch_foreign(int pid);
	void note_time(const ProcessLoad &load);
	std::string stalled(ProcessLoad load);
	void note_dying_qemu();
	void note_qemu_end();
	void note_late_end();
	void fail(const std::string &reason);
	void tell(const std::string &reason, bool exited = false);
	void end_qemu();
	std::string end_reason(int code) const;

	std::unique_ptr<RunDirectory> directory; // none when attached
	QemuCommand command;
	std::optional<Region> region;
	std::filesystem::path vsock_path, console_log;
	unsigned cid = 0;
	Descriptor image_lock;
	bool image_was_made = false, image_was_empty = false, booted = false;
	Descriptor wake; // eventfd: the destructor calls the watch thread

	std::atomic<bool> up{false}; // QEMU runs and nothing failed
	std::atomic<bool> leaving{false};
	mutable std::atomic<StallWatch::Clock::duration> awaited_at{StallWatch::Clock::duration::zero()}; // last check_waiting()
	std::atomic<Clock::duration> fair_time{Clock::duration::zero()};
	std::atomic<int> qemu_pid{-1}, daemon_pid{-1};

	mutable std::mutex lock; // the fields below; its holder never waits for a process or a file
	std::condition_variable changed;
	ExitStatus status;
	std::string failure;
	bool expected_end = false;
	bool started = false;

	StallWatch stall;          // watch thread only
	TimeGiven given;           // watch thread only
	Process daemon;            // watch thread only
	Process qemu;              // made under `lock`, so that others may signal it; reaped by the watch thread only
	Descriptor foreign, owner; // attached: pidfd of the other process's QEMU, socket to that process
	std::thread watcher;
};

} // namespace hz
