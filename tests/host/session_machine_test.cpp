// A whole machine on the real firmware image: boot, commands, dead peers on either side, signals; nothing is left behind.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "config/device_yaml.hpp"
#include "nand_image.h"
#include "session/controller.hpp"
#include "session/machine/descriptor.hpp"
#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"
#include "session/machine/locate.hpp"
#include "session/machine/machine.hpp"
#include "session/machine/qemu_command.hpp"
#include "session/machine/stall_watch.hpp"
#include "session/machine/unix_socket.hpp"
#include "waiting.hpp"

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using session_test::error_of, session_test::runs, session_test::within;

// Stops a process and waits until none of its threads runs, which on a busy host takes a moment.
void freeze(int pid)
{
	kill(pid, SIGSTOP);
	const auto stopped = [](const fs::directory_entry &thread) {
		std::ifstream stat(thread.path() / "stat");
		std::string text;
		std::getline(stat, text);
		return text.find(") T ") != std::string::npos;
	};
	EXPECT_TRUE(within(60s, [&] {
		const fs::directory_iterator threads("/proc/" + std::to_string(pid) + "/task");
		return std::all_of(begin(threads), end(threads), stopped);
	}));
}

class MachineTest : public ::testing::TestWithParam<bool> {
protected:
	void SetUp() override
	{
		try {
			hz::locate_firmware();
			hz::locate_vsock_daemon();
		} catch (const hz::Error &e) {
			GTEST_SKIP() << e.what();
		}
		fs::create_directory(base);
		setenv("HARTZONE_RUN_BASE", base.c_str(), 1);
	}
	void TearDown() override
	{
		unsetenv("HARTZONE_RUN_BASE");
		hz::set_interrupted(false);
		if (fs::exists(base)) {
			EXPECT_TRUE(within(2s, [&] { return fs::is_empty(base); })) << "files are left in " << base;
		}
		fs::remove_all(base);
	}

	hz::MachineOptions options() const
	{
		hz::MachineOptions o;
		o.config = hz::conf::device_defaults();
		o.virtual_clock = GetParam();
		return o;
	}

	fs::path base = fs::path("/dev/shm") / ("hzt-" + std::to_string(getpid()));
};

INSTANTIATE_TEST_SUITE_P(Clocks, MachineTest, ::testing::Bool(), [](const auto &i) { return i.param ? "virtual" : "real"; });

TEST_P(MachineTest, BootsIdentifiesAndShutsDown)
{
	auto machine = hz::Machine::launch(options());
	int qemu = machine->qemu_pid(), daemon = machine->daemon_pid();
	{
		hz::Controller controller(*machine);
		EXPECT_EQ(controller.link().read32(NVME_REG_VS), static_cast<uint32_t>(NVME_VERSION_2_0));
		controller.enable();
		auto info = controller.namespace_info();
		EXPECT_GT(info.zones, 0u);
		EXPECT_EQ(info.zones * info.zone_size_sectors, info.size_sectors);
		controller.shutdown();
	}
	auto end = machine->wait_exit(10s);
	EXPECT_TRUE(end.exited) << machine->console();
	EXPECT_EQ(end.code, HZ_POWER_OK) << end.reason << machine->console();
	machine.reset();
	EXPECT_FALSE(runs(qemu));
	EXPECT_FALSE(runs(daemon));
}

TEST_P(MachineTest, WritesAndReadsBack)
{
	auto machine = hz::Machine::launch(options());
	hz::Controller controller(*machine);
	controller.enable();
	auto queue = controller.create_queue(1, {});
	std::vector<std::byte> out(65536), in(65536);
	for (size_t i = 0; i < out.size(); i++)
		out[i] = static_cast<std::byte>(i * 31 >> 4);
	auto written = queue->run(hz::QueuePair::write(0, 16), out);
	EXPECT_EQ(written.status, 0) << hz::status_text(written.status);
	auto read = queue->run(hz::QueuePair::read(0, 16), {}, in);
	EXPECT_EQ(read.status, 0) << hz::status_text(read.status);
	EXPECT_EQ(in, out);
	EXPECT_GT(read.completed_ns, read.arrival_ns);
	auto zones = controller.zone_report(*queue);
	ASSERT_FALSE(zones.empty());
	EXPECT_EQ(zones[0].state >> 4, NVME_ZS_IMPLICIT_OPEN);
	EXPECT_EQ(zones[0].write_pointer, 16u);
	EXPECT_EQ(queue->run(hz::QueuePair::write(17, 1)).status, NVME_ZONE_INVALID_WRITE);
	controller.delete_queue(std::move(queue));
	controller.shutdown();
}

