// Catalog: the files and folders, and how a change changes them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "apps/rocksdb/store/change.hpp"

namespace hz::store {

struct File {
	std::string path;
	Lifetime lifetime = Lifetime::unknown;
	uint64_t time = 0;
	std::vector<Extent> extents;
	uint64_t written = 0; // bytes of the extents
	Bytes tail;           // bytes after the extents, in memory only
	uint32_t logged = 0;  // number of extents recorded in the metadata log
	unsigned handles = 0; // of programs that have it open
	bool removed = false; // has no path any more; its extents live until the last handle goes

	uint64_t size() const { return written + tail.size(); }
};

class Catalog {
public:
	// Returns the file that the change leaves without a path, if any. Throws Damaged when the change does not fit; nothing is changed then.
	std::shared_ptr<File> apply(const Change &change);
	std::vector<Change> snapshot() const;

	std::shared_ptr<File> find(const std::string &path) const; // nullptr: there is none
	bool has_folder(const std::string &path) const { return folders_.contains(path); }
	// Names, without the path, of the entries of a folder.
	std::set<std::string> names_in(const std::string &folder) const;
	const std::map<std::string, std::shared_ptr<File>> &files() const { return files_; }

private:
	std::shared_ptr<File> take_out(const std::string &path);
	void set_extents(const Change &change);

	std::map<std::string, std::shared_ptr<File>> files_;
	std::set<std::string> folders_;
};

} // namespace hz::store
