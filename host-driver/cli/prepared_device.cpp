// Prepared device: its key, and how one is found or made.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/prepared_device.hpp"

#include <cstdio>
#include <cstdlib>

#include "config/device_json.hpp"
#include "config/preparing_device.hpp"
#include "config/quantity.hpp"
#include "nand_image.h"
#include "results/sha256.hpp"
#include "session/machine/error.hpp"
#include "session/machine/locate.hpp"

namespace hz::cli {

namespace {

using nlohmann::json;

constexpr int layout = 1; // of an entry
constexpr uint64_t usual_most_bytes = 8ull << 30;

uint64_t most_bytes()
{
	const char *named = std::getenv("HARTZONE_CACHE_SIZE");
	const auto bytes = named ? conf::parse_bytes(named) : usual_most_bytes;
	if (!bytes)
		throw Error("HARTZONE_CACHE_SIZE is '" + std::string(named) + "': give it a size, such as 8 GiB");
	return *bytes;
}

// A trace is identified by its content.
json preparation_json(const wl::Workload &workload)
{
	json out = wl::workload_to_json(wl::preparation_of(workload));
	if (workload.trace)
		out["trace"]["file"] = res::sha256_of_file(workload.trace->file);
	return out;
}

std::string key_of(const hz_device_config &device, const wl::Workload &workload, const json &software)
{
	const json made_of = {{"layout", layout},
			      {"software", software},
			      {"device", conf::device_to_json(device)},
			      {"preparation", preparation_json(workload)}};
	return res::sha256(made_of.dump());
}

MachineOptions maker_options(const MachineOptions &options, const hz_device_config &device)
{
	MachineOptions out;
	out.config = device;
	out.firmware = options.firmware;
	out.plugin = options.plugin;
	out.shm_bytes = options.shm_bytes;
	out.boot_timeout = options.boot_timeout;
	out.busy_limit = options.busy_limit;
	return out;
}

std::unique_ptr<PreparedEntry> open_entry(PreparedDevice &device)
{
	const auto wait = [] { std::fputs("hartzone: another run prepares the same device: waiting for it\n", stderr); };
	try {
		return std::make_unique<PreparedEntry>(cache_folder() / "prepared", device.key, wait);
	} catch (const Interrupted &) {
		throw;
	} catch (const Error &e) {
		device.story = std::string("made; it is not kept: ") + e.what();
		return nullptr;
	}
}

void take(PreparedDevice &device, const hz_device_config &config)
{
	for (const json &phase : device.entry->host())
		device.phases.push_back(replay::recorded_phase(phase));
	device.image = device.entry->image();
	std::error_code failed;
	if (std::filesystem::file_size(device.image, failed) != hz_nand_image_bytes(&config) || failed)
		throw Error(device.image.string() + " is damaged: remove " + device.image.parent_path().string() +
			    ", and the device is prepared again");
	device.story = "from an earlier run";
}

void make(PreparedDevice &device, const MachineOptions &options, const wl::Workload &workload, const MachineRun::Trace &trace,
	  const std::string &title)
{
	device.maker = Machine::launch(options);
	MachineRun run(*device.maker, workload, title, 0);
	run.begin(nullptr);
	device.phases = run.prepare_recorded(trace);
	run.end();
	device.image = device.maker->image();
}

void keep(PreparedDevice &device)
{
	json host = json::array();
	for (const replay::RecordedPhase &phase : device.phases)
		host.push_back(replay::to_json(phase));
	try {
		device.entry->keep(device.image, host, most_bytes());
	} catch (const Interrupted &) {
		throw;
	} catch (const Error &e) {
		device.entry.reset();
		device.story = std::string("made; it is not kept: ") + e.what();
		return;
	}
	device.image = device.entry->image();
	device.maker.reset();
	device.story = "made, and kept in " + device.image.parent_path().string();
}

} // namespace

PreparedDevice prepared_device(const MachineOptions &options, const wl::Workload &workload, const MachineRun::Trace &trace,
			       const std::string &title, const json &software)
{
	const MachineOptions maker = maker_options(options, conf::preparing_device(options.config));
	PreparedDevice device;
	device.key = key_of(maker.config, workload, software);
	device.entry = open_entry(device);
	if (device.entry && device.entry->found()) {
		take(device, maker.config);
		return device;
	}
	make(device, maker, workload, trace, title);
	if (device.entry)
		keep(device);
	return device;
}

} // namespace hz::cli
