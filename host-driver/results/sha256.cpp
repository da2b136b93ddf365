/* SHA-256: whole blocks from the text, then one or two that hold the rest, the bit 1 and the length. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/sha256.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace hz::res {
namespace {

constexpr size_t block_bytes = 64;
constexpr uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
	0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
	0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
	0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
	0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
	0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

using State = std::array<uint32_t, 8>;

uint32_t big_endian(const uint8_t *p) { return uint32_t(p[0]) << 24 | uint32_t(p[1]) << 16 | uint32_t(p[2]) << 8 | p[3]; }

void add_block(State &state, const uint8_t *block)
{
	uint32_t w[64];
	for (int i = 0; i < 16; i++)
		w[i] = big_endian(block + 4 * i);
	for (int i = 16; i < 64; i++) {
		const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
		const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
	auto [a, b, c, d, e, f, g, h] = state;
	for (int i = 0; i < 64; i++) {
		const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25), choice = (e & f) ^ (~e & g);
		const uint32_t t1 = h + s1 + choice + round_constants[i] + w[i];
		const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22), majority = (a & b) ^ (a & c) ^ (b & c);
		h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + s0 + majority;
	}
	const State out = {a, b, c, d, e, f, g, h};
	for (size_t i = 0; i < state.size(); i++)
		state[i] += out[i];
}

void add_end(State &state, const uint8_t *rest, size_t length, uint64_t total_bytes)
{
	uint8_t last[2 * block_bytes] = {};
	memcpy(last, rest, length);
	last[length] = 0x80;
	const size_t bytes = length + 9 > block_bytes ? 2 * block_bytes : block_bytes;
	for (int i = 0; i < 8; i++)
		last[bytes - 1 - i] = uint8_t(total_bytes * 8 >> 8 * i);
	for (size_t at = 0; at < bytes; at += block_bytes)
		add_block(state, last + at);
}

} // namespace

std::string sha256(std::string_view bytes)
{
	State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	const auto *data = reinterpret_cast<const uint8_t *>(bytes.data());
	const size_t whole = bytes.size() / block_bytes * block_bytes;
	for (size_t at = 0; at < whole; at += block_bytes)
		add_block(state, data + at);
	add_end(state, data + whole, bytes.size() - whole, bytes.size());
	std::string text;
	for (const uint32_t word : state)
		for (int shift = 28; shift >= 0; shift -= 4)
			text += "0123456789abcdef"[word >> shift & 15];
	return text;
}

} // namespace hz::res
