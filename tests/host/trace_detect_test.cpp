// Detection of formats and compression.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "trace/reader.hpp"

namespace {

using namespace hz::trace;
namespace fs = std::filesystem;

std::string detected(std::string_view text)
{
	LineSource lines(text, "t");
	try {
		return std::string(detect_format(lines).name);
	} catch (const TraceError &e) {
		return e.what();
	}
}

TEST(TraceDetect, EveryFormat)
{
	EXPECT_EQ(detected("# x\nhartzone-trace 1\n"), "native");
	EXPECT_EQ(detected("fio version 2 iolog\n"), "fio2");
	EXPECT_EQ(detected("fio version 3 iolog\n"), "fio3");
	EXPECT_EQ(detected("938513000 4 264719034 16 0\n"), "mqsim");
	EXPECT_EQ(detected("128166372003061629,hm,0,Read,9056256,24576,4571\n"), "msr");
	EXPECT_EQ(detected("419,W,8792731648,16384,1577808000000626\n"), "alibaba");
	EXPECT_EQ(detected("1538323200,12910952,128,0,1063\n"), "tencent");
	EXPECT_EQ(detected("0,21741712,24576,R,0.000774\n"), "spc");
	EXPECT_EQ(detected("1,100,28,4096,8\n1,200,2a,4096,8\n"), "vscsi");
}

TEST(TraceDetect, WhatFitsTwoFormatsIsRefused)
{
	// The fields of an SPC line with a whole-number time could be Alibaba's with R in another place, but not these:
	EXPECT_NE(detected("1,1538323200,28,1,4\n").find("vscsi"), std::string::npos);
	EXPECT_NE(detected("hello world\n").find("the format is not known"), std::string::npos);
	EXPECT_NE(detected("").find("the format is not known"), std::string::npos);
}

TEST(TraceDetect, AWrongFormatByNameIsRefusedAtTheFirstLine)
{
	Reader reader(std::string_view("938513000 4 264719034 16 0\n"), "t", ReaderOptions{"tencent", 0});
	Record r;
	EXPECT_THROW(reader.next(r), TraceError);
	EXPECT_THROW(Reader(std::string_view("x\n"), "t", ReaderOptions{"excel", 0}), TraceError);
}

class Compressed : public testing::TestWithParam<const char *> {
protected:
	void SetUp() override
	{
		char name[] = "/tmp/hz-trace-XXXXXX";
		folder_ = mkdtemp(name);
	}
	void TearDown() override { fs::remove_all(folder_); }
	fs::path folder_;
};

TEST_P(Compressed, IsReadThroughItsTool)
{
	const std::string tool = GetParam();
	if (std::system(("command -v " + tool + " >/dev/null").c_str()))
		GTEST_SKIP() << tool << " is not installed";
	const fs::path plain = folder_ / "t", packed = folder_ / "packed";
	{
		std::ofstream out(plain);
		out << "hartzone-trace 1\n";
		for (int i = 0; i < 200000; i++)
			out << i << " 0 write " << i << " 1\n";
	}
	ASSERT_EQ(std::system((tool + " -c < " + plain.string() + " > " + packed.string()).c_str()), 0);
	Reader reader(packed.string(), {});
	Record r;
	uint64_t count = 0;
	while (reader.next(r))
		EXPECT_EQ(r.offset, 4096 * count++);
	EXPECT_EQ(count, 200000u);

	fs::resize_file(packed, fs::file_size(packed) / 2);
	EXPECT_THROW(
		{
			Reader cut(packed.string(), ReaderOptions{"native", 0});
			while (cut.next(r)) {
			}
		},
		TraceError);
}
INSTANTIATE_TEST_SUITE_P(Tools, Compressed, testing::Values("xz", "gzip", "zstd"));

TEST(TraceFile, MissingFilesAreNamed)
{
	try {
		Reader reader("/nonexistent/trace", {});
		FAIL();
	} catch (const TraceError &e) {
		EXPECT_NE(std::string(e.what()).find("/nonexistent/trace:1: the trace cannot be opened"), std::string::npos);
	}
}

} // namespace
