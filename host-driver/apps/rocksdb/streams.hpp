// Streams: which of RocksDB's threads sends a command, and for which commands of another thread it
// waited, for a trace.
//
// A memtable is filled while the one before is flushed, and its filling ends with a wait for that
// flush (RocksDB's own rule with two memtables). A flush begins when its memtable is full. A
// compaction begins after the newest flush. A filling begins after the compactions that had ended
// then, so that a replay runs no further ahead of them than RocksDB did. What a thread computes between
// two commands is its CPU time, without that of the driver.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rocksdb/listener.h>

#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "storage/queue/hartzone_device.hpp"

namespace hz::rocks {

class Streams : public rocksdb::EventListener, public store::RecordMarks, public store::HostCompute {
public:
	void mark(trace::Record &record) override;
	// Computing goes into the trace, and takes no device time here.
	uint64_t before_command() override;
	void after_command() override;
	const char *Name() const override { return "Hartzone streams"; }
	void OnMemTableSealed(const rocksdb::MemTableInfo &) override { sealed(); }
	void OnFlushBegin(rocksdb::DB *, const rocksdb::FlushJobInfo &) override { flush_begins(); }
	void OnFlushCompleted(rocksdb::DB *, const rocksdb::FlushJobInfo &) override { flush_ended(); }
	void OnCompactionBegin(rocksdb::DB *, const rocksdb::CompactionJobInfo &) override { compaction_begins(); }
	void OnCompactionCompleted(rocksdb::DB *, const rocksdb::CompactionJobInfo &) override { compaction_ended(); }

private:
	void sealed();
	void flush_begins();
	void flush_ended();
	void compaction_begins();
	void compaction_ended();
	// Records of a stream that had been sent at an event.
	using Point = trace::After;
	struct Stream {
		uint64_t number = 0, records = 0;
		std::vector<Point> waits;               // for the next record
		uint64_t computed_ns = 0, think_ns = 0; // its CPU clock when its last command ended; since then
	};
	Stream &current();
	Point point() { return {current().number, current().records}; }
	static void wait_for(Stream &stream, const Point &point);
	void add_fill_wait(Stream &stream);

	std::mutex mutex_;
	std::map<std::thread::id, Stream> streams_;
	std::vector<Point> sealed_;  // by memtable
	std::vector<Point> flushed_; // by memtable, once its flush has completed
	size_t flushing_ = 0;        // memtables that the flush that is under way takes to the end
	uint64_t filling_ = 0;       // stream that fills memtables
	bool full_ = false;          // the filling waits for the memtable before the last sealed one
	Point compacted_;
};

} // namespace hz::rocks
