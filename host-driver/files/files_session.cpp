// FilesSession: one thread and one command at a time, so under the virtual clock the same each time.
// SPDX-License-Identifier: BSD-3-Clause
#include "files/files_session.hpp"

#include <cstdio>

#include "files/job.hpp"
#include "namespaces.h"
#include "session/error.hpp"
#include "session/machine.hpp"
#include "storage/tailored_device.hpp"

namespace hz::files {

namespace {

using nlohmann::json;

json json_of(const fs::Counters &counters, const fs::Space &space)
{
	return {{"data_blocks", counters.data_blocks},
		{"node_blocks", counters.node_blocks},
		{"meta_blocks", counters.meta_blocks},
		{"in_place_blocks", counters.in_place_blocks},
		{"slack_blocks", counters.slack_blocks},
		{"over_budget", counters.over_budget},
		{"moved_blocks", counters.moved_blocks},
		{"copied_blocks", counters.copied_blocks},
		{"cleaned_sections", counters.cleaned_sections},
		{"background_sections", counters.background_sections},
		{"rounds", {{"normal", counters.rounds[1]}, {"boosted", counters.rounds[2]}, {"paused", counters.paused_rounds}}},
		{"checkpoints", counters.checkpoints},
		{"syncs", counters.syncs},
		{"used_blocks", space.used},
		{"total_blocks", space.total}};
}

json json_of(const store::TailorCounters &tailor)
{
	return {{"writes", tailor.writes},         {"bytes", tailor.bytes},     {"split", tailor.split},
		{"superpages", tailor.superpages}, {"partial", tailor.partial}, {"most_held_bytes", tailor.most_held_bytes}};
}

} // namespace

json run(Controller &controller, const FilesOptions &options)
{
	store::HartzoneDevice device(controller, nullptr, (options.iotailor ? 512 : 128) << 10); // a superpage is one command
	hz_shape shape;
	hz_namespace_shape(&controller.machine().config(), 0, &shape);
	store::TailoredDevice tailored(device, shape.superpage_sectors);
	if (options.iotailor && !device.shape().zones)
		throw Error("--iotailor makes superpages of what is written to zones, and this device has a block namespace: leave it out");
	if (!fs::FileLayer::is_blank(device))
		throw Error("the device is not empty: give another --image, or none");
	fs::FileLayer::format(device);
	store::ZonedDevice &below = options.iotailor ? static_cast<store::ZonedDevice &>(tailored) : device;
	fs::FileLayer layer(below, {.in_place = options.in_place,
				    .slack = options.slack,
				    .copy_offload = options.copy_offload,
				    .background = options.cleaner,
				    .clock = [&device] { return device.now_ns(); }});
	device.take_account();
	controller.reset_stats();
	Job job(controller, device, layer, options);
	const json result = job.run();
	const DeviceWork work = work_of(controller);
	std::printf("%s", store::table_of(job.account()).c_str());
	layer.sync_all();
	return {{"schema", "hartzone-files-1"},
		{"job", options.job},
		{"clock", controller.machine().region().virtual_clock() ? "virtual" : "real"},
		{"seed", options.seed},
		{"result", result},
		{"files", json_of(layer.counters(), layer.space())},
		{"iotailor", options.iotailor ? json_of(tailored.counters()) : json()},
		{"device", store::json_of(job.account())},
		{"host_write_bytes", work.host_written * store::block_bytes},
		{"programmed_bytes", work.programmed * store::block_bytes},
		{"slc_bytes", work.staged * store::block_bytes},
		{"digest", device.digest()}};
}

} // namespace hz::files
