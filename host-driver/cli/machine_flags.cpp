// MachineFlags: from command line words to MachineOptions.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/machine_flags.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "config/device_yaml.hpp"
#include "config/placement.hpp"
#include "session/machine/error.hpp"
#include "session/machine/locate.hpp"

namespace hz::cli {

namespace fs = std::filesystem;

void MachineFlags::add_to(CLI::App &command, const std::string &usual)
{
	static constexpr std::string_view clocks[] = {"virtual", "real"};
	clock = usual;
	const std::vector<CLI::Option *> before = command.get_options();
	command.option_defaults()->group("The device");
	add_text(command, "--device", device, "FILE|NAME",
		 "Device to build: a YAML file, or the name of one in configs/devices (docs/reference/config.md has every key). Default: " +
			 (device == "default" ? "default, 48 zones of 12 MiB TLC" : device) + ". E.g. --device conzone-paper");
	add_count(command, "--workers", workers, 1, HZ_MAX_WORKERS,
		  "FTL worker harts instead of the device file's, each on a hart of its own. E.g. --workers 8");
	add_choice(
		command, "--clock", clock, clocks,
		"virtual: device time, the same on any host. real: plain emulation in wall-clock time, for a quick look or a debugger. Default: " +
			usual);
	add_text(
		command, "--vclock", plugin_options, "KEY=VALUE,...",
		"Change the virtual clock's costs for this run (docs/internals/clock-costs.md has the keys). E.g. --vclock remote=80,memory=60");
	add_text(
		command, "--image", image, "FILE",
		"Keep the flash in this file, which is made if it is missing; the data in it stay. Default: a temporary one. E.g. --image disk.img");
	add_count(command, "--seed", seed, 1, UINT32_MAX,
		  "Seed of everything random, instead of those of device and workload files (there: 1). E.g. --seed 7");
	add_text(command, "--firmware", firmware, "FILE|FOLDER",
		 "Firmware image to boot (an ELF file), or the folder of an FTL that build --with took. Default: the one that was "
		 "built with this program. E.g. --firmware examples/minimal-ftl");
	add_text(command, "--console", console, "FILE", "Write the firmware's console output to this file. E.g. --console console.txt");
	for (const CLI::Option *option : command.get_options())
		if (std::find(before.begin(), before.end(), option) == before.end())
			all_.push_back(option);
}

std::string MachineFlags::given(const std::string &but) const
{
	const auto found = std::find_if(all_.begin(), all_.end(),
					[&](const CLI::Option *option) { return option->count() > 0 && option->get_name() != but; });
	return found == all_.end() ? "" : (*found)->get_name();
}

bool MachineFlags::gives(const std::string &option) const
{
	return std::any_of(all_.begin(), all_.end(), [&](const CLI::Option *one) { return one->get_name() == option && one->count() > 0; });
}

std::string find_config(const char *option, const std::string &name, const std::string &folder)
{
	const fs::path tree = data_tree();
	const char *with = std::getenv("HARTZONE_WITH"); // ./hartzone build --with
	const fs::path own = with ? fs::path(with) / fs::path(folder).filename() : fs::path();
	for (const fs::path &candidate :
	     {fs::path(name), tree / name, tree / folder / (name + ".yaml"), tree / folder / name, own / (name + ".yaml"), own / name})
		if (fs::is_regular_file(candidate))
			return candidate.string();
	std::set<std::string> names;
	std::error_code none;
	for (const fs::path &searched : {tree / folder, own})
		for (const auto &entry : fs::directory_iterator(searched, none))
			names.insert(entry.path().stem().string());
	std::string known;
	for (const std::string &one : names)
		known += (known.empty() ? "" : ", ") + one;
	throw Error(std::string(option) + ": there is no file " + name + ", and " + folder + " has " +
		    (known.empty() ? "none" : "only " + known));
}

std::string firmware_image(const std::string &given)
{
	if (!fs::is_directory(given)) {
		if (!given.empty() && !fs::is_regular_file(given))
			throw Error("--firmware: there is no file " + given + ": ./hartzone build makes one");
		return given;
	}
	const fs::path whole = (fs::absolute(given) / "").lexically_normal().parent_path();
	const fs::path image = locate_firmware().replace_filename(whole.filename().string() + ".elf");
	if (!fs::is_directory(whole / "ftl") || !fs::is_regular_file(image))
		throw Error("--firmware: the folder " + given + " has no image " + image.string() + ": ./hartzone build --with " + given +
			    " makes one of the C files in its folder ftl");
	return image.string();
}

MachineOptions MachineFlags::options() const
{
	MachineOptions o;
	const std::string file = find_config("--device", device, "configs/devices");
	require_apart({"--console", console}, {{"--device", file}, {"--image", image}, {"--firmware", firmware}});
	require_apart({"--image", image}, {{"--device", file}, {"--firmware", firmware}});
	o.config = conf::load_device(file);
	if (workers)
		conf::place_roles(o.config, o.config.tsu_count, static_cast<uint32_t>(workers));
	if (seed)
		o.config.seed = static_cast<uint32_t>(seed);
	conf::require_legal(o.config, device);
	o.virtual_clock = clock == "virtual";
	if (!o.virtual_clock && !plugin_options.empty())
		throw Error("--vclock changes the virtual clock: leave it out, or use --clock virtual");
	require_writable_file("--console", console);
	o.nand_image = image;
	o.firmware = firmware_image(firmware);
	o.plugin_options = plugin_options;
	o.console_log = console;
	return o;
}

} // namespace hz::cli
