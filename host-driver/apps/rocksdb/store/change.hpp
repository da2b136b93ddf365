// Change: one step of the store's files and folders, as recorded in the metadata log. A snapshot is
// the list of changes from an empty store.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/bytes.hpp"

namespace hz::store {

// Lifetime of data, from the writer's hint; data of one lifetime share zones. Durable ones come
// first.
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
	create, // an empty file; replaces a file with this path
	rename, // replaces a file with the path `to`
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
// Throws Damaged for input that encode() cannot produce.
std::vector<Change> decode(std::span<const std::byte> data);

} // namespace hz::store
