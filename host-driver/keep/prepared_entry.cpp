// PreparedEntry: locks on folders, files that are renamed when they are whole.
// SPDX-License-Identifier: BSD-3-Clause
#include "keep/prepared_entry.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <vector>

#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"
#include "session/machine/sparse_copy.hpp"

namespace hz {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr size_t key_digits = 64;

bool is_key(const std::string &name)
{
	return name.size() == key_digits && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// It was removed between its opening and its lock.
bool is_gone(int folder)
{
	struct stat info {};
	return fstat(folder, &info) || info.st_nlink == 0;
}

void sync_to_medium(const fs::path &file)
{
	const Descriptor fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
	if (!fd || fsync(fd.get()))
		throw_errno("cannot write " + file.string());
}

// The file `young` is whole: it takes its name.
void settle(const fs::path &young, const fs::path &file)
{
	sync_to_medium(young);
	if (rename(young.c_str(), file.c_str()))
		throw_errno("cannot write " + file.string());
}

void write_bytes(const fs::path &file, const std::vector<uint8_t> &bytes)
{
	std::ofstream out(file, std::ios::binary | std::ios::trunc);
	out.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
	out.close();
	if (!out)
		throw_errno("cannot write " + file.string());
}

void empty_folder(const fs::path &place)
{
	std::error_code ignored;
	for (const auto &file : fs::directory_iterator(place, ignored))
		fs::remove(file.path(), ignored);
}

struct Old {
	fs::path place;
	uint64_t bytes = 0;
	timespec used{}; // an entry without `host` is unusable: oldest
};

Old look_at(const fs::path &place)
{
	Old entry{.place = place};
	std::error_code ignored;
	struct stat info {};
	for (const auto &file : fs::directory_iterator(place, ignored))
		if (!stat(file.path().c_str(), &info))
			entry.bytes += static_cast<uint64_t>(info.st_blocks) * 512;
	if (!stat((place / "host").c_str(), &info))
		entry.used = info.st_mtim;
	return entry;
}

// Least recently used first.
bool used_before(const Old &a, const Old &b) { return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec); }

// Unless it is in use.
bool remove_entry(const fs::path &place)
{
	const Descriptor lock(open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB))
		return false;
	empty_folder(place);
	return rmdir(place.c_str()) == 0;
}

void make_room(const fs::path &folder, uint64_t most_bytes)
{
	std::vector<Old> all;
	uint64_t bytes = 0;
	std::error_code ignored;
	for (const auto &entry : fs::directory_iterator(folder, ignored))
		if (is_key(entry.path().filename().string()))
			all.push_back(look_at(entry.path()));
	for (const Old &one : all)
		bytes += one.bytes;
	std::sort(all.begin(), all.end(), used_before);
	for (const Old &oldest : all)
		if (bytes > most_bytes || !oldest.used.tv_sec)
			bytes -= remove_entry(oldest.place) ? oldest.bytes : 0;
}

} // namespace

PreparedEntry::PreparedEntry(const fs::path &folder, const std::string &key, const std::function<void()> &waiting)
	: folder_(folder), place_(folder / key)
{
	open_folder();
	for (bool announced = false; !take(); std::this_thread::sleep_for(20ms)) {
		if (!announced)
			waiting();
		announced = true;
		check_interrupted();
		if (is_gone(lock_.get()))
			open_folder();
	}
}

PreparedEntry::~PreparedEntry()
{
	lock_ = Descriptor();
	if (!found_)
		remove_entry(place_);
}

void PreparedEntry::open_folder()
{
	std::error_code failed;
	fs::create_directories(place_, failed);
	if (failed)
		throw Error("cannot make the folder " + place_.string() + ": " + failed.message());
	lock_ = Descriptor(open(place_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (!lock_)
		throw_errno("cannot open the folder " + place_.string());
}

// Shared if it is complete, else alone; or not at all.
bool PreparedEntry::take()
{
	if (!share() && flock(lock_.get(), LOCK_EX | LOCK_NB))
		return false;
	return !is_gone(lock_.get());
}

bool PreparedEntry::share()
{
	found_ = !flock(lock_.get(), LOCK_SH | LOCK_NB) && !is_gone(lock_.get()) && fs::exists(host_file());
	if (found_)
		utimensat(AT_FDCWD, host_file().c_str(), nullptr, 0); // used now
	return found_;
}

nlohmann::json PreparedEntry::host() const
{
	std::ifstream in(host_file(), std::ios::binary);
	const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
	nlohmann::json host = nlohmann::json::from_cbor(bytes, true, false);
	if (host.is_discarded())
		throw Error(host_file().string() + " is damaged: remove it, and the device is prepared again");
	return host;
}

void PreparedEntry::keep(const fs::path &image, const nlohmann::json &host, uint64_t most_bytes)
{
	const fs::path young_flash = place_ / "flash.new", young_host = place_ / "host.new";
	copy_sparsely(image, young_flash);
	settle(young_flash, this->image());
	write_bytes(young_host, nlohmann::json::to_cbor(host));
	settle(young_host, host_file());
	if (!share())
		throw Error(place_.string() + " was removed by another process");
	make_room(folder_, most_bytes);
}

} // namespace hz
