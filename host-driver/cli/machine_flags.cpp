// MachineFlags: from command line words to MachineOptions.
#include "cli/machine_flags.hpp"

#include <filesystem>

#include "config/device_config.hpp"
#include "config/quantity.hpp"
#include "session/error.hpp"
#include "session/locate.hpp"

namespace hz::cli {

namespace fs = std::filesystem;

void MachineFlags::add_to(CLI::App &command)
{
	command.add_option("--device", device, "Device: a YAML file, or the name of one in configs/devices (default: the built-in shape)");
	command.add_option("--workers", workers, "FTL worker harts, overrides the device file")->check(CLI::Range(1u, 60u));
	command.add_option("--clock", clock, "virtual: device time, the same on any host; real: plain emulation in wall-clock time")
		->check(CLI::IsMember({"virtual", "real"}))
		->capture_default_str();
	command.add_option("--image", image, "NAND image file, made if missing and kept (default: a temporary one)");
	command.add_option("--seed", seed, "Seed of everything random, overrides device and workload files")
		->check([](const std::string &text) { // CLI11 would take -1 for 2^64 - 1
			const uint64_t number = conf::parse_count(text).value_or(0);
			return number && number <= UINT32_MAX ? std::string() : "takes a number from 1 to 4294967295, not " + text;
		});
	command.add_option("--firmware", firmware, "Firmware image (default: the one built here)");
	command.add_option("--vclock", plugin_options, "Further options of the virtual clock, key=value,…");
	command.add_option("--console", console, "Keep the firmware's console output in this file");
}

std::string find_config(const std::string &name, const std::string &folder)
{
	fs::path tree = source_tree();
	for (const fs::path &candidate : {fs::path(name), tree / name, tree / folder / (name + ".yaml"), tree / folder / name})
		if (fs::is_regular_file(candidate))
			return candidate.string();
	throw Error("there is no file " + name + " and no " + folder + "/" + name + ".yaml");
}

MachineOptions MachineFlags::options() const
{
	MachineOptions o;
	o.config = device.empty() ? conf::device_defaults() : conf::load_device(find_config(device, "configs/devices"));
	if (workers)
		conf::place_roles(o.config, o.config.tsu_count, workers);
	if (seed)
		o.config.seed = static_cast<uint32_t>(seed);
	conf::require_legal(o.config, device.empty() ? "the device" : device);
	o.virtual_clock = clock == "virtual";
	o.nand_image = image;
	o.firmware = firmware;
	o.plugin_options = plugin_options;
	o.console_log = console;
	return o;
}

} // namespace hz::cli
