// hartzone-rocksdb: RocksDB on a device that is up. `./hartzone rocksdb` calls it, so that nothing else needs RocksDB's library.
// SPDX-License-Identifier: BSD-3-Clause
#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "results/run_facts.hpp"
#include "apps/rocksdb/file_system.hpp"
#include "storage/queue/hartzone_device.hpp"
#include "apps/rocksdb/load.hpp"
#include "apps/rocksdb/load_options.hpp"
#include "apps/rocksdb/report.hpp"
#include "apps/rocksdb/streams.hpp"
#include "session/machine/error.hpp"
#include "session/machine/machine.hpp"

namespace {

using namespace hz;
using namespace hz::rocks;

rocksdb::Options database_options(const LoadOptions &load, rocksdb::Env *env)
{
	rocksdb::Options options;
	options.env = env;
	options.create_if_missing = true;
	options.compression = rocksdb::kNoCompression; // values are random bytes
	options.write_buffer_size = load.memtable_bytes;
	options.target_file_size_base = load.memtable_bytes;
	options.max_bytes_for_level_base = 4 * load.memtable_bytes;
	options.compaction_readahead_size = 2 << 20; // RocksDB's recommendation for direct reads: no layer below reads ahead
	options.stats_dump_period_sec = 0;
	return options;
}

class Database {
public:
	Database(store::Store &store, const LoadOptions &load, std::shared_ptr<Streams> streams)
		: env_(rocksdb::NewCompositeEnv(make_file_system(store)))
	{
		rocksdb::DB *db = nullptr;
		rocksdb::Options options = database_options(load, env_.get());
		options.listeners.push_back(std::move(streams));
		const rocksdb::Status status = rocksdb::DB::Open(options, "/db", &db);
		if (!status.ok())
			throw Error("RocksDB does not open: " + status.ToString());
		db_.reset(db);
	}
	rocksdb::DB &db() { return *db_; }

private:
	std::unique_ptr<rocksdb::Env> env_;
	std::unique_ptr<rocksdb::DB> db_;
};

nlohmann::json run_loads(store::HartzoneDevice &device, const LoadOptions &options)
{
	const KeySpace space{options.keys, options.seed};
	const bool fresh = options.loads.front() == "fillseq";
	Acked acked(options.acked, space, fresh);
	if (fresh)
		store::Store::format(device);
	const auto streams = std::make_shared<Streams>();
	device.set_marks(streams.get());
	device.set_compute(streams.get());
	store::Store store(device);
	Database database(store, options, streams);
	Load load(database.db(), space, options.sync_every, acked);
	nlohmann::json all = nlohmann::json::array();
	device.take_account();
	for (const std::string &name : options.loads) {
		LoadReport report;
		report.name = name;
		report.count = load.run(name);
		report.device = device.take_account();
		report.space = store.space();
		report.collected_blocks = store.collected_blocks();
		std::fputs(table_of(report).c_str(), stdout);
		std::fflush(stdout);
		all.push_back(json_of(report));
	}
	return all;
}

void run(const LoadOptions &options)
{
	std::optional<trace::NativeWriter> trace;
	if (!options.record.empty())
		trace.emplace(options.record);
	const auto machine = Machine::attach(options.run_directory);
	Controller controller(*machine);
	nlohmann::json loads;
	{
		store::HartzoneDevice device(controller, options.nsid, trace ? &*trace : nullptr);
		loads = run_loads(device, options);
	}
	controller.leave();
	if (trace)
		trace->finish();
	if (!options.out.empty())
		res::write_result({{"schema", "hartzone-rocksdb-1"},
				   {"clock", machine->region().virtual_clock() ? "virtual" : "real"},
				   {"nsid", options.nsid},
				   {"keys", options.keys},
				   {"seed", options.seed},
				   {"sync_every", options.sync_every},
				   {"memtable_bytes", options.memtable_bytes},
				   {"rocksdb", rocksdb::GetRocksVersionAsString()},
				   {"loads", loads}},
				  options.out + "/rocksdb.json");
}

} // namespace

int main(int argc, char **argv)
{
	try {
		if (argc != 2)
			throw Error("call ./hartzone rocksdb, which knows what this program needs");
		run(nlohmann::json::parse(argv[1]).get<LoadOptions>());
		return 0;
	} catch (const std::exception &e) {
		std::fflush(stdout);
		std::fprintf(stderr, "hartzone: %s\n", e.what());
		return 1;
	}
}
