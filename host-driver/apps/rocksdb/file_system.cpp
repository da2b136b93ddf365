// FileSystem: exceptions become RocksDB's statuses here.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/rocksdb/file_system.hpp"

#include <mutex>
#include <set>

namespace hz::rocks {

namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;
using store::Lifetime;
using store::Store;

template <class Action> IOStatus guarded(Action action)
{
	try {
		return action();
	} catch (const store::NoSpace &e) {
		return IOStatus::NoSpace(e.what());
	} catch (const store::Damaged &e) {
		return IOStatus::Corruption(e.what());
	} catch (const std::exception &e) {
		return IOStatus::IOError(e.what());
	}
}

std::span<const std::byte> bytes_of(const Slice &slice) { return {reinterpret_cast<const std::byte *>(slice.data()), slice.size()}; }

Lifetime lifetime_of(const std::string &path)
{
	if (path.ends_with(".sst") || path.ends_with(".blob"))
		return Lifetime::unknown;
	return path.ends_with(".log") ? Lifetime::journal : Lifetime::manifest;
}

Lifetime lifetime_of(rocksdb::Env::WriteLifeTimeHint hint)
{
	switch (hint) {
	case rocksdb::Env::WLTH_SHORT: return Lifetime::brief;
	case rocksdb::Env::WLTH_MEDIUM: return Lifetime::medium;
	case rocksdb::Env::WLTH_LONG: return Lifetime::lasting;
	case rocksdb::Env::WLTH_EXTREME: return Lifetime::extreme;
	default: return Lifetime::unknown;
	}
}

// One way to write each path: no slash twice, none at the end.
std::string plain(const std::string &path)
{
	std::string out;
	for (const char c : path)
		if (c != '/' || !out.ends_with('/'))
			out += c;
	if (out.ends_with('/') && out.size() > 1)
		out.pop_back();
	return out;
}

// A file's bytes from `offset` on, as RocksDB wants them.
IOStatus read_into(Store &store, const store::File &file, uint64_t offset, size_t bytes, Slice *result, char *scratch)
{
	return guarded([&] {
		*result = Slice(scratch, store.read(file, offset, {reinterpret_cast<std::byte *>(scratch), bytes}));
		return IOStatus::OK();
	});
}

class SequentialFile : public rocksdb::FSSequentialFile {
public:
	SequentialFile(Store &store, Store::Handle file) : store_(store), file_(std::move(file)) {}
	IOStatus Read(size_t bytes, const IOOptions &, Slice *result, char *scratch, IODebugContext *) override
	{
		const IOStatus status = read_into(store_, *file_, offset_, bytes, result, scratch);
		offset_ += status.ok() ? result->size() : 0;
		return status;
	}
	IOStatus Skip(uint64_t bytes) override
	{
		offset_ += bytes;
		return IOStatus::OK();
	}

private:
	Store &store_;
	Store::Handle file_;
	uint64_t offset_ = 0;
};

class RandomAccessFile : public rocksdb::FSRandomAccessFile {
public:
	RandomAccessFile(Store &store, Store::Handle file) : store_(store), file_(std::move(file)) {}
	IOStatus Read(uint64_t offset, size_t bytes, const IOOptions &, Slice *result, char *scratch, IODebugContext *) const override
	{
		return read_into(store_, *file_, offset, bytes, result, scratch);
	}

private:
	Store &store_;
	Store::Handle file_;
};

class WritableFile : public rocksdb::FSWritableFile {
public:
	WritableFile(Store &store, Store::Handle file, const FileOptions &options)
		: FSWritableFile(options), store_(store), file_(std::move(file))
	{
	}
	using FSWritableFile::Append;
	IOStatus Append(const Slice &data, const IOOptions &, IODebugContext *) override
	{
		return guarded([&] { return store_.append(*file_, bytes_of(data)), IOStatus::OK(); });
	}
	IOStatus Flush(const IOOptions &, IODebugContext *) override { return IOStatus::OK(); }
	IOStatus Sync(const IOOptions &, IODebugContext *) override
	{
		return guarded([&] { return store_.sync(*file_), IOStatus::OK(); });
	}
	IOStatus Close(const IOOptions &options, IODebugContext *debug) override { return Sync(options, debug); }
	bool IsSyncThreadSafe() const override { return true; }
	uint64_t GetFileSize(const IOOptions &, IODebugContext *) override { return store_.size(*file_); }
	void SetWriteLifeTimeHint(rocksdb::Env::WriteLifeTimeHint hint) override
	{
		FSWritableFile::SetWriteLifeTimeHint(hint);
		store_.set_lifetime(*file_, lifetime_of(hint));
	}

private:
	Store &store_;
	Store::Handle file_;
};

// Directory changes are durable when the call returns.
class Directory : public rocksdb::FSDirectory {
public:
	IOStatus Fsync(const IOOptions &, IODebugContext *) override { return IOStatus::OK(); }
	IOStatus Close(const IOOptions &, IODebugContext *) override { return IOStatus::OK(); }
};

class NoLog : public rocksdb::Logger {
public:
	using Logger::Logv;
	void Logv(const char *, va_list) override {}
};

struct Lock : rocksdb::FileLock {
	explicit Lock(std::string of) : path(std::move(of)) {}
	const std::string path;
};

class StoreFileSystem : public rocksdb::FileSystem {
public:
	explicit StoreFileSystem(Store &store) : store_(store) {}
	const char *Name() const override { return "Hartzone"; }

