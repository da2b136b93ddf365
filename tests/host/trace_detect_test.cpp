// Detection of formats and compression.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/reader.hpp"

namespace {

using namespace hz::trace;
namespace fs = std::filesystem;

std::string detected(std::string_view text)
{
	TraceFile lines(text, "t");
	try {
		return std::string(find_dialect(lines, {}).format->name);
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
	EXPECT_NE(detected("").find("the file is empty"), std::string::npos);
}

TEST(TraceDetect, AWrongFormatByNameIsRefusedAtTheFirstLine)
{
	Reader reader(std::string_view("938513000 4 264719034 16 0\n"), "t", ReaderOptions{"tencent", 0, 0});
	Record r;
	EXPECT_THROW(reader.next(r), TraceError);
	EXPECT_THROW(Reader(std::string_view("x\n"), "t", ReaderOptions{"excel", 0, 0}), TraceError);
}

/* Lines of a request every `gap` units. */
std::string vscsi(uint64_t gap_milli, uint64_t first = 33898, int lines = 100)
{
	std::string text = "version,time,op,size,lbn\n";
	for (int i = 0; i < lines; i++)
		text += "1," + std::to_string(first + i * gap_milli / 1000) + ",2a,4096," + std::to_string(i * 8) + "\n";
	return text;
}

Dialect dialect(std::string_view text, const ReaderOptions &options = {})
{
	TraceFile lines(text, "t");
	return find_dialect(lines, options);
}

TEST(TraceUnit, VscsiCountsSecondsOrMicroseconds)
{
	struct {
		std::string text;
		uint64_t unit_ns;
		Known from;
	} const files[] = {
		{vscsi(100), 1000000000, Known::detected},           /* ten requests a second; no disk does ten million */
		{vscsi(250000), 1000, Known::detected},              /* one in four minutes; or in 250 us */
		{vscsi(20000), 1000000000, Known::assumed},          /* one in 20 s, or in 20 us? */
		{vscsi(2000, 5633898611441), 1000, Known::detected}, /* 178,000 years after anything */
		{vscsi(100, 33898, 5), 1000000000, Known::assumed},  /* five requests prove nothing */
		{"1,33898.5,2a,4096,8\n", 1000000000, Known::detected},
	};
	for (const auto &file : files) {
		const Dialect found = dialect(file.text);
		EXPECT_EQ(found.time_unit_ns, file.unit_ns) << file.text.substr(0, 80) << found.unit_evidence;
		EXPECT_EQ(found.unit_from, file.from) << file.text.substr(0, 80) << found.unit_evidence;
	}
}

TEST(TraceUnit, TheUserKnowsBetter)
{
	const Dialect given = dialect(vscsi(100), ReaderOptions{"auto", 1000, 0});
	EXPECT_EQ(given.time_unit_ns, 1000u);
	EXPECT_EQ(given.unit_from, Known::given);
	EXPECT_EQ(dialect("419,W,8792731648,16384,1577808000000626\n").unit_from, Known::format);
	EXPECT_EQ(dialect("419,W,8792731648,16384,1577808000000626\n").time_unit_ns, 1000u);
	try {
		dialect("hartzone-trace 1\n", ReaderOptions{"auto", 1000, 0});
		FAIL() << "the unit of a native trace is fixed";
	} catch (const TraceError &e) {
		EXPECT_STREQ(e.what(), "t:1: the times of a native trace are in ns: remove --time-unit");
	}
}

TEST(TraceDetect, BrokenLinesHideNoFormatWhenTheyMayBeSkipped)
{
	const std::string text = "0,1,512,R,0.1\ngarbage\n0,2,512,W,0.2\n0,3,512,W,0.3\n";
	EXPECT_NE(detected(text).find("the format is not known"), std::string::npos);
	EXPECT_EQ(dialect(text, ReaderOptions{"auto", 0, 1}).format->name, "spc");
	EXPECT_THROW(dialect("garbage\nrubbish\n0,2,512,W,0.2\n", ReaderOptions{"auto", 0, 9}), TraceError) << "most lines must fit";
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
	Reader reader(packed.string(), ReaderOptions{});
	Record r;
	uint64_t count = 0;
	while (reader.next(r))
		EXPECT_EQ(r.offset, 4096 * count++);
	EXPECT_EQ(count, 200000u);

	fs::resize_file(packed, fs::file_size(packed) / 2);
	EXPECT_THROW(
		{
			Reader cut(packed.string(), ReaderOptions{"native", 0, 0});
			while (cut.next(r)) {}
		},
		TraceError);
}
/* Process groups of our children. */
std::vector<int> groups_of_children()
{
	std::vector<int> groups;
	for (const auto &entry : fs::directory_iterator("/proc")) {
		std::string text, state;
		std::getline(std::ifstream(entry.path() / "stat"), text);
		int parent = 0, group = 0;
		std::istringstream(text.substr(std::min(text.size(), text.rfind(')') + 2))) >> state >> parent >> group;
		if (parent == getpid())
			groups.push_back(group);
	}
	return groups;
}

TEST_P(Compressed, IsReadOnWhenTheUserPressesCtrlC)
{
	const std::string tool = GetParam();
	if (std::system(("command -v " + tool + " >/dev/null").c_str()))
		GTEST_SKIP() << tool << " is not installed";
	const fs::path packed = folder_ / "packed";
	const std::string text = "(echo hartzone-trace 1; yes '0 0 write 1 1' | head -n 400000)";
	ASSERT_EQ(std::system((text + " | " + tool + " -c > " + packed.string()).c_str()), 0);
	Reader reader(packed.string(), ReaderOptions{});
	Record r;
	ASSERT_TRUE(reader.next(r));
	const std::vector<int> groups = groups_of_children();
	ASSERT_EQ(groups.size(), 1u) << "the tool waits until more is read";
	EXPECT_NE(groups[0], getpgrp()) << "a terminal's signal would end it";
}

INSTANTIATE_TEST_SUITE_P(Tools, Compressed, testing::Values("xz", "gzip", "zstd"));

TEST(TraceFile, WhatCannotBeReadTwiceIsRefused)
{
	char name[] = "/tmp/hz-trace-XXXXXX";
	const fs::path folder = mkdtemp(name);
	ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
	for (const fs::path &path : {folder / "fifo", folder}) {
		try {
			Reader reader(path.string(), ReaderOptions{});
			ADD_FAILURE() << path;
		} catch (const TraceError &e) {
			EXPECT_EQ(e.what(), path.string() + ":1: a trace is read several times, so it must be a regular file");
		}
	}
	fs::remove_all(folder);
}

TEST(TraceFile, MissingFilesAreNamed)
{
	try {
		Reader reader("/nonexistent/trace", ReaderOptions{});
		FAIL();
	} catch (const TraceError &e) {
		EXPECT_NE(std::string(e.what()).find("/nonexistent/trace:1: the trace cannot be opened"), std::string::npos);
	}
}

} // namespace
