// Change: one step of the store's files and folders, as the metadata log keeps it. A snapshot is the changes that lead to it from nothing.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/bytes.hpp"

namespace hz::store {

// How long data live, from what their writer says; data that die together share zones. What is durable comes first.
enum class Lifetime : uint8_t { journal, manifest, unknown, brief, medium, lasting, extreme };
inline constexpr unsigned lifetimes = 7;
inline bool is_durable(Lifetime lifetime) { return lifetime <= Lifetime::manifest; }

// `bytes` of a file from the start of `block` of `zone` on. Only its last block may be filled in part.
struct Extent {
	uint32_t zone = 0, block = 0;
	uint64_t bytes = 0;
	bool operator==(const Extent &) const = default;
};

enum class ChangeKind : uint8_t {
	make_folder = 1,
	remove_folder,
	create, // an empty file in place of any that has the path
	rename, // in place of any that has the path `to`
	remove,
	extents, // the file's extents from number `first` on
};

struct Change {
	ChangeKind kind = ChangeKind::create;
	std::string path{}, to{};
	Lifetime lifetime = Lifetime::unknown; // create
	uint64_t time = 0;                     // create: seconds since 1970
	uint32_t first = 0;
	std::vector<Extent> extents{};
	bool operator==(const Change &) const = default;
};

Bytes encode(const std::vector<Change> &changes);
// Throws Damaged for what encode() does not write.
std::vector<Change> decode(std::span<const std::byte> data);

} // namespace hz::store
