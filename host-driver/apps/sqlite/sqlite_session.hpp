// SqliteSession: the files on a device that is up, from the moment when SQLite first wants them to the program's end.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apps/hzfs/stack/device_work.hpp"
#include "apps/hzfs/stack/file_stack.hpp"
#include "session/machine/descriptor.hpp"
#include "session/machine/machine.hpp"
#include "apps/sqlite/sqlite_compute.hpp"
#include "apps/sqlite/sqlite_options.hpp"
#include "apps/sqlite/vfs.hpp"
#include "storage/queue/hartzone_device.hpp"
#include "trace/native_writer.hpp"

namespace hz::sql {

class SqliteSession {
public:
	// Attaches and mounts the files; a blank device is formatted. Throws Error or DeviceError.
	SqliteSession(const std::string &run_directory, const SqliteOptions &options, const std::string &sqlite_version);
	Vfs &vfs() { return *vfs_; }
	// Makes everything durable; prints and writes the requested reports. All files must be
	// closed.
	void end();

private:
	void take_files();
	void report();

	SqliteOptions options_;
	std::string sqlite_version_;
	Descriptor lock_; // one program at a time has the files
	std::optional<trace::NativeWriter> trace_;
	std::unique_ptr<Machine> machine_;
	std::optional<Controller> controller_;
	std::optional<store::HartzoneDevice> device_;
	std::optional<fs::FileStack> stack_;
	fs::DeviceWork before_; // of mounting and ageing
	std::optional<Vfs> vfs_;
	std::unique_ptr<store::HostCompute> compute_;
};

} // namespace hz::sql
