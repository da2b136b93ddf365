// FilesSession: one thread and one command at a time, so under the virtual clock the same each time.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/files/files_session.hpp"

#include <cstdio>

#include "apps/hzfs/stack/file_stack.hpp"
#include "apps/files/job.hpp"
#include "session/machine/error.hpp"
#include "session/machine/machine.hpp"

namespace hz::files {

using nlohmann::json;

json run(Controller &controller, const FilesOptions &options)
{
	store::HartzoneDevice device(controller, options.ways.nsid, nullptr, fs::most_transfer(options.ways));
	if (!fs::FileLayer::is_blank(device))
		throw Error("the device is not empty: give another --image, or none");
	fs::FileLayer::format(device);
	fs::FileStack stack(controller, device, options.ways);
	device.take_account();
	controller.reset_stats();
	Job job(controller, device, stack.layer(), options);
	const json result = job.run();
	const fs::DeviceWork work = fs::work_of(controller);
	std::printf("%s", store::table_of(job.account()).c_str());
	stack.layer().sync_all();
	json out = {{"schema", "hartzone-files-1"},
		    {"job", options.job},
		    {"options",
		     {{"size", options.file_bytes},
		      {"count", options.count},
		      {"small_files", options.small_files},
		      {"hold", options.hold},
		      {"reread", options.reread},
		      {"warm_up", options.warm_up},
		      {"sync_every", options.sync_every}}},
		    {"layer", options.ways},
		    {"clock", controller.machine().region().virtual_clock() ? "virtual" : "real"},
		    {"seed", options.seed},
		    {"result", result},
		    {"files", stack.files()},
		    {"iotailor", stack.iotailor()},
		    {"page_cache", stack.page_cache()},
		    {"device", store::json_of(job.account())},
		    {"digest", device.digest()}};
	out.update(json_of(work));
	return out;
}

} // namespace hz::files
