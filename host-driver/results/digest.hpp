/* Digest: FNV-1a with 64 bits over device-side results, the same on every host that computes it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace hz::res {

/* FNV-1a (Fowler, Noll, Vo; offset basis cbf29ce484222325, prime 100000001b3). Integers are hashed
 * as little-endian bytes. It distinguishes runs; it does not protect against forgery. */
class Digest {
public:
	void bytes(std::span<const std::byte> data);
	void u16(uint16_t value) { integer(value, 2); }
	void u64(uint64_t value) { integer(value, 8); }
	uint64_t value() const { return state_; }
	std::string text() const; /* 16 hexadecimal digits */

private:
	void integer(uint64_t value, int count);
	uint64_t state_ = 0xcbf29ce484222325ull;
};

} // namespace hz::res
