// Machine launch: files first, then the watch thread with the children, then the firmware's own state word.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/device_names.hpp"
#include "config_check.h"
#include "nand_image.h"
#include "session/machine/boot_watch.hpp"
#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"
#include "session/machine/locate.hpp"
#include "session/machine/machine_impl.hpp"
#include "session/machine/sparse_copy.hpp"

namespace hz {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

void check_config(const hz_device_config &config)
{
	char text[256];
	if (const char *problem = hz_machine_config_check(&config, text, sizeof(text)))
		throw Error(std::string("the device config is not legal: ") + problem);
}

void check_shm(uint64_t shm_bytes, uint64_t nand_bytes)
{
	if (const uint64_t most = most_shm_bytes(nand_bytes); shm_bytes > most)
		throw Error("the memory that host and device share has " + std::to_string(shm_bytes) + " bytes, and " +
			    std::to_string(most) + " is the most next to a NAND image of " + std::to_string(nand_bytes) + " bytes");
}

// The children's limit; ours may be lower.
void check_file_limit()
{
	constexpr rlim_t least = 64;
	rlimit files{};
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_max < least)
		throw Error("a process may open " + std::to_string(files.rlim_max) + " files, a machine needs " + std::to_string(least) +
			    ": raise the limit (ulimit -n)");
}

// Kernel vsock needs a machine-wide unique context id; 0, 1 and 2 are reserved.
unsigned kernel_cid() { return access("/dev/vhost-vsock", R_OK | W_OK) ? 0 : 3 + static_cast<unsigned>(getpid()) % 0x7ffffff0u; }

// Resolves file names in the user's directory, since QEMU runs in the run directory.
std::string seen_from_here(const std::string &option)
{
	for (const char *key : {"trace=", "profile="})
		if (option.starts_with(key) && option != key)
			return key + fs::absolute(option.substr(std::strlen(key))).string();
	return option;
}

/* The device's costs first: the user's options come later and override them. A preset of the user
 * replaces all of them. */
std::vector<std::string> plugin_options(const QemuCommand &command, const hz_device_config &config, const std::string &more)
{
	const std::vector<std::string> added = split_options(more);
	const bool preset = std::any_of(added.begin(), added.end(),
					[](const std::string &option) { return option.starts_with("preset="); });
	std::vector<std::string> options = {"ram=" + command.ram().filename().string(), "shm=" + command.shm().filename().string(),
					    "nand=" + command.nand_image.string(), "elf=" + command.firmware.string(),
					    "report=" + command.plugin_report().filename().string()};
	if (!preset)
		for (std::string &word : conf::clock_words(config))
			options.push_back(std::move(word));
	if (config.lock_stats == HZ_STATS_ALL)
		options.push_back("locks=on");
	std::transform(added.begin(), added.end(), std::back_inserter(options), seen_from_here);
	return options;
}

// Space for files of a run: only less than this of the guest's memory is ever touched, but a
// temporary image may be written completely.
uint64_t files_bytes(const MachineOptions &options, uint64_t nand_bytes)
{
	constexpr uint64_t memory = 64 << 20;
	return memory + options.shm_bytes + (options.nand_image.empty() ? nand_bytes : 0);
}

} // namespace

