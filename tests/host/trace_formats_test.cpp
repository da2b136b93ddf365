// Formats of recorders and of published traces, text and binary: one recording in each, and the
// error for a broken one.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>

#include "trace/native_writer.hpp"
#include "trace/reader.hpp"

namespace {

using namespace hz::trace;

std::vector<Record> records_of(std::string_view content, const ReaderOptions &options = {})
{
	Reader reader(content, "t", options);
	std::vector<Record> out;
	for (Record r; reader.next(r);)
		out.push_back(r);
	return out;
}

std::string problem_of(std::string_view content, const std::string &format = "auto")
{
	try {
		records_of(content, ReaderOptions{format, 0, 0});
	} catch (const TraceError &e) {
		return e.what();
	}
	return "no error";
}

std::string format_of(std::string_view content)
{
	TraceFile file(content, "t");
	return std::string(find_dialect(file, {}).format->name);
}

void expect_record(const Record &r, uint64_t time_ns, Op op, uint64_t offset, uint64_t bytes, uint64_t stream)
{
	EXPECT_EQ(r.time_ns, time_ns);
	EXPECT_EQ(r.op, op);
	EXPECT_EQ(r.offset, offset);
	EXPECT_EQ(r.bytes, bytes);
	EXPECT_EQ(r.stream, stream);
}

/* Fields of a binary record, one behind the other. */
template <class... Fields> std::string packed(Fields... fields)
{
	std::string out;
	(out.append(reinterpret_cast<const char *>(&fields), sizeof(fields)), ...);
	return out;
}

TEST(TraceFormats, DisksimCountsMillisecondsAndBlocks)
{
	const std::string text = "13.191135 30 0 5 1\n25.911729 18 28601 12 0\n26.5 1 8 8 3\n";
	EXPECT_EQ(format_of(text), "disksim");
	const auto r = records_of(text);
	ASSERT_EQ(r.size(), 3u);
	expect_record(r[0], 13191135, Op::read, 0, 5 * 512, 30);
	expect_record(r[1], 25911729, Op::write, 28601 * 512, 12 * 512, 18);
	EXPECT_EQ(r[2].op, Op::read) << "other flags do not change the direction";
	EXPECT_EQ(format_of("13191135 30 0 5 1\n"), "mqsim") << "nanoseconds have no fraction";
	EXPECT_NE(problem_of("1.5 0 8 8 1\n1.5 0 8 8 z\n", "disksim").find("t:2: field 5 'z': expected flags in hexadecimal"),
		  std::string::npos);
}

TEST(TraceFormats, FlagsAndClassesOfPriorityAreKept)
{
	Reader disksim(std::string_view("1.5 0 8 8 80\n2.5 0 8 8 3\n3.5 0 8 8 40000040\n"), "t", ReaderOptions{"disksim", 0, 0});
	std::vector<unsigned> hints;
	for (Record r; disksim.next(r);)
		hints.push_back(r.hints);
	EXPECT_EQ(hints, (std::vector<unsigned>{hint_sync, hint_urgent, 0}));
	EXPECT_EQ(disksim.left_out(), (LeftOut{{"other flags of DiskSim", 1}, {"the check that reads what was written", 1}}));
	const auto thesios = records_of("filename,start_time,op_type,request_io_size_bytes,file_offset,service_class\n"
					"f,1,WRITE,512,0,LATENCY_SENSITIVE\nf,2,READ,512,0,THROUGHPUT_ORIENTED\nf,3,READ,512,0,OTHER\n");
	ASSERT_EQ(thesios.size(), 3u);
	EXPECT_EQ(thesios[0].hints, hint_urgent);
	EXPECT_EQ(thesios[1].hints, hint_background);
	EXPECT_EQ(thesios[2].hints, 0);
}

TEST(TraceFormats, FiuWithAndWithoutHashes)
{
	const std::string text = "89968195792462 20782 gzip 283193184 8 R 6 0 56f11b711d91a065a2b6458eca924523\n"
				 "89968195811462 20782 gzip 283193192 16 W 8 1\n";
	EXPECT_EQ(format_of(text), "fiu");
	const auto r = records_of(text);
	ASSERT_EQ(r.size(), 2u);
	expect_record(r[0], 89968195792462, Op::read, 283193184ull * 512, 4096, 6ull << 20);
	expect_record(r[1], 89968195811462, Op::write, 283193192ull * 512, 8192, (8ull << 20) + 1);
	EXPECT_NE(problem_of("1 2 p 3 4 X 5 6 aa\n", "fiu").find("field 6 'X': expected R or W"), std::string::npos);
	EXPECT_NE(problem_of("1 2 p 3 4 R\n", "fiu").find("6 fields instead of 9"), std::string::npos);
}

TEST(TraceFormats, SystorSkipsWhatIsNeitherReadNorWrite)
{
	const std::string text = "Timestamp,Response,IOType,LUN,Offset,Size\n1456110000.145437000,0.000224,R,4,1234567168,8192\n"
				 "1456110000.2,0.1,,4,0,0\n1456110000.250000000,,W,6,4096,512\n";
	EXPECT_EQ(format_of(text), "systor");
	const auto r = records_of(text);
	ASSERT_EQ(r.size(), 2u);
	expect_record(r[0], 1456110000145437000, Op::read, 1234567168, 8192, 4);
	expect_record(r[1], 1456110000250000000, Op::write, 4096, 512, 6);
	Reader reader(text, "t", ReaderOptions{});
	for (Record one; reader.next(one);) {}
	EXPECT_EQ(reader.left_out(), (LeftOut{{"requests without a type", 1}}));
}

TEST(TraceFormats, MsrWithAHeader)
{
	const std::string text =
		"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n128166372003061629,hm,0,Read,9056256,24576,4571\n";
	EXPECT_EQ(format_of(text), "msr");
	EXPECT_EQ(records_of(text).size(), 1u);
}

TEST(TraceFormats, ThesiosFindsItsColumnsByName)
{
	const std::string head = "filename,application,file_offset,c_time,io_zone,redundancy_type,op_type,service_class,from_flash_cache,"
				 "cache_hit,request_io_size_bytes,response_io_size_bytes,disk_io_size_bytes,start_time,disk_time,"
				 "simulated_disk_start_time,simulated_latency\n";
	const std::string rest = ",spanner,8192,1705000000,WARM,REPLICATED,READ,OTHER,0,1,4096,4096,0,1705305600.5,0,0,0.001\n";
	const auto r = records_of(head + "f1" + rest + "f2" + rest + "f1" + rest);
	ASSERT_EQ(r.size(), 3u);
	expect_record(r[0], 1705305600500000000, Op::read, 8192, 4096, r[2].stream);
	EXPECT_NE(r[0].stream, r[1].stream) << "each file has addresses of its own";
	const auto other = records_of("filename,start_time,op_type,request_io_size_bytes,file_offset\nf1,1.5,WRITE,512,1024\n");
	ASSERT_EQ(other.size(), 1u);
	expect_record(other[0], 1500000000, Op::write, 1024, 512, r[0].stream);
	EXPECT_NE(problem_of("filename,start_time\n").find("t:1: the first line names no column 'file_offset'"), std::string::npos);
	EXPECT_NE(problem_of(head + "f1,2\n").find("t:2: the line has 2 fields instead of 17"), std::string::npos);
}

const std::string blkparse_text = "  8,0    3        1     0.000000000   697  A   W 223490 + 8 <- (8,1) 223427\n"
				  "  8,0    3        2     0.000001829   697  Q   W 223490 + 8 [kjournald]\n"
				  "  8,0    3        3     0.000004209   697  G   W 223490 + 8 [kjournald]\n"
				  "  8,0    3        4     0.000006209   697  P   N [kjournald]\n"
				  "  8,0    3        0     0.000006300     0  m   N cfq workload slice:300\n"
				  "  8,0    3        5     0.000010109   697  D   W 223490 + 8 [kjournald]\n"
				  "  8,0    1        6     0.000020000   698  Q  RA 1000 + 256 [a b]\n"
				  "  8,0    1        7     0.000030000   698  Q FWS [jbd2/sda1-8]\n"
				  "  8,0    1        8     0.000040000   698  Q FWFS 2000 + 8 [jbd2/sda1-8]\n"
				  "  8,16   1        9     0.000050000   698  Q  DS 4096 + 2048 [fstrim]\n"
				  "  8,0    3       10     0.000060109   697  C   W 223490 + 8 [0]\n"
				  "CPU0 (sda):\n"
				  " Reads Queued:           1,      128KiB\t Writes Queued:           2,        8KiB\n"
				  "\nTotal (sda):\n";

TEST(TraceFormats, BlkparseTellsQueuedRequests)
{
	EXPECT_EQ(format_of(blkparse_text), "blkparse");
	const auto r = records_of(blkparse_text);
	ASSERT_EQ(r.size(), 5u);
	expect_record(r[0], 1829, Op::write, 223490 * 512, 4096, 8 << 20);
	expect_record(r[1], 20000, Op::read, 512000, 131072, 8 << 20);
	expect_record(r[2], 30000, Op::flush, 0, 0, 8 << 20);
	expect_record(r[3], 40000, Op::write, 1024000, 4096, 8 << 20);
	EXPECT_TRUE(r[3].durable && r[3].flush_first && r[3].hints == hint_sync);
	expect_record(r[4], 50000, Op::trim, 4096 * 512, 1048576, (8 << 20) + 16);
	EXPECT_NE(problem_of("8,0 3 1 0.5 697 Q W 1 + x [k]\n", "blkparse").find("field 10 'x': expected a size"), std::string::npos);
	EXPECT_NE(problem_of("sda 3 1 0.5 697 Q W 1 + 8 [k]\n", "blkparse").find("field 1 'sda': expected a device such as 8,16"),
		  std::string::npos);
}

/* blkparse's letters, as a line of the native format. */
std::string said_by(const std::string &letters, const std::string &place = "16 + 8 ")
{
	Reader reader("8,0 0 1 0.0 1 Q " + letters + " " + place + "[a]\n", "t", ReaderOptions{"blkparse", 0, 0});
	std::string out;
	for (Record r; reader.next(r);) {
		char text[longest_line];
		out += std::string(text, write_line(text, r)).substr(std::strlen("0 8388608 "));
	}
	for (const auto &[what, times] : reader.left_out())
		out += "; left out: " + what + " " + std::to_string(times);
	return out;
}

TEST(TraceFormats, EveryLetterOfBlkparseIsKeptOrLeftOutByName)
{
	const std::pair<const char *, const char *> letters[] = {
		{"R", "read 8192 4096"},
		{"RA", "read 8192 4096 ahead"},
		{"RSM", "read 8192 4096 sync metadata"},
		{"W", "write 8192 4096"},
		{"WS", "write 8192 4096 sync"},
		{"WFS", "write 8192 4096 durable sync"},
		{"FWS", "write 8192 4096 flush-first sync"},
		{"FWFSM", "write 8192 4096 flush-first durable sync metadata"},
		{"WB", "write 8192 4096 flush-first durable"},
		{"WSU", "write 8192 4096 sync atomic"},
		{"D", "trim 8192 4096"},
		{"DES", "trim 8192 4096 sync secure"},
		{"ZA", "append 8192 4096"},
		{"ZAFS", "append 8192 4096 durable sync"},
		{"ZR", "reset 8192"},
		{"ZRS", "reset 8192 sync"},
		{"ZRA", "reset-all"},
		{"ZF", "finish 8192"},
		{"ZO", "open 8192"},
		{"ZC", "close 8192"},
		{"FN", "flush"},
		{"FFS", "flush sync"},
		{"N", "; left out: requests that neither read, write nor discard (N) 1"},
		{"WZ", "; left out: writes of zeros (WZ) 1"},
		{"WSQ", "write 8192 4096 sync; left out: the letter Q 1"},
		{"RF", "read 8192 4096; left out: FUA of what does not write 1"},
		{"FD", "trim 8192 4096; left out: the flush before what does not write 1"},
	};
	for (const auto &[rwbs, wanted] : letters)
		EXPECT_EQ(said_by(rwbs), wanted) << rwbs;
	EXPECT_EQ(said_by("ZR", "524288 + 0 "), "reset 268435456");
	EXPECT_EQ(said_by("FWS", "0 + 0 "), "flush sync");
	EXPECT_EQ(said_by("FF", "18446744073709551615 + 0 "), "flush");
	EXPECT_EQ(said_by("ZR", ""), "; left out: zone commands without a sector 1");
	EXPECT_EQ(said_by("W", ""), "; left out: reads, writes and discards without sectors 1");
}

TEST(TraceFormats, BlkparseTakesTheFirstKindOfEventThatIsThere)
{
	const auto issued = records_of("8,0 3 5 0.1 697 D W 8 + 8 [k]\n8,0 3 6 0.2 697 C W 8 + 8 [0]\n");
	ASSERT_EQ(issued.size(), 1u);
	EXPECT_EQ(issued[0].time_ns, 100000000u);
	EXPECT_EQ(records_of("8,0 3 6 0.2 697 C W 8 + 8 [0]\n").size(), 1u);
}

enum : uint32_t { reads = 1 << 16, writes = 2 << 16, flushes = 4 << 16, notes = 1 << 26, discards = 1 << 29, of_cgroup = 1 << 8 };

std::string event(uint64_t time, uint64_t sector, uint32_t bytes, uint32_t action, const std::string &payload = "")
{
	const uint32_t device = (8 << 20) + 16;
	return packed(uint32_t(0x65617407), uint32_t(1), time, sector, bytes, action, uint32_t(697), device, uint32_t(0), uint16_t(0),
		      uint16_t(payload.size())) +
	       payload;
}

TEST(TraceFormats, BlktraceSaysTheSameInBinary)
{
	const std::string content = event(0, 0, 0, notes, "a name of a process") + event(1829, 223490, 4096, 1 | writes) +
				    event(2000, 223490, 4096, 7 | writes) +
				    event(20000, 1000, 131072, 1 | reads | of_cgroup, std::string(8, 'c')) +
				    event(30000, 0, 0, 1 | writes | flushes) + event(50000, 4096, 1048576, 1 | writes | discards);
	EXPECT_EQ(format_of(content), "blktrace");
	const auto r = records_of(content);
	ASSERT_EQ(r.size(), 4u);
	expect_record(r[0], 1829, Op::write, 223490 * 512, 4096, (8 << 20) + 16);
	expect_record(r[1], 20000, Op::read, 512000, 131072, (8 << 20) + 16);
	EXPECT_EQ(r[2].op, Op::flush);
	EXPECT_EQ(r[3].op, Op::trim);
	EXPECT_EQ(records_of(event(5, 8, 512, 7 | reads)).size(), 1u) << "no queued requests: the issued ones are taken";
}

std::string event2(uint64_t sector, uint32_t bytes, uint64_t action)
{
	return packed(uint32_t(0x65617408), uint32_t(1), uint64_t(5), sector, bytes, uint32_t(697), action, uint32_t(8 << 20), uint32_t(0),
		      uint16_t(0), uint16_t(3), uint64_t(0), uint32_t(0)) +
	       "abc";
}

TEST(TraceFormats, BitsOfBlktraceSayWhatItsLettersSay)
{
	enum : uint32_t { syncs = 8 << 16, aheads = 1 << 27, metadata = 1 << 28, fua = 1u << 31 };
	Reader reader(event(0, 8, 4096, 1 | writes | flushes | syncs | fua) + event(0, 8, 4096, 1 | reads | aheads | metadata) +
			      event(0, 8, 0, 1 | writes) + event(0, 8, 512, 1),
		      "t", ReaderOptions{});
	std::vector<Record> r;
	for (Record one; reader.next(one);)
		r.push_back(one);
	ASSERT_EQ(r.size(), 2u);
	EXPECT_TRUE(r[0].flush_first && r[0].durable && r[0].hints == hint_sync);
	EXPECT_EQ(r[1].hints, hint_ahead | hint_metadata);
	EXPECT_EQ(reader.left_out(),
		  (LeftOut{{"reads, writes and discards without sectors", 1}, {"requests that neither read, write nor discard (N)", 1}}));
}

TEST(TraceFormats, Version8OfBlktraceKnowsZones)
{
	const auto zone = [](unsigned bit) { return uint64_t(1) << (32 + bit) | writes | 1; };
	const std::string content = event2(8, 4096, zone(0)) + event2(16, 0, zone(1)) + event2(0, 0, zone(2)) + event2(24, 0, zone(3)) +
				    event2(32, 0, zone(4)) + event2(40, 0, zone(5)) + event2(48, 4096, 1 | writes);
	EXPECT_EQ(format_of(content), "blktrace2");
	const auto r = records_of(content);
	ASSERT_EQ(r.size(), 7u);
	expect_record(r[0], 5, Op::append, 4096, 4096, 8 << 20);
	expect_record(r[1], 5, Op::reset, 8192, 0, 8 << 20);
	EXPECT_EQ(r[2].op, Op::reset_all);
	EXPECT_EQ(r[3].op, Op::finish);
	EXPECT_EQ(r[4].op, Op::open);
	EXPECT_EQ(r[5].op, Op::close);
	expect_record(r[6], 5, Op::write, 48 * 512, 4096, 8 << 20);
}

TEST(TraceFormats, BlktraceOfAnotherMachineOrCutShort)
{
	std::string swapped = event(1, 8, 512, 1 | reads);
	std::swap(swapped[0], swapped[3]);
	std::swap(swapped[1], swapped[2]);
	EXPECT_NE(problem_of(swapped, "blktrace").find("t:1: the file is of a machine with the other order of bytes"), std::string::npos);
	const std::string two = event(1, 8, 512, 1 | reads) + event(2, 8, 512, 1 | reads, "payload");
	EXPECT_NE(problem_of(two.substr(0, two.size() - 3)).find("t:2: the file ends in the middle of this record: 3 bytes"),
		  std::string::npos);
	EXPECT_NE(problem_of(two.substr(0, 60)).find("t:2: the file ends in the middle of this record: 12 of its 48 bytes"),
		  std::string::npos);
}

std::string vscsi1(uint32_t sn, uint16_t opcode, uint32_t bytes, uint64_t block, uint64_t time, uint16_t version = 1 << 8)
{
	return packed(sn, bytes, uint32_t(1), opcode, version, block, time);
}

std::string vscsi2(uint32_t sn, uint16_t opcode, uint32_t bytes, uint64_t block, uint64_t time)
{
	return packed(opcode, uint16_t(2 << 8), sn, bytes, uint32_t(1), block, time, uint64_t(77));
}

TEST(TraceFormats, VscsiInBothVersions)
{
	const std::string one = vscsi1(1, 0x28, 4096, 8, 1000) + vscsi1(2, 0x35, 0, 0, 1001) + vscsi1(3, 0x8a, 8192, 16, 2000);
	const std::string two = vscsi2(1, 0x28, 4096, 8, 1000) + vscsi2(2, 0x35, 0, 0, 1001) + vscsi2(3, 0x8a, 8192, 16, 2000);
	EXPECT_EQ(format_of(one), "vscsi1");
	EXPECT_EQ(format_of(two), "vscsi2");
	for (const std::string &content : {one, two}) {
		const auto r = records_of(content);
		ASSERT_EQ(r.size(), 3u);
		expect_record(r[0], 1000000, Op::read, 4096, 4096, 0);
		expect_record(r[1], 1001000, Op::flush, 0, 0, 0);
		expect_record(r[2], 2000000, Op::write, 8192, 8192, 0);
	}
	const std::string bad = vscsi1(1, 0x28, 4096, 8, 1000) + vscsi1(2, 0x28, 0, 8, 1000) + vscsi1(3, 0x28, 4096, 8, 1000, 7 << 8);
	EXPECT_NE(problem_of(bad, "vscsi1").find("t:2: len 0: expected a size above 0 and up to 1 GiB (vscsi1 records are"),
		  std::string::npos);
	EXPECT_EQ(records_of(bad, ReaderOptions{"vscsi1", 0, 2}).size(), 1u);
}

std::string object(uint32_t time, uint64_t id, uint32_t bytes, int64_t next) { return packed(time, id, bytes, next); }

TEST(TraceFormats, OracleGeneralHasObjectsInsteadOfAddresses)
{
	const std::string content = object(10, 8, 4096, 3) + object(10, 1ull << 60 | 5, 512, -1) + object(11, 8, 4096, -1);
	EXPECT_EQ(format_of(content), "oracle-general");
	const auto r = records_of(content);
	ASSERT_EQ(r.size(), 3u);
	expect_record(r[0], 10000000000, Op::read, 4096, 4096, 0);
	EXPECT_EQ(r[1].offset, 5u * 512) << "of a hash the lower 53 bits count";
	EXPECT_NE(problem_of(object(11, 8, 4096, 3) + object(10, 8, 4096, -1)).find("the first records fit none of"), std::string::npos)
		<< "times go back: this is something else";
}

TEST(TraceFormats, UnknownBinaryDataNameTheBinaryFormats)
{
	const std::string zeros(4096, '\0');
	const std::string says = problem_of(zeros);
	EXPECT_NE(says.find("the format is not known: the first records fit none of"), std::string::npos) << says;
	EXPECT_EQ(says.find("mqsim"), std::string::npos) << "a text format is no candidate";
}

} // namespace
