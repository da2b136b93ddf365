// FileLayer: room for what is to be written, by moving what is alive out of sections.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "hzfs/file_layer.hpp"
#include "hzfs/reserve.hpp"

namespace hz::fs {

using store::block_bytes;

uint64_t FileLayer::most_blocks() const
{
	const uint32_t kept = kept_sections(main_.logs()), writable = main_.writable();
	return writable > kept ? uint64_t(writable - kept) * main_.section_blocks() : 0;
}

// Enough for all that is in memory, of all files: cleaning syncs some of them. Without a file: for an inode.
bool FileLayer::has_room(const File *file) const
{
	const auto beyond = [this](Temperature temperature, uint64_t blocks) {
		const uint64_t room = main_.room(temperature);
		return blocks <= room ? 0 : uint32_t((blocks - room + main_.section_blocks() - 1) / main_.section_blocks());
	};
	uint32_t sections = reserve(main_.logs()) + beyond(Temperature::hot_node, 1);
	if (file) {
		sections += beyond(Temperature::warm_node, std::min(file->maps.size(), file->changed_maps.size() + file->dirty.size()));
		for (unsigned heat = 0; heat < heats; heat++)
			sections += beyond(of_data(Heat(heat)), dirty_[heat]);
	}
	return main_.empty() >= sections;
}

// false: there is not enough, only what the cleaner needs.
bool FileLayer::make_room(const File *file)
{
	if (cleaning_ || has_room(file))
		return true;
	struct Cleaning {
		bool &flag;
		explicit Cleaning(bool &one) : flag(one) { flag = true; }
		~Cleaning() { flag = false; }
	} const cleaning(cleaning_);
	save_superseded();
	if (!has_room(file) && chain_)
		checkpoint();
	for (size_t left = 2 * main_.sections().size(); left && !has_room(file); left--) {
		const auto section = victim();
		if (!section)
			break;
		clean(*section);
	}
	return has_room(file);
}

// What files have overwritten since their last sync is kept for a power cut: syncing them frees it.
void FileLayer::save_superseded()
{
	for (const auto &file : files_)
		if (file && !file->superseded.empty())
			save(*file);
	main_.reset_dead();
}

std::optional<uint32_t> FileLayer::victim() const
{
	std::optional<uint32_t> best;
	const std::vector<Section> &all = main_.sections();
	for (uint32_t i = 0; i < all.size(); i++)
		if (all[i].writable && !all[i].open && all[i].written && all[i].alive < main_.section_blocks() &&
		    (!best || all[i].alive < all[*best].alive))
			best = i;
	return best;
}

// A block that its file has in memory, or elsewhere already, needs the file's sync only.
void FileLayer::take_for_moving(Address at, std::set<uint32_t> &files)
{
	const Owner owner = main_.owner(at);
	if (!owner.file)
		return;
	File &file = *files_[owner.file];
	files.insert(owner.file);
	if (owner.what & (Owner::inode | Owner::map)) {
		file.changed = true;
		if (owner.what & Owner::map && file.maps[owner.what & ~Owner::map] == at)
			file.changed_maps.insert(owner.what & ~Owner::map);
		return;
	}
	if (file.at(owner.what) != at || file.dirty.contains(owner.what))
		return;
	auto page = std::make_unique<Page>();
	main_.read(at, page->data);
	page->moved = true;
	file.dirty[owner.what] = std::move(page);
	dirty_like(file)++;
	counters_.moved_blocks++;
}

void FileLayer::clean(uint32_t section)
{
	std::set<uint32_t> files;
	for (uint32_t block = 0; block < main_.sections()[section].written; block++)
		take_for_moving(main_.address(section, block), files);
	for (const uint32_t number : files)
		save(*files_[number]);
	if (main_.sections()[section].chained)
		checkpoint();
	main_.reset_dead();
	counters_.cleaned_sections++;
}

} // namespace hz::fs