	IOStatus NewSequentialFile(const std::string &path, const FileOptions &, std::unique_ptr<rocksdb::FSSequentialFile> *result,
				   IODebugContext *) override
	{
		return open_as<SequentialFile>(path, result);
	}
	IOStatus NewRandomAccessFile(const std::string &path, const FileOptions &, std::unique_ptr<rocksdb::FSRandomAccessFile> *result,
				     IODebugContext *) override
	{
		return open_as<RandomAccessFile>(path, result);
	}
	IOStatus NewWritableFile(const std::string &path, const FileOptions &options, std::unique_ptr<rocksdb::FSWritableFile> *result,
				 IODebugContext *) override
	{
		return guarded([&] {
			*result = std::make_unique<WritableFile>(store_, store_.create(plain(path), lifetime_of(path)), options);
			return IOStatus::OK();
		});
	}
	IOStatus NewDirectory(const std::string &path, const IOOptions &, std::unique_ptr<rocksdb::FSDirectory> *result,
			      IODebugContext *) override
	{
		if (!store_.has_folder(plain(path)))
			return IOStatus::NotFound(path);
		*result = std::make_unique<Directory>();
		return IOStatus::OK();
	}
	IOStatus FileExists(const std::string &path, const IOOptions &, IODebugContext *) override
	{
		return found(store_.open(plain(path)) || store_.has_folder(plain(path)), path);
	}
	IOStatus GetChildren(const std::string &path, const IOOptions &, std::vector<std::string> *result, IODebugContext *) override
	{
		const auto names = store_.names_in(plain(path));
		result->assign(names.begin(), names.end());
		return found(store_.has_folder(plain(path)), path);
	}
	IOStatus DeleteFile(const std::string &path, const IOOptions &, IODebugContext *) override
	{
		return guarded([&] { return found(store_.remove(plain(path)), path); });
	}
	IOStatus CreateDir(const std::string &path, const IOOptions &options, IODebugContext *debug) override
	{
		if (store_.has_folder(plain(path)))
			return IOStatus::IOError(path, "the folder exists");
		return CreateDirIfMissing(path, options, debug);
	}
	IOStatus CreateDirIfMissing(const std::string &path, const IOOptions &, IODebugContext *) override
	{
		return guarded([&] { return store_.make_folder(plain(path)), IOStatus::OK(); });
	}
	IOStatus DeleteDir(const std::string &path, const IOOptions &, IODebugContext *) override
	{
		if (!store_.names_in(plain(path)).empty())
			return IOStatus::IOError(path, "the folder is not empty");
		return guarded([&] { return store_.remove_folder(plain(path)), IOStatus::OK(); });
	}
	IOStatus GetFileSize(const std::string &path, const IOOptions &, uint64_t *size, IODebugContext *) override
	{
		const Store::Handle file = store_.open(plain(path));
		*size = file ? store_.size(*file) : 0;
		return found(file != nullptr, path);
	}
	IOStatus GetFileModificationTime(const std::string &path, const IOOptions &, uint64_t *time, IODebugContext *) override
	{
		const Store::Handle file = store_.open(plain(path));
		*time = file ? store_.time(*file) : 0;
		return found(file != nullptr, path);
	}
	IOStatus RenameFile(const std::string &from, const std::string &to, const IOOptions &, IODebugContext *) override
	{
		return guarded([&] { return found(store_.rename(plain(from), plain(to)), from); });
	}
	// The device's files belong to one program, so a lock is against that program itself.
	IOStatus LockFile(const std::string &path, const IOOptions &, rocksdb::FileLock **lock, IODebugContext *) override
	{
		const std::lock_guard<std::mutex> guard(mutex_);
		if (!locked_.insert(plain(path)).second)
			return IOStatus::IOError(path, "is locked already");
		*lock = new Lock(plain(path));
		return IOStatus::OK();
	}
	IOStatus UnlockFile(rocksdb::FileLock *lock, const IOOptions &, IODebugContext *) override
	{
		const std::lock_guard<std::mutex> guard(mutex_);
		const std::unique_ptr<Lock> own(static_cast<Lock *>(lock));
		locked_.erase(own->path);
		return IOStatus::OK();
	}
	IOStatus GetTestDirectory(const IOOptions &, std::string *path, IODebugContext *) override
	{
		*path = "/test";
		return IOStatus::OK();
	}
	IOStatus NewLogger(const std::string &, const IOOptions &, std::shared_ptr<rocksdb::Logger> *result, IODebugContext *) override
	{
		*result = std::make_shared<NoLog>();
		return IOStatus::OK();
	}
	IOStatus GetAbsolutePath(const std::string &path, const IOOptions &, std::string *out, IODebugContext *) override
	{
		*out = path;
		return IOStatus::OK();
	}
	IOStatus GetFreeSpace(const std::string &, const IOOptions &, uint64_t *bytes, IODebugContext *) override
	{
		const store::ZoneTable::Space space = store_.space();
		*bytes = (space.total - space.alive) * store::block_bytes;
		return IOStatus::OK();
	}
	IOStatus IsDirectory(const std::string &path, const IOOptions &, bool *is, IODebugContext *) override
	{
		*is = store_.has_folder(plain(path));
		return IOStatus::OK();
	}

private:
	static IOStatus found(bool is, const std::string &path) { return is ? IOStatus::OK() : IOStatus::NotFound(path); }

	template <class File, class Base> IOStatus open_as(const std::string &path, std::unique_ptr<Base> *result)
	{
		Store::Handle file = store_.open(plain(path));
		if (!file)
			return IOStatus::NotFound(path);
		*result = std::make_unique<File>(store_, std::move(file));
		return IOStatus::OK();
	}

	Store &store_;
	std::mutex mutex_;
	std::set<std::string> locked_;
};

} // namespace

std::shared_ptr<rocksdb::FileSystem> make_file_system(store::Store &store) { return std::make_shared<StoreFileSystem>(store); }

} // namespace hz::rocks
