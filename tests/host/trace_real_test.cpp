// Real recordings: our own, and those next to the source tree if present.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "trace/reader.hpp"

namespace {

using namespace hz::trace;
namespace fs = std::filesystem;

std::map<Op, uint64_t> count(const fs::path &path)
{
	Reader reader(path.string(), ReaderOptions{});
	std::map<Op, uint64_t> out;
	for (Record r; reader.next(r);)
		out[r.op]++;
	return out;
}

TEST(RealTrace, SqliteWal)
{
	auto ops = count(HZ_TREE "/traces/sqlite-wal.hzt.xz");
	EXPECT_EQ(ops[Op::write], 12267u);
	EXPECT_EQ(ops[Op::read], 7708u);
	EXPECT_EQ(ops[Op::flush], 1192u);
}

TEST(RealTrace, SqliteJournalAndGit)
{
	EXPECT_EQ(count(HZ_TREE "/traces/sqlite-journal.hzt.xz")[Op::flush], 3428u);
	EXPECT_EQ(count(HZ_TREE "/traces/git.hzt.xz")[Op::trim], 203u);
}

TEST(RealTrace, SharedMqsimTraces)
{
	const fs::path folder = fs::path(HZ_TREE) / "../shared/traces";
	if (!fs::exists(folder / "tpcc-small.trace"))
		GTEST_SKIP() << "the shared traces are not here: ../shared/traces is missing";
	auto tpcc = count(folder / "tpcc-small.trace");
	EXPECT_EQ(tpcc[Op::read] + tpcc[Op::write], 6999u);
	EXPECT_NEAR(double(tpcc[Op::read]) / 6999, 0.63, 0.01); // the codes are not reversed
	auto search = count(folder / "wsrch-small.trace");
	EXPECT_EQ(search[Op::read] + search[Op::write], 24783u);
	EXPECT_GT(search[Op::read], 24000u);
}

} // namespace
