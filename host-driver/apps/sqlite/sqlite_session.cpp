// SqliteSession: attach, mount, and the account at the end.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/sqlite/sqlite_session.hpp"

#include <cstdio>
#include <fcntl.h>
#include <sys/file.h>

#include "results/run_facts.hpp"
#include "session/machine/error.hpp"

namespace hz::sql {

SqliteSession::SqliteSession(const std::string &run_directory, const SqliteOptions &options, const std::string &sqlite_version)
	: options_(options), sqlite_version_(sqlite_version)
{
	machine_ = Machine::attach(run_directory);
	lock_ = Descriptor(
		open((run_directory + "/hzfs." + std::to_string(options.ways.nsid) + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	if (!lock_ || flock(lock_.get(), LOCK_EX | LOCK_NB))
		throw Error("another program has the files of this namespace: one at a time may");
	if (!options.record.empty())
		trace_.emplace(options.record);
	controller_.emplace(*machine_);
	device_.emplace(*controller_, options_.ways.nsid, trace_ ? &*trace_ : nullptr, fs::most_transfer(options_.ways));
	take_files();
	vfs_.emplace(stack_->layer(), "hartzone", options.seed);
	if (options.measured)
		compute_ = std::make_unique<MeasuredCompute>();
	else
		compute_ = std::make_unique<FixedCompute>(*vfs_, options.compute_ns);
	device_->set_compute(compute_.get());
	before_ = fs::work_of(*controller_);
	device_->take_account();
}

void SqliteSession::take_files()
{
	const bool blank = fs::FileLayer::is_blank(*device_);
	if (!blank && options_.ways.aged)
		throw Error("--aged is for an empty device, and this one has files: leave it out, or give another --image");
	if (blank)
		fs::FileLayer::format(*device_);
	stack_.emplace(*controller_, *device_, options_.ways);
	fs::age(stack_->layer(), options_.ways.aged, 0);
}

void SqliteSession::end()
{
	stack_->layer().sync_all();
	report();
	stack_.reset();
	device_.reset();
	controller_->leave();
	if (trace_)
		trace_->finish();
}

void SqliteSession::report()
{
	const store::DeviceAccount account = device_->take_account();
	const uint64_t elapsed_ns = account.end_ns - account.begin_ns;
	if (options_.stats) {
		std::printf("%.3f s of the device, digest %s\n%s", double(elapsed_ns) / 1e9, device_->digest().c_str(),
			    store::table_of(account).c_str());
		std::fflush(stdout);
	}
	if (options_.out.empty())
		return;
	nlohmann::json result = {{"schema", "hartzone-sqlite-1"},
				 {"clock", machine_->region().virtual_clock() ? "virtual" : "real"},
				 {"seed", options_.seed},
				 {"layer", options_.ways},
				 {"compute", {{"measured", options_.measured}, {"call_ns", options_.compute_ns}}},
				 {"sqlite", sqlite_version_},
				 {"elapsed_ns", elapsed_ns},
				 {"device", store::json_of(account)},
				 {"files", stack_->files()},
				 {"iotailor", stack_->iotailor()},
				 {"page_cache", stack_->page_cache()},
				 {"digest", device_->digest()}};
	result.update(fs::json_of(fs::work_of(*controller_) - before_));
	res::write_result(result, options_.out + "/sqlite.json");
}

} // namespace hz::sql
