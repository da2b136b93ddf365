// fdt.c: tokens in order, and every way in which a blob can lie about its bounds.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>

#include "fdt_builder.hpp"
#include "platform/fdt.h"

namespace {

// A copy whose end is the heap block's end, so that the address sanitizer sees any read behind it.
struct Exact {
	explicit Exact(const std::vector<uint8_t> &from) : bytes(from.size()), data(new uint8_t[bytes ? bytes : 1])
	{
		std::copy(from.begin(), from.end(), data.get());
	}
	size_t bytes;
	std::unique_ptr<uint8_t[]> data;
};

std::vector<fdt_token> walk(const std::vector<uint8_t> &blob)
{
	Exact exact(blob);
	std::vector<fdt_token> tokens;
	fdt tree;
	if (fdt_open(&tree, exact.data.get(), exact.bytes))
		return {FDT_BAD};
	do {
		tokens.push_back(fdt_next(&tree).token);
	} while (tokens.back() != FDT_DONE && tokens.back() != FDT_BAD);
	return tokens;
}

TEST(Fdt, YieldsTokensInOrderAndSkipsNops)
{
	FdtBuilder b;
	b.begin("");
	b.nop();
	b.cells("x", {1});
	b.begin("child@1");
	b.end();
	b.end();
	std::vector<fdt_token> want = {FDT_NODE, FDT_PROPERTY, FDT_NODE, FDT_NODE_END, FDT_NODE_END, FDT_DONE};
	EXPECT_EQ(walk(b.blob()), want);
}

// The value is there, the bytes up to the next cell are not: nothing of it is taken for a token.
TEST(Fdt, AValueWhosePaddingIsOutsideIsRefused)
{
	for (uint8_t missing : {1, 2, 3}) {
		FdtBuilder b;
		b.begin("");
		b.property("x", std::string("\0\0\0\x09", 4) + std::string(4 - missing, 'x'));
		auto blob = b.blob(false);
		blob[39] = static_cast<uint8_t>(blob[39] - missing); // size of the structure block
		EXPECT_EQ(walk(blob), (std::vector<fdt_token>{FDT_NODE, FDT_BAD})) << int(missing);
	}
}

TEST(Fdt, GivesNamesAndValues)
{
	FdtBuilder b;
	b.begin("soc@12");
	b.cells("reg", {0x11223344, 0xaabbccdd, 7});
	b.property("list", std::string("one\0two\0", 8));
	b.property("open", "no end");
	auto blob = b.blob();
	fdt tree;
	ASSERT_EQ(fdt_open(&tree, blob.data(), blob.size()), nullptr);
	EXPECT_STREQ(fdt_next(&tree).name, "soc@12");
	fdt_item reg = fdt_next(&tree), list = fdt_next(&tree), open = fdt_next(&tree);
	EXPECT_STREQ(reg.name, "reg");
	EXPECT_EQ(fdt_cell(&reg, 1), 0xaabbccddu);
	EXPECT_EQ(fdt_cell(&reg, 3), 0u) << "beyond the end";
	EXPECT_EQ(fdt_cells(&reg, 0, 2), 0x11223344aabbccddull);
	EXPECT_TRUE(fdt_has_string(&list, "one"));
	EXPECT_TRUE(fdt_has_string(&list, "two"));
	EXPECT_FALSE(fdt_has_string(&list, "tw"));
	EXPECT_FALSE(fdt_has_string(&open, "no end")) << "a string without its NUL is no string";
}

TEST(Fdt, DoneAndBadRepeat)
{
	FdtBuilder b;
	auto good = b.blob();
	fdt tree;
	ASSERT_EQ(fdt_open(&tree, good.data(), good.size()), nullptr);
	EXPECT_EQ(fdt_next(&tree).token, FDT_DONE);
	EXPECT_EQ(fdt_next(&tree).token, FDT_DONE);
	FdtBuilder c;
	c.cell(77);
	auto bad = c.blob();
	ASSERT_EQ(fdt_open(&tree, bad.data(), bad.size()), nullptr);
	EXPECT_EQ(fdt_next(&tree).token, FDT_BAD);
	EXPECT_EQ(fdt_next(&tree).token, FDT_BAD);
}

TEST(Fdt, RefusesLengthsThatReachBeyondTheEndOrWrapAround)
{
	for (uint32_t bytes : {1000u, 0x7fffffffu, 0xffffffecu, 0xfffffff0u, 0xffffffffu}) {
		FdtBuilder b;
		b.begin("");
		b.cell(3);
		b.cell(bytes);
		b.cell(0);
		b.text("x", "");
		std::vector<fdt_token> want = {FDT_NODE, FDT_BAD};
		EXPECT_EQ(walk(b.blob()), want) << bytes;
	}
}

TEST(Fdt, RefusesEveryTruncation)
{
	auto blob = virt_board(4).blob();
	fdt tree;
	for (size_t bytes = 0; bytes < blob.size(); bytes++) {
		Exact cut(std::vector<uint8_t>(blob.begin(), blob.begin() + static_cast<long>(bytes)));
		ASSERT_NE(fdt_open(&tree, cut.data.get(), cut.bytes), nullptr) << bytes;
	}
}

TEST(Fdt, SurvivesAnyByteInHeaderAndBody)
{
	const uint64_t seed = 20260101;
	std::mt19937_64 random(seed);
	auto blob = virt_board(3).blob();
	for (int turn = 0; turn < 20000; turn++) {
		auto broken = blob;
		for (uint64_t n = 1 + random() % 4; n; n--)
			broken[random() % (turn % 2 ? 40 : broken.size())] = static_cast<uint8_t>(random() % 3 ? random() : 0xff);
		auto tokens = walk(broken);
		ASSERT_FALSE(tokens.empty()) << "seed " << seed << " turn " << turn;
	}
}

} // namespace
