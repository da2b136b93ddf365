// Vfs: file names, and SQLite's other requests to the system.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/sqlite/vfs.hpp"

#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <thread>

#include "apps/sqlite/vfs_file.hpp"

namespace hz::sql {

namespace {

Vfs &vfs_of(sqlite3_vfs *vfs)
{
	Vfs &one = *static_cast<Vfs *>(vfs->pAppData);
	one.count_call();
	return one;
}

int open_name(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flags_out)
{
	return open_file(vfs_of(vfs), name, file, flags, flags_out);
}

// Durable when it returns, whether that is asked for or not.
int remove_name(sqlite3_vfs *vfs, const char *name, int)
{
	return guarded(SQLITE_IOERR_DELETE, [&] { return vfs_of(vfs).layer().remove(name) ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT; });
}

int is_there(sqlite3_vfs *vfs, const char *name, int, int *out)
{
	*out = vfs_of(vfs).layer().open(name) != nullptr;
	return SQLITE_OK;
}

int full_name(sqlite3_vfs *, const char *name, int room, char *out)
{
	if (std::strlen(name) >= size_t(room))
		return SQLITE_CANTOPEN;
	std::strcpy(out, name);
	return SQLITE_OK;
}

void *open_library(sqlite3_vfs *, const char *name) { return dlopen(name, RTLD_NOW | RTLD_GLOBAL); }
void library_error(sqlite3_vfs *, int room, char *out)
{
	const char *const text = dlerror();
	std::strncpy(out, text ? text : "no error", size_t(room));
	out[room - 1] = '\0';
}
using Symbol = void (*)();
Symbol library_symbol(sqlite3_vfs *, void *library, const char *name) { return reinterpret_cast<Symbol>(dlsym(library, name)); }
void close_library(sqlite3_vfs *, void *library) { dlclose(library); }

// The same numbers in each run, so that runs are the same.
int random_bytes(sqlite3_vfs *vfs, int bytes, char *out)
{
	for (int i = 0; i < bytes; i++)
		out[i] = char(vfs_of(vfs).next_random());
	return bytes;
}

int sleep_us(sqlite3_vfs *, int us)
{
	std::this_thread::sleep_for(std::chrono::microseconds(us));
	return us;
}

// Julian day in milliseconds.
int time_now(sqlite3_vfs *, sqlite3_int64 *out)
{
	constexpr sqlite3_int64 days_to_1970_ms = 210866760000000;
	const auto since = std::chrono::system_clock::now().time_since_epoch();
	*out = days_to_1970_ms + std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
	return SQLITE_OK;
}

int day_now(sqlite3_vfs *vfs, double *out)
{
	sqlite3_int64 ms = 0;
	time_now(vfs, &ms);
	*out = double(ms) / 86400000.0;
	return SQLITE_OK;
}

int last_error(sqlite3_vfs *, int, char *) { return 0; }

} // namespace

Vfs::Vfs(fs::FileLayer &layer, const std::string &name, uint64_t seed) : layer_(layer), name_(name), random_(seed)
{
	vfs_.iVersion = 2;
	vfs_.szOsFile = sizeof(VfsFile);
	vfs_.mxPathname = int(fs::most_name);
	vfs_.zName = name_.c_str();
	vfs_.pAppData = this;
	vfs_.xOpen = open_name;
	vfs_.xDelete = remove_name;
	vfs_.xAccess = is_there;
	vfs_.xFullPathname = full_name;
	vfs_.xDlOpen = open_library;
	vfs_.xDlError = library_error;
	vfs_.xDlSym = library_symbol;
	vfs_.xDlClose = close_library;
	vfs_.xRandomness = random_bytes;
	vfs_.xSleep = sleep_us;
	vfs_.xCurrentTime = day_now;
	vfs_.xCurrentTimeInt64 = time_now;
	vfs_.xGetLastError = last_error;
}

// SplitMix64.
uint64_t Vfs::next_random()
{
	uint64_t x = random_ += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

} // namespace hz::sql
