// Catalog: two sorted tables of paths.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/rocksdb/store/catalog.hpp"

#include <numeric>

#include "storage/zoned_device.hpp"

namespace hz::store {

namespace {

void add_name(const std::string &folder, const std::string &path, std::set<std::string> &names)
{
	if (!path.starts_with(folder + "/"))
		return;
	const std::string name = path.substr(folder.size() + 1);
	if (name.find('/') == std::string::npos)
		names.insert(name);
}

} // namespace

std::shared_ptr<File> Catalog::find(const std::string &path) const
{
	const auto found = files_.find(path);
	return found == files_.end() ? nullptr : found->second;
}

std::shared_ptr<File> Catalog::take_out(const std::string &path)
{
	std::shared_ptr<File> file = find(path);
	if (file) {
		file->removed = true;
		files_.erase(path);
	}
	return file;
}

void Catalog::set_extents(const Change &change)
{
	File &file = *find(change.path);
	if (change.first > file.extents.size())
		throw Damaged(change.path + " has " + std::to_string(file.extents.size()) + " extents, and a change of number " +
			      std::to_string(change.first));
	file.extents.resize(change.first);
	file.extents.insert(file.extents.end(), change.extents.begin(), change.extents.end());
	file.logged = uint32_t(file.extents.size());
	file.written = std::accumulate(file.extents.begin(), file.extents.end(), uint64_t(0),
				       [](uint64_t sum, const Extent &extent) { return sum + extent.bytes; });
}

std::shared_ptr<File> Catalog::apply(const Change &change)
{
	const bool of_old_file = change.kind == ChangeKind::rename || change.kind == ChangeKind::remove ||
				 change.kind == ChangeKind::extents;
	if (of_old_file && !find(change.path))
		throw Damaged("a change of " + change.path + ", which does not exist");
	std::shared_ptr<File> gone;
	switch (change.kind) {
	case ChangeKind::make_folder: folders_.insert(change.path); break;
	case ChangeKind::remove_folder: folders_.erase(change.path); break;
	case ChangeKind::extents: set_extents(change); break;
	case ChangeKind::remove: return take_out(change.path);
	case ChangeKind::create: {
		gone = take_out(change.path);
		auto file = std::make_shared<File>();
		file->path = change.path;
		file->lifetime = change.lifetime;
		file->time = change.time;
		files_[change.path] = std::move(file);
		break;
	}
	case ChangeKind::rename: {
		if (change.path == change.to)
			break;
		gone = take_out(change.to);
		auto node = files_.extract(change.path);
		node.key() = node.mapped()->path = change.to;
		files_.insert(std::move(node));
		break;
	}
	}
	return gone;
}

std::vector<Change> Catalog::snapshot() const
{
	std::vector<Change> changes;
	for (const std::string &folder : folders_)
		changes.push_back({.kind = ChangeKind::make_folder, .path = folder});
	for (const auto &[path, file] : files_) {
		changes.push_back({.kind = ChangeKind::create, .path = path, .lifetime = file->lifetime, .time = file->time});
		const auto end = file->extents.begin() + file->logged;
		if (file->logged)
			changes.push_back({.kind = ChangeKind::extents, .path = path, .extents = {file->extents.begin(), end}});
	}
	return changes;
}

std::set<std::string> Catalog::names_in(const std::string &folder) const
{
	std::set<std::string> names;
	for (const auto &[path, file] : files_)
		add_name(folder, path, names);
	for (const std::string &path : folders_)
		add_name(folder, path, names);
	return names;
}

} // namespace hz::store
