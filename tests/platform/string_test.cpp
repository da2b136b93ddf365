// string.c (compiled under other names) against the host's libc, for every alignment and length that its paths tell apart.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <random>

extern "C" {
void *fw_memcpy(void *dst, const void *src, size_t bytes);
void *fw_memmove(void *dst, const void *src, size_t bytes);
void *fw_memset(void *dst, int value, size_t bytes);
int fw_memcmp(const void *a, const void *b, size_t bytes);
size_t fw_strlen(const char *text);
int fw_strcmp(const char *a, const char *b);
}

namespace {

const size_t lengths[] = {0, 1, 7, 8, 9, 15, 63, 64, 65, 127, 200};
struct Pair {
	alignas(16) uint8_t ours[512];
	alignas(16) uint8_t theirs[512];
	explicit Pair(uint64_t seed)
	{
		std::mt19937_64 random(seed);
		for (auto &byte : ours)
			byte = static_cast<uint8_t>(random());
		memcpy(theirs, ours, sizeof(ours));
	}
	bool same() const { return memcmp(ours, theirs, sizeof(ours)) == 0; }
};

TEST(String, CopiesAndMovesAtEveryAlignment)
{
	for (size_t from = 0; from < 24; from++)
		for (size_t to = 0; to < 24; to++)
			for (size_t bytes : lengths) {
				Pair a(from * 31 + to), b(from * 31 + to);
				fw_memcpy(a.ours + 256 + to, a.ours + from, bytes);
				memcpy(a.theirs + 256 + to, a.theirs + from, bytes);
				ASSERT_TRUE(a.same()) << from << " " << to << " " << bytes;
				fw_memmove(b.ours + to, b.ours + from, bytes);
				memmove(b.theirs + to, b.theirs + from, bytes);
				ASSERT_TRUE(b.same()) << "overlapping " << from << " " << to << " " << bytes;
			}
}

TEST(String, SetsAtEveryAlignment)
{
	for (size_t at = 0; at < 16; at++)
		for (size_t bytes : lengths) {
			Pair a(at);
			fw_memset(a.ours + at, 0x1a5, bytes);
			memset(a.theirs + at, 0x1a5, bytes);
			ASSERT_TRUE(a.same()) << at << " " << bytes;
		}
}

int sign(int value) { return (value > 0) - (value < 0); }

TEST(String, ComparesAtEveryAlignmentAndDifference)
{
	for (size_t at = 0; at < 16; at++)
		for (size_t bytes : lengths)
			for (size_t differs = 0; differs <= bytes; differs++) {
				Pair a(3);
				if (differs < bytes)
					a.theirs[at + differs] ^= 0x80;
				ASSERT_EQ(sign(fw_memcmp(a.ours + at, a.theirs + at, bytes)),
					  sign(memcmp(a.ours + at, a.theirs + at, bytes)));
			}
	EXPECT_EQ(fw_strlen(""), 0u);
	EXPECT_EQ(fw_strlen("abc"), 3u);
	EXPECT_EQ(fw_strcmp("abc", "abc"), 0);
	EXPECT_LT(fw_strcmp("ab", "abc"), 0);
	EXPECT_GT(fw_strcmp("\xff", "a"), 0);
}

} // namespace
