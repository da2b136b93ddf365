// VfsLocks: follows SQLite's documentation of its locks.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/sqlite/vfs_locks.hpp"

#include <algorithm>

namespace hz::sql {

using Lock = std::lock_guard<std::mutex>;

std::shared_ptr<FileLocks> VfsLocks::of(const std::string &name)
{
	const Lock lock(mutex_);
	auto file = files_[name].lock();
	if (!file)
		files_[name] = file = std::make_shared<FileLocks>();
	return file;
}

int VfsLocks::raise(FileLocks &file, const void *holder, int &held, int wanted)
{
	const Lock lock(mutex_);
	if (held >= wanted)
		return SQLITE_OK;
	if (wanted == SQLITE_LOCK_SHARED) {
		if (file.pending || file.exclusive)
			return SQLITE_BUSY;
		file.shared++;
		held = wanted;
		return SQLITE_OK;
	}
	if (file.reserved && file.reserved != holder)
		return SQLITE_BUSY;
	file.reserved = holder;
	if (wanted == SQLITE_LOCK_RESERVED) {
		held = wanted;
		return SQLITE_OK;
	}
	file.pending = true; // no new readers
	held = SQLITE_LOCK_PENDING;
	if (file.shared > 1)
		return SQLITE_BUSY;
	file.exclusive = true;
	held = SQLITE_LOCK_EXCLUSIVE;
	return SQLITE_OK;
}

void VfsLocks::lower(FileLocks &file, const void *holder, int &held, int wanted)
{
	const Lock lock(mutex_);
	if (held <= wanted)
		return;
	if (file.reserved == holder) {
		file.reserved = nullptr;
		file.pending = file.exclusive = false;
	}
	if (wanted == SQLITE_LOCK_NONE)
		file.shared--;
	held = wanted;
}

bool VfsLocks::is_reserved(const FileLocks &file)
{
	const Lock lock(mutex_);
	return file.reserved;
}

volatile void *VfsLocks::region(FileLocks &file, size_t number, size_t bytes, bool make)
{
	const Lock lock(mutex_);
	while (make && file.memory.size() <= number)
		file.memory.push_back(std::make_unique<char[]>(bytes)); // zeros
	return number < file.memory.size() ? file.memory[number].get() : nullptr;
}

int VfsLocks::lock_memory(FileLocks &file, const void *holder, int first, int count, int flags)
{
	const Lock lock(mutex_);
	const bool shared = flags & SQLITE_SHM_SHARED;
	for (int i = first; i < first + count; i++) {
		const bool busy = file.writer[size_t(i)] && file.writer[size_t(i)] != holder;
		if (flags & SQLITE_SHM_LOCK && (busy || (!shared && file.readers[size_t(i)])))
			return SQLITE_BUSY;
	}
	for (int i = first; i < first + count; i++) {
		if (shared)
			file.readers[size_t(i)] += flags & SQLITE_SHM_LOCK ? 1 : -1u;
		else
			file.writer[size_t(i)] = flags & SQLITE_SHM_LOCK ? holder : nullptr;
	}
	return SQLITE_OK;
}

void VfsLocks::drop_memory(FileLocks &file, const void *holder)
{
	const Lock lock(mutex_);
	std::replace(file.writer.begin(), file.writer.end(), holder, static_cast<const void *>(nullptr));
}

} // namespace hz::sql
