// Locate: walks up from the running program, then from libhartzone.so, so that a moved or differently named build folder, or an
// installation anywhere, works too.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/locate.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <initializer_list>
#include <unistd.h>

#include "session/machine/error.hpp"
#include "session/machine/process.hpp"

namespace hz {

namespace {

namespace fs = std::filesystem;

fs::path from_environment(const char *variable)
{
	const char *value = std::getenv(variable);
	return value ? fs::path(value) : fs::path();
}

// The shared library with this code; in a program of ours, that program.
fs::path own_file()
{
	Dl_info info{};
	std::error_code failed;
	if (!dladdr(reinterpret_cast<const void *>(&from_environment), &info) || !info.dli_fname)
		return {};
	const fs::path file = fs::canonical(info.dli_fname, failed);
	return failed ? fs::path() : file;
}

// First of `names` that exists in one of the folders above the file.
fs::path above(const fs::path &file, std::initializer_list<const char *> names)
{
	std::error_code ignored;
	for (fs::path folder = file.parent_path(); !folder.empty(); folder = folder.parent_path()) {
		for (const char *name : names)
			if (fs::exists(folder / name, ignored))
				return folder / name;
		if (folder == folder.root_path())
			break;
	}
	return {};
}

fs::path above_program(std::initializer_list<const char *> names)
{
	std::error_code ignored;
	const fs::path found = above(fs::read_symlink("/proc/self/exe", ignored), names);
	return found.empty() ? above(own_file(), names) : found;
}

fs::path find(const char *variable, std::initializer_list<const char *> names, const char *what)
{
	require_proc();
	fs::path path = from_environment(variable);
	if (path.empty())
		path = above_program(names);
	if (path.empty() || access(path.c_str(), R_OK))
		throw Error(std::string(what) + (path.empty() ? "" : " " + path.string()) +
			    " was not found: build it with ./hartzone build or set " + variable);
	return path;
}

} // namespace

void require_proc()
{
	if (access("/proc/self/fd", X_OK))
		throw Error("/proc is not mounted, and devices are found and watched by it: mount -t proc proc /proc");
}

bool is_installed()
{
	std::error_code ignored;
	const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
	return fs::exists(program.parent_path().parent_path() / "lib/hartzone", ignored);
}

fs::path locate_firmware()
{
	return find("HARTZONE_FIRMWARE",
		    {"build/firmware/firmware/main/firmware.elf", "firmware/firmware/main/firmware.elf", "lib/hartzone/firmware.elf"},
		    "the firmware image");
}

fs::path locate_plugin()
{
	return find("HARTZONE_PLUGIN", {"vclock/libvclock.so", "host/vclock/libvclock.so", "lib/hartzone/libvclock.so"},
		    "the virtual clock plugin");
}

fs::path locate_nvme_device()
{
	return find("HARTZONE_NVME_DEVICE", {"lib/libhartzone-nvme.so", "host/lib/libhartzone-nvme.so", "lib/hartzone/libhartzone-nvme.so"},
		    "the device file for nvme-cli");
}

fs::path locate_fio_engine()
{
	return find(
		"HARTZONE_FIO_ENGINE", {"lib/libhartzone-fio.so", "host/lib/libhartzone-fio.so", "lib/hartzone/libhartzone-fio.so"},
		"the engine for fio, built with the headers of fio's source package (build/setup-fio.log says what ./hartzone setup got),");
}

fs::path locate_rocksdb()
{
	return find("HARTZONE_ROCKSDB", {"bin/hartzone-rocksdb", "host/bin/hartzone-rocksdb", "lib/hartzone/hartzone-rocksdb"},
		    "the program with RocksDB, for which ./hartzone setup installs librocksdb-dev,");
}

fs::path locate_sqlite_extension()
{
	return find("HARTZONE_SQLITE_EXTENSION",
		    {"lib/libhartzone-sqlite.so", "host/lib/libhartzone-sqlite.so", "lib/hartzone/libhartzone-sqlite.so"},
		    "the extension of SQLite, for which ./hartzone setup installs libsqlite3-dev,");
}

fs::path locate_vsock_daemon()
{
	fs::path path = from_environment("HARTZONE_VSOCK_DAEMON");
	if (path.empty())
		path = find_program("vhost-device-vsock");
	if (path.empty())
		path = above_program(
			{"build/tools/bin/vhost-device-vsock", "tools/bin/vhost-device-vsock", "lib/hartzone/vhost-device-vsock"});
	if (const char *home = std::getenv("HOME"); path.empty() && home) {
		fs::path candidate = fs::path(home) / ".cargo/bin/vhost-device-vsock";
		path = access(candidate.c_str(), X_OK) ? fs::path() : candidate;
	}
	if (path.empty() || access(path.c_str(), X_OK))
		throw Error("vhost-device-vsock was not found: scripts/setup installs it, or set HARTZONE_VSOCK_DAEMON");
	return path;
}

std::string qemu_program()
{
	const char *value = std::getenv("HARTZONE_QEMU");
	return value ? value : "qemu-system-riscv64";
}

fs::path cache_folder()
{
	if (const fs::path named = from_environment("HARTZONE_CACHE"); !named.empty())
		return named;
	if (const fs::path named = from_environment("XDG_CACHE_HOME"); !named.empty())
		return named / "hartzone";
	const fs::path home = from_environment("HOME");
	if (home.empty())
		throw Error("there is no folder for it: name one in HARTZONE_CACHE");
	return home / ".cache/hartzone";
}

fs::path data_tree()
{
	const fs::path device = above_program({"configs/devices/default.yaml", "share/hartzone/configs/devices/default.yaml"});
	return device.parent_path().parent_path().parent_path();
}

} // namespace hz
