// Locate: where firmware, plugin and tools are, relative to the running program or named by environment variables.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

namespace hz {

// True if the program was installed by `cmake --install` or a package, false in a build folder.
// Throws Error without /proc, by which programs are found and watched.
bool is_installed();
// Throws Error if /proc is not there: programs are found and watched by it.
void require_proc();
// $HARTZONE_FIRMWARE, else the image in build/firmware, or installed, of the program's tree. Throws
// Error if there is none.
std::filesystem::path locate_firmware();
// $HARTZONE_PLUGIN, else the plugin in build/host, or installed, of the same tree. Throws Error if there is none.
std::filesystem::path locate_plugin();
// $HARTZONE_NVME_DEVICE, else libhartzone-nvme.so, the device file for nvme-cli, built or installed
// in the same tree. Throws Error if there is none.
std::filesystem::path locate_nvme_device();
// $HARTZONE_FIO_ENGINE, else libhartzone-fio.so, fio's way to the device, built or installed in the same tree. Throws Error if there is none.
std::filesystem::path locate_fio_engine();
// $HARTZONE_ROCKSDB, else hartzone-rocksdb, the program with RocksDB in it, built or installed in the same tree. Throws Error if there is none.
std::filesystem::path locate_rocksdb();
// $HARTZONE_SQLITE_EXTENSION, else libhartzone-sqlite.so, the extension for SQLite's shell, built
// or installed in the same tree. Throws Error if there is none.
std::filesystem::path locate_sqlite_extension();
// vhost-device-vsock: $HARTZONE_VSOCK_DAEMON, PATH, build/tools/bin, the folder of the installed
// firmware, ~/.cargo/bin. Throws Error if there is none.
std::filesystem::path locate_vsock_daemon();
// $HARTZONE_QEMU or qemu-system-riscv64.
std::string qemu_program();
// For disposable files: $HARTZONE_CACHE, else hartzone in the user's cache folder ($XDG_CACHE_HOME,
// ~/.cache). Throws Error if there is none.
std::filesystem::path cache_folder();
// The folder with configs/ and traces/: the source tree above the running program, or share/hartzone of an installation; or empty.
std::filesystem::path data_tree();

} // namespace hz