TEST_P(MachineTest, AKilledQemuIsNoticedAndNamed)
{
	auto machine = hz::Machine::launch(options());
	hz::Controller controller(*machine);
	controller.enable();
	int daemon = machine->daemon_pid();
	auto start = Clock::now();
	kill(machine->qemu_pid(), SIGKILL);
	std::string words = error_of([&] {
		for (;;)
			controller.link().read32(NVME_REG_CSTS);
	});
	EXPECT_LT(Clock::now() - start, 2s);
	EXPECT_NE(words.find("QEMU was killed by signal 9"), std::string::npos) << words;
	EXPECT_TRUE(within(2s, [&] { return !runs(daemon); }));
	EXPECT_TRUE(machine->exit_status().exited);
}

/* The kernel's action on a process that writes to a mapped file on a full disk. */
TEST_P(MachineTest, AQemuWithoutRoomForItsFilesIsNamedAsThat)
{
	auto machine = hz::Machine::launch(options());
	hz::Controller controller(*machine);
	controller.enable();
	kill(machine->qemu_pid(), SIGBUS);
	std::string words = error_of([&] {
		for (;;)
			controller.link().read32(NVME_REG_CSTS);
	});
	EXPECT_NE(words.find("there is no room left in "), std::string::npos) << words;
}

TEST_P(MachineTest, AKilledDaemonIsNoticedAndNamed)
{
	auto machine = hz::Machine::launch(options());
	if (machine->daemon_pid() < 0)
		GTEST_SKIP() << "the kernel's vsock is used";
	int qemu = machine->qemu_pid();
	auto start = Clock::now();
	kill(machine->daemon_pid(), SIGKILL);
	EXPECT_TRUE(within(2s, [&] { return !machine->alive(); }));
	EXPECT_LT(Clock::now() - start, 2s);
	EXPECT_NE(error_of([&] { machine->check(); }).find("vsock"), std::string::npos) << error_of([&] { machine->check(); });
	EXPECT_TRUE(within(2s, [&] { return !runs(qemu); }));
}

