// MetadataLog: records in the device's first zones; one of them holds the newest log: a snapshot,
// then the later changes.
//
// A record is whole blocks, written durably: a header of 40 bytes (magic, generation of the zone's
// log, number of the record in it, bytes, checksums of the content and of the header), then its
// content. When a zone is full, the next one gets a snapshot of a higher generation, and then the
// old one is reset. The write pointer separates torn records from damage: a record that ends behind
// the pointer was never acknowledged and ends the log; a record before it with a wrong checksum is
// damage, and is refused.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "storage/bytes.hpp"
#include "storage/zoned_device.hpp"

namespace hz::store {

class MetadataLog {
public:
	static constexpr uint32_t zones = 3;       // one may become read only
	static constexpr uint32_t most_active = 2; // while it goes from one to the next

	explicit MetadataLog(ZonedDevice &device) : device_(device) {}

	// Begin a new log; the zones' old content is lost.
	void format(std::span<const std::byte> snapshot);
	// The contents of the newest log's records, the snapshot first. Throws Damaged.
	void replay(const std::function<void(std::span<const std::byte>)> &take);
	// Durable when it returns. false: the zone has no room for it, and nothing was written: roll().
	bool append(std::span<const std::byte> content);
	// Write a snapshot into the next zone, where the log continues.
	void roll(std::span<const std::byte> snapshot);

private:
	struct Header {
		uint64_t generation;
		uint32_t number, bytes, content_crc;
	};
	struct Found {
		uint32_t zone;
		uint64_t generation, blocks;
	};

	Bytes encode(std::span<const std::byte> content) const;
	static std::optional<Header> decode(std::span<const std::byte> block);
	// The record at `block`, if it ends before the write pointer. Throws Damaged.
	std::optional<Header> read_record(uint32_t zone, uint64_t block, uint64_t written, Bytes &content);
	std::optional<Found> newest();
	void write(std::span<const std::byte> content);
	bool try_zone(uint32_t zone, std::span<const std::byte> snapshot);

	ZonedDevice &device_;
	uint32_t zone_ = zones - 1; // of the newest log
	uint64_t generation_ = 0;
	uint32_t number_ = 0; // of the next record
	uint64_t block_ = 0;  // and its place
};

} // namespace hz::store
