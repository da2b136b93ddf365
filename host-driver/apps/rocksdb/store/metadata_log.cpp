// MetadataLog: writing, finding and reading of records.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/rocksdb/store/metadata_log.hpp"

#include <algorithm>
#include <string>

namespace hz::store {

namespace {

constexpr uint64_t magic = 0x31676f6c6174656d;          // "metalog1"
constexpr size_t header_bytes = 40, checked_bytes = 32; // the header's checksum comes after the checked bytes

std::string place(uint32_t zone, uint64_t block) { return "metadata zone " + std::to_string(zone) + ", block " + std::to_string(block); }

} // namespace

Bytes MetadataLog::encode(std::span<const std::byte> content) const
{
	Bytes out;
	put_number(out, magic, 8);
	put_number(out, generation_, 8);
	put_number(out, number_, 4);
	put_number(out, content.size(), 4);
	put_number(out, crc32c(content), 8);
	put_number(out, crc32c(out), 8);
	out.insert(out.end(), content.begin(), content.end());
	out.resize(blocks_of(out.size()) * block_bytes);
	return out;
}

std::optional<MetadataLog::Header> MetadataLog::decode(std::span<const std::byte> block)
{
	Reader in(block.first(header_bytes));
	const uint64_t found = in.number(8);
	Header header{};
	header.generation = in.number(8);
	header.number = uint32_t(in.number(4));
	header.bytes = uint32_t(in.number(4));
	header.content_crc = uint32_t(in.number(8));
	if (found != magic || in.number(8) != crc32c(block.first(checked_bytes)))
		return std::nullopt;
	return header;
}

std::optional<MetadataLog::Header> MetadataLog::read_record(uint32_t zone, uint64_t block, uint64_t written, Bytes &content)
{
	Bytes data(block_bytes);
	if (block >= written)
		return std::nullopt;
	device_.read(zone, block, data);
	const auto header = decode(data);
	if (!header)
		throw Damaged(place(zone, block) + " holds no record: it is damaged, or another program wrote there");
	const uint64_t blocks = blocks_of(header_bytes + header->bytes);
	if (block + blocks > written)
		return std::nullopt;
	data.resize(blocks * block_bytes);
	if (blocks > 1)
		device_.read(zone, block + 1, std::span(data).subspan(block_bytes));
	const auto *begin = data.data() + header_bytes;
	content.assign(begin, begin + header->bytes);
	if (crc32c(content) != header->content_crc)
		throw Damaged(place(zone, block) + ": the record's checksum is wrong");
	return header;
}

std::optional<MetadataLog::Found> MetadataLog::newest()
{
	std::optional<Found> best;
	Bytes content;
	for (uint32_t zone = 0; zone < zones; zone++) {
		const uint64_t written = device_.state(zone).written;
		const auto header = read_record(zone, 0, written, content);
		if (header && header->number != 0)
			throw Damaged(place(zone, 0) + ": the log begins with record " + std::to_string(header->number));
		if (header && (!best || header->generation > best->generation))
			best = Found{zone, header->generation, written};
	}
	return best;
}

void MetadataLog::replay(const std::function<void(std::span<const std::byte>)> &take)
{
	const auto found = newest();
	if (!found)
		throw Damaged("the device holds no files: its first zones are empty");
	zone_ = found->zone;
	generation_ = found->generation;
	Bytes content;
	for (number_ = 0, block_ = 0;; number_++) {
		const auto header = read_record(zone_, block_, found->blocks, content);
		if (!header)
			return;
		if (header->generation != generation_ || header->number != number_)
			throw Damaged(place(zone_, block_) + " has record " + std::to_string(header->number) + " of generation " +
				      std::to_string(header->generation) + " where " + std::to_string(number_) + " of " +
				      std::to_string(generation_) + " was expected");
		take(content);
		block_ += blocks_of(header_bytes + content.size());
	}
}

void MetadataLog::write(std::span<const std::byte> content)
{
	const Bytes record = encode(content);
	device_.write(zone_, block_, record, Safety::durable);
	block_ += record.size() / block_bytes;
	number_++;
}

bool MetadataLog::append(std::span<const std::byte> content)
{
	if (blocks_of(header_bytes + content.size()) > device_.shape().capacity - block_)
		return false;
	write(content);
	return true;
}

bool MetadataLog::try_zone(uint32_t zone, std::span<const std::byte> snapshot)
{
	const ZoneState state = device_.state(zone);
	if (!state.writable)
		return false;
	if (state.written)
		device_.reset(zone);
	zone_ = zone;
	number_ = 0;
	block_ = 0;
	write(snapshot);
	return true;
}

void MetadataLog::roll(std::span<const std::byte> snapshot)
{
	if (blocks_of(header_bytes + snapshot.size()) > device_.shape().capacity)
		throw NoSpace("the list of all files does not fit a zone any more");
	const uint32_t old = zone_;
	generation_++;
	// Reset leftovers of an earlier, torn roll: they would exceed the active zones by one.
	for (uint32_t zone = 0; zone < zones; zone++)
		if (const ZoneState state = device_.state(zone); zone != old && state.writable && state.written)
			device_.reset(zone);
	for (uint32_t next = 1; next < zones; next++)
		if (try_zone((old + next) % zones, snapshot)) {
			if (device_.state(old).writable)
				device_.reset(old);
			return;
		}
	throw NoSpace("no zone is left for the metadata log: the device has made them read only");
}

void MetadataLog::format(std::span<const std::byte> snapshot)
{
	for (uint32_t zone = 0; zone < zones; zone++)
		if (const ZoneState state = device_.state(zone); state.writable && state.written)
			device_.reset(zone);
	generation_ = 0;
	zone_ = zones - 1;
	roll(snapshot);
}

} // namespace hz::store
