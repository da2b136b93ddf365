// Store: files on a device with zones, for one program with any number of threads.
//
// A file is written at its end only. Appended data are in memory, or on the device and lost with a
// power cut, until sync(); effects of sync() and of name changes survive any power cut. Data go to
// zones by lifetime; a wholly dead zone is reset, and when few are empty, the collector moves the
// live data out of those that have least. One command is under way at a time. Every function may
// throw DeviceError or NoSpace; the call may then have taken effect in part, as after a power cut.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "apps/rocksdb/store/catalog.hpp"
#include "apps/rocksdb/store/metadata_log.hpp"
#include "apps/rocksdb/store/zone_table.hpp"

namespace hz::store {

class Store {
public:
	using Handle = std::shared_ptr<File>; // goes before the store does

	// Write an empty store, whatever the device holds.
	static void format(ZonedDevice &device);
	// Mount. Throws Damaged.
	explicit Store(ZonedDevice &device);

	Handle create(const std::string &path, Lifetime lifetime); // empty; replaces a file with this path
	Handle open(const std::string &path);                      // nullptr: there is none
	bool remove(const std::string &path);                      // false: no such file; open handles keep it
	bool rename(const std::string &from, const std::string &to);
	void make_folder(const std::string &path);
	void remove_folder(const std::string &path);
	bool has_folder(const std::string &path);
	std::set<std::string> names_in(const std::string &folder);

	// For data that are not on the device yet.
	void set_lifetime(File &file, Lifetime lifetime);
	void append(File &file, std::span<const std::byte> data);
	void sync(File &file);
	// As many bytes as the file has there.
	size_t read(const File &file, uint64_t offset, std::span<std::byte> data);
	uint64_t size(const File &file);
	uint64_t time(const File &file);

	ZoneTable::Space space();
	uint64_t collected_blocks(); // that the collector has moved

private:
	using Lock = std::lock_guard<std::mutex>;

	Handle hold(std::shared_ptr<File> file);
	void let_go(File &file);
	void release(const File &file);
	void change(const Change &change);
	void record(const std::vector<Change> &changes);
	void log_extents(File &file);
	Place find_place(Lifetime lifetime);
	void put(Place place, Lifetime lifetime, std::span<const std::byte> data);
	void write_tail(File &file, bool all);
	void collect();
	bool collect_zone(uint32_t zone);
	bool move_extents(File &file, uint32_t zone, std::vector<Extent> &old);
	std::vector<Extent> copy(const Extent &extent, Lifetime lifetime);

	ZonedDevice &device_;
	std::mutex mutex_;
	MetadataLog log_;
	ZoneTable zones_;
	Catalog catalog_;
	uint64_t collected_ = 0;
};

} // namespace hz::store
