// KeySpace: everything derives from a hash of numbers; nothing is stored.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/rocksdb/key_space.hpp"

#include <cstdio>
#include <cstring>

namespace hz::rocks {

namespace {

// The finaliser of splitmix64.
uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

} // namespace

uint64_t KeySpace::key_of(uint64_t operation) const { return operation < keys ? operation : mix(operation ^ seed << 40) % keys; }

std::string key_text(uint64_t key)
{
	char digits[21];
	std::snprintf(digits, sizeof(digits), "%020llu", static_cast<unsigned long long>(key));
	return std::string(digits).append(key_bytes - 20, 'k');
}

std::string value_text(uint64_t operation)
{
	std::string value(value_bytes, '\0');
	std::memcpy(value.data(), &operation, sizeof(operation));
	for (size_t at = sizeof(operation); at < value_bytes; at += sizeof(uint64_t)) {
		const uint64_t word = mix(operation * value_bytes + at);
		std::memcpy(value.data() + at, &word, sizeof(word));
	}
	return value;
}

std::optional<uint64_t> operation_of(std::string_view value)
{
	uint64_t operation = 0;
	if (value.size() != value_bytes)
		return std::nullopt;
	std::memcpy(&operation, value.data(), sizeof(operation));
	if (value != value_text(operation))
		return std::nullopt;
	return operation;
}

} // namespace hz::rocks