// A socket has its name before it listens; until then it refuses whoever comes.
TEST_P(MachineTest, ADaemonMayTakeItsTime)
{
	const fs::path daemon = base / "daemon", early = base / "early";
	std::ofstream(daemon) << "#!/bin/sh\nmv " << early << " v.sock\nsleep 0.3\nexec " << hz::locate_vsock_daemon() << " \"$@\"\n";
	fs::permissions(daemon, fs::perms::owner_all);
	const hz::Descriptor refuses(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	const hz::UnixAddress address(base, "early");
	ASSERT_EQ(bind(refuses.get(), address.get(), address.bytes), 0);
	setenv("HARTZONE_VSOCK_DAEMON", daemon.c_str(), 1);
	hz::Controller(*hz::Machine::launch(options())).shutdown();
	unsetenv("HARTZONE_VSOCK_DAEMON");
	EXPECT_EQ(fs::exists(early), access("/dev/vhost-vsock", R_OK | W_OK) == 0) << "it was not asked";
	fs::remove_all(daemon);
	fs::remove_all(early);
}

TEST_P(MachineTest, AWaitingQueueHearsOfTheDeath)
{
	auto machine = hz::Machine::launch(options());
	hz::Controller controller(*machine);
	controller.enable();
	auto queue = controller.create_queue(1, {});
	std::thread killer([&] {
		std::this_thread::sleep_for(100ms);
		machine->kill();
	});
	auto start = Clock::now();
	EXPECT_NE(error_of([&] {
			  for (;;)
				  queue->run(hz::QueuePair::read(0, 1));
		  }),
		  "");
	EXPECT_LT(Clock::now() - start, 2100ms);
	killer.join();
}

// A driver that joined another process's machine has no child to watch.
TEST_P(MachineTest, AnAttachedDriverHearsOfTheDeath)
{
	auto owner = hz::Machine::launch(options());
	hz::Controller owners(*owner);
	owners.enable();
	owners.serve();
	auto machine = hz::Machine::attach(owner->run_directory());
	hz::Controller controller(*machine);
	auto queue = controller.create_queue(1, {});
	EXPECT_EQ(queue->run(hz::QueuePair::write(0, 1)).status, 0);
	std::jthread killer([&] {
		std::this_thread::sleep_for(100ms);
		owner->kill();
	});
	const auto start = Clock::now();
	const std::string words = error_of([&] {
		for (;;)
			queue->run(hz::QueuePair::read(0, 1));
	});
	EXPECT_LT(Clock::now() - start, 2100ms);
	EXPECT_NE(words.find(owner->run_directory()), std::string::npos) << words;
	EXPECT_FALSE(machine->alive());
	EXPECT_TRUE(machine->exit_status().exited);
	EXPECT_NE(error_of([&] { hz::Machine::attach(owner->run_directory()); }), "");
}

// No child of ours, so no signal tells of it, and it would answer a look at its process: only the missing beat shows.
TEST_P(MachineTest, AStoppedMachineIsReportedWhenSomebodyWaits)
{
	auto machine = hz::Machine::launch(options());
	hz::Controller controller(*machine);
	controller.enable();
	auto queue = controller.create_queue(1, {});
	kill(machine->qemu_pid(), SIGSTOP);
	std::this_thread::sleep_for(hz::StallWatch::idle_limit + 1s);
	EXPECT_NO_THROW(machine->check()) << "nobody waited";
	const auto start = Clock::now();
	const std::string words = error_of([&] { queue->run(hz::QueuePair::read(0, 1)); });
	EXPECT_NE(words.find("stopped beating"), std::string::npos) << words;
	EXPECT_LT(Clock::now() - start, hz::StallWatch::idle_limit + 4s);
}

// Changes the guest's code through QEMU's gdb stub: the function begins with a jump to itself from now on.
void make_it_spin(const fs::path &socket, const hz::MachineOptions &options, const char *function)
{
	unsigned long address = 0;
	const std::string command = "riscv64-unknown-elf-nm " + options.firmware.string() + " | grep -w " + function;
	FILE *symbols = popen(command.c_str(), "r");
	ASSERT_EQ(fscanf(symbols, "%lx", &address), 1) << command;
	pclose(symbols);
	sockaddr_un name{AF_UNIX, {}};
	strcpy(name.sun_path, socket.c_str());
	const int stub = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ASSERT_EQ(connect(stub, reinterpret_cast<sockaddr *>(&name), sizeof(name)), 0) << socket;
	char jump[64], answer[64] = {};
	snprintf(jump, sizeof(jump), "M%lx,4:6f000000", address);
	for (const std::string &words : {std::string(jump), std::string("D")}) {
		const unsigned sum = std::accumulate(words.begin(), words.end(), 0u) & 0xff;
		dprintf(stub, "$%s#%02x", words.c_str(), sum);
		std::string heard;
		while (heard.find("$OK#9a") == heard.npos) {
			const ssize_t got = read(stub, answer, sizeof(answer));
			ASSERT_GT(got, 0) << words << ": " << heard;
			heard.append(answer, static_cast<size_t>(got));
		}
		dprintf(stub, "+");
	}
	close(stub);
}

/* The firmware hangs: its host interface spins for good, QEMU burns CPU, nothing else is wrong. */
TEST_P(MachineTest, AFirmwareThatSpinsIsReported)
{
	const fs::path program = base / "qemu-with-stub", stub = base / "stub";
	const char *usual = getenv("HARTZONE_QEMU");
	std::ofstream(program) << "#!/bin/sh\nexec " << (usual ? usual : "qemu-system-riscv64") << " -gdb unix:" << stub.string()
			       << ",server=on,wait=off \"$@\"\n";
	fs::permissions(program, fs::perms::owner_all);
	const std::string before = usual ? usual : "";
	setenv("HARTZONE_QEMU", program.c_str(), 1);
	hz::MachineOptions spinning = options();
	spinning.firmware = hz::locate_firmware();
	spinning.busy_limit = 1500ms;
	{
		auto machine = hz::Machine::launch(spinning);
		hz::Controller controller(*machine);
		controller.enable();
		auto queue = controller.create_queue(1, {});
		EXPECT_EQ(queue->run(hz::QueuePair::write(0, 1)).status, 0);
		make_it_spin(stub, spinning, "hil_turn");
		const std::string words = error_of([&] { queue->run(hz::QueuePair::write(1, 1)); });
		EXPECT_NE(words.find("stopped beating: no turn of its host interface"), std::string::npos) << words;
		EXPECT_FALSE(machine->alive());
	}
	before.empty() ? unsetenv("HARTZONE_QEMU") : setenv("HARTZONE_QEMU", before.c_str(), 1);
	fs::remove(program);
	fs::remove(stub);
}

TEST_P(MachineTest, QemuHasItsSettings)
{
	auto machine = hz::Machine::launch(options());
	std::ifstream file("/proc/" + std::to_string(machine->qemu_pid()) + "/environ", std::ios::binary);
	std::string variables(std::istreambuf_iterator<char>(file), {}), wanted = hz::QemuCommand::settings().at(0) + '\0';
	for (std::string *text : {&variables, &wanted}) // glibc 2.36 cuts the list up where /proc shows it
		std::replace(text->begin(), text->end(), ':', '\0');
	EXPECT_NE(variables.find(wanted), variables.npos) << variables;
}

/* The plugin finds a race, and then the firmware fails: both are reported, the failure first. */
TEST_P(MachineTest, RacesFoundBeforeAFailureAreReported)
{
	const fs::path program = base / "qemu-with-race";
	const char *usual = getenv("HARTZONE_QEMU");
	const std::string before = usual ? usual : "";
	std::ofstream(program) << "#!/bin/sh\necho 'vclock: RACE: hart 1 store at a, then hart 2 load at b, of c' >&2\nexec "
			       << (usual ? usual : "qemu-system-riscv64") << " \"$@\"\n";
	fs::permissions(program, fs::perms::owner_all);
	setenv("HARTZONE_QEMU", program.c_str(), 1);
	auto failing = options();
	failing.ram_bytes = 8 << 20; // less than the device needs
	const std::string words = error_of([&] { hz::Machine::launch(failing); });
	EXPECT_EQ(words.rfind("the firmware failed: ", 0), 0u) << words;
	EXPECT_NE(words.find("\nrace: hart 1 store at a, then hart 2 load at b, of c"), std::string::npos) << words;
	before.empty() ? unsetenv("HARTZONE_QEMU") : setenv("HARTZONE_QEMU", before.c_str(), 1);
	fs::remove(program);
}

TEST_P(MachineTest, AStoppedMachineIsReportedOnTheRegisterLink)
{
	auto machine = hz::Machine::launch(options());
	hz::Controller controller(*machine);
	freeze(machine->qemu_pid());
	const std::string words = error_of([&] { controller.link().read32(NVME_REG_CSTS); });
	EXPECT_NE(words.find("stopped beating"), std::string::npos) << words;
}

// Holds a process that is killed at the last moment of its life, as a host does that gives it no CPU: its first thread has taken the
// signal, but is not gone.
class Deathbed {
public:
	explicit Deathbed(int pid)
	{
		int ready[2], end[2];
		if (pipe(ready) || pipe(end))
			abort();
		holder_ = fork();
		if (holder_ == 0) {
			char word = ptrace(PTRACE_SEIZE, pid, nullptr, PTRACE_O_TRACEEXIT) ? 'n' : 'y';
			close(end[1]);
			alarm(10); // longer than anybody should need
			int status;
			if (write(ready[1], &word, 1) == 1 && word == 'y' && waitpid(pid, &status, __WALL) == pid &&
			    read(end[0], &word, 1) == 0)
				_exit(0);
			_exit(1);
		}
		char word = 'n';
		allowed_ = read(ready[0], &word, 1) == 1 && word == 'y';
		end_ = end[1];
		for (int fd : {ready[0], ready[1], end[0]})
			close(fd);
	}
	~Deathbed() { let_go(); }
	bool allowed() const { return allowed_; }
	// True if it had been held until now.
	bool let_go()
	{
		int status = 0;
		if (holder_ > 0) {
			close(end_);
			waitpid(std::exchange(holder_, -1), &status, 0);
		}
		return WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}

private:
	int holder_, end_;
	bool allowed_;
};

TEST_P(MachineTest, ADyingQemuIsNoticedBeforeItIsDead)
{
	auto machine = hz::Machine::launch(options());
	hz::Controller controller(*machine);
	controller.enable();
	auto queue = controller.create_queue(1, {});
	Deathbed held(machine->qemu_pid());
	if (!held.allowed())
		GTEST_SKIP() << "this host lets nobody trace another process";
	kill(machine->qemu_pid(), SIGKILL);
	const std::string words = error_of([&] {
		for (;;)
			queue->run(hz::QueuePair::flush());
	});
	EXPECT_EQ(words, "QEMU was killed by signal 9");
	EXPECT_TRUE(held.let_go()) << "it was heard of only when it was gone";
}

// Also with the other peer stopped: nothing that is left may be waited for.
TEST_P(MachineTest, ADeathBesideAStoppedPeerIsNoticed)
{
	for (const bool kill_qemu : {true, false}) {
		auto machine = hz::Machine::launch(options());
		const int qemu = machine->qemu_pid(), daemon = machine->daemon_pid();
		if (daemon < 0)
			GTEST_SKIP() << "the kernel's vsock is used";
		kill(kill_qemu ? daemon : qemu, SIGSTOP);
		const auto start = Clock::now();
		kill(kill_qemu ? qemu : daemon, SIGKILL);
		const std::string words = error_of([&] { hz::Controller controller(*machine); });
		EXPECT_NE(words.find(kill_qemu ? "QEMU was killed by signal 9" : "vsock"), std::string::npos) << words;
		machine.reset();
		EXPECT_LT(Clock::now() - start, 2s);
		EXPECT_FALSE(runs(qemu) || runs(daemon));
	}
}

TEST_P(MachineTest, StopEndsAStoppedMachine)
{
	auto machine = hz::Machine::launch(options());
	kill(machine->qemu_pid(), SIGSTOP);
	const auto start = Clock::now();
	EXPECT_TRUE(machine->stop(200ms).exited);
	EXPECT_LT(Clock::now() - start, 2s);
}

// Starts a process that launches a machine, tells its children's ids, and waits for a signal.
int launch_elsewhere(const hz::MachineOptions &options, int &qemu, int &daemon)
{
	int ends[2], ids[2] = {};
	EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
	int owner = fork();
	if (owner == 0) {
		int code = 1;
		try {
			hz::catch_interrupts();
			auto machine = hz::Machine::launch(options);
			ids[0] = machine->qemu_pid();
			ids[1] = machine->daemon_pid();
			if (write(ends[1], ids, sizeof(ids)) != sizeof(ids))
				_exit(3);
			for (;;) {
				machine->check();
				usleep(10000);
			}
		} catch (const hz::Interrupted &) {
			code = 130;
		} catch (const std::exception &e) {
			std::fprintf(stderr, "%s\n", e.what());
		}
		_exit(code);
	}
	close(ends[1]);
	EXPECT_EQ(read(ends[0], ids, sizeof(ids)), static_cast<ssize_t>(sizeof(ids)));
	close(ends[0]);
	qemu = ids[0];
	daemon = ids[1];
	return owner;
}

TEST_P(MachineTest, SignalsLeaveNothingBehind)
{
	for (int number : {SIGINT, SIGTERM, SIGKILL}) {
		int qemu, daemon, status = 0;
		int owner = launch_elsewhere(options(), qemu, daemon);
		EXPECT_TRUE(runs(qemu));
		auto start = Clock::now();
		kill(owner, number);
		waitpid(owner, &status, 0);
		EXPECT_EQ(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), number == SIGKILL ? 137 : 130);
		EXPECT_TRUE(within(2s, [&] { return !runs(qemu) && !runs(daemon) && fs::is_empty(base); })) << "signal " << number;
		EXPECT_LT(Clock::now() - start, 2s);
	}
}

