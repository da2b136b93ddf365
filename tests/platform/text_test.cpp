// text.c formats as printf does, within its buffer.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "platform/text.h"

namespace {

// The formats below are literals; the compiler cannot see that here.
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
template <typename... Args> void same(const char *format, Args... args)
{
	for (size_t room : {1, 2, 5, 16, 200}) {
		char ours[200], theirs[200];
		memset(ours, '#', sizeof(ours));
		size_t length = text_format(ours, room, format, args...);
		snprintf(theirs, room, format, args...);
		EXPECT_STREQ(ours, theirs) << format << " in " << room;
		EXPECT_EQ(length, strlen(theirs));
		EXPECT_TRUE(room == sizeof(ours) || ours[room] == '#') << "wrote behind its room";
	}
}

TEST(Text, EqualsPrintf)
{
	same("plain");
	same("%d %d %d", 0, -1, 2147483647);
	same("%d", -2147483647 - 1);
	same("%ld %lu %lx", -9223372036854775807L - 1, ~0ul, ~0ul);
	same("%u|%5u|%05u|%x|%08x", 7u, 42u, 42u, 0xbeefu, 0xbeefu);
	same("%s and %8s and %c%%", "text", "right", 'x');
	same("%zu", static_cast<size_t>(123456789012345ull));
	same("%016lx", 0x1234ul);
}

TEST(Text, NoRoomWritesNothing)
{
	char byte = '#';
	EXPECT_EQ(text_format(&byte, 0, "text"), 0u);
	EXPECT_EQ(byte, '#');
}

} // namespace
