// MetaArea: heads and table pages.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hzfs/meta_area.hpp"

#include <algorithm>
#include <string>

#include "apps/hzfs/sealed_block.hpp"

namespace hz::fs {

namespace {

using store::block_bytes;
using store::Bytes;
using store::Damaged;

constexpr uint64_t head_magic = 0x3173646165687a68; // "hzheads1"

static_assert(64 + MetaArea::most_pages / 8 <= sealed_room);

} // namespace

Bytes MetaArea::encode_head() const
{
	Bytes out;
	store::put_number(out, head_magic, 8);
	store::put_number(out, head_.generation, 8);
	store::put_number(out, head_.sequence, 8);
	store::put_number(out, head_.first, 8);
	for (const uint32_t one : {head_.chain_section, head_.chain_block, head_.sections, head_.section_blocks, head_.logs, head_.pages})
		store::put_number(out, one, 4);
	for (uint32_t page = 0; page < head_.pages; page += 8) {
		unsigned bits = 0;
		for (unsigned i = 0; i < 8 && page + i < head_.pages; i++)
			bits |= unsigned(second_[page + i]) << i;
		store::put_number(out, bits, 1);
	}
	seal(out);
	return out;
}

std::optional<Head> MetaArea::decode(std::span<const std::byte> block, std::vector<bool> &second) const
{
	auto in = unseal(block, head_magic);
	if (!in)
		return std::nullopt;
	Head head;
	head.generation = in->number(8);
	head.sequence = in->number(8);
	head.first = in->number(8);
	for (uint32_t *const one : {&head.chain_section, &head.chain_block, &head.sections, &head.section_blocks, &head.logs, &head.pages})
		*one = uint32_t(in->number(4));
	if (head.pages > most_pages || blocks(head.pages) > device_.shape().plain)
		throw Damaged("the files were made on a larger device: their table has " + std::to_string(head.pages) + " pages");
	second.clear();
	for (uint32_t page = 0; page < head.pages; page += 8)
		for (uint64_t bits = in->number(1), i = 0; i < 8 && page + i < head.pages; i++)
			second.push_back(bits >> i & 1);
	return head;
}

std::optional<Head> MetaArea::load_head()
{
	std::optional<Head> newest;
	Bytes block(block_bytes);
	std::vector<bool> second;
	for (uint64_t at = 0; at < 2 && at < device_.shape().plain; at++) {
		device_.read_plain(at, block);
		const auto head = decode(block, second);
		if (!head && std::any_of(block.begin(), block.end(), [](std::byte one) { return one != std::byte(0); }))
			throw Damaged("plain block " + std::to_string(at) +
				      " holds no checkpoint: it is damaged, or another program wrote there");
		if (!head || (newest && newest->generation > head->generation))
			continue;
		newest = head_ = *head;
		second_ = second;
	}
	return newest;
}

uint64_t MetaArea::last_generation()
{
	uint64_t last = 0;
	Bytes block(block_bytes);
	for (uint64_t at = 0; at < 2; at++) {
		device_.read_plain(at, block);
		if (auto in = unseal(block, head_magic))
			last = std::max(last, in->number(8));
	}
	return last;
}

void MetaArea::load_table()
{
	Bytes block(block_bytes);
	table_.clear();
	for (uint32_t page = 0; page < head_.pages; page++) {
		device_.read_plain(place_of(page, second_[page]), block);
		const auto pointers = decode_pointers(block);
		if (!pointers || pointers->owner || pointers->number != page)
			throw Damaged("page " + std::to_string(page) + " of the table of files, plain block " +
				      std::to_string(place_of(page, second_[page])) + ", is damaged, or another program wrote there");
		table_.insert(table_.end(), pointers->at.begin(), pointers->at.end());
	}
	changed_.assign(head_.pages, false);
}

void MetaArea::begin(const Head &head)
{
	head_ = head;
	table_.assign(head.pages * map_blocks, 0);
	second_.assign(head.pages, false);
	changed_.assign(head.pages, true);
}

void MetaArea::set_inode(uint32_t file, Address inode)
{
	table_[file] = inode;
	changed_[file / map_blocks] = true;
}

void MetaArea::save(uint64_t sequence, uint32_t chain_section, uint32_t chain_block)
{
	const std::vector<bool> before = second_;
	const Head old = head_;
	try {
		for (uint32_t page = 0; page < head_.pages; page++) {
			if (!changed_[page])
				continue;
			second_[page] = !second_[page];
			const auto first = table_.begin() + ptrdiff_t(page * map_blocks);
			device_.write_plain(place_of(page, second_[page]),
					    encode(Pointers{.owner = 0, .number = page, .at = {first, first + map_blocks}}),
					    store::Safety::until_flush);
			blocks_written_++;
		}
		if (before != second_)
			device_.flush();
		head_.generation++;
		head_.sequence = sequence;
		head_.chain_section = chain_section;
		head_.chain_block = chain_block;
		device_.write_plain(head_.generation % 2, encode_head(), store::Safety::durable);
		blocks_written_++;
	} catch (const store::DeviceError &) {
		second_ = before;
		head_ = old;
		throw;
	}
	changed_.assign(head_.pages, false);
}

} // namespace hz::fs
