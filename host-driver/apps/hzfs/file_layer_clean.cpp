// FileLayer: makes room for writes by moving live blocks out of sections.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>
#include <utility>

#include "apps/hzfs/file_layer.hpp"
#include "apps/hzfs/reserve.hpp"

namespace hz::fs {

using store::block_bytes;

namespace {

struct Cleaning {
	bool &flag;
	explicit Cleaning(bool &one) : flag(one) { flag = true; }
	~Cleaning() { flag = false; }
};

} // namespace

uint64_t FileLayer::most_blocks() const
{
	const uint32_t kept = kept_sections(main_.logs()), writable = main_.writable();
	return writable > kept ? uint64_t(writable - kept) * main_.section_blocks() : 0;
}

// True if the space suffices for all dirty pages of all files, since cleaning syncs some of them.
// Without a file: for an inode.
bool FileLayer::has_room(const File *file) const
{
	const auto beyond = [this](Temperature temperature, uint64_t blocks) {
		const uint64_t room = main_.room(temperature);
		return blocks <= room ? 0 : uint32_t((blocks - room + main_.section_blocks() - 1) / main_.section_blocks());
	};
	uint32_t sections = reserve(main_.logs()) + beyond(Temperature::hot_node, 1);
	if (file) {
		sections += beyond(Temperature::warm_node, std::min(file->maps.size(), file->changed_maps.size() + file->dirty.size()));
		const bool to_slack = std::accumulate(std::begin(dirty_), std::end(dirty_), uint64_t(0)) <= main_.slack();
		for (unsigned heat = 0; heat < heats && !to_slack; heat++)
			sections += beyond(of_data(Heat(heat)), dirty_[heat]);
	}
	return main_.empty() >= sections;
}

// false: only the cleaner's reserve is left.
bool FileLayer::make_room(const File *file)
{
	if (cleaning_ || has_room(file))
		return true;
	const Cleaning cleaning(cleaning_);
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

// Blocks overwritten since the last sync are kept for a power cut: syncing their files frees them.
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
	counters_.moved_blocks++;
	taken_.push_back(at);
}

// Read them into memory, each row of blocks with one command; the files' sync writes them.
void FileLayer::read_taken()
{
	const std::vector<Address> all = std::exchange(taken_, {});
	store::Bytes row;
	for (size_t done = 0, count; done < all.size(); done += count) {
		for (count = 1; done + count < all.size() && all[done + count] == all[done] + count;)
			count++;
		row.resize(count * block_bytes);
		main_.read(all[done], row);
		for (size_t i = 0; i < count; i++) {
			const Owner owner = main_.owner(all[done + i]);
			File &file = *files_[owner.file];
			auto page = std::make_unique<Page>();
			std::copy_n(row.begin() + ptrdiff_t(i * block_bytes), block_bytes, page->data.begin());
			page->moved = true;
			file.dirty[owner.what] = std::move(page);
			dirty_like(file)++;
		}
	}
}

// Durable only after the file's sync, which flushes.
void FileLayer::copy_taken()
{
	const std::vector<Address> all = std::exchange(taken_, {});
	for (std::span<const Address> left(all); !left.empty();) {
		const std::span<const Address> from = left;
		const MainArea::Row row = main_.append_copies(Temperature::cold_data, left);
		for (uint32_t i = 0; i < row.blocks; i++) {
			const Owner owner = main_.owner(from[i]);
			place(*files_[owner.file], owner.what, row.from + i);
			files_[owner.file]->unsettled.push_back(row.from + i);
		}
		counters_.copied_blocks += row.blocks;
		counters_.data_blocks += row.blocks;
	}
}

// Move the live blocks of this part of a section.
void FileLayer::empty(uint32_t section, uint32_t first, uint32_t end)
{
	std::set<uint32_t> files;
	taken_.clear();
	for (uint32_t block = first; block < end; block++)
		take_for_moving(main_.address(section, block), files);
	options_.copy_offload ? copy_taken() : read_taken();
	for (const uint32_t number : files)
		save(*files_[number]);
}

void FileLayer::cleaned(uint32_t section)
{
	if (main_.sections()[section].chained)
		checkpoint();
	main_.reset_dead();
	counters_.cleaned_sections++;
}

void FileLayer::clean(uint32_t section)
{
	empty(section, 0, main_.sections()[section].written);
	cleaned(section);
}

Phase FileLayer::phase()
{
	const Lock lock(mutex_);
	return options_.background ? phase_of(*options_.background, main_.empty(), main_.writable()) : Phase::no_gc;
}

// Before each operation: a round if one is due. A read that came meanwhile puts it off by a pause.
void FileLayer::background(bool reads)
{
	if (!options_.background || cleaning_)
		return;
	const CleanerKnobs &knobs = *options_.background;
	const Phase phase = phase_of(knobs, main_.empty(), main_.writable());
	background_.read |= reads;
	const uint64_t now_ns = options_.clock ? options_.clock() : 0;
	if (phase == Phase::no_gc || now_ns < background_.due_ns)
		return;
	const bool put_off = std::exchange(background_.read, false);
	if (put_off)
		counters_.paused_rounds++;
	else
		round(phase);
	const uint64_t pause_ns = phase == Phase::boosted ? knobs.boost_pause_ns : knobs.pause_ns;
	background_.due_ns = (options_.clock ? options_.clock() : 0) + (options_.clock ? pause_ns : 0);
}

// Clean the next window of the current victim. If space is short, leave it to foreground cleaning.
void FileLayer::round(Phase phase)
{
	const CleanerKnobs &knobs = *options_.background;
	const std::vector<Section> &all = main_.sections();
	if (main_.empty() <= reserve(main_.logs()) + heats)
		return;
	if (background_.section && (all[*background_.section].open || background_.block >= all[*background_.section].written))
		background_.section.reset();
	if (!background_.section) {
		background_.section = background_victim(knobs, phase, all, main_.section_blocks(), main_.blocks_written());
		background_.block = 0;
	}
	if (!background_.section)
		return;
	const Cleaning cleaning(cleaning_);
	const uint32_t section = *background_.section, first = background_.block;
	const uint64_t window = uint64_t(knobs.window) * knobs.segment_blocks * (phase == Phase::boosted ? knobs.boost_multiple : 1);
	background_.block = uint32_t(std::min<uint64_t>(first + window, all[section].written));
	counters_.rounds[unsigned(phase)]++;
	empty(section, first, background_.block);
	main_.reset_dead();
	if (background_.block < all[section].written)
		return;
	background_.section.reset();
	if (all[section].written)
		cleaned(section);
	else
		counters_.cleaned_sections++;
	counters_.background_sections++;
}

} // namespace hz::fs
