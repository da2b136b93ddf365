// SQLite's files in hzfs: journal modes, several connections, temporary files, a full device, and locks.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "database.hpp"

namespace hz::sql {
namespace {

using store::MemoryDevice;

class VfsTest : public testing::Test {
protected:
	VfsTest() : device({.zones = 34, .capacity = 64, .max_active = 6, .plain = 16})
	{
		fs::FileLayer::format(device);
		host = std::make_unique<Host>(device);
	}
	void restart()
	{
		host = nullptr;
		device.lose_power();
		host = std::make_unique<Host>(device);
	}

	MemoryDevice device;
	std::unique_ptr<Host> host;
};

constexpr const char *thousand = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)";

TEST_F(VfsTest, EachJournalModeKeepsWhatWasCommitted)
{
	for (const std::string mode : {"delete", "truncate", "persist", "wal", "memory"}) {
		const std::string name = mode + ".db";
		{
			Connection db(host->vfs, name);
			EXPECT_EQ(db.one("PRAGMA journal_mode=" + mode), mode);
			db.run("CREATE TABLE t(i INTEGER PRIMARY KEY, v TEXT)");
			db.run(std::string(thousand) + " INSERT INTO t SELECT i, hex(randomblob(50)) FROM n");
			db.run("DELETE FROM t WHERE i % 3 = 0");
		}
		restart();
		Connection db(host->vfs, name);
		EXPECT_EQ(db.one("SELECT count(*) FROM t"), "667") << mode;
		EXPECT_EQ(db.one("PRAGMA integrity_check"), "ok") << mode;
	}
}

TEST_F(VfsTest, AnUnknownFileIsNotOpened)
{
	sqlite3 *db = nullptr;
	sqlite3_vfs_register(host->vfs.interface(), 0);
	EXPECT_EQ(sqlite3_open_v2("none.db", &db, SQLITE_OPEN_READWRITE, "test"), SQLITE_CANTOPEN);
	sqlite3_close(db);
	EXPECT_THROW(Connection(host->vfs, std::string(300, 'x')), SqlError);
}

TEST_F(VfsTest, WritersWaitForEachOther)
{
	for (const std::string mode : {"delete", "wal"}) {
		Connection a(host->vfs, mode), b(host->vfs, mode);
		a.run("PRAGMA journal_mode=" + mode + "; CREATE TABLE t(v)");
		b.run("SELECT * FROM t");
		a.run("BEGIN IMMEDIATE; INSERT INTO t VALUES(1)");
		try {
			b.run("INSERT INTO t VALUES(2)");
			FAIL() << "two writers at once";
		} catch (const SqlError &e) {
			EXPECT_EQ(e.code, SQLITE_BUSY);
		}
		EXPECT_EQ(b.one("SELECT count(*) FROM t"), "0");
		a.run("COMMIT");
		b.run("INSERT INTO t VALUES(2)");
		EXPECT_EQ(a.one("SELECT sum(v) FROM t"), "3") << mode;
	}
}

TEST_F(VfsTest, AReaderKeepsAWriterOutOfTheFile)
{
	Connection a(host->vfs, "a"), b(host->vfs, "a");
	a.run("CREATE TABLE t(v); INSERT INTO t VALUES(1)");
	b.run("BEGIN; SELECT * FROM t");
	EXPECT_THROW(a.run("INSERT INTO t VALUES(2)"), SqlError);
	b.run("COMMIT");
	a.run("INSERT INTO t VALUES(2)");
	EXPECT_EQ(b.one("SELECT count(*) FROM t"), "2");
}

TEST_F(VfsTest, TemporaryFilesLeaveNothing)
{
	{
		Connection db(host->vfs, "a");
		db.run("PRAGMA temp_store=FILE; PRAGMA temp.cache_size=5; CREATE TEMP TABLE t(v)");
		db.run(std::string(thousand) + " INSERT INTO t SELECT hex(randomblob(300)) FROM n");
		EXPECT_EQ(db.one("SELECT count(*) FROM (SELECT v FROM t ORDER BY v)"), "1000");
		EXPECT_GT(host->layer.space().used, 100u);
	}
	EXPECT_LE(host->layer.space().used, 2u);
	EXPECT_LE(host->layer.names().size(), 1u);
}

TEST_F(VfsTest, AFullDeviceIsReported)
{
	Connection db(host->vfs, "a");
	db.run("CREATE TABLE t(v)");
	const auto fill = [&] {
		for (;;)
			db.run("INSERT INTO t VALUES(randomblob(200000))");
	};
	try {
		fill();
	} catch (const SqlError &e) {
		EXPECT_EQ(e.code, SQLITE_FULL) << e.what();
	}
	EXPECT_EQ(db.one("PRAGMA integrity_check"), "ok");
	EXPECT_GT(std::stoi(db.one("SELECT count(*) FROM t")), 10);
}

TEST_F(VfsTest, CallsAreCounted)
{
	Connection db(host->vfs, "a");
	db.run("CREATE TABLE t(v)");
	EXPECT_GT(host->vfs.take_calls(), 10u);
	EXPECT_EQ(host->vfs.take_calls(), 0u);
}

} // namespace
} // namespace hz::sql
