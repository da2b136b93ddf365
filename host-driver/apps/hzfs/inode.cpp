// Inode and Pointers as blocks.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hzfs/inode.hpp"

#include <algorithm>
#include <bit>

#include "apps/hzfs/sealed_block.hpp"

namespace hz::fs {

namespace {

constexpr uint64_t inode_magic = 0x3165646f6e697a68, pointers_magic = 0x31746e696f707a68; // "hzinode1", "hzpoint1"
constexpr size_t direct_at = 256;                                                         // the name ends before
enum Flags : uint8_t { flag_removed = 1 };

static_assert(direct_at + 4 * (direct_blocks + maps_of_inode) <= sealed_room);
static_assert(16 + 4 * map_blocks <= sealed_room);

void put_addresses(store::Bytes &out, const std::vector<Address> &at, size_t count)
{
	static_assert(sizeof(Address) == 4 && std::endian::native == std::endian::little); // Addresses are stored as raw numbers
	const size_t from = out.size();
	out.resize(from + count * sizeof(Address));
	std::copy_n(reinterpret_cast<const std::byte *>(at.data()), std::min(count, at.size()) * sizeof(Address), out.data() + from);
}

std::vector<Address> take_addresses(store::Reader &in, size_t count)
{
	std::vector<Address> at(count);
	for (Address &one : at)
		one = Address(in.number(4));
	return at;
}

void drop_trailing_zeros(std::vector<Address> &at)
{
	while (!at.empty() && !at.back())
		at.pop_back();
}

} // namespace

store::Bytes encode(const Inode &inode)
{
	store::Bytes out;
	store::put_number(out, inode_magic, 8);
	store::put_number(out, inode.generation, 8);
	store::put_number(out, inode.sequence, 8);
	store::put_number(out, inode.size, 8);
	store::put_number(out, inode.file, 4);
	store::put_number(out, inode.replaced, 4);
	store::put_number(out, inode.removed ? flag_removed : 0, 1);
	store::put_number(out, uint64_t(inode.heat), 1);
	store::put_text(out, inode.name);
	out.resize(direct_at);
	put_addresses(out, inode.direct, direct_blocks);
	put_addresses(out, inode.maps, maps_of_inode);
	seal(out);
	return out;
}

std::optional<Inode> decode_inode(std::span<const std::byte> block)
{
	auto in = unseal(block, inode_magic);
	if (!in)
		return std::nullopt;
	Inode inode;
	inode.generation = in->number(8);
	inode.sequence = in->number(8);
	inode.size = in->number(8);
	inode.file = uint32_t(in->number(4));
	inode.replaced = uint32_t(in->number(4));
	inode.removed = in->number(1) & flag_removed;
	const uint64_t heat = in->number(1);
	if (heat >= heats)
		return std::nullopt;
	inode.heat = Heat(heat);
	inode.name = in->text();
	store::Reader addresses(block.subspan(direct_at));
	inode.direct = take_addresses(addresses, direct_blocks);
	inode.maps = take_addresses(addresses, maps_of_inode);
	drop_trailing_zeros(inode.direct);
	drop_trailing_zeros(inode.maps);
	return inode;
}

store::Bytes encode(const Pointers &pointers)
{
	store::Bytes out;
	store::put_number(out, pointers_magic, 8);
	store::put_number(out, pointers.owner, 4);
	store::put_number(out, pointers.number, 4);
	put_addresses(out, pointers.at, map_blocks);
	seal(out);
	return out;
}

std::optional<Pointers> decode_pointers(std::span<const std::byte> block)
{
	auto in = unseal(block, pointers_magic);
	if (!in)
		return std::nullopt;
	Pointers pointers;
	pointers.owner = uint32_t(in->number(4));
	pointers.number = uint32_t(in->number(4));
	pointers.at = take_addresses(*in, map_blocks);
	return pointers;
}

} // namespace hz::fs
