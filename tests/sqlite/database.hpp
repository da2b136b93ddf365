// Database: SQLite through our VFS on a device in memory.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sqlite3.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "memory_device.hpp"
#include "apps/sqlite/vfs.hpp"

namespace hz::sql {

struct SqlError : std::runtime_error {
	SqlError(int status, const std::string &text) : std::runtime_error(text), code(status) {}
	int code;
};

class Connection {
public:
	Connection(Vfs &vfs, const std::string &name)
	{
		sqlite3_vfs_register(vfs.interface(), 0);
		const int code = sqlite3_open_v2(name.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs.interface()->zName);
		if (code != SQLITE_OK) {
			sqlite3_close(db_);
			throw SqlError(code, sqlite3_errstr(code));
		}
	}
	~Connection() { sqlite3_close(db_); }
	Connection(const Connection &) = delete;
	Connection &operator=(const Connection &) = delete;

	// The rows' first columns.
	std::vector<std::string> run(const std::string &text)
	{
		std::vector<std::string> rows;
		const auto take = [](void *out, int, char **columns, char **) {
			static_cast<std::vector<std::string> *>(out)->push_back(columns[0] ? columns[0] : "NULL");
			return 0;
		};
		const int code = sqlite3_exec(db_, text.c_str(), take, &rows, nullptr);
		if (code != SQLITE_OK)
			throw SqlError(code, sqlite3_errmsg(db_));
		return rows;
	}
	std::string one(const std::string &text) { return run(text).at(0); }

private:
	sqlite3 *db_ = nullptr;
};

// All that a program has of the files, above a device that outlives it.
class Host {
public:
	explicit Host(store::ZonedDevice &device, const fs::Options &options = {}) : layer(device, options), vfs(layer, "test", 1) {}
	~Host() { sqlite3_vfs_unregister(vfs.interface()); }

	fs::FileLayer layer;
	Vfs vfs;
};

} // namespace hz::sql
