// The image command: look at a NAND image without booting a device on it.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <memory>

#include "cli/command.hpp"
#include "cli/machine_flags.hpp"
#include "cli/options.hpp"
#include "config/device_yaml.hpp"
#include "image/image_check.hpp"

namespace hz::cli {

namespace {

struct CheckFlags {
	std::string file, device;
	bool json = false;
};

void check(const CheckFlags &flags)
{
	std::optional<hz_device_config> device;
	if (!flags.device.empty())
		device = conf::load_device(find_config("--device", flags.device, "configs/devices"));
	const ImageReport report = check_image(flags.file, device);
	std::fputs((flags.json ? json_of(report).dump(2) + "\n" : text_of(report, flags.file)).c_str(), stdout);
	if (report.verdict != Verdict::sound)
		throw CLI::RuntimeError(static_cast<int>(report.verdict));
}

} // namespace

void add_image(CLI::App &app)
{
	auto flags = std::make_shared<CheckFlags>();
	CLI::App *image = app.add_subcommand("image", "Look at a NAND image without booting a device on it");
	image->require_subcommand(1);
	CLI::App *command = image->add_subcommand("check",
						  "List the contents of the image and its unreadable parts; the file is not changed");
	command->add_option("file", flags->file, "The image")->required()->type_name("");
	add_text(*command, "--device", flags->device, "FILE|NAME",
		 "Device of the image, as of run. Default: the one that the image names. E.g. --device conzone-paper");
	add_flag(*command, "--json", flags->json, "Print JSON instead of text");
	command->footer("Exit codes: 0 sound, 1 damaged (the readable parts are listed), 2 no image of this program.\n"
			"Example: ./hartzone image check disk.img");
	command->callback([flags] { check(*flags); });
}

} // namespace hz::cli
