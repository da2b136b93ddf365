// Trace readers: every format with fixtures in its real shape, and the error for a broken line.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "trace/native_writer.hpp"
#include "trace/reader.hpp"

namespace {

using namespace hz::trace;

std::vector<Record> rest_of(Reader &reader)
{
	std::vector<Record> out;
	for (Record r; reader.next(r);)
		out.push_back(r);
	return out;
}

std::vector<Record> all(std::string_view text, const std::string &format = "auto", uint64_t unit = 0)
{
	Reader reader(text, "t", ReaderOptions{format, unit, 0});
	return rest_of(reader);
}

std::string error_of(std::string_view text, const std::string &format)
{
	try {
		all(text, format);
	} catch (const TraceError &e) {
		return e.what();
	}
	return "no error";
}

void expect(const Record &r, uint64_t time_ns, Op op, uint64_t offset, uint64_t bytes, uint64_t stream)
{
	EXPECT_EQ(r.time_ns, time_ns);
	EXPECT_EQ(r.op, op);
	EXPECT_EQ(r.offset, offset);
	EXPECT_EQ(r.bytes, bytes);
	EXPECT_EQ(r.stream, stream);
}

TEST(TraceReader, MqsimZeroIsWrite)
{
	const auto r = all("938513000 4 264719034 16 0\n11413000 0 657728 16 1\n");
	ASSERT_EQ(r.size(), 2u);
	expect(r[0], 938513000, Op::write, 264719034ull * 512, 8192, 4);
	expect(r[1], 11413000, Op::read, 657728ull * 512, 8192, 0);
	expect(all("5 0 8 8 0\n", "mqsim", 1000)[0], 5000, Op::write, 4096, 4096, 0);
	EXPECT_EQ(error_of("1 0 8 8 1\n1 0 8 8 2\n", "mqsim"),
		  "t:2: field 5 '2': expected 0 (write) or 1 (read) (mqsim lines are 'arrival device lba sectors type', type 0 = "
		  "write, 1 = read): repair the line, or let --skip-bad pass over it");
}

TEST(TraceReader, Msr)
{
	const auto r = all("128166372003061629,hm,0,Read,9056256,24576,4571\n128166372016382155,hm,1,Write,2822144,4096,311\n");
	ASSERT_EQ(r.size(), 2u);
	expect(r[0], 12816637200306162900ull, Op::read, 9056256, 24576, 0);
	expect(r[1], 12816637201638215500ull, Op::write, 2822144, 4096, 1);
	EXPECT_NE(error_of("128166372003061629,hm,0,Trim,1,1,1\n", "msr").find("t:1: field 4 'Trim': expected Read or Write"),
		  std::string::npos);
}

TEST(TraceReader, AlibabaAndItsHeader)
{
	const auto r = all(
		"device_id,opcode,offset,length,timestamp\n419,W,8792731648,16384,1577808000000626\n725,R,4096,4096,1577808000000673\n");
	ASSERT_EQ(r.size(), 2u);
	expect(r[0], 1577808000000626000ull, Op::write, 8792731648, 16384, 419);
	EXPECT_EQ(r[1].op, Op::read);
}

TEST(TraceReader, TencentZeroIsRead)
{
	const auto r = all("1538323200,12910952,128,0,1063\n1538323200,6338688,8,1,1627\n");
	ASSERT_EQ(r.size(), 2u);
	expect(r[0], 1538323200000000000ull, Op::read, 12910952ull * 512, 65536, 1063);
	EXPECT_EQ(r[1].op, Op::write);
}

TEST(TraceReader, Spc)
{
	const auto r = all("0,21741712,24576,R,0.000774\n1,100,512,w,1.5,extra\n");
	ASSERT_EQ(r.size(), 2u);
	expect(r[0], 774000, Op::read, 21741712ull * 512, 24576, 0);
	expect(r[1], 1500000000, Op::write, 51200, 512, 1);
}

TEST(TraceReader, VscsiOpcodes)
{
	const auto r = all("version,time,op,size,lbn\n1,100,28,4096,8\n1,200,2a,8192,16\n2,300,35,512,0\n1,400,42,512,1\n", "vscsi", 1000);
	ASSERT_EQ(r.size(), 4u);
	expect(r[0], 100000, Op::read, 4096, 4096, 0);
	expect(r[1], 200000, Op::write, 8192, 8192, 0);
	expect(r[2], 300000, Op::flush, 0, 0, 0);
	EXPECT_EQ(r[3].op, Op::write) << "decimal";
	Reader others(std::string_view("1,100,2e,4096,8\n1,200,12,36,0\n1,300,12,36,0\n1,400,93,4096,8\n1,500,145,0,0\n"), "t",
		      ReaderOptions{"vscsi", 0, 0});
	const auto rest = rest_of(others);
	ASSERT_EQ(rest.size(), 1u);
	EXPECT_TRUE(rest[0].op == Op::write && rest[0].durable) << "WRITE AND VERIFY";
	EXPECT_EQ(others.left_out(), (LeftOut{{"SCSI command 12h", 2}, {"SCSI command 93h", 1}, {"SCSI command 145h", 1}}));
}

TEST(TraceReader, FioVersion2)
{
	const auto r = all("fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x write 4096 8192\n/dev/x wait 250\n/dev/y read 0 512\n"
			   "/dev/x trim 0 4096\n/dev/x sync 0 0\n/dev/x close\n");
	ASSERT_EQ(r.size(), 4u);
	expect(r[0], 0, Op::write, 4096, 8192, 0);
	expect(r[1], 250000, Op::read, 0, 512, 1);
	EXPECT_EQ(r[2].op, Op::trim);
	EXPECT_EQ(r[3].op, Op::flush);
	EXPECT_NE(error_of("fio version 2 iolog\n/dev/x scribble 1 1\n", "auto").find("t:2: field 2 'scribble'"), std::string::npos);
}

TEST(TraceReader, FioNamesWithBlanksAreNamed)
{
	const std::string says = "the file name '/my file' has a blank in it, and fields are separated by blanks";
	EXPECT_NE(error_of("fio version 2 iolog\n/a add\n/my file add\n", "auto").find("t:3: " + says), std::string::npos);
	EXPECT_NE(error_of("fio version 2 iolog\n/my file write 0 4096\n", "auto").find("t:2: " + says), std::string::npos);
	EXPECT_NE(error_of("fio version 3 iolog\n7 /my file write 0 4096\n", "auto").find("t:2: " + says), std::string::npos);
}

TEST(TraceReader, FioSyncsOfAFileSystemAreFlushesAndOthersAreLeftOut)
{
	Reader reader(std::string_view("fio version 3 iolog\n1 f syncfs 0 0\n2 f sync_file_range 0 4096\n"), "t", ReaderOptions{});
	const auto r = rest_of(reader);
	ASSERT_EQ(r.size(), 1u);
	EXPECT_EQ(r[0].op, Op::flush);
	EXPECT_EQ(reader.left_out(), (LeftOut{{"sync_file_range", 1}}));
}

TEST(TraceReader, FioWaitsAddUpToATimeThatExists)
{
	EXPECT_NE(error_of("fio version 2 iolog\nf wait 18446744073709551\nf wait 18446744073709551\n", "fio2").find("t:3: field 3"),
		  std::string::npos);
}

TEST(TraceReader, EveryFormatTakesAnotherTimeUnitButNative)
{
	EXPECT_EQ(all("128166372003061629,hm,0,Read,9056256,24576,4571\n", "msr", 10)[0].time_ns, 1281663720030616290u);
	EXPECT_EQ(all("419,W,8192,4096,1577808000\n", "alibaba", 1000000000)[0].time_ns, 1577808000000000000u);
	EXPECT_EQ(all("0,1,512,R,774\n", "spc", 1000)[0].time_ns, 774000u);
	EXPECT_EQ(all("1538323200000,1,8,0,1063\n", "tencent", 1000000)[0].time_ns, 1538323200000000000u);
	EXPECT_EQ(all("fio version 2 iolog\nf wait 5\nf write 0 4096\n", "fio2", 1000000)[0].time_ns, 5000000u);
	EXPECT_EQ(all("fio version 3 iolog\n7 f write 0 4096\n", "fio3", 1000000)[0].time_ns, 7000000u);
}

TEST(TraceReader, BrokenLinesArePassedOverAsOftenAsAllowed)
{
	const std::string_view text = "0,1,512,R,0.1\nx,1,512,R,0.2\n0,2,512,W,0.3\n0,2,512\n0,3,512,W,0.4\n0,4,0,W,0.5\n0,5,512,W,0.6\n";
	Reader reader(text, "t", ReaderOptions{"spc", 0, 3});
	EXPECT_EQ(rest_of(reader).size(), 4u);
	EXPECT_EQ(reader.skipped(), 3u);
	ASSERT_EQ(reader.skipped_lines().size(), 3u);
	EXPECT_EQ(reader.skipped_lines()[1], "t:4: the line has 3 fields instead of 5 (spc lines are 'asu,lba,size_bytes,R|W,time')");
	Reader strict(text, "t", ReaderOptions{"spc", 0, 2});
	try {
		rest_of(strict);
		FAIL() << "the third one ends the reading";
	} catch (const TraceError &e) {
		EXPECT_STREQ(e.what(),
			     "t:6: field 3 '0': expected a size above 0 and up to 1 GiB (spc lines are 'asu,lba,size_bytes,R|W,time'), "
			     "after 2 such lines that --skip-bad let pass");
	}
}

TEST(TraceReader, AMissingHeaderIsNotPassedOver)
{
	Reader reader(std::string_view("fio version 9\nf write 0 4096\n"), "t", ReaderOptions{"fio2", 0, 100});
	try {
		rest_of(reader);
		FAIL() << "no line can be read without it";
	} catch (const TraceError &e) {
		EXPECT_EQ(std::string(e.what()).substr(0, 41), "t:1: the first line must be 'fio version ");
	}
}

TEST(TraceReader, CommentsAreNoRecordsInAnyFormat)
{
	EXPECT_EQ(all("# disk 0 only\n0,1,512,R,0.1\n# half time\n0,1,512,W,0.2\n").size(), 2u);
}

TEST(TraceReader, FioVersion3CountsMicroseconds)
{
	const auto r = all("fio version 3 iolog\n12 f add\n13 f open\n40 f write 0 4096\n51 f datasync\n60 f close\n");
	ASSERT_EQ(r.size(), 2u);
	expect(r[0], 40000, Op::write, 0, 4096, 0);
	expect(r[1], 51000, Op::flush, 0, 0, 0);
}

TEST(TraceReader, NativeHasZoneOperations)
{
	const auto r = all(
		"# a comment first\nhartzone-trace 1\n0 0 write z3+128 16 # data\n\n5 1 append z4 2\n6 1 reset z4\n7 0 read 4096 1\n"
		"8 0 flush\n9 0 finish z3\n10 0 open z1\n11 0 close z1\n12 0 trim 8 8\n");
	ASSERT_EQ(r.size(), 9u);
	EXPECT_TRUE(r[0].zoned);
	EXPECT_EQ(r[0].zone, 3u);
	expect(r[0], 0, Op::write, 128 * 4096, 16 * 4096, 0);
	expect(r[1], 5, Op::append, 0, 8192, 1);
	EXPECT_EQ(r[2].op, Op::reset);
	EXPECT_FALSE(r[3].zoned);
	expect(r[3], 7, Op::read, 4096ull * 4096, 4096, 0);
	const Op rest[] = {Op::flush, Op::finish, Op::open, Op::close, Op::trim};
	for (size_t i = 0; i < 5; i++)
		EXPECT_EQ(r[4 + i].op, rest[i]);
	EXPECT_TRUE(all("hartzone-trace 1\n0 0 write 8 8 durable\n")[0].durable);
	EXPECT_TRUE(all("hartzone-trace 1\n0 0 append z1 8 durable\n")[0].durable);
	EXPECT_FALSE(all("hartzone-trace 1\n0 0 write 8 8\n")[0].durable);
	EXPECT_EQ(all("hartzone-trace 1 unit=512\n0 0 read 8 8\n")[0].offset, 4096u);
	EXPECT_FALSE(all("hartzone-trace 1 unit=512\n0 0 read 8 8\n")[0].shared_space);
	EXPECT_TRUE(all("hartzone-trace 1 unit=512 space=shared\n0 0 read 8 8\n")[0].shared_space);
}

TEST(TraceReader, NativeWordsSayWhatIsAskedBeside)
{
	const auto r = all(
		"hartzone-trace 2\n0 0 write 8 8 durable flush-first\n0 0 append z1 8 flush-first sync metadata\n"
		"0 0 read 0 1 ahead urgent\n0 0 trim 0 1 secure\n0 0 write 0 1 atomic background\n0 0 flush sync\n0 0 reset-all\n");
	ASSERT_EQ(r.size(), 7u);
	EXPECT_TRUE(r[0].durable && r[0].flush_first && !r[0].hints);
	EXPECT_TRUE(!r[1].durable && r[1].flush_first);
	const unsigned wanted[] = {
		0, hint_sync | hint_metadata, hint_ahead | hint_urgent, hint_secure, hint_atomic | hint_background, hint_sync, 0};
	for (size_t i = 0; i < r.size(); i++)
		EXPECT_EQ(r[i].hints, wanted[i]) << i;
	EXPECT_EQ(r[6].op, Op::reset_all);
	for (const Record &record : r) {
		char text[longest_line];
		const std::string line(text, write_line(text, record));
		const Record again = all("hartzone-trace 2 unit=1\n" + line + "\n")[0];
		EXPECT_TRUE(again.durable == record.durable && again.flush_first == record.flush_first && again.hints == record.hints &&
			    again.op == record.op)
			<< line;
	}
}

TEST(TraceReader, NativeErrors)
{
	EXPECT_NE(error_of("hartzone-trace 3\n", "native").find("t:1: version '3' is unknown"), std::string::npos);
	EXPECT_NE(error_of("hartzone-trace 2\n0 0 read 1 1 durable\n", "native").find("only of a write or append is durability asked"),
		  std::string::npos);
	EXPECT_NE(error_of("hartzone-trace 2\n0 0 write 1 1 due\n", "native").find("field 6 'due': expected one of the words"),
		  std::string::npos);
	EXPECT_NE(error_of("hartzone-trace 1\n0 0 write 1 1 sync\n", "native").find("field 6 'sync': expected durable or nothing"),
		  std::string::npos);
	EXPECT_NE(error_of("hartzone-trace 1 space=mine\n", "native").find("field 3 'space=mine'"), std::string::npos);
	EXPECT_NE(error_of("0 0 read 1 1\n", "native").find("the first line must be 'hartzone-trace 2'"), std::string::npos);
	EXPECT_NE(error_of("hartzone-trace 1\n0 0 read 1\n", "native").find("t:2: the line has 4 fields instead of 5"), std::string::npos);
	EXPECT_NE(error_of("hartzone-trace 1\n0 0 read zz 1\n", "native").find("field 4 'zz': expected an address"), std::string::npos);
	EXPECT_NE(error_of("hartzone-trace 1\n0 0 write 1 1 due\n", "native").find("field 6 'due': expected durable or nothing"),
		  std::string::npos);
	EXPECT_NE(error_of("hartzone-trace 1\n0 0 read 1 1 durable\n", "native").find("field 6 'durable': expected nothing"),
		  std::string::npos);
	EXPECT_NE(error_of("hartzone-trace 1\n0 0 erase 1 1\n", "native").find("field 3 'erase'"), std::string::npos);
	EXPECT_NE(error_of("hartzone-trace 1\n0 0 read 1 0\n", "native").find("a size above 0"), std::string::npos);
	EXPECT_NE(error_of("\n", "native").find("no 'hartzone-trace' line"), std::string::npos);
}

TEST(TraceReader, NumbersThatDoNotFitAreRefused)
{
	for (const char *line :
	     {"1,1,99999999999999999999,R,1", "1,1,2147483648,R,1", "1,9223372036854775807,1,R,1", "1,1,1,R,99999999999999"})
		EXPECT_NE(error_of(std::string(line) + "\n", "spc"), "no error") << line;
}

TEST(TraceReader, WindowsLineEndsAndNoFinalNewline) { EXPECT_EQ(all("0,1,512,R,0.1\r\n0,1,512,W,0.2").size(), 2u); }

TEST(TraceReader, AByteOrderMarkAndBlankLinesAreNoRecords)
{
	const std::string text = "\xef\xbb\xbf"
				 "128166372003061629,usr,0,Read,8192,4096,1331\n\n128166372003071629,usr,0,Write,16384,8192,2326\n \t\n";
	EXPECT_EQ(all(text).size(), 2u);
	EXPECT_EQ(all(text, "msr").size(), 2u);
	EXPECT_EQ(all("\xef\xbb\xbfhartzone-trace 2\n0 0 flush\n").size(), 1u);
	EXPECT_NE(error_of(std::string_view("\xff\xfe"
					    "1\0,\0",
					    6),
			   "auto")
			  .find("t:1: the text is UTF-16: iconv"),
		  std::string::npos);
}

TEST(TraceReader, TimesBelowZeroOrMissingAreNamedWithoutTheFormat)
{
	EXPECT_NE(error_of("3,W,0,4096,-5000\n3,R,0,4096,0\n", "auto")
			  .find("t:1: field 5 '-5000': expected a time from 0 on: add as much to all "),
		  std::string::npos);
	EXPECT_NE(error_of("3,W,0,4096,1\n3,R,0,4096,\n", "auto").find("t:2: field 5 '': expected a time: there is none"),
		  std::string::npos);
	EXPECT_NE(error_of("3,W,0,4096,x\n", "auto").find("the format is not known"), std::string::npos);
	Reader passed(std::string_view("3,W,0,4096,-5\n3,R,0,4096,7\n"), "t", ReaderOptions{"alibaba", 0, 1});
	EXPECT_EQ(rest_of(passed).size(), 1u);
}

TEST(TraceReader, EmptyFilesSayThatTheyAre)
{
	for (const char *format : {"auto", "native", "msr", "blktrace"})
		EXPECT_NE(error_of("", format).find("t:1: the file is empty"), std::string::npos) << format;
	EXPECT_NE(error_of("\n# nothing\n", "auto").find("t:1: the file has no line but blank ones and comments"), std::string::npos);
}

TEST(TraceReader, LongLinesAndBinaryDataAreRefused)
{
	EXPECT_NE(error_of(std::string(5000, '1'), "spc").find("longer than 4096 bytes"), std::string::npos);
	EXPECT_NE(error_of(std::string_view("0,1\0,", 5), "spc").find("NUL byte"), std::string::npos);
}

} // namespace