TEST_P(MachineTest, BootFailuresAreReported)
{
	auto o = options();
	o.nand_image = base / "image";
	{
		std::ofstream image(o.nand_image);
		image << "not an image";
	}
	EXPECT_NE(error_of([&] { hz::Machine::launch(o); }).find("bytes, but this device needs"), std::string::npos);
	fs::resize_file(o.nand_image, 0);
	EXPECT_NE(error_of([&] { hz::Machine::launch(o); }).find("has 0 bytes: its data are lost; --format-image"), std::string::npos);
	EXPECT_TRUE(fs::exists(o.nand_image));
	fs::remove(o.nand_image);
	{
		auto machine = hz::Machine::launch(o);
		EXPECT_NE(error_of([&] { hz::Machine::launch(o); }).find("in use"), std::string::npos);
	}
	const auto bytes = static_cast<std::streamoff>(fs::file_size(o.nand_image));
	const auto spoil = [&](std::streamoff at) {
		std::fstream image(o.nand_image, std::ios::in | std::ios::out);
		image.seekp(at) << "garbage over the header";
	};
	spoil(0);
	EXPECT_EQ(error_of([&] { hz::Machine::launch(o); }), "") << "the other header is enough";
	spoil(0);
	spoil(bytes - HZ_NAND_HEADER_BYTES);
	EXPECT_THROW(hz::Machine::launch(o), hz::ImageError);
	fs::remove(o.nand_image);
	o.config.channels = 0;
	EXPECT_NE(error_of([&] { hz::Machine::launch(o); }).find("channels"), std::string::npos);
	EXPECT_NE(error_of([&] {
			  auto p = options();
			  p.firmware = "/nowhere/firmware.elf";
			  hz::Machine::launch(p);
		  }).find("/nowhere/firmware.elf"),
		  std::string::npos);
}

