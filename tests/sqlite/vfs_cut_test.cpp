// A thousand power cuts of device and program under SQLite: what was committed is there, whole, and SQLite's own check finds nothing.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "database.hpp"

namespace hz::sql {
namespace {

using store::MemoryDevice;

struct Case {
	std::string name, mode;
	store::DeviceShape shape;
	fs::Options options;
};
void PrintTo(const Case &one, std::ostream *out) { *out << one.name; }

constexpr store::DeviceShape zones{.zones = 34, .capacity = 16, .max_active = 6, .plain = 16}, plain{.plain = 600};
const fs::Options small{.checkpoint_every = 20, .dirty_blocks = 24};
const fs::Options in_place{.in_place = true, .checkpoint_every = 20, .dirty_blocks = 24};

const Case cases[] = {
	{"delete_on_zones", "delete", zones, small},
	{"truncate_on_zones", "truncate", zones, small},
	{"wal_on_zones", "wal", zones, small},
	{"persist_on_blocks", "persist", plain, small},
	{"wal_on_blocks", "wal", plain, small},
	{"delete_in_place", "delete", plain, in_place},
	{"persist_in_place", "persist", plain, in_place},
	{"wal_in_place", "wal", plain, in_place},
};

constexpr int accounts = 20, cuts = 125, transfers = 12;

// Money goes from one account to another, and the log says so; all of it or nothing.
class Bank {
public:
	Bank(Host &host, const std::string &mode) : db(host.vfs, "bank.db")
	{
		db.run("PRAGMA journal_mode=" + mode + "; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=8; PRAGMA cache_size=6");
	}

	void found()
	{
		db.run("CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER, pad BLOB); CREATE TABLE log(id INTEGER PRIMARY KEY, pad "
		       "BLOB)");
		for (int i = 0; i < accounts; i++)
			db.run("INSERT INTO account VALUES(" + std::to_string(i) + ", 100, zeroblob(1500))");
	}

	void transfer(int number, std::mt19937 &random)
	{
		const std::string from = std::to_string(random() % accounts), to = std::to_string(random() % accounts);
		const std::string amount = std::to_string(random() % 50), bytes = std::to_string(random() % 6000);
		db.run("BEGIN; UPDATE account SET balance = balance - " + amount + " WHERE id = " + from +
		       "; UPDATE account SET balance = balance + " + amount + " WHERE id = " + to + "; INSERT INTO log VALUES(" +
		       std::to_string(number) + ", randomblob(" + bytes + ")); COMMIT");
	}

	Connection db;
};

// Transfers that were committed.
int transfer_until_cut(MemoryDevice &device, const Case &one, unsigned seed)
{
	int committed = 0;
	std::mt19937 random(seed);
	std::optional<Host> host;
	try {
		host.emplace(device, one.options);
		Bank bank(*host, one.mode);
		for (int i = 1; i <= transfers; i++) {
			bank.transfer(i, random);
			committed = i;
		}
	} catch (const store::PowerLost &) { // while the files were found again
	} catch (const SqlError &) {
		EXPECT_EQ(device.steps_left, 0u);
	}
	if (committed < transfers)
		device.steps_left = 0; // steps of SQLite when it closes
	return committed;
}

void expect_whole(MemoryDevice &device, const Case &one, int committed)
{
	Host host(device, one.options);
	Bank bank(host, one.mode);
	ASSERT_EQ(bank.db.one("PRAGMA integrity_check"), "ok");
	ASSERT_EQ(bank.db.one("SELECT sum(balance) FROM account"), std::to_string(100 * accounts));
	const int found = std::stoi(bank.db.one("SELECT count(*) FROM log"));
	ASSERT_EQ(bank.db.one("SELECT coalesce(max(id), 0) FROM log"), std::to_string(found));
	ASSERT_GE(found, committed);
	ASSERT_LE(found, committed + 1) << "one may have been committed without a word";
	std::mt19937 random(3);
	bank.transfer(found + 1, random);
	ASSERT_EQ(bank.db.one("PRAGMA integrity_check"), "ok");
}

class SqliteCut : public testing::TestWithParam<Case> {};

TEST_P(SqliteCut, LosesNothingThatWasCommitted)
{
	const Case &one = GetParam();
	MemoryDevice founded(one.shape);
	fs::FileLayer::format(founded);
	{
		Host host(founded, one.options);
		Bank(host, one.mode).found();
	}
	founded.lose_power();
	MemoryDevice whole = founded;
	whole.steps = 0;
	ASSERT_EQ(transfer_until_cut(whole, one, 0), transfers);
	std::mt19937 random(5);
	int early = 0;
	for (int cut = 0; cut < cuts; cut++) {
		MemoryDevice device = founded;
		const unsigned seed = cut % 5;
		const uint64_t step = random() % whole.steps;
		device.steps_left = step;
		const int committed = transfer_until_cut(device, one, seed);
		early += committed < transfers;
		device.lose_power(random() % 3);
		ASSERT_NO_FATAL_FAILURE(expect_whole(device, one, committed)) << "seed " << seed << ", step " << step;
	}
	EXPECT_GT(early, cuts * 3 / 4);
}

INSTANTIATE_TEST_SUITE_P(Cases, SqliteCut, testing::ValuesIn(cases), [](const auto &one) { return one.param.name; });

} // namespace
} // namespace hz::sql