void Machine::Impl::prepare(const MachineOptions &options)
{
	check_config(options.config);
	check_file_limit();
	command.firmware = fs::absolute(options.firmware.empty() ? locate_firmware() : options.firmware);
	if (access(command.firmware.c_str(), R_OK))
		throw Error("the firmware image " + command.firmware.string() + " cannot be read");
	if (options.virtual_clock)
		command.plugin = fs::absolute(options.plugin.empty() ? locate_plugin() : options.plugin);
	command.nand_bytes = hz_nand_image_bytes(&options.config);
	check_shm(options.shm_bytes, command.nand_bytes);
	directory = std::make_unique<RunDirectory>(files_bytes(options, command.nand_bytes));
	command.run_directory = directory->path();
	command.harts = options.config.harts;
	command.ram_bytes = options.ram_bytes ? options.ram_bytes : ram_bytes_for(options.config);
	command.shm_bytes = options.shm_bytes;
	command.nand_image = options.nand_image.empty() ? directory->path() / "nand" : fs::absolute(options.nand_image);
	command.kernel_vsock_cid = cid = kernel_cid();
	if (!cid)
		vsock_path = command.vsock_path();
	if (options.virtual_clock)
		command.plugin_options = plugin_options(command, options.config, options.plugin_options);
	if (options.timeline)
		command.plugin_options.push_back("timeline=" + command.plugin_timeline().filename().string());
	console_log = options.console_log;
	if (options.busy_limit.count())
		stall = StallWatch(options.busy_limit);
	if (!options.image_copied.empty())
		copy_sparsely(options.image_copied, command.nand_image);
	open_image(options.format_image);
	region.emplace(Region::create(command.shm(), options.shm_bytes, options.config, options.virtual_clock));
	region->header().power_cut_op = options.power_cut_op;
	region->header().power_cut_ns = options.power_cut_ns;
}

// Creates a sparse image or checks the size of an old one, and holds its lock.
void Machine::Impl::open_image(bool format)
{
	const fs::path &image = command.nand_image;
	const bool exists = fs::exists(image);
	Descriptor fd(open(image.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	struct stat info {};
	if (!fd || fstat(fd.get(), &info))
		throw_errno("cannot open the NAND image " + image.string());
	if (flock(fd.get(), LOCK_EX | LOCK_NB))
		throw Error("the NAND image " + image.string() + " is in use by another machine");
	if (format && ftruncate(fd.get(), 0))
		throw_errno("cannot empty the NAND image " + image.string());
	if (!format && exists && !info.st_size)
		throw ImageError("the NAND image " + image.string() +
				 " has 0 bytes: its data are lost; --format-image begins a new one, and so does a name that is free");
	if (!format && exists && static_cast<uint64_t>(info.st_size) != command.nand_bytes)
		throw ImageError("the NAND image " + image.string() + " has " + std::to_string(info.st_size) +
				 " bytes, but this device needs " + std::to_string(command.nand_bytes) +
				 ": use the device config it was made with, or another image");
	image_lock = std::move(fd);
	image_was_made = !exists;
	image_was_empty = format;
	if (ftruncate(image_lock.get(), static_cast<off_t>(command.nand_bytes)))
		throw_errno("cannot size the NAND image " + image.string());
}

// Removes an image that no device has used, so that it does not block another one.
void Machine::Impl::undo_image() const
{
	if (image_lock && (image_was_made || (image_was_empty && ftruncate(image_lock.get(), 0))))
		unlink(command.nand_image.c_str());
}

void Machine::Impl::make_wake()
{
	wake = Descriptor(eventfd(0, EFD_CLOEXEC));
	if (!wake)
		throw_errno("cannot make an eventfd");
}

void Machine::Impl::start()
{
	make_wake();
	watcher = std::thread([this] { watch(); });
	std::unique_lock hold(lock);
	while (!changed.wait_for(hold, 50ms, [this] { return started || !failure.empty(); }))
		check_interrupted();
	if (!failure.empty())
		throw Error(failure);
}

void Machine::Impl::wait_boot(std::chrono::milliseconds timeout)
{
	const auto until = fair_now() + timeout;
	auto &state = region->header().boot_state;
	for (;;) {
		uint32_t now = std::atomic_ref(state).load(std::memory_order_acquire);
		if (now == HZ_BOOT_READY) {
			booted = true;
			return;
		}
		check_waiting();
		if (fair_now() > until) {
			std::string words = last_line(read_tail(command.console()));
			throw Error("the firmware did not boot within " + std::to_string(timeout.count() / 1000) + " s (state " +
				    std::to_string(now) + (words.empty() ? "" : ", console: " + words) + ")");
		}
		std::unique_lock hold(lock);
		changed.wait_for(hold, 5ms);
	}
}

} // namespace hz
