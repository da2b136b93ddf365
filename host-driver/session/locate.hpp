// Locate: where firmware, plugin and tools are, relative to the running program or named by environment variables.
#pragma once

#include <filesystem>
#include <string>

namespace hz {

// $HARTZONE_FIRMWARE, else build/firmware/firmware.elf of the tree that holds the program. Throws Error if there is none.
std::filesystem::path locate_firmware();
// $HARTZONE_PLUGIN, else build/host/vclock/… of the same tree.
std::filesystem::path locate_plugin();
// vhost-device-vsock: $HARTZONE_VSOCK_DAEMON, PATH, build/tools/bin, ~/.cargo/bin. Throws Error if there is none.
std::filesystem::path locate_vsock_daemon();
// $HARTZONE_QEMU or qemu-system-riscv64.
std::string qemu_program();
// The source tree above the running program (the folder with protocol/shm.h), or empty.
std::filesystem::path source_tree();

} // namespace hz