// The firmware, the plugin, the vsock daemon, the image, the run directory and the user's files may lie anywhere.
TEST_P(MachineTest, AnyPathWorks)
{
	for (const std::string &name : {std::string("a,b=c d,,e"), std::string("'f'\"g\\h"), std::string("\u00fc\u6f22$(i);%s"),
					std::string(140, 'k') + "/" + std::string(140, 'l')}) {
		SCOPED_TRACE(name);
		const fs::path odd = base / name;
		fs::create_directories(odd / "runs");
		auto o = options();
		o.firmware = odd / "firmware.elf";
		fs::copy_file(hz::locate_firmware(), o.firmware);
		if (o.virtual_clock) {
			o.plugin = odd / "plugin.so";
			fs::copy_file(hz::locate_plugin(), o.plugin);
		}
		fs::create_symlink(hz::locate_vsock_daemon(), odd / "vsockd");
		setenv("HARTZONE_VSOCK_DAEMON", (odd / "vsockd").c_str(), 1);
		setenv("HARTZONE_RUN_BASE", (odd / "runs").c_str(), 1);
		const fs::path here = fs::current_path();
		fs::current_path(odd);
		o.nand_image = "image,file";
		o.console_log = odd / "console";
		o.plugin_options = "profile=the,,profile,lines=3";
		{
			auto owner = hz::Machine::launch(o);
			hz::Controller controller(*owner);
			controller.enable();
			controller.serve();
			auto machine = hz::Machine::attach(owner->run_directory());
			hz::Controller guest(*machine);
			auto queue = guest.create_queue(1, {});
			EXPECT_EQ(queue->run(hz::QueuePair::write(0, 1)).status, 0);
			guest.leave();
			controller.shutdown();
			controller.disconnect();
			EXPECT_EQ(owner->wait_exit(30s).code, HZ_POWER_OK);
			EXPECT_EQ(owner->plugin_report().empty(), !o.virtual_clock);
		}
		EXPECT_TRUE(fs::exists("image,file") && fs::exists(odd / "console"));
		EXPECT_EQ(fs::exists("the,profile"), o.virtual_clock) << "where the user is";
		fs::current_path(here);
		EXPECT_TRUE(fs::is_empty(odd / "runs"));
		unsetenv("HARTZONE_VSOCK_DAEMON");
		setenv("HARTZONE_RUN_BASE", base.c_str(), 1);
		fs::remove_all(odd);
		fs::remove_all(base / fs::path(name).begin()->string());
	}
}

