// FileLayer: format and mount: load the last checkpoint, then follow the later inodes.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "apps/hzfs/file_layer.hpp"
#include "apps/hzfs/reserve.hpp"

namespace hz::fs {

using store::block_bytes;
using store::blocks_of;
using store::Damaged;
using store::DeviceError;
using store::DeviceShape;

namespace {

constexpr uint32_t most_section_blocks = 512, least_section_blocks = 8; // of a block device: 2 MiB, as F2FS's segments
constexpr uint32_t sections_wanted = 32;
constexpr uint32_t most_pages = 64;
constexpr uint64_t blocks_a_file = 16; // one possible file per this number of blocks

unsigned logs_for(const DeviceShape &shape, uint32_t sections)
{
	for (const unsigned logs : {6u, 4u})
		if ((!shape.max_active || shape.max_active >= logs) && sections >= 3 * kept_sections(logs))
			return logs;
	return 2;
}

Head shape_for(const DeviceShape &shape)
{
	Head head;
	const uint64_t blocks = shape.zones ? shape.zones * shape.capacity : shape.plain;
	head.pages = uint32_t(std::clamp<uint64_t>(blocks / blocks_a_file / map_blocks, 1, most_pages));
	if (shape.plain < MetaArea::blocks(head.pages))
		throw DeviceError("hzfs keeps its checkpoints in conventional zones, of which this device has none");
	if (shape.zones) {
		head.sections = shape.zones;
		head.section_blocks = uint32_t(shape.capacity);
	} else {
		head.first = MetaArea::blocks(head.pages);
		head.section_blocks = uint32_t(std::clamp<uint64_t>(blocks / sections_wanted, least_section_blocks, most_section_blocks));
		head.sections = uint32_t((blocks - head.first) / head.section_blocks);
	}
	head.logs = logs_for(shape, head.sections);
	if (head.sections <= kept_sections(head.logs))
		throw DeviceError("the device has " + std::to_string(head.sections) + " sections to write to: hzfs needs " +
				  std::to_string(kept_sections(head.logs) + 1));
	if (shape.max_active && shape.max_active < head.logs)
		throw DeviceError("the device allows " + std::to_string(shape.max_active) + " active zones: hzfs needs " +
				  std::to_string(head.logs));
	return head;
}

const Head &head_of(MetaArea &meta, const DeviceShape &shape)
{
	if (!meta.load_head())
		throw Damaged("the device holds no files: its first plain blocks have no checkpoint");
	const Head &head = meta.head();
	const bool fits = shape.zones ? head.sections == shape.zones && head.section_blocks == shape.capacity
				      : head.section_blocks && head.first + uint64_t(head.sections) * head.section_blocks <= shape.plain;
	if (!fits || (head.logs != 2 && head.logs != 4 && head.logs != 6))
		throw Damaged("the files were made on a device of another shape");
	return head;
}

} // namespace

bool FileLayer::is_blank(store::ZonedDevice &device)
{
	if (device.shape().plain && MetaArea(device).load_head())
		return false;
	for (uint32_t zone = 0; zone < device.shape().zones; zone++)
		if (device.state(zone).written)
			return false;
	return true;
}

void FileLayer::format(store::ZonedDevice &device)
{
	Head head = shape_for(device.shape());
	MetaArea meta(device);
	head.generation = meta.last_generation(); // so that no inode that is left somewhere is taken for a new one
	for (uint32_t zone = 0; zone < device.shape().zones; zone++)
		if (const store::ZoneState state = device.state(zone); state.writable && state.written)
			device.reset(zone);
	if (!device.shape().zones)
		device.deallocate(head.first, uint64_t(head.sections) * head.section_blocks);
	for (uint64_t slot = 0; slot < 2; slot++)
		device.write_plain(slot, store::Bytes(block_bytes), store::Safety::durable);
	meta.begin(head);
	meta.save(1, no_section, 0);
}

FileLayer::FileLayer(store::ZonedDevice &device, const Options &options)
	: options_(options), meta_(device), main_(device, head_of(meta_, device.shape()))
{
	if (options_.copy_offload && !device.can_copy())
		throw DeviceError("the cleaner is to let the device copy, and this one copies nothing by itself");
	if (options_.in_place && !main_.can_overwrite())
		throw DeviceError(
			"files are to be written in place, which the zones of this device do not allow: its budget zones.in_place is 0");
	if (options_.slack && !main_.in_place())
		throw DeviceError("data are to go to dead blocks of full sections, and zones are written in order: leave that out");
	meta_.load_table();
	files_.resize(meta_.most_files() + 1);
	sequence_ = meta_.head().sequence;
	const ChainEnd chain_end = follow_chain();
	for (uint32_t number = 1; number < files_.size(); number++)
		if (meta_.inode_of(number))
			load(number);
	main_.begin(chain_end.section, chain_end.block);
	if (options_.slack)
		main_.use_slack(2 * kept_sections(main_.logs()));
	checkpoint();
}

// The inode that comes next, if it is there.
bool FileLayer::take_from_chain(uint32_t section, uint32_t block)
{
	store::Bytes data(block_bytes);
	main_.read(main_.address(section, block), data);
	const auto inode = decode_inode(data);
	if (!inode || inode->generation != meta_.head().generation || inode->sequence != sequence_)
		return false;
	if (!inode->file || inode->file >= files_.size() || inode->replaced >= files_.size())
		throw Damaged("an inode is of file " + std::to_string(inode->file) + ", which cannot be");
	meta_.set_inode(inode->file, inode->removed ? 0 : main_.address(section, block));
	if (inode->replaced)
		meta_.set_inode(inode->replaced, 0);
	sequence_++;
	return true;
}

// The section whose first block holds the next inode, if any.
std::optional<uint32_t> FileLayer::chain_goes_on()
{
	for (uint32_t section = 0; section < main_.sections().size(); section++)
		if (main_.limit(section) && take_from_chain(section, 0))
			return section;
	return std::nullopt;
}

FileLayer::ChainEnd FileLayer::follow_chain()
{
	uint32_t section = meta_.head().chain_section, block = meta_.head().chain_block;
	if (section != no_section && (section >= main_.sections().size() || block > main_.section_blocks()))
		throw Damaged("the checkpoint names a section that the device does not have");
	for (;;) {
		while (section != no_section && block < main_.limit(section) && take_from_chain(section, block))
			block++;
		if (section != no_section && block < main_.section_blocks())
			break;
		const auto next = chain_goes_on();
		if (!next)
			break;
		section = *next;
		block = 1;
	}
	if (section != no_section)
		require_end(section, block);
	return {section, block};
}

// The block after the last inode must be unwritten, or older than the row.
void FileLayer::require_end(uint32_t section, uint32_t block)
{
	const std::string where = "section " + std::to_string(section) + ", block " + std::to_string(block);
	if (!main_.in_place() && block < main_.limit(section))
		throw Damaged(where + " has not the inode that was written there: it is damaged");
	store::Bytes data(block_bytes);
	for (uint32_t later = block + 1; later < main_.limit(section); later++) {
		main_.read(main_.address(section, later), data);
		const auto inode = decode_inode(data);
		if (inode && inode->generation == meta_.head().generation && inode->sequence > sequence_)
			throw Damaged(where + " has not the inode that was written there before a later one: it is damaged");
	}
}

void FileLayer::load(uint32_t number)
{
	store::Bytes data(block_bytes);
	const Address at = meta_.inode_of(number);
	main_.adopt(at, {number, Owner::inode});
	main_.read(at, data);
	const auto inode = decode_inode(data);
	const std::string who = "the inode of file " + std::to_string(number);
	if (!inode || inode->file != number || inode->removed)
		throw Damaged(who + " is damaged, or another program wrote there");
	const uint64_t blocks = blocks_of(inode->size);
	if (blocks > most_file_blocks || inode->direct.size() > blocks || inode->maps.size() > File::maps_for(blocks) ||
	    names_.contains(inode->name))
		throw Damaged(who + " contradicts itself or another");
	auto file = std::make_unique<File>();
	file->number = number;
	file->name = inode->name;
	file->heat = inode->heat;
	file->size = file->saved_size = inode->size;
	file->inode = at;
	file->blocks = inode->direct;
	file->blocks.resize(blocks);
	file->maps = inode->maps;
	file->maps.resize(File::maps_for(blocks));
	load_maps(*file);
	for (uint32_t block = 0; block < blocks; block++)
		if (file->blocks[block]) {
			main_.adopt(file->blocks[block], {number, block});
			used_++;
		}
	used_ += 1 + file->maps.size();
	names_[file->name] = number;
	files_[number] = std::move(file);
}

void FileLayer::load_maps(File &file)
{
	store::Bytes data(block_bytes);
	for (uint32_t map = 0; map < file.maps.size(); map++) {
		if (!file.maps[map])
			continue;
		main_.adopt(file.maps[map], {file.number, Owner::map | map});
		main_.read(file.maps[map], data);
		const auto pointers = decode_pointers(data);
		if (!pointers || pointers->owner != file.number || pointers->number != map)
			throw Damaged("map " + std::to_string(map) + " of file " + std::to_string(file.number) +
				      " is damaged, or another program wrote there");
		const size_t first = direct_blocks + map * map_blocks;
		std::copy_n(pointers->at.begin(), std::min(map_blocks, file.blocks.size() - first), file.blocks.begin() + ptrdiff_t(first));
	}
}

} // namespace hz::fs
