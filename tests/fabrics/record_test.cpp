// Recordings: they are read as written, and invalid ones are refused with their line. And the pace
// of device time.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "fabrics/backend.hpp"
#include "fabrics/record.hpp"
#include "session/machine/error.hpp"

namespace hz::fabrics {
namespace {

class Record : public testing::Test {
protected:
	~Record() override { std::filesystem::remove(file); }

	void write(const std::string &text) const { std::ofstream(file) << text; }
	std::string refusal(const std::string &text) const
	{
		write(text);
		try {
			read_recording(file);
		} catch (const Error &e) {
			return e.what();
		}
		return "";
	}

	const std::string file = std::filesystem::temp_directory_path() / ("hz-record-" + std::to_string(getpid()));
	const RecordHead head{"dev", 2, 3, 4, 20000};
};

nvme_sqe command(uint8_t opcode, uint32_t cdw10 = 0)
{
	nvme_sqe sqe{};
	sqe.opcode = opcode;
	sqe.nsid = 1;
	sqe.cdw2 = 2;
	sqe.cdw3 = 3;
	sqe.cdw10 = cdw10;
	sqe.cdw11 = 0xffffffff;
	sqe.cdw15 = 15;
	return sqe;
}

Completion done(uint16_t cid, uint64_t arrival, uint64_t completed, uint16_t status = 0, uint64_t result = 0)
{
	return {cid, status, false, result, arrival, completed};
}

TEST_F(Record, WhatIsWrittenIsRead)
{
	std::vector<std::byte> ranges(256 * sizeof(nvme_dsm_range));
	for (size_t i = 0; i < ranges.size(); i++)
		ranges[i] = std::byte(i * 3);
	std::string digest;
	{
		Recorder recorder(file, head);
		recorder.placed(1, 2, 100, command(NVME_IO_WRITE, 8), std::vector<std::byte>(4096));
		recorder.placed(3, 0, 100, command(NVME_IO_DATASET_MANAGEMENT, 255), ranges);
		recorder.completed(3, done(0, 100, 250));
		recorder.admin(0, command(NVME_ADMIN_NAMESPACE_ATTACHMENT), 0, std::span(ranges).first(40));
		recorder.admin(260, command(NVME_ADMIN_IDENTIFY, 1), 4096, {});
		recorder.placed(1, 0, 300, command(NVME_IO_ZONE_APPEND), {});
		recorder.completed(1, done(0, 300, 400, NVME_ZONE_FULL, 0x123456789a));
		recorder.completed(1, done(2, 100, 500));
		recorder.end();
		digest = recorder.digest();
		EXPECT_EQ(recorder.commands(), 5u);
	}
	EXPECT_TRUE(is_recording(file));
	const Recording read = read_recording(file);
	EXPECT_EQ(read.head.device, "dev");
	EXPECT_EQ(read.head.workers, 2u);
	EXPECT_EQ(read.head.lanes, 3u);
	EXPECT_EQ(read.head.depth, 4u);
	EXPECT_EQ(read.head.turnaround_ns, 20000u);
	EXPECT_EQ(read.digest, digest);
	ASSERT_EQ(read.commands.size(), 5u);
	const nvme_sqe sqe = command(NVME_IO_WRITE, 8);
	EXPECT_EQ(std::memcmp(&read.commands[0].sqe, &sqe, sizeof(sqe)), 0);
	EXPECT_TRUE(read.commands[0].ranges.empty()) << "data are not kept";
	EXPECT_EQ(read.commands[1].ranges, ranges);
	EXPECT_EQ(read.commands[1].lane, 3u);
	EXPECT_EQ(read.commands[2].lane, 0u);
	EXPECT_EQ(read.commands[2].ranges.size(), 40u);
	EXPECT_EQ(read.commands[3].arrival_ns, 260u);
	EXPECT_EQ(read.commands[3].in_bytes, 4096u);
	EXPECT_EQ(read.commands[3].sqe.opcode, NVME_ADMIN_IDENTIFY);
	EXPECT_EQ(read.commands[4].arrival_ns, 300u);
	ASSERT_EQ(read.completions.size(), 3u);
	EXPECT_EQ(read.completions[1].command, 1u) << "the lane's second";
	EXPECT_EQ(read.completions[1].status, NVME_ZONE_FULL);
	EXPECT_EQ(read.completions[1].result, 0x123456789au);
	EXPECT_EQ(read.completions[2].command, 0u);
	EXPECT_EQ(read.commands[3].completions_before, 1u);
	EXPECT_EQ(read.commands[3].line, 11u);
	const std::string other = file + "-again";
	{
		Recorder(other, read.head).write_all(read);
	}
	const auto text_of = [](const std::string &name) {
		std::ifstream in(name);
		return std::string(std::istreambuf_iterator<char>(in), {});
	};
	EXPECT_EQ(text_of(other), text_of(file));
	std::filesystem::remove(other);
	RecordDigest again(3);
	for (const RecordedCompletion &one : read.completions)
		again.add(one);
	EXPECT_EQ(again.text(), digest);
}

TEST_F(Record, TheDigestIsOfEachTimeAndStatus)
{
	const RecordedCompletion one{1, 0, 10, 20, 0, 0};
	const auto digest = [](RecordedCompletion c) {
		RecordDigest digest(2);
		digest.add(c);
		return digest.text();
	};
	auto other = one;
	EXPECT_EQ(digest(one), digest(other));
	other.completed_ns++;
	EXPECT_NE(digest(one), digest(other));
	other = one;
	other.arrival_ns++;
	EXPECT_NE(digest(one), digest(other));
	other = one;
	other.status++;
	EXPECT_NE(digest(one), digest(other));
	other = one;
	other.lane++;
	EXPECT_NE(digest(one), digest(other));
}

TEST_F(Record, ACutRecordingHasNoDigest)
{
	{
		Recorder recorder(file, head);
		recorder.placed(1, 0, 5, command(NVME_IO_FLUSH), {});
	}
	const Recording read = read_recording(file);
	EXPECT_EQ(read.commands.size(), 1u);
	EXPECT_EQ(read.digest, "");
}

TEST_F(Record, IsCutBehindItsFirstCommands)
{
	{
		Recorder recorder(file, head);
		recorder.admin(0, command(NVME_ADMIN_IDENTIFY), 4096, {});
		recorder.placed(1, 0, 100, command(NVME_IO_WRITE), {});
		recorder.placed(2, 0, 110, command(NVME_IO_FLUSH), {});
		recorder.admin(120, command(NVME_ADMIN_IDENTIFY), 4096, {});
		recorder.placed(1, 1, 130, command(NVME_IO_WRITE), {});
		recorder.completed(1, done(1, 130, 140));
		recorder.completed(1, done(0, 100, 150));
		recorder.completed(2, done(0, 110, 160));
		recorder.end();
	}
	Recording whole = read_recording(file), part = whole;
	whole.cut(3);
	EXPECT_EQ(whole.commands.size(), 5u);
	EXPECT_NE(whole.digest, "") << "all of it is left";
	part.cut(2);
	EXPECT_EQ(part.commands.size(), 4u) << "with the admin commands in front of the next one";
	ASSERT_EQ(part.completions.size(), 2u);
	EXPECT_EQ(part.completions[0].arrival_ns, 100u);
	EXPECT_EQ(part.completions[1].lane, 2u);
	EXPECT_EQ(part.digest, "");
}

TEST_F(Record, SaysWhichLineIsWrong)
{
	const std::string first = "hartzone-record 1 lanes 2 depth 4 turnaround 9 workers 1 device d\n",
			  placed = "s 1 5 2 0 1 0 0 0 0 0 0 0 0\n";
	EXPECT_EQ(refusal(first + placed + "c 1 0 5 9 0 0\nend commands 1 digest 00\n"), "");
	const std::pair<std::string, const char *> cases[] = {
		{"", "the file is empty"},
		{"R,0,8\n", "this is no recording"},
		{"hartzone-record 9\n", "reads version 1"},
		{"hartzone-record 1 lanes 65\n", "its value should be a number of at most 64"},
		{"hartzone-record 1 lanes 0 depth 4 turnaround 9 workers 1 device d\n", "at least one lane"},
		{"hartzone-record 1 depth 4\n", "here should be \"lanes\""},
		{first + "x\n", ":2: a line begins with s, a, r, c or end"},
		{first + "s 3 5 2 0 1 0 0 0 0 0 0 0 0\n", ":2: the lane should be"},
		{first + "s 0 5 2 0 1 0 0 0 0 0 0 0 0\n", "lanes count from 1 on"},
		{first + "s 1 5 2 0 1 0 0\n", "the line ends where a field of the command should be"},
		{first + "s 1 5 2 0 1 0 0 0 0 0 0 0 0 0\n", "more words"},
		{first + "s 1 -5 2 0 1 0 0 0 0 0 0 0 0\n", "the arrival should be a number"},
		{first + placed + "s 1 4 2 0 1 0 0 0 0 0 0 0 0\n", ":3: a command arrives before the one in front of it"},
		{first + "r 00\n", "ranges are bytes of the command in front"},
		{first + placed + "r 0\n", "ranges are bytes"},
		{first + placed + "r 0g\n", "hexadecimal"},
		{first + placed + "c 1 1 5 9 0 0\n", "completed that was not placed"},
		{first + placed + "c 1 0 5 9 0 0\nc 1 0 5 9 0 0\n", ":4: a command is completed a second time"},
		{first + placed + "end commands 2 digest 00\n", "another number of commands"},
		{first + "end commands 0 digest 00\n" + placed, "goes on behind its end"},
	};
	for (const auto &[text, sentence] : cases)
		EXPECT_NE(refusal(text).find(sentence), std::string::npos) << text << " gives: " << refusal(text);
}

TEST_F(Record, IsNotWhatAnotherFileIs)
{
	write("0,R,8,8\n");
	EXPECT_FALSE(is_recording(file));
	EXPECT_FALSE(is_recording(file + ".missing"));
	EXPECT_FALSE(is_recording(""));
}

constexpr auto start = Clock::time_point(std::chrono::seconds(1000));
constexpr auto after(int64_t us) { return start + std::chrono::microseconds(us); }

TEST(Pacer, DeviceTimePassesAsTheWallClockSays)
{
	Pacer pacer(5000, 20000, 1, start);
	EXPECT_EQ(pacer.device_ns(start), 5000u);
	EXPECT_EQ(pacer.device_ns(after(7)), 12000u);
	EXPECT_EQ(pacer.device_ns(after(-7)), 5000u);
	EXPECT_EQ(pacer.arrival_ns(after(7)), 32000u);
	EXPECT_EQ(pacer.wall_for(1000), std::chrono::microseconds(1));
}

TEST(Pacer, OrSoManyTimesSlower)
{
	Pacer pacer(0, 20000, 50, start);
	EXPECT_EQ(pacer.device_ns(after(1000)), 20000u);
	EXPECT_EQ(pacer.wall_for(20000), std::chrono::milliseconds(1));
}

TEST(Pacer, NoCommandArrivesBeforeTheLastOne)
{
	Pacer pacer(0, 100, 1, start);
	EXPECT_EQ(pacer.arrival_ns(after(9)), 9100u);
	EXPECT_EQ(pacer.arrival_ns(after(4)), 9100u);
}

TEST(Lateness, CountsWhatIsLaterThanTheTransport)
{
	Lateness lateness;
	EXPECT_EQ(lateness_text(lateness), "");
	for (const uint64_t ns : {0, 1000, 20000, 59000})
		lateness.add(ns, 20000);
	EXPECT_EQ(lateness.late, 1u);
	EXPECT_EQ(lateness.worst_ns, 59000u);
	EXPECT_EQ(lateness_text(lateness),
		  "4 commands; 1 of them (25.0 %) were handed over late; all were late by 20.0 us on average, the worst by "
		  "59.0 us of device time");
}

} // namespace
} // namespace hz::fabrics
