// Locate: where firmware, plugin and tools are, relative to the running program or named by environment variables.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

namespace hz {

// This program lies where `cmake --install` or a package put it, not in a build folder.
bool is_installed();
// Throws Error if /proc is not there: programs are found and watched by it.
void require_proc();
// $HARTZONE_FIRMWARE, else the image in build/firmware, or installed, of the tree that holds the program. Throws Error if there is none.
std::filesystem::path locate_firmware();
// $HARTZONE_PLUGIN, else the plugin in build/host, or installed, of the same tree. Throws Error if there is none.
std::filesystem::path locate_plugin();
// $HARTZONE_NVME_DEVICE, else libhartzone-nvme.so, which makes the device a file for nvme-cli, built or installed in the same tree. Throws Error if there is none.
std::filesystem::path locate_nvme_device();
// $HARTZONE_FIO_ENGINE, else libhartzone-fio.so, fio's way to the device, built or installed in the same tree. Throws Error if there is none.
std::filesystem::path locate_fio_engine();
// $HARTZONE_ROCKSDB, else hartzone-rocksdb, the program with RocksDB in it, built or installed in the same tree. Throws Error if there is none.
std::filesystem::path locate_rocksdb();
// $HARTZONE_SQLITE_EXTENSION, else libhartzone-sqlite.so, which SQLite's shell loads, built or installed in the same tree. Throws Error if there is none.
std::filesystem::path locate_sqlite_extension();
// vhost-device-vsock: $HARTZONE_VSOCK_DAEMON, PATH, build/tools/bin, beside the installed firmware, ~/.cargo/bin. Throws Error if there is none.
std::filesystem::path locate_vsock_daemon();
// $HARTZONE_QEMU or qemu-system-riscv64.
std::string qemu_program();
// For what may be removed at any time and is made again: $HARTZONE_CACHE, else hartzone in the user's folder for such files ($XDG_CACHE_HOME,
// ~/.cache). Throws Error if there is none.
std::filesystem::path cache_folder();
// The folder with configs/ and traces/: the source tree above the running program, or share/hartzone of an installation; or empty.
std::filesystem::path data_tree();

} // namespace hz
