// The survey of a trace before a replay: its division, refusals, and counts.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <unistd.h>

#include "replay/trace_cut.hpp"
#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"

namespace {

using namespace hz;
using namespace hz::replay;

class Survey : public testing::Test {
protected:
	void SetUp() override
	{
		char name[] = "/tmp/hz-survey-XXXXXX";
		close(mkstemp(name));
		spec_.file = name;
	}
	void TearDown() override { std::filesystem::remove(spec_.file); }
	std::shared_ptr<const TraceSurvey> of(const std::string &text)
	{
		std::ofstream(spec_.file) << text;
		return survey_trace(spec_);
	}
	std::string error_of(const std::string &text)
	{
		try {
			of(text);
		} catch (const trace::TraceError &e) {
			return std::string(e.what()).substr(spec_.file.size());
		}
		return "no error";
	}
	/* Threads that get anything of the trace. */
	size_t busy_threads(const std::string &text)
	{
		const auto survey = of(text);
		std::set<uint32_t> busy;
		trace::Reader reader(spec_.file, survey->dialect);
		for (trace::Record r; reader.next(r);)
			for (uint32_t thread = 0; thread < spec_.threads; thread++) {
				std::vector<wl::BlockOp> pieces;
				TraceCut{survey, thread, 100000}.divide(r, pieces);
				if (!pieces.empty())
					busy.insert(thread);
			}
		return busy.size();
	}
	wl::TraceSpec spec_;
};

/* lines(n, text): n lines of a format, # replaced by 0, 1, … and $ by the same modulo `streams`. */
std::string lines(int count, const std::string &line, int streams = 1)
{
	std::string out;
	for (int i = 0; i < count; i++)
		for (const char c : line + "\n")
			out += c == '#' ? std::to_string(i) : c == '$' ? std::to_string(i % streams) : std::string(1, c);
	return out;
}

TEST_F(Survey, TheDefaultSplitUsesAllThreadsOfEveryFormat)
{
	const struct {
		const char *format;
		std::string text;
		wl::Split split;
	} files[] = {
		{"native, a process", "hartzone-trace 1\n" + lines(200, "# 0 write # 1"), wl::Split::address},
		{"native, four disks", "hartzone-trace 1\n" + lines(200, "# $ write # 1", 4), wl::Split::stream},
		{"native, four processes on a disk", "hartzone-trace 1 space=shared\n" + lines(200, "# $ write # 1", 4),
		 wl::Split::address},
		{"fio2", "fio version 2 iolog\n" + lines(200, "/dev/x write #000 4096"), wl::Split::address},
		{"fio3, a file per job", "fio version 3 iolog\n" + lines(200, "# file$ write #000 4096", 5), wl::Split::stream},
		{"mqsim", lines(200, "#000 0 #8 8 0"), wl::Split::address},
		{"msr, one disk", lines(200, "128166372003061629,hm,0,Write,#0000,4096,7"), wl::Split::address},
		{"alibaba", lines(200, "$,W,#0000,4096,1577808000000626", 40), wl::Split::stream},
		{"tencent", lines(200, "1538323200,#0,8,1,$", 40), wl::Split::stream},
		{"spc, three units", lines(200, "$,#8,4096,W,0.#", 3), wl::Split::address},
		{"vscsi", lines(200, "1,33898,2a,4096,#0"), wl::Split::address},
	};
	for (const auto &file : files) {
		SCOPED_TRACE(file.format);
		EXPECT_EQ(of(file.text)->split, file.split) << file.format;
		EXPECT_EQ(busy_threads(file.text), 4u) << file.format;
	}
}

TEST_F(Survey, StreamNumbersNeedNotBeDense)
{
	spec_.split = wl::Split::stream;
	EXPECT_EQ(busy_threads("hartzone-trace 1\n" + lines(10, "0 0 write 0 1") + lines(10, "0 4 write 0 1") +
			       lines(10, "0 400 write 0 1") + lines(10, "0 8 write 0 1")),
		  4u);
}

TEST_F(Survey, OneBusyStreamIsNotOneThread)
{
	std::string text = "hartzone-trace 1\n" + lines(4, "0 # write 0 1");
	EXPECT_EQ(of(text)->split, wl::Split::stream);
	text += lines(3, "0 2 write # 1");
	EXPECT_EQ(of(text)->split, wl::Split::address) << "4 of 7 requests would be one thread's";
	spec_.split = wl::Split::stream;
	EXPECT_EQ(of(text)->split, wl::Split::stream) << "as the user says";
}

TEST_F(Survey, ChunksAreAsLargeAsTheTraceAllows)
{
	const auto chunk = [this](const std::string &text) { return of("hartzone-trace 1\n" + text)->chunk_sectors; };
	EXPECT_EQ(chunk("0 0 write 0 1\n0 0 write 16384 1\n"), 256u);
	EXPECT_EQ(chunk("0 0 write 0 1\n0 0 write 1023 1\n"), 16u);
	EXPECT_EQ(chunk("0 0 write 0 64\n0 0 write 1023 1\n"), 64u) << "whole requests";
	EXPECT_EQ(chunk("0 0 write 0 200\n0 0 write 255 1\n"), 64u) << "but a chunk for each thread";
	EXPECT_EQ(chunk("0 0 flush\n"), 1u);
}

TEST_F(Survey, CountsWhatIsThere)
{
	spec_.skip_bad = 2;
	spec_.max_ops = 4;
	const auto survey = of("5,1,512,R,0.5\nx\n7,1,512,R,0.7\n5,9,512,W,3.5\n\n5,9,512,W\n5,9,512,W,0.1\n5,9,512,W,99\n");
	const std::string spc = " (spc lines are 'asu,lba,size_bytes,R|W,time')";
	const nlohmann::json first = {spec_.file + ":2: the line has 1 fields instead of 5" + spc,
				      spec_.file + ":6: the line has 4 fields instead of 5" + spc};
	EXPECT_EQ(survey->to_json(false), nlohmann::json({{"file", spec_.file},
							  {"format", "spc"},
							  {"format_from", "detected"},
							  {"time_unit_ns", 1000000000},
							  {"time_unit_from", "format"},
							  {"records", 4},
							  {"span_ns", 3000000000},
							  {"streams", 2},
							  {"split", "address"},
							  {"split_from", "detected"},
							  {"chunk_bytes", 4096},
							  {"left_out", nlohmann::json::object()},
							  {"skipped", {{"count", 2}, {"first", first}}}}));
}

TEST_F(Survey, NamesWhatAReplayLeavesOut)
{
	const auto survey = of("8,0 0 1 0.1 1 Q WFS 0 + 8 [a]\n8,0 0 2 0.2 1 Q N 8 + 8 [b]\n8,0 0 3 0.3 1 Q RAS 16 + 8 [a]\n");
	EXPECT_EQ(survey->to_json(false)["left_out"],
		  nlohmann::json({{"requests that neither read, write nor discard (N)", 1}, {"the mark ahead", 1}, {"the mark sync", 2}}));
}

TEST_F(Survey, ArrivalTimesHaveABound)
{
	const std::string text = "hartzone-trace 1\n7 0 write 0 1\n" + std::to_string(longest_replay_ns + 7) + " 0 write 0 1\n",
			  late = text + std::to_string(longest_replay_ns + 2000000007) + " 0 write 0 1\n",
			  never = text + "18446744073709551615 0 write 0 1\n";
	EXPECT_EQ(error_of(late), "no error") << "as fast as possible there are no times";
	spec_.timing = wl::Timing::open;
	EXPECT_EQ(error_of(text), "no error");
	EXPECT_TRUE(error_of(late).starts_with(":4: the request would arrive 2073602 s after the first one:")) << error_of(late);
	EXPECT_TRUE(error_of(never).starts_with(":4: the request would arrive 18446744073 s after the first one:")) << error_of(never);
	spec_.time_scale = 0.5;
	EXPECT_EQ(error_of(late), "no error");
	spec_.repeat = 3;
	EXPECT_EQ(error_of(text).substr(0, 3), ":3:") << "the third pass would end too late";
	spec_.time_scale = 1e6;
	EXPECT_EQ(error_of("0,1,512,R,0\n0,1,512,R,18446744073\n").substr(0, 3), ":2:");
}

TEST_F(Survey, AGuessIsNoTimestamp)
{
	std::string text;
	for (int i = 0; i < 50; i++)
		text += "1," + std::to_string(i * 20) + ",2a,4096,8\n";
	EXPECT_EQ(of(text)->dialect.unit_from, trace::Known::assumed);
	spec_.timing = wl::Timing::open;
	EXPECT_EQ(error_of(text), ":1: the times may be seconds or microseconds (20 units between requests on average): say which with "
				  "--time-unit s or --time-unit us");
	spec_.time_unit_ns = 1000;
	EXPECT_EQ(of(text)->span_ns, 49 * 20 * 1000u);
}

TEST_F(Survey, TooManyStreamsAreNotCounted)
{
	const auto survey = of("hartzone-trace 1\n" + lines(70000, "0 # write # 1"));
	EXPECT_EQ(survey->split, wl::Split::address);
	EXPECT_TRUE(survey->to_json(false)["streams"].is_null());
	EXPECT_EQ(survey->thread_of_stream(6), 2u);
}

TEST_F(Survey, CtrlCEndsIt)
{
	set_interrupted(true);
	EXPECT_THROW(of("hartzone-trace 1\n0 0 write 0 1\n"), Interrupted);
	set_interrupted(false);
}

} // namespace