// A launch that fails leaves a new image unmade, so that another device may have the name, and refuses one that has become empty.
TEST_P(MachineTest, AFailedLaunchLeavesTheImageAsItWas)
{
	auto o = options();
	o.nand_image = base / "image";
	setenv("HARTZONE_QEMU", "/bin/false", 1);
	EXPECT_NE(error_of([&] { hz::Machine::launch(o); }).find("QEMU ended with code 1"), std::string::npos);
	EXPECT_FALSE(fs::exists(o.nand_image));
	std::ofstream(o.nand_image).flush();
	EXPECT_NE(error_of([&] { hz::Machine::launch(o); }).find("has 0 bytes"), std::string::npos);
	EXPECT_EQ(fs::file_size(o.nand_image), 0u);
	fs::remove(o.nand_image);
	unsetenv("HARTZONE_QEMU");
	setenv("HARTZONE_VSOCK_DAEMON", "/nowhere/at/all", 1);
	EXPECT_NE(error_of([&] { hz::Machine::launch(o); }).find("vhost-device-vsock was not found"), std::string::npos);
	unsetenv("HARTZONE_VSOCK_DAEMON");
	EXPECT_FALSE(fs::exists(o.nand_image));
	{
		auto machine = hz::Machine::launch(o);
		hz::Controller controller(*machine);
		controller.enable();
		controller.shutdown();
	}
	const auto bytes = fs::file_size(o.nand_image);
	setenv("HARTZONE_QEMU", "/bin/false", 1);
	EXPECT_NE(error_of([&] { hz::Machine::launch(o); }), "");
	unsetenv("HARTZONE_QEMU");
	EXPECT_EQ(fs::file_size(o.nand_image), bytes) << "one with data stays";
	fs::remove(o.nand_image);
}

