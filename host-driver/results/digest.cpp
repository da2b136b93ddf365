/* Digest: FNV-1a with 64 bits. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/digest.hpp"

namespace hz::res {
namespace {

constexpr uint64_t prime = 0x100000001b3ull;

} // namespace

void Digest::bytes(std::span<const std::byte> data)
{
	for (const std::byte b : data)
		state_ = (state_ ^ uint64_t(b)) * prime;
}

void Digest::integer(uint64_t value, int count)
{
	for (; count; count--, value >>= 8)
		state_ = (state_ ^ (value & 0xff)) * prime;
}

std::string Digest::text() const
{
	static constexpr char digits[] = "0123456789abcdef";
	std::string out(16, '0');
	for (int i = 0; i < 16; i++)
		out[size_t(i)] = digits[state_ >> (60 - 4 * i) & 15];
	return out;
}

} // namespace hz::res
