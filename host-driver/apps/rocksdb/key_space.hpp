// Key and value of an operation: 100 bytes of key and 800 of value, from which the check can tell
// whether a pair was ever written.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hz::rocks {

inline constexpr size_t key_bytes = 100, value_bytes = 800;

// Operations are counted from 0: the first `keys` of them write each key in turn, all others one at random.
struct KeySpace {
	uint64_t keys, seed;

	uint64_t key_of(uint64_t operation) const;
};

std::string key_text(uint64_t key);
std::string value_text(uint64_t operation);
// The operation that wrote this value; nothing: none has.
std::optional<uint64_t> operation_of(std::string_view value);

} // namespace hz::rocks
