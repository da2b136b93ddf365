// The verify command: does an image hold everything acknowledged to earlier runs?
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "cli/command.hpp"
#include "cli/machine_flags.hpp"
#include "cli/one_core.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "config/device_yaml.hpp"
#include "image/image_file.hpp"
#include "keep/verify_image.hpp"
#include "session/machine/error.hpp"

namespace hz::cli {

namespace {

struct VerifyFlags {
	std::string image, device, firmware, console;
};

// file: of the device that was given; empty: the device that the image names.
hz_device_config device_of(const std::string &file, const VerifyFlags &flags)
{
	if (!file.empty())
		return conf::load_device(file);
	const ImageFile image(flags.image);
	const auto config = image.state() == ImageState::good ? image.config() : std::nullopt;
	if (!config)
		throw ImageError("the file " + flags.image + " names no device: ./hartzone image check " + flags.image +
				 " has more; if it is an image of another version, name its device with --device");
	return *config;
}

MachineOptions machine_of(const VerifyFlags &flags)
{
	MachineOptions o;
	o.firmware = firmware_image(flags.firmware);
	const std::string device = flags.device.empty() ? "" : find_config("--device", flags.device, "configs/devices");
	require_apart({"--console", flags.console}, {{"--image", flags.image}, {"--device", device}, {"--firmware", flags.firmware}});
	require_writable_file("--console", flags.console);
	o.config = device_of(device, flags);
	o.nand_image = flags.image;
	o.console_log = flags.console;
	return o;
}

void require_data(const std::string &image, const hz_device_config &config)
{
	if (config.media_mode == HZ_MEDIA_TIMING_ONLY)
		throw Error("the device of " + image +
			    " keeps no data (media: timing-only), so nothing on it can be verified: verify needs an image of a device with "
			    "media: store");
}

struct Kept {
	uint32_t nsid;
	std::unique_ptr<AckRecord> record;
	VerifyReport report;
};

// There is one at least.
std::vector<Kept> records_of(const std::string &image, uint32_t namespaces)
{
	std::vector<Kept> records;
	for (uint32_t nsid = 1; nsid <= namespaces; nsid++) {
		const auto file = ack_record_of(image, nsid);
		if (namespaces > 1 && !std::filesystem::exists(file))
			continue;
		records.push_back({nsid, std::make_unique<AckRecord>(file, 0), {}});
	}
	if (records.empty())
		AckRecord(ack_record_of(image), 0); // throws an error that names the missing file
	return records;
}

bool promises_something(const AckRecord &record)
{
	bool some = false;
	record.each(0, record.sectors(), [&](uint64_t, const Promise &) { return !(some = true); });
	return some;
}

void read_one(Controller &controller, Kept &kept)
{
	const std::vector<uint32_t> attached = controller.namespaces();
	const AckRecord &record = *kept.record;
	QueueOptions options;
	options.nsid = kept.nsid;
	if (!promises_something(record))
		return;
	if (std::find(attached.begin(), attached.end(), kept.nsid) == attached.end())
		throw Error("namespace " + std::to_string(kept.nsid) +
			    " holds what runs were promised, and is not attached: attach it first");
	auto queue = controller.create_queue(any_queue, options);
	const NamespaceInfo device = controller.namespace_info(*queue);
	if (device.size_sectors != record.sectors())
		throw Error("the record is of a device of " + std::to_string(record.sectors()) + " sectors, this one has " +
			    std::to_string(device.size_sectors));
	kept.report = verify_image(record, *queue, device);
	controller.delete_queue(std::move(queue));
}

void read_all(const MachineOptions &options, std::vector<Kept> &records)
{
	stay_on_one_core(options);
	auto machine = Machine::launch(options);
	Controller controller(*machine);
	controller.enable();
	for (Kept &kept : records)
		read_one(controller, kept);
	controller.shutdown();
	controller.disconnect();
	machine->require_exit(std::chrono::milliseconds(60000));
}

std::string sectors(uint64_t count) { return std::to_string(count) + (count == 1 ? " sector" : " sectors"); }

// named: there are several namespaces.
void print_report(const Kept &kept, bool named)
{
	if (named)
		std::printf("namespace %u: %s promised, %lu right\n", kept.nsid, sectors(kept.report.promised).c_str(),
			    static_cast<unsigned long>(kept.report.right));
	for (const std::string &problem : kept.report.problems)
		std::printf("%s\n", problem.c_str());
}

void verify(const VerifyFlags &flags)
{
	if (flags.image.empty())
		throw Error("verify needs the image: --image FILE");
	const MachineOptions machine = machine_of(flags);
	require_data(flags.image, machine.config);
	std::vector<Kept> records = records_of(flags.image, machine.config.namespaces);
	read_all(machine, records);
	VerifyReport all;
	uint64_t runs = 0;
	for (const Kept &kept : records) {
		all.promised += kept.report.promised;
		all.unreadable += kept.report.unreadable;
		all.wrong += kept.report.wrong;
		runs = std::max(runs, kept.record->runs());
		print_report(kept, machine.config.namespaces > 1);
	}
	flush_output();
	const std::string promised = "of " + sectors(all.promised) + " that " + std::to_string(runs) + (runs == 1 ? " run" : " runs") +
				     " on this image were promised as durable";
	if (all.unreadable || all.wrong)
		throw Error(promised + ", " + sectors(all.unreadable) + " cannot be read and " + sectors(all.wrong) +
			    " hold something else");
	if (!runs)
		std::printf("nothing is promised on this image: no run came to its first command, or the namespace was deleted\n");
	else
		std::printf("%s, all hold what they should%s\n", promised.c_str(),
			    all.promised ? ""
					 : ": no Flush and no write with FUA succeeded on what is still there, so nothing was checked");
}

} // namespace

void add_verify(CLI::App &app)
{
	auto flags = std::make_shared<VerifyFlags>();
	CLI::App *command = app.add_subcommand(
		"verify", "Boot the device of an image and check the data that earlier runs got acknowledged as durable");
	add_text(*command, "--image", flags->image, "FILE",
		 "The image, as given to run. What was promised is in FILE.acked, and of other namespaces in FILE.acked.2 and so on. "
		 "E.g. --image disk.img");
	add_text(*command, "--device", flags->device, "FILE|NAME",
		 "Device of the image, as of run. Default: the one that the image names. E.g. --device conzone-paper");
	add_text(*command, "--firmware", flags->firmware, "FILE|FOLDER",
		 "Firmware image to boot (an ELF file), or the folder of an FTL that build --with took. Default: the one that was "
		 "built with this program");
	add_text(*command, "--console", flags->console, "FILE",
		 "Write the firmware's console output to this file. E.g. --console console.txt");
	command->footer(
		"A sector is promised when its write with FUA succeeds, or a Flush that began after its write, or the device was shut\n"
		"down in order.\n"
		"Examples:\n"
		"  ./hartzone run --quick --power-cut-at 300 --image disk.img\n"
		"  ./hartzone verify --image disk.img");
	command->callback([flags] { verify(*flags); });
}

} // namespace hz::cli
