// Trace summaries against an exact count: footprint and skew, exact and estimated; and cutting,
// scaling and writing.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "inspect/trace_edit.hpp"
#include "inspect/trace_summary.hpp"
#include "inspect/trace_summary_text.hpp"
#include "trace/native_writer.hpp"
#include "trace/reader.hpp"

namespace {

using namespace hz::inspect;
using hz::trace::Op;
using hz::trace::Record;
namespace fs = std::filesystem;

Record request(uint64_t time_ns, uint64_t stream, Op op, uint64_t offset, uint64_t bytes)
{
	Record r;
	r.time_ns = time_ns;
	r.stream = stream;
	r.op = op;
	r.offset = offset;
	r.bytes = bytes;
	return r;
}

struct Model {
	std::set<std::pair<uint64_t, uint64_t>> touched, read, written;

	void add(uint64_t space, uint64_t first, uint64_t blocks, bool writes)
	{
		for (uint64_t i = 0; i < blocks; i++) {
			touched.insert({space, first + i});
			(writes ? written : read).insert({space, first + i});
		}
	}
};

TEST(InspectFootprint, IsExactWhileThePagesLast)
{
	std::mt19937_64 random(1);
	Footprint footprint;
	Model model;
	for (int i = 0; i < 2000; i++) {
		const uint64_t space = random() % 3, first = random() % 100000 + (random() % 4 ? 0 : 1ull << 49),
			       blocks = random() % 100 + 1;
		const bool writes = random() % 2;
		footprint.add(space, first, blocks, writes);
		model.add(space, first, blocks, writes);
	}
	const Footprint::Blocks found = footprint.blocks();
	EXPECT_TRUE(footprint.exact());
	EXPECT_EQ(found.touched, model.touched.size());
	EXPECT_EQ(found.read, model.read.size());
	EXPECT_EQ(found.written, model.written.size());
}

TEST(InspectFootprint, IsCloseWhenTheyDoNot)
{
	std::mt19937_64 random(2);
	Footprint footprint(64); /* pages */
	Model model;
	for (int i = 0; i < 30000; i++) {
		const uint64_t first = random() % (1 << 22), blocks = random() % 3 + 1;
		footprint.add(7, first, blocks, i % 3 == 0);
		model.add(7, first, blocks, i % 3 == 0);
	}
	const Footprint::Blocks found = footprint.blocks();
	EXPECT_FALSE(footprint.exact());
	const auto near = [](uint64_t estimate, size_t exact) {
		return std::abs(double(estimate) / double(exact) - 1) < 4 * Cardinality::standard_error;
	};
	EXPECT_TRUE(near(found.touched, model.touched.size())) << found.touched << " of " << model.touched.size();
	EXPECT_TRUE(near(found.read, model.read.size())) << found.read << " of " << model.read.size();
	EXPECT_TRUE(near(found.written, model.written.size())) << found.written << " of " << model.written.size();
}

TEST(InspectCardinality, HasItsErrorInEveryRange)
{
	for (const uint64_t count : {1ull, 100ull, 30000ull, 100000ull, 163840ull, 300000ull, 3000000ull}) {
		Cardinality c;
		for (uint64_t i = 0; i < count; i++)
			c.add(mixed(i * 977));
		EXPECT_NEAR(c.estimate() / double(count), 1, 4 * Cardinality::standard_error) << count;
	}
}

/* Accesses of a Zipf-like population: block i is accessed in proportion to 1 / (i + 1)^0.9. */
std::vector<uint64_t> population(size_t blocks)
{
	std::vector<uint64_t> counts;
	for (size_t i = 0; i < blocks; i++)
		counts.push_back(uint64_t(std::ceil(2000 / std::pow(double(i + 1), 0.9))));
	return counts;
}

double share(const std::vector<uint64_t> &counts, double part)
{
	double hot = 0, all = 0;
	for (size_t i = 0; i < counts.size(); i++) {
		all += double(counts[i]);
		hot += i < size_t(std::llround(part * double(counts.size()))) ? double(counts[i]) : 0;
	}
	return hot / all;
}

TEST(InspectPopularity, ExactAndSampled)
{
	const std::vector<uint64_t> counts = population(200000);
	Popularity exact(1 << 18), sampled(1 << 14);
	for (uint64_t block = 0; block < counts.size(); block++)
		for (uint64_t i = 0; i < counts[block]; i++) {
			exact.add(block_hash(1, block));
			sampled.add(block_hash(1, block));
		}
	const Popularity::Skew all = exact.skew(), some = sampled.skew();
	EXPECT_EQ(all.sampled_part, 1);
	EXPECT_EQ(all.blocks, counts.size());
	EXPECT_LE(some.blocks, 1u << 14);
	EXPECT_NEAR(double(some.blocks) / double(counts.size()), some.sampled_part, 0.1 * some.sampled_part);
	for (size_t i = 0; i < Popularity::parts.size(); i++) {
		EXPECT_NEAR(all.share[i], share(counts, Popularity::parts[i]), 1e-12);
		EXPECT_EQ(all.error[i], 0);
		EXPECT_GT(some.error[i], 0);
		EXPECT_NEAR(some.share[i], all.share[i], 4 * some.error[i]) << Popularity::parts[i];
		EXPECT_LT(some.error[i], 0.05);
	}
}

TEST(InspectSummary, TellsWhatThereIs)
{
	TraceSummary summary;
	for (uint64_t i = 0; i < 100; i++) /* a sequential writer, 10 a second */
		summary.add(request(i * 100000000, 1, Op::write, i * 8192, 8192));
	for (uint64_t i = 0; i < 300; i++) /* a reader of one block, all at once, of a disk of its own */
		summary.add(request(20000000000, 2, Op::read, 512, 1024));
	summary.add(request(5, 2, Op::flush, 0, 0));
	const nlohmann::json s = summary.to_json();
	EXPECT_EQ(s["records"], 401);
	EXPECT_EQ(s["streams"], 2);
	EXPECT_EQ(s["unaligned_records"], 300);
	EXPECT_EQ(s["time"]["span_ns"], 20000000000);
	EXPECT_EQ(s["time"]["busiest_second_records"], 300);
	EXPECT_EQ(s["time"]["backward_steps"], 1);
	EXPECT_EQ(s["operations"]["flush"], (nlohmann::json{{"records", 1}, {"bytes", 0}}));
	EXPECT_EQ(s["operations"]["write"]["bytes"], 819200);
	EXPECT_EQ(s["operations"]["write"]["size_bytes"]["p50"], 8192);
	EXPECT_DOUBLE_EQ(s["operations"]["write"]["sequential_part"], 0.99);
	EXPECT_DOUBLE_EQ(s["operations"]["read"]["sequential_part"], 0);
	EXPECT_EQ(s["footprint"]["touched_bytes"], 819200 + 4096);
	EXPECT_EQ(s["footprint"]["written_bytes"], 819200);
	EXPECT_EQ(s["footprint"]["address_end"], 819200);
	EXPECT_DOUBLE_EQ(s["footprint"]["rewrites"], 1);
	EXPECT_DOUBLE_EQ(s["skew"]["hottest"][0]["accesses_part"], 301.0 / 500) << "1 % of 201 blocks are 2 of them";
	const std::string text = summary_text(s);
	for (const char *part : {"401 in 2 streams", "20.000 s", "(exact)", "804.0 KiB touched", "sequential"})
		EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

class Records : public hz::trace::RecordStream {
public:
	explicit Records(std::vector<Record> records) : records_(std::move(records)) {}
	bool next(Record &record) override
	{
		if (at_ == records_.size())
			return false;
		record = records_[at_++];
		return true;
	}

private:
	std::vector<Record> records_;
	size_t at_ = 0;
};

std::vector<Record> edited(const TraceEdit &edit, std::vector<Record> records = {})
{
	if (records.empty())
		for (uint64_t i = 0; i < 100; i++)
			records.push_back(request(5000 + i * 10, 0, Op::write, i * 1048576 + 4096, 4096));
	Records in(std::move(records));
	EditedTrace trace(in, edit);
	std::vector<Record> out;
	for (Record r; trace.next(r);)
		out.push_back(r);
	return out;
}

TEST(InspectEdit, CutsByTimeThenByNumber)
{
	EXPECT_EQ(edited({}).size(), 100u);
	const auto part = edited({.from_ns = 100, .to_ns = 300});
	ASSERT_EQ(part.size(), 20u);
	EXPECT_EQ(part[0].time_ns, 5100u) << "times stay as they are";
	EXPECT_EQ(part.back().time_ns, 5290u);
	const auto some = edited({.from_ns = 100, .skip = 5, .records = 3});
	ASSERT_EQ(some.size(), 3u);
	EXPECT_EQ(some[0].time_ns, 5150u);
	EXPECT_TRUE(edited({.from_ns = 2000}).empty());
}

TEST(InspectEdit, ScalesTimesFromTheFirstRecordAndAddressesByChunks)
{
	const auto fast = edited({.time_scale = 0.1});
	EXPECT_EQ(fast[0].time_ns, 5000u);
	EXPECT_EQ(fast[50].time_ns, 5050u);
	const auto dense = edited({.address_scale = 0.25});
	EXPECT_EQ(dense[3].offset, 4096u);
	EXPECT_EQ(dense[99].offset, 24u * 1048576 + 4096) << "the place in the chunk stays";
	EXPECT_EQ(dense[99].bytes, 4096u);
	EXPECT_THROW(edited({.address_scale = 1e6}, {request(0, 0, Op::write, 1ull << 60, 512)}), EditError);
	EXPECT_THROW(edited({.time_scale = 1e6}, {request(0, 0, Op::write, 0, 512), request(1ull << 62, 0, Op::write, 0, 512)}), EditError);
	Record zoned = request(0, 0, Op::write, 0, 4096);
	zoned.zoned = true;
	EXPECT_THROW(edited({.address_scale = 2}, {zoned}), EditError);
}

class Written : public testing::Test {
protected:
	void SetUp() override
	{
		char name[] = "/tmp/hz-written-XXXXXX";
		folder_ = mkdtemp(name);
	}
	void TearDown() override { fs::remove_all(folder_); }
	fs::path folder_;
};

TEST_F(Written, EveryOperationIsReadBackAsItWas)
{
	std::mt19937_64 random(3);
	std::vector<Record> records;
	for (int i = 0; i < 50000; i++) { /* more than the buffer holds */
		const Op op = Op(random() % 9);
		Record r = request(random() >> random() % 64, random() >> random() % 64, op, (random() >> 2) >> random() % 62,
				   random() % (1 << 30) + 1);
		r.zoned = !hz::trace::moves_data(op) && op != Op::flush;
		r.zone = r.zoned ? uint32_t(random()) : 0;
		if (op == Op::flush)
			r.offset = 0;
		if (!hz::trace::moves_data(op) && op != Op::append)
			r.bytes = 0;
		r.durable = (op == Op::write || op == Op::append) && random() % 2;
		for (size_t n = 0; n < random() % (hz::trace::most_afters + 1); n++)
			r.after[n] = {random(), 1 + (random() >> 1)};
		r.think_ns = random() % 2 ? random() % (1ull << 40) : 0;
		r.shared_space = true;
		records.push_back(r);
	}
	const std::string file = (folder_ / "t").string();
	{
		hz::trace::NativeWriter writer(file);
		for (const Record &r : records)
			writer.put(r);
		EXPECT_FALSE(fs::exists(file)) << "never half a trace";
		writer.finish();
	}
	hz::trace::Reader reader(file, hz::trace::ReaderOptions{});
	for (const Record &wanted : records) {
		Record r;
		ASSERT_TRUE(reader.next(r));
		ASSERT_EQ(std::tie(r.time_ns, r.stream, r.op, r.zoned, r.zone, r.offset, r.bytes, r.shared_space, r.durable, r.after,
				   r.think_ns),
			  std::tie(wanted.time_ns, wanted.stream, wanted.op, wanted.zoned, wanted.zone, wanted.offset, wanted.bytes,
				   wanted.shared_space, wanted.durable, wanted.after, wanted.think_ns));
	}
}

TEST_F(Written, WhatIsNotFinishedLeavesNothing)
{
	const std::string file = (folder_ / "t").string();
	{
		hz::trace::NativeWriter writer(file);
		writer.put(request(0, 0, Op::write, 0, 512));
	}
	EXPECT_TRUE(fs::is_empty(folder_));
	std::ofstream(file) << "mine";
	EXPECT_THROW(hz::trace::NativeWriter writer(file), hz::trace::TraceError);
	EXPECT_THROW(hz::trace::NativeWriter writer((folder_ / "no" / "t").string()), hz::trace::TraceError);
}

} // namespace
