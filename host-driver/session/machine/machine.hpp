// Machine: one emulated controller, that is its run directory, shared memory, NAND image, vsock daemon and QEMU process.
//
// A machine has a watch thread that starts the children, detects within two seconds when one of
// them dies, and later when the firmware's heartbeat stops (stall_watch.hpp), and cleans up. All
// temporary files are in one run directory on /dev/shm; a janitor process removes it even when this
// process is killed, and the next launch removes directories of dead runs without a janitor.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "device_config.h"
#include "region.hpp"

namespace hz {

struct MachineOptions {
	hz_device_config config{};
	bool virtual_clock = true;
	std::filesystem::path firmware;     // empty: $HARTZONE_FIRMWARE, else found beside the program
	std::filesystem::path plugin;       // empty: $HARTZONE_PLUGIN, else found beside the program; virtual clock only
	std::string plugin_options;         // further key=value pairs, comma separated; a comma in a value is doubled
	std::filesystem::path nand_image;   // empty: a temporary image that ends with the machine
	std::filesystem::path image_copied; // a temporary image begins as a copy of this one; empty: blank
	bool timeline = false;              // have the plugin keep one; virtual clock only
	bool format_image = false;          // reformat an existing image
	uint64_t shm_bytes = 256ull << 20;  // power of two; see shm_bytes_for()
	uint64_t ram_bytes = 0;             // 0: ram_bytes_for()
	uint64_t power_cut_op = 0, power_cut_ns = 0;
	std::chrono::milliseconds boot_timeout{30000};
	std::chrono::milliseconds busy_limit{0}; // of QEMU's CPU time without a turn of the host interface; 0: StallWatch's default
	std::filesystem::path console_log;       // where to keep the guest console; empty: run directory only
};

// Smallest legal region for this many bytes of queues and data buffers.
uint64_t shm_bytes_for(uint64_t heap_bytes);
// Guest memory that the firmware needs for this device's tables.
uint64_t ram_bytes_for(const hz_device_config &config);

struct ExitStatus {
	bool exited = false; // QEMU is gone
	int code = 0;        // exit code, or 128 + signal
	std::string reason;  // one sentence
};

class Machine {
public:
	// Boots and waits until the firmware listens. Throws Error with the firmware's own words when the boot fails.
	static std::unique_ptr<Machine> launch(const MachineOptions &options);
	// Joins a machine launched and owned by another process, by its run directory. The
	// machine's end is detected as that of an own one, and so is the owner's.
	static std::unique_ptr<Machine> attach(const std::filesystem::path &run_directory);
	// Kills running children and removes the run directory.
	~Machine();

	// Launched, not attached.
	bool is_ours() const;
	// Of an attached machine: the socket to its owner (lease_messages.hpp); -1 if the owner
	// does not accept others.
	int owner_connection() const;

	Region &region();
	const hz_device_config &config() const;
	const std::filesystem::path &run_directory() const;
	// The file of the flash. A temporary one is removed with the machine.
	const std::filesystem::path &image() const;
	// The file of a flash that outlives the machine; empty: none, or the machine of another
	// process.
	std::filesystem::path kept_image() const;
	// Where the owner's Link connects: a vhost-device-vsock socket path, or empty when the kernel's vhost-vsock is used with cid().
	const std::filesystem::path &vsock_path() const;
	unsigned cid() const;

	// Throws Error when the machine died or the firmware failed, Interrupted after Ctrl-C. Cheap: two relaxed loads.
	void check() const;
	// The same for a thread that has been waiting for the device for 100 ms or more; call it at least every 500 ms while the wait
	// lasts. Only then does the watch thread look whether the firmware still beats (stall_watch.hpp).
	void check_waiting() const;
	bool alive() const;
	// A clock for limits: it stands while QEMU or the vsock daemon wait for a CPU (TimeGiven),
	// and advances five times a second.
	std::chrono::steady_clock::time_point fair_now() const;
	// Waits for QEMU to end by itself (after a shutdown, or an injected power cut), by fair_now().
	ExitStatus wait_exit(std::chrono::milliseconds timeout);
	// The same; throws the exception of check() if it ended otherwise than by the firmware's
	// power off, or not at all.
	void require_exit(std::chrono::milliseconds timeout);
	// Asks QEMU to end (SIGTERM), then kills it: results that the plugin writes at exit are kept.
	ExitStatus stop(std::chrono::milliseconds grace = std::chrono::milliseconds(2000));
	// Power cut: SIGKILL to QEMU, at once; not of an attached machine.
	void kill();
	// Ends all waits for the machine with an Error of this sentence; the machine runs on.
	void give_up(const std::string &why);
	ExitStatus exit_status() const;
	int qemu_pid() const;
	int daemon_pid() const;

	// Everything the guest printed so far, and QEMU's own stderr.
	std::string console() const;
	std::string qemu_stderr() const;
	// QEMU's QMP greeting, a line of JSON with its version. Empty until it has arrived, which
	// may be after the guest is up, but is before the machine has ended.
	std::string qemu_greeting() const;
	// The plugin's report file (JSON), empty before QEMU ended or without the plugin.
	std::string plugin_report() const;
	// Its timeline (vclock/profile/timeline.h), empty unless the options asked for one.
	std::string plugin_timeline() const;

private:
	struct Impl;
	explicit Machine(std::unique_ptr<Impl> impl);
	std::unique_ptr<Impl> impl_;
};

} // namespace hz
