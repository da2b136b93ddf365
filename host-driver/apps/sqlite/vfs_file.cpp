// VfsFile: reads, writes, syncs, locks and shared memory of a file.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/sqlite/vfs_file.hpp"

#include <cstring>
#include <new>

namespace hz::sql {

namespace {

VfsFile &file_of(sqlite3_file *file)
{
	VfsFile &one = *reinterpret_cast<VfsFile *>(file);
	one.vfs->count_call();
	return one;
}
fs::FileLayer &layer_of(const VfsFile &file) { return file.vfs->layer(); }

int close_file(sqlite3_file *file)
{
	VfsFile &one = file_of(file);
	if (one.locks) {
		one.vfs->locks().lower(*one.locks, &one, one.held, SQLITE_LOCK_NONE);
		one.vfs->locks().drop_memory(*one.locks, &one);
	}
	one.~VfsFile();
	return SQLITE_OK;
}

int read_file(sqlite3_file *file, void *out, int bytes, sqlite3_int64 offset)
{
	return guarded(SQLITE_IOERR_READ, [&] {
		const VfsFile &one = file_of(file);
		const std::span<std::byte> all(static_cast<std::byte *>(out), size_t(bytes));
		const size_t got = layer_of(one).read(*one.handle, uint64_t(offset), all);
		std::memset(all.data() + got, 0, all.size() - got);
		return got == all.size() ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
	});
}

int write_file(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 offset)
{
	return guarded(SQLITE_IOERR_WRITE, [&] {
		const VfsFile &one = file_of(file);
		layer_of(one).write(*one.handle, uint64_t(offset), {static_cast<const std::byte *>(data), size_t(bytes)});
		return SQLITE_OK;
	});
}

int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
	return guarded(SQLITE_IOERR_TRUNCATE, [&] {
		const VfsFile &one = file_of(file);
		layer_of(one).resize(*one.handle, uint64_t(size));
		return SQLITE_OK;
	});
}

// Always syncs the whole file and its name, whatever the flags: nothing less is cheaper here.
int sync_file(sqlite3_file *file, int)
{
	return guarded(SQLITE_IOERR_FSYNC, [&] {
		const VfsFile &one = file_of(file);
		layer_of(one).sync(*one.handle);
		return SQLITE_OK;
	});
}

int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
	const VfsFile &one = file_of(file);
	*size = sqlite3_int64(layer_of(one).size(*one.handle));
	return SQLITE_OK;
}

int lock_file(sqlite3_file *file, int wanted)
{
	VfsFile &one = file_of(file);
	return one.locks ? one.vfs->locks().raise(*one.locks, &one, one.held, wanted) : SQLITE_OK;
}

int unlock_file(sqlite3_file *file, int wanted)
{
	VfsFile &one = file_of(file);
	if (one.locks)
		one.vfs->locks().lower(*one.locks, &one, one.held, wanted);
	return SQLITE_OK;
}

int check_reserved(sqlite3_file *file, int *out)
{
	const VfsFile &one = file_of(file);
	*out = one.locks && one.vfs->locks().is_reserved(*one.locks);
	return SQLITE_OK;
}

int control_file(sqlite3_file *file, int operation, void *out)
{
	const VfsFile &one = file_of(file);
	if (operation != SQLITE_FCNTL_LOCKSTATE)
		return SQLITE_NOTFOUND;
	*static_cast<int *>(out) = one.held;
	return SQLITE_OK;
}

int sector_size(sqlite3_file *) { return int(store::block_bytes); }

// Bytes outside a write survive a power cut, as on Linux.
int characteristics(sqlite3_file *) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

int map_memory(sqlite3_file *file, int region, int bytes, int make, void volatile **out)
{
	const VfsFile &one = file_of(file);
	*out = one.vfs->locks().region(*one.locks, size_t(region), size_t(bytes), make);
	return SQLITE_OK;
}

int lock_memory(sqlite3_file *file, int first, int count, int flags)
{
	const VfsFile &one = file_of(file);
	return one.vfs->locks().lock_memory(*one.locks, &one, first, count, flags);
}

void memory_barrier(sqlite3_file *) { std::atomic_thread_fence(std::memory_order_seq_cst); }

// The memory is freed when the last handle closes.
int unmap_memory(sqlite3_file *file, int)
{
	const VfsFile &one = file_of(file);
	one.vfs->locks().drop_memory(*one.locks, &one);
	return SQLITE_OK;
}

constexpr sqlite3_io_methods methods = {.iVersion = 2,
					.xClose = close_file,
					.xRead = read_file,
					.xWrite = write_file,
					.xTruncate = truncate_file,
					.xSync = sync_file,
					.xFileSize = file_size,
					.xLock = lock_file,
					.xUnlock = unlock_file,
					.xCheckReservedLock = check_reserved,
					.xFileControl = control_file,
					.xSectorSize = sector_size,
					.xDeviceCharacteristics = characteristics,
					.xShmMap = map_memory,
					.xShmLock = lock_memory,
					.xShmBarrier = memory_barrier,
					.xShmUnmap = unmap_memory,
					.xFetch = nullptr,
					.xUnfetch = nullptr};

} // namespace

int open_file(Vfs &vfs, const char *name, sqlite3_file *place, int flags, int *flags_out)
{
	place->pMethods = nullptr;
	return guarded(SQLITE_CANTOPEN, [&] {
		const fs::Heat heat = flags & SQLITE_OPEN_MAIN_DB ? fs::Heat::warm : fs::Heat::hot; // journals are rewritten at once
		fs::FileLayer::Handle handle;
		if (!name || flags & SQLITE_OPEN_DELETEONCLOSE)
			handle = vfs.layer().create_nameless(heat);
		else if (!(flags & SQLITE_OPEN_EXCLUSIVE))
			handle = vfs.layer().open(name);
		if (!handle && flags & SQLITE_OPEN_CREATE)
			handle = vfs.layer().create(name, heat);
		if (!handle)
			return SQLITE_CANTOPEN;
		auto *const file = new (place) VfsFile;
		file->vfs = &vfs;
		file->handle = std::move(handle);
		if (flags & SQLITE_OPEN_MAIN_DB && name)
			file->locks = vfs.locks().of(name);
		file->base.pMethods = &methods;
		if (flags_out)
			*flags_out = flags;
		return SQLITE_OK;
	});
}

} // namespace hz::sql
