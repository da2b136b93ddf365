// QemuCommand: the exact command line of the emulated controller. It runs in the run directory and
// names its files without a path.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hz {

struct QemuCommand {
	std::filesystem::path firmware, run_directory, nand_image;
	std::filesystem::path plugin;            // empty: plain QEMU
	std::vector<std::string> plugin_options; // key=value each
	unsigned harts = 3;
	uint64_t ram_bytes = 0, shm_bytes = 0, nand_bytes = 0;
	unsigned kernel_vsock_cid = 0; // 0: the user-space daemon

	// Files in the run directory.
	std::filesystem::path ram() const { return run_directory / "ram"; }
	std::filesystem::path shm() const { return run_directory / "shm"; }
	std::filesystem::path vhost_socket() const { return run_directory / "v.sock"; }
	std::filesystem::path vsock_path() const { return run_directory / "vm"; }
	std::filesystem::path console() const { return run_directory / "console"; }
	std::filesystem::path qemu_pid() const { return run_directory / "qemu.pid"; }
	std::filesystem::path qemu_log() const { return run_directory / "qemu.log"; }
	std::filesystem::path qemu_greeting() const { return run_directory / "qmp"; }
	std::filesystem::path daemon_log() const { return run_directory / "vsock.log"; }
	std::filesystem::path plugin_report() const { return run_directory / "vclock.json"; }
	std::filesystem::path plugin_timeline() const { return run_directory / "timeline"; }

	// daemon: a descriptor that QEMU has, its connection to the user-space daemon; not asked for with the kernel's vsock.
	std::vector<std::string> arguments(int daemon) const;
	// Of its environment, as NAME=VALUE.
	static std::vector<std::string> settings();
};

// The largest shared region that fits the machine's PCI windows together with such an image of the
// flash; powers of two, both.
uint64_t most_shm_bytes(uint64_t nand_bytes);

// "key=value,key=value" as QEMU splits it: a doubled comma is a comma of the value.
std::vector<std::string> split_options(const std::string &text);

} // namespace hz
