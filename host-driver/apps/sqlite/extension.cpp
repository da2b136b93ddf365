// The loadable extension: after SQLite's `.load`, hzfs on a running device stores all files opened
// from then on.
//
// $HARTZONE_ATTACH names the device's run folder. The files stay mounted until the program ends.
// SPDX-License-Identifier: BSD-3-Clause
#include <sqlite3ext.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "session/machine/error.hpp"
#include "apps/sqlite/sqlite_session.hpp"

SQLITE_EXTENSION_INIT1

namespace {

using namespace hz;
using namespace hz::sql;

std::unique_ptr<SqliteSession> session;

// Report a failure by the exit code, though main already has its own.
void end_session()
{
	try {
		session->end();
	} catch (const std::exception &e) {
		std::fprintf(stderr, "hartzone: the files could not be closed in order: %s\n", e.what());
		std::fflush(nullptr);
		std::_Exit(1);
	}
}

void begin_session()
{
	const char *const folder = std::getenv("HARTZONE_ATTACH"), *const options = std::getenv(options_variable);
	if (!folder)
		throw Error("HARTZONE_ATTACH does not name the run folder of a device that is up: ./hartzone sqlite and serve do");
	session = std::make_unique<SqliteSession>(folder, options ? nlohmann::json::parse(options).get<SqliteOptions>() : SqliteOptions(),
						  sqlite3_libversion());
	std::atexit(end_session);
}

} // namespace

extern "C" __attribute__((visibility("default"))) int sqlite3_extension_init(sqlite3 *, char **message, const sqlite3_api_routines *pApi)
{
	SQLITE_EXTENSION_INIT2(pApi);
	try {
		if (!session)
			begin_session();
	} catch (const std::exception &e) {
		*message = sqlite3_mprintf("hartzone: %s", e.what());
		return SQLITE_ERROR;
	}
	const int code = sqlite3_vfs_register(session->vfs().interface(), 1);
	return code == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : code;
}
