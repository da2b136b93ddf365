// FileLayer: makes dirty data durable: data, then maps, then the inode.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "apps/hzfs/file_layer.hpp"
#include "apps/hzfs/reserve.hpp"

namespace hz::fs {

using store::block_bytes;
using store::Safety;

namespace {

constexpr size_t durable_most = 32;   // blocks that a sync writes durably at once; more are cheaper by a flush
constexpr size_t in_place_most = 8;   // most blocks of a sync to be overwritten in place, as in F2FS (32 KiB)
constexpr uint32_t blocks_a_row = 32; // of one command

} // namespace

void FileLayer::sync(File &file)
{
	const Lock lock(mutex_);
	background(false);
	save(file);
}

void FileLayer::sync_all()
{
	const Lock lock(mutex_);
	for (const auto &[name, number] : names_)
		save(*files_[number]);
	checkpoint();
}

// A file that has no name is not there after a power cut: its data go to the device for room in memory only.
void FileLayer::save(File &file)
{
	overwrite(file);
	if (file.name.empty() && file.dirty.empty())
		return release_superseded(file);
	if (file.dirty.empty() && !file.changed)
		return;
	if (!make_room(&file))
		throw store::NoSpace("no section can be emptied any more");
	const bool few = file.dirty.size() <= durable_most && !file.name.empty();
	write_back(file, few ? Safety::durable : Safety::until_flush);
	if (file.name.empty())
		return release_superseded(file);
	write_maps(file, few ? Safety::durable : Safety::until_flush);
	settle(file);
	write_inode(file, file.name, 0);
	counters_.syncs++;
	main_.reset_dead();
	if (chain_ >= options_.checkpoint_every)
		checkpoint();
}

// A block is written as a whole or not at all, so its old content need not be kept. Not for a grown
// file: the block at the saved end of the file must hold zeros beyond it.
void FileLayer::overwrite(File &file)
{
	if (!options_.in_place || cleaning_ || file.dirty.size() > in_place_most)
		return;
	for (auto one = file.dirty.begin(); one != file.dirty.end();) {
		const Address at = file.at(one->first);
		if (!at || (file.size != file.saved_size && one->first >= file.saved_size / block_bytes)) {
			++one;
			continue;
		}
		if (!main_.overwrite(at, one->second->data)) {
			counters_.over_budget++;
			return;
		}
		counters_.data_blocks++;
		counters_.in_place_blocks++;
		dirty_like(file)--;
		one = file.dirty.erase(one);
	}
}

void FileLayer::place(File &file, uint32_t block, Address at)
{
	if (file.blocks[block])
		file.superseded.push_back(file.blocks[block]);
	file.blocks[block] = at;
	main_.own(at, {file.number, block});
	if (block >= direct_blocks)
		file.changed_maps.insert(uint32_t((block - direct_blocks) / map_blocks));
	file.changed = true;
}

// Pages from the first on that go to one log, at most a row.
void FileLayer::write_row(File &file, Safety safety)
{
	const bool moved = file.dirty.begin()->second->moved;
	const Temperature temperature = moved ? Temperature::cold_data : of_data(file.heat);
	store::Bytes row;
	for (const auto &[block, page] : file.dirty) {
		if (page->moved != moved || row.size() == blocks_a_row * block_bytes)
			break;
		row.insert(row.end(), page->data.begin(), page->data.end());
	}
	std::span<const std::byte> left(row);
	while (!left.empty()) {
		const MainArea::Row written = main_.append(temperature, left, safety);
		for (uint32_t i = 0; i < written.blocks; i++) {
			place(file, file.dirty.begin()->first, written.from + i);
			file.dirty.erase(file.dirty.begin());
			dirty_like(file)--;
		}
		file.unsettled.push_back(written.from + written.blocks - 1);
		counters_.data_blocks += written.blocks;
	}
}

void FileLayer::write_back(File &file, Safety safety)
{
	while (!file.dirty.empty())
		write_row(file, safety);
}

void FileLayer::write_back_all()
{
	for (const auto &file : files_) {
		if (!file || file->dirty.empty())
			continue;
		if (!make_room(file.get()))
			throw store::NoSpace("no section can be emptied any more");
		write_back(*file, Safety::until_flush);
		if (file->name.empty())
			release_superseded(*file);
	}
}

void FileLayer::write_maps(File &file, Safety safety)
{
	while (!file.changed_maps.empty()) {
		const uint32_t map = *file.changed_maps.begin();
		const auto first = file.blocks.begin() + ptrdiff_t(direct_blocks + map * map_blocks);
		const auto count = std::min<ptrdiff_t>(map_blocks, file.blocks.end() - first);
		const store::Bytes block = encode(Pointers{.owner = file.number, .number = map, .at = {first, first + count}});
		std::span<const std::byte> left(block);
		const Address at = main_.append(cleaning_ ? Temperature::cold_node : Temperature::warm_node, left, safety).from;
		if (file.maps[map])
			file.superseded.push_back(file.maps[map]);
		file.maps[map] = at;
		main_.own(at, {file.number, Owner::map | map});
		file.unsettled.push_back(at);
		file.changed = true;
		file.changed_maps.erase(map);
		counters_.node_blocks++;
	}
}

void FileLayer::settle(File &file)
{
	if (!std::all_of(file.unsettled.begin(), file.unsettled.end(), [this](Address at) { return main_.is_durable(at); }))
		main_.flush();
	file.unsettled.clear();
}

void FileLayer::release_superseded(File &file)
{
	for (const Address at : file.superseded)
		main_.release(at);
	file.superseded.clear();
}

void FileLayer::write_inode(File &file, const std::string &name, uint32_t replaced)
{
	Inode inode{.size = file.size, .file = file.number, .replaced = replaced, .heat = file.heat, .name = name, .maps = file.maps};
	inode.direct.assign(file.blocks.begin(), file.blocks.begin() + ptrdiff_t(std::min(direct_blocks, file.blocks.size())));
	const Address at = put_in_chain(std::move(inode));
	main_.own(at, {file.number, Owner::inode});
	meta_.set_inode(file.number, at);
	if (file.inode)
		main_.release(file.inode);
	file.inode = at;
	release_superseded(file);
	file.saved_size = file.size;
	file.changed = false;
}

// An inode that the device refused may still have arrived; it must not be followed later: a new
// checkpoint begins a new row, and frees sections of old inodes.
Address FileLayer::put_in_chain(Inode inode)
{
	if (chain_unsure_ || (chain_ && !main_.room(Temperature::hot_node) && main_.empty() < reserve(main_.logs())))
		checkpoint();
	inode.generation = meta_.head().generation;
	inode.sequence = sequence_;
	const store::Bytes block = encode(inode);
	std::span<const std::byte> left(block);
	chain_unsure_ = true;
	const Address at = main_.append(Temperature::hot_node, left, Safety::durable).from;
	chain_unsure_ = false;
	sequence_++;
	chain_++;
	counters_.node_blocks++;
	return at;
}

// A checkpoint has durable state only: a file that was never synced is not in it.
void FileLayer::checkpoint()
{
	chain_unsure_ = true;
	meta_.save(sequence_, main_.chain_section(), main_.chain_block());
	chain_unsure_ = false;
	chain_ = 0;
	counters_.checkpoints++;
	main_.chain_saved();
	main_.reset_dead();
}

} // namespace hz::fs