// Every place where a driver waits for the device, with QEMU stopped so that it really waits there; then a peer dies. Whoever waits
// hears of it and says why.
struct Wait {
	const char *name;
	std::function<void(hz::Machine &, hz::Controller &, hz::QueuePair &)> act;
};
const Wait waits[] = {
	{"for a register",
	 [](auto &, auto &c, auto &) {
		 for (;;)
			 c.link().read32(NVME_REG_CSTS);
	 }},
	{"for an admin command",
	 [](auto &, auto &c, auto &) {
		 for (;;)
			 c.namespace_info();
	 }},
	{"for a command",
	 [](auto &, auto &, auto &q) {
		 for (;;)
			 q.run(hz::QueuePair::flush());
	 }},
	{"for a new queue", [](auto &, auto &c, auto &) { c.create_queue(hz::any_queue, {}); }},
	{"for the shutdown", [](auto &, auto &c, auto &) { c.shutdown(); }},
	{"for the end",
	 [](auto &m, auto &c, auto &) {
		 c.disconnect();
		 if (!m.wait_exit(60s).exited)
			 throw hz::Error("QEMU has not ended");
		 m.check();
	 }},
};

TEST_P(MachineTest, EveryWaitHearsOfADeath)
{
	for (const Wait &wait : waits)
		for (const bool kill_qemu : {true, false}) {
			SCOPED_TRACE(std::string(wait.name) + (kill_qemu ? ", QEMU dies" : ", the vsock daemon dies"));
			auto machine = hz::Machine::launch(options());
			if (machine->daemon_pid() < 0 && !kill_qemu)
				continue;
			hz::Controller controller(*machine);
			controller.enable();
			auto queue = controller.create_queue(1, {});
			freeze(machine->qemu_pid());
			std::jthread killer([&, pid = kill_qemu ? machine->qemu_pid() : machine->daemon_pid()] {
				std::this_thread::sleep_for(150ms);
				kill(pid, SIGKILL);
			});
			const auto start = Clock::now();
			const std::string words = error_of([&] { wait.act(*machine, controller, *queue); });
			EXPECT_NE(words.find(kill_qemu ? "QEMU was killed by signal 9" : "the vsock daemon"), std::string::npos) << words;
			EXPECT_LT(Clock::now() - start, 30s) << "the link alone would wait for 60 s";
		}
}

// The same for a process that is attached.
TEST_P(MachineTest, EveryWaitOfAnAttachedProcessHearsOfADeath)
{
	for (int what : {0, 1, 2}) {
		SCOPED_TRACE(what);
		auto owner = hz::Machine::launch(options());
		auto owners = std::make_unique<hz::Controller>(*owner);
		owners->enable();
		owners->serve();
		auto machine = hz::Machine::attach(owner->run_directory());
		hz::Controller controller(*machine);
		auto queue = controller.create_queue(1, {});
		freeze(owner->qemu_pid());
		std::jthread killer([&] {
			std::this_thread::sleep_for(150ms);
			owner->kill();
		});
		const auto start = Clock::now();
		const std::string words = error_of([&] {
			for (;;)
				what == 0   ? void(controller.namespace_info())
				: what == 1 ? void(queue->run(hz::QueuePair::flush()))
					    : controller.leave();
		});
		EXPECT_NE(words, "");
		EXPECT_LT(Clock::now() - start, 30s) << "the link alone would wait for 60 s";
	}
}

TEST_P(MachineTest, TwoMachinesRunSideBySide)
{
	auto a = hz::Machine::launch(options()), b = hz::Machine::launch(options());
	hz::Controller ca(*a), cb(*b);
	ca.enable();
	cb.enable();
	EXPECT_NE(a->run_directory(), b->run_directory());
	a->kill();
	EXPECT_TRUE(within(2s, [&] { return !a->alive(); }));
	EXPECT_GT(cb.namespace_info().zones, 0u);
}

} // namespace
