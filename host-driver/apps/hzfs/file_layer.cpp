// FileLayer: names, numbers and handles.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hzfs/file_layer.hpp"

#include <algorithm>
#include <utility>

namespace hz::fs {

File *FileLayer::find(const std::string &name) const
{
	const auto found = names_.find(name);
	return found == names_.end() ? nullptr : files_[found->second].get();
}

FileLayer::Handle FileLayer::hold(File &file)
{
	file.handles++;
	return {&file, [this](File *one) { let_go(*one); }};
}

// Called in a destructor: a later call does what the device refuses now.
void FileLayer::let_go(File &file)
{
	const Lock lock(mutex_);
	if (--file.handles || !file.name.empty())
		return;
	end(file);
	try {
		main_.reset_dead();
	} catch (const store::DeviceError &) {
	}
}

File &FileLayer::make(const std::string &name, Heat heat)
{
	if (name.size() > most_name)
		throw store::NoSpace("a name has at most " + std::to_string(most_name) + " bytes, not " + std::to_string(name.size()));
	if (used_ + 1 > most_blocks())
		throw store::NoSpace("the device is full");
	const auto free = std::find(files_.begin() + 1, files_.end(), nullptr);
	if (free == files_.end())
		throw store::NoSpace("there are " + std::to_string(files_.size() - 1) + " files already, which is the most");
	*free = std::make_unique<File>();
	File &file = **free;
	file.number = uint32_t(free - files_.begin());
	file.name = name;
	file.heat = heat;
	file.changed = true;
	used_++;
	if (!name.empty())
		names_[name] = file.number;
	return file;
}

// Remove its name from the device; open handles keep the file.
void FileLayer::unname(File &file)
{
	file.name.clear();
	if (file.inode)
		main_.release(std::exchange(file.inode, 0));
	release_superseded(file);
	if (!file.handles)
		end(file);
}

void FileLayer::end(File &file)
{
	for (const auto *const list : {&file.blocks, &file.maps, &file.superseded})
		for (const Address at : *list)
			if (at)
				main_.release(at);
	cut_off(file, 0);
	used_--;
	files_[file.number] = nullptr;
}

FileLayer::Handle FileLayer::open(const std::string &name)
{
	const Lock lock(mutex_);
	File *const file = find(name);
	return file ? hold(*file) : nullptr;
}

FileLayer::Handle FileLayer::create(const std::string &name, Heat heat)
{
	const Lock lock(mutex_);
	background(false);
	return name.empty() || find(name) ? nullptr : hold(make(name, heat));
}

FileLayer::Handle FileLayer::create_nameless(Heat heat)
{
	const Lock lock(mutex_);
	background(false);
	return hold(make("", heat));
}

// The checkpoint table drops the inode only once the removal is durable.
bool FileLayer::remove(const std::string &name)
{
	const Lock lock(mutex_);
	background(false);
	File *const file = find(name);
	if (!file)
		return false;
	if (file->inode) {
		make_room(nullptr);
		put_in_chain({.file = file->number, .removed = true});
		meta_.set_inode(file->number, 0);
	}
	names_.erase(name);
	unname(*file);
	main_.reset_dead();
	return true;
}

bool FileLayer::rename(const std::string &from, const std::string &to)
{
	const Lock lock(mutex_);
	File *const file = find(from), *const other = find(to);
	if (!file || to.empty() || to.size() > most_name)
		return false;
	save(*file);
	if (file == other)
		return true;
	make_room(nullptr);
	write_inode(*file, to, other ? other->number : 0);
	names_.erase(from);
	names_[to] = file->number;
	file->name = to;
	if (other) {
		meta_.set_inode(other->number, 0);
		unname(*other);
	}
	main_.reset_dead();
	return true;
}

std::set<std::string> FileLayer::names()
{
	const Lock lock(mutex_);
	std::set<std::string> all;
	for (const auto &[name, number] : names_)
		all.insert(name);
	return all;
}

uint64_t FileLayer::size(const File &file)
{
	const Lock lock(mutex_);
	return file.size;
}

Space FileLayer::space()
{
	const Lock lock(mutex_);
	return {most_blocks(), used_};
}

MainArea::States FileLayer::segments(uint32_t segment_blocks)
{
	const Lock lock(mutex_);
	return main_.states(segment_blocks);
}

Counters FileLayer::counters()
{
	const Lock lock(mutex_);
	Counters now = counters_;
	now.meta_blocks = meta_.blocks_written();
	now.slack_blocks = main_.slack_written();
	return now;
}

} // namespace hz::fs
