// The verify command: does an image hold what the runs on it were promised?
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <memory>

#include "cli/command.hpp"
#include "cli/machine_flags.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "config/device_yaml.hpp"
#include "image/image_file.hpp"
#include "keep/verify_image.hpp"
#include "session/error.hpp"

namespace hz::cli {

namespace {

struct VerifyFlags {
	std::string image, device, firmware, console;
};

// The device that the image names, unless another one was given.
hz_device_config device_of(const VerifyFlags &flags)
{
	if (!flags.device.empty())
		return conf::load_device(find_config("--device", flags.device, "configs/devices"));
	const ImageFile image(flags.image);
	const auto config = image.state() == ImageState::good ? image.config() : std::nullopt;
	if (!config)
		throw ImageError("the file " + flags.image + " names no device: ./hartzone image check " + flags.image +
				 " tells more; if it is an image of another version, name its device with --device");
	return *config;
}

MachineOptions machine_of(const VerifyFlags &flags)
{
	require_firmware(flags.firmware);
	require_writable_file("--console", flags.console);
	MachineOptions o;
	o.config = device_of(flags);
	o.nand_image = flags.image;
	o.firmware = flags.firmware;
	o.console_log = flags.console;
	return o;
}

VerifyReport read_all(const MachineOptions &options, const AckRecord &record)
{
	auto machine = Machine::launch(options);
	Controller controller(*machine);
	controller.enable();
	auto queue = controller.create_queue(1, {});
	const NamespaceInfo device = controller.namespace_info(*queue);
	if (device.size_sectors != record.sectors())
		throw Error("the record is of a device of " + std::to_string(record.sectors()) + " sectors, this one has " +
			    std::to_string(device.size_sectors));
	const VerifyReport report = verify_image(record, *queue, device);
	controller.delete_queue(std::move(queue));
	controller.shutdown();
	controller.disconnect();
	machine->require_exit(std::chrono::milliseconds(60000));
	return report;
}

std::string sectors(uint64_t count) { return std::to_string(count) + (count == 1 ? " sector" : " sectors"); }

void verify(const VerifyFlags &flags)
{
	if (flags.image.empty())
		throw Error("verify needs the image: --image FILE");
	const MachineOptions machine = machine_of(flags);
	const AckRecord record(ack_record_of(flags.image), 0);
	const VerifyReport report = read_all(machine, record);
	for (const std::string &problem : report.problems)
		std::printf("%s\n", problem.c_str());
	flush_output();
	const std::string promised = "of " + sectors(report.promised) + " that " + std::to_string(record.runs()) +
				     (record.runs() == 1 ? " run" : " runs") + " on this image were promised as durable";
	if (report.unreadable || report.wrong)
		throw Error(promised + ", " + sectors(report.unreadable) + " cannot be read and " + sectors(report.wrong) +
			    " hold something else");
	std::printf("%s, all hold what they should\n", promised.c_str());
}

} // namespace

void add_verify(CLI::App &app)
{
	auto flags = std::make_shared<VerifyFlags>();
	CLI::App *command = app.add_subcommand("verify",
					       "Boot the device of an image and check what the runs on it were promised as durable");
	add_text(*command, "--image", flags->image, "FILE",
		 "The image, as given to run. What was promised is in FILE.acked. E.g. --image disk.img");
	add_text(*command, "--device", flags->device, "FILE|NAME",
		 "Device of the image, as of run. Default: the one that the image names. E.g. --device conzone-paper");
	add_text(*command, "--firmware", flags->firmware, "FILE",
		 "Firmware image to boot (an ELF file). Default: the one that was built with this program");
	add_text(*command, "--console", flags->console, "FILE", "Keep what the firmware prints in this file. E.g. --console console.txt");
	command->footer("A sector is promised when a Flush that began after its write succeeds, or the device was shut down in order.\n"
			"Examples:\n"
			"  ./hartzone run --quick --power-cut-at 300 --image disk.img\n"
			"  ./hartzone verify --image disk.img");
	command->callback([flags] { verify(*flags); });
}

} // namespace hz::cli
