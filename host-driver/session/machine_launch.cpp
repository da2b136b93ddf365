// Machine launch: files first, then the watch thread with the children, then the firmware's own state word.
#include <atomic>
#include <fcntl.h>
#include <fstream>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nand_image.h"
#include "session/boot_watch.hpp"
#include "session/error.hpp"
#include "session/interrupt.hpp"
#include "session/locate.hpp"
#include "session/machine_impl.hpp"

namespace hz {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

void check_config(const hz_device_config &config)
{
	char text[256];
	if (const char *problem = hz_device_config_check(&config, text, sizeof(text)))
		throw Error(std::string("the device config is not legal: ") + problem);
}

// Creates a sparse image or checks the size of an old one; returns the descriptor that holds its lock.
int open_image(const fs::path &image, uint64_t bytes)
{
	int fd = open(image.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct stat info{};
	if (fd < 0 || fstat(fd, &info))
		throw_errno("cannot open the NAND image " + image.string());
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		throw Error("the NAND image " + image.string() + " is in use by another machine");
	}
	if (info.st_size != 0 && static_cast<uint64_t>(info.st_size) != bytes) {
		close(fd);
		throw Error("the NAND image " + image.string() + " has " + std::to_string(info.st_size) + " bytes, but this device needs " +
			    std::to_string(bytes) + ": use the device config it was made with, or another image");
	}
	if (ftruncate(fd, static_cast<off_t>(bytes))) {
		close(fd);
		throw_errno("cannot size the NAND image " + image.string());
	}
	return fd;
}

// Kernel vsock needs a machine-wide unique context id; 0, 1 and 2 are reserved.
unsigned kernel_cid() { return access("/dev/vhost-vsock", R_OK | W_OK) ? 0 : 3 + static_cast<unsigned>(getpid()) % 0x7ffffff0u; }

std::string clock_options(const hz_clock_costs &costs)
{
	if (!costs.mhz)
		return "";
	const std::pair<const char *, uint32_t> all[] = {
		{"mhz", costs.mhz}, {"insn", costs.insn}, {"local", costs.local}, {"remote", costs.remote},
		{"occupancy", costs.occupancy}, {"wake", costs.wake}, {"pause", costs.pause}, {"ipi", costs.ipi},
	};
	std::string out = costs.preset == HZ_CLOCK_IDEAL ? ",preset=ideal" : ",preset=default";
	for (const auto &[name, value] : all)
		out += std::string(",") + name + "=" + std::to_string(value);
	return out;
}

/* The device's costs first: what the user adds comes later and wins. A preset of the user's stands for all of them. */
std::string plugin_options(const QemuCommand &command, const hz_clock_costs &costs, const std::string &more)
{
	return "ram=" + command.ram().string() + ",shm=" + command.shm().string() + ",elf=" + command.firmware.string() +
	       ",report=" + command.plugin_report().string() +
	       (more.find("preset=") == std::string::npos ? clock_options(costs) : "") + (more.empty() ? "" : "," + more);
}

// What a run may write: of the guest's memory less than this is ever touched, of a temporary image everything may be.
uint64_t files_bytes(const MachineOptions &options, uint64_t nand_bytes)
{
	constexpr uint64_t memory = 64 << 20;
	return memory + options.shm_bytes + (options.nand_image.empty() ? nand_bytes : 0);
}

} // namespace

void Machine::Impl::prepare(const MachineOptions &options)
{
	check_config(options.config);
	command.firmware = options.firmware.empty() ? locate_firmware() : options.firmware;
	if (access(command.firmware.c_str(), R_OK))
		throw Error("the firmware image " + command.firmware.string() + " cannot be read");
	if (options.virtual_clock)
		command.plugin = options.plugin.empty() ? locate_plugin() : options.plugin;
	command.nand_bytes = hz_nand_image_bytes(&options.config);
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
		command.plugin_options = plugin_options(command, options.config.clock, options.plugin_options);
	console_log = options.console_log;
	if (options.busy_limit.count())
		stall = StallWatch(options.busy_limit);
	image_lock = open_image(command.nand_image, command.nand_bytes);
	region.emplace(Region::create(command.shm(), options.shm_bytes, options.config, options.virtual_clock));
	region->header().power_cut_op = options.power_cut_op;
	region->header().power_cut_ns = options.power_cut_ns;
	std::ofstream(command.run_directory / "cid") << cid << '\n';
	arguments = command.arguments();
}

unsigned Machine::Impl::read_cid() const
{
	unsigned value = 0;
	std::ifstream(command.run_directory / "cid") >> value;
	return value;
}

void Machine::Impl::start()
{
	wake = eventfd(0, EFD_CLOEXEC);
	if (wake < 0)
		throw_errno("cannot make an eventfd");
	watcher = std::thread([this] { watch(); });
	std::unique_lock hold(lock);
	while (!changed.wait_for(hold, 50ms, [this] { return started || !failure.empty(); }))
		check_interrupted();
	if (!failure.empty())
		throw Error(failure);
}

void Machine::Impl::wait_boot(std::chrono::milliseconds timeout)
{
	const auto until = std::chrono::steady_clock::now() + timeout;
	const auto least_cpu = timeout / 4; // on a loaded host the firmware may not have had its chance yet
	auto &state = region->header().boot_state;
	for (;;) {
		uint32_t now = std::atomic_ref(state).load(std::memory_order_acquire);
		if (now == HZ_BOOT_READY)
			return;
		check_waiting();
		if (std::chrono::steady_clock::now() > until && load_of(qemu_pid).cpu > least_cpu) {
			std::string words = last_line(read_tail(command.console()));
			throw Error("the firmware did not boot within " + std::to_string(timeout.count() / 1000) + " s (state " +
				    std::to_string(now) + (words.empty() ? "" : ", console: " + words) + ")");
		}
		std::unique_lock hold(lock);
		changed.wait_for(hold, 5ms);
	}
}

} // namespace hz
