// Attached processes on a machine in software: several at once and in turn, refused, killed at any point, and talking nonsense. This
// program is also the attached process: with --tenant it plays the role that follows.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <random>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>

#include "config/device_yaml.hpp"
#include "session/machine/boot_watch.hpp"
#include "session/controller.hpp"
#include "session/machine/error.hpp"
#include "session/machine/lease_messages.hpp"
#include "session/machine/machine.hpp"
#include "session/machine/process.hpp"
#include "session/machine/process_load.hpp"
#include "session/machine/unix_socket.hpp"
#include "waiting.hpp"

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
namespace lease = hz::lease;
using session_test::error_of, session_test::within;

constexpr uint64_t slow_lba = 700; // soft_machine.cpp
const std::string program = fs::read_symlink("/proc/self/exe");

// A sector that names its place and its turn.
std::vector<std::byte> pattern(uint64_t lba, uint64_t turn)
{
	std::vector<std::byte> bytes(4096);
	for (uint64_t i = 0; i < 512; i++) {
		const uint64_t word = lba << 32 ^ turn << 10 ^ i;
		std::memcpy(&bytes[i * 8], &word, 8);
	}
	return bytes;
}

void require(bool good, const std::string &what)
{
	if (!good)
		throw hz::Error(what);
}

// Writes and reads back, on sectors of this queue's own.
void work(hz::QueuePair &queue, unsigned turns)
{
	for (unsigned turn = 0; turn < turns; turn++) {
		const uint64_t lba = queue.qid() * 10 + turn % 7;
		std::vector<std::byte> in(4096);
		require(queue.run(hz::QueuePair::write(lba, 1), pattern(lba, turn)).status == 0, "a write failed");
		require(queue.run(hz::QueuePair::read(lba, 1), {}, in).status == 0, "a read failed");
		require(in == pattern(lba, turn), "LBA " + std::to_string(lba) + " holds something else");
	}
}

void say_ready()
{
	std::puts("ready");
	std::fflush(stdout);
}

// Actions of an attached process, selected by the first word.
void play(const std::string &role, const fs::path &directory)
{
	auto machine = hz::Machine::attach(directory);
	hz::Controller controller(*machine);
	if (role == "work") {
		auto queue = controller.create_queue(hz::any_queue, {});
		work(*queue, 60);
		controller.delete_queue(std::move(queue));
		require(controller.namespace_info().zones > 0, "an admin command with data failed");
		controller.leave();
		return;
	}
	std::vector<std::unique_ptr<hz::QueuePair>> queues;
	for (unsigned i = 0; i < (role == "greedy" ? 62 : 3); i++)
		queues.push_back(controller.create_queue(hz::any_queue, {.depth = 8}));
	controller.allocate(1 << 20);
	if (role == "holding") { // commands are under way, done and not seen, and device time stands for the next one
		for (auto &queue : queues) {
			queue->submit(*queue->acquire(), hz::QueuePair::write(500, 1), 0);
			queue->submit(*queue->acquire(), hz::QueuePair::write(slow_lba, 1), 0);
			queue->open(queue->qid() * 10000);
		}
	}
	say_ready();
	while (role == "waiting" && error_of([&] { controller.create_queue(2, {}); }).find("is open already") != std::string::npos)
		std::this_thread::sleep_for(1ms);
	if (role == "busy") // without end
		work(*queues[0], UINT_MAX);
	for (;;) {
		machine->check();
		std::this_thread::sleep_for(10ms);
	}
}

class Attach : public testing::TestWithParam<bool> {
protected:
	void SetUp() override
	{
		fs::create_directory(base);
		for (const char *name : {"HARTZONE_QEMU", "HARTZONE_VSOCK_DAEMON", "HARTZONE_FIRMWARE", "HARTZONE_PLUGIN"})
			setenv(name, HZ_SOFT_MACHINE, 1);
		setenv("HARTZONE_RUN_BASE", base.c_str(), 1);
		hz::MachineOptions options;
		options.config = hz::conf::device_defaults();
		options.virtual_clock = GetParam();
		machine = hz::Machine::launch(options);
		controller = std::make_unique<hz::Controller>(*machine);
		controller->enable();
		controller->serve();
	}
	void TearDown() override
	{
		controller.reset();
		machine.reset();
		EXPECT_TRUE(fs::is_empty(base));
		fs::remove_all(base);
		fs::remove_all(logs);
	}

	fs::path log(int number) const { return logs / std::to_string(number); }
	std::string words(int number) const { return hz::read_tail(log(number)); }
	// The process writes into a log of its own.
	hz::Process tenant(const std::string &role, int number = 0)
	{
		fs::create_directory(logs);
		fs::remove(log(number));
		return hz::Process::start({program, "--tenant", role, machine->run_directory().string()}, log(number));
	}
	hz::Process ready_tenant(const std::string &role, int number = 0)
	{
		hz::Process process = tenant(role, number);
		EXPECT_TRUE(within(20s, [&] { return words(number).starts_with("ready"); })) << words(number);
		return process;
	}
	// All that a newcomer could get: as many queues as there are, and the longest piece of memory.
	void expect_all_free()
	{
		std::vector<std::unique_ptr<hz::QueuePair>> queues;
		for (unsigned qid = 1; qid <= 64; qid++)
			queues.push_back(controller->create_queue(qid, {.depth = 2, .data_bytes = 4096}));
		for (auto &queue : queues)
			controller->delete_queue(std::move(queue));
		const uint64_t rest = machine->region().bytes() - HZ_SHM_HEAP_OFFSET - 4 * 4096; // rings, doorbells, events
		EXPECT_NO_THROW(controller->free(controller->allocate(rest)));
	}

	fs::path base = fs::path("/dev/shm") / ("hz-attach-" + std::to_string(getpid()));
	fs::path logs = base.string() + ".logs";
	std::unique_ptr<hz::Machine> machine;
	std::unique_ptr<hz::Controller> controller;
};
INSTANTIATE_TEST_SUITE_P(Clocks, Attach, testing::Bool(), [](const auto &i) { return i.param ? "virtual" : "real"; });

TEST_P(Attach, SeveralAtOnceAndTheOwnerToo)
{
	std::vector<hz::Process> others;
	auto queue = controller->create_queue(hz::any_queue, {});
	for (int i = 0; i < 4; i++)
		others.push_back(tenant("work", i));
	work(*queue, 60);
	for (int i = 0; i < 4; i++) {
		EXPECT_TRUE(others[i].wait(60000));
		EXPECT_EQ(others[i].exit_code(), 0) << words(i);
	}
	controller->delete_queue(std::move(queue));
	expect_all_free();
}

TEST_P(Attach, OneAfterTheOther)
{
	for (int i = 0; i < 10; i++) {
		hz::Process other = tenant("work");
		EXPECT_TRUE(other.wait(60000));
		EXPECT_EQ(other.exit_code(), 0) << words(0);
	}
	expect_all_free();
}

// At any moment of death, its queues and memory return, and other processes lose nothing.
TEST_P(Attach, TheDeathOfOneLeavesTheOthersAlone)
{
	for (const char *role : {"idle", "holding", "busy", "greedy"}) {
		SCOPED_TRACE(role);
		auto queue = controller->create_queue(1, {});
		work(*queue, 5);
		hz::Process victim = ready_tenant(role);
		EXPECT_NE(error_of([&] { controller->create_queue(2, {}); }).find("process " + std::to_string(victim.pid())),
			  std::string::npos);
		victim.signal(SIGKILL);
		ASSERT_TRUE(victim.wait(5000));
		work(*queue, 20);
		controller->delete_queue(controller->create_queue(2, {})); // the id of a dead process becomes free
		hz::Process other = tenant("work", 1);
		EXPECT_TRUE(other.wait(60000));
		EXPECT_EQ(other.exit_code(), 0) << words(1);
		controller->delete_queue(std::move(queue));
		EXPECT_TRUE(within(20s, [&] { return error_of([&] { expect_all_free(); }).empty(); }))
			<< error_of([&] { expect_all_free(); });
	}
}

TEST_P(Attach, ManyShortLives)
{
	for (int i = 0; i < 300; i++) {
		auto other = hz::Machine::attach(machine->run_directory());
		hz::Controller guest(*other);
		auto queue = guest.create_queue(hz::any_queue, {.depth = 4});
		if (i % 3 == 0)
			guest.delete_queue(std::move(queue));
		if (i % 2 == 0)
			guest.leave();
		guest.namespace_info();
	}
	EXPECT_TRUE(within(20s, [&] { return error_of([&] { expect_all_free(); }).empty(); })) << error_of([&] { expect_all_free(); });
}

TEST_P(Attach, RefusalsReachTheOtherProcess)
{
	auto queue = controller->create_queue(1, {});
	auto other = hz::Machine::attach(machine->run_directory());
	hz::Controller guest(*other);
	auto refused = [&](auto action) { return error_of([&] { action(); }); };
	EXPECT_EQ(refused([&] { guest.create_queue(1, {}); }),
		  "queue 1 is open already, in the device's owner: take another id, or 0 for the lowest that is free");
	EXPECT_NE(refused([&] { guest.create_queue(65, {}); }).find("1 to 64"), std::string::npos);
	EXPECT_NE(refused([&] { guest.create_queue(2, {.depth = 5000}); }).find("slots"), std::string::npos);
	EXPECT_NE(refused([&] { guest.allocate(1ull << 40); }).find("has no room"), std::string::npos);
	EXPECT_NE(refused([&] { guest.free(HZ_SHM_HEAP_OFFSET); }).find("not allocated by this process"), std::string::npos);
	const auto about_owner = [&](auto action) { return refused(action).find("only the process that launched the device may") == 0; };
	EXPECT_TRUE(about_owner([&] { guest.enable(); }) && about_owner([&] { guest.disable(); }) &&
		    about_owner([&] { guest.shutdown(); }));
	EXPECT_TRUE(about_owner([&] { guest.serve(); }) && about_owner([&] { guest.link(); }) && about_owner([&] { guest.disconnect(); }));
	nvme_sqe sqe{};
	for (uint8_t opcode : {NVME_ADMIN_CREATE_SQ, NVME_ADMIN_CREATE_CQ, NVME_ADMIN_DELETE_SQ, NVME_ADMIN_DELETE_CQ, NVME_ADMIN_DBBUF,
			       NVME_ADMIN_ASYNC_EVENT}) {
		sqe.opcode = opcode;
		sqe.cdw10 = 1;
		EXPECT_NE(refused([&] { guest.admin(sqe); }).find("for the device's owner alone"), std::string::npos) << unsigned(opcode);
	}
	EXPECT_NE(refused([&] { guest.set_feature(NVME_FEAT_NUMBER_OF_QUEUES, 0); }).find("owner alone"), std::string::npos);
	try {
		guest.get_feature(0x33);
		FAIL() << "an unknown feature";
	} catch (const hz::NvmeError &e) {
		EXPECT_EQ(e.status(), NVME_INVALID_FIELD);
	}
	auto theirs = guest.create_queue(2, {});
	auto third = hz::Machine::attach(machine->run_directory());
	EXPECT_EQ(refused([&] { hz::Controller(*third).create_queue(2, {}); }),
		  "queue 2 is open already, in process " + std::to_string(getpid()) +
			  ": take another id, or 0 for the lowest that is free");
	work(*queue, 5);
	work(*theirs, 5);
}

// The device answers to its owner as before, whatever comes through the socket.
TEST_P(Attach, NonsenseEndsItsConnectionOnly)
{
	auto queue = controller->create_queue(1, {});
	std::mt19937_64 random(5);
	for (int i = 0; i < 300; i++) {
		const hz::UnixAddress address(machine->run_directory(), lease::socket_name);
		const hz::Descriptor fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
		ASSERT_EQ(connect(fd.get(), address.get(), address.bytes), 0);
		std::vector<unsigned char> record(random() % 3 ? sizeof(lease::Request) : random() % 200);
		for (unsigned char &byte : record)
			byte = static_cast<unsigned char>(random());
		if (record.size() == sizeof(lease::Request)) {
			lease::Request request{.ask = lease::Ask::hello, .value = lease::version};
			if (i % 2)
				send(fd.get(), &request, sizeof(request), MSG_NOSIGNAL);
			const uint32_t ask = random() % 10;
			std::memcpy(record.data(), &ask, sizeof(ask));
			if (ask == static_cast<uint32_t>(lease::Ask::admin)) // the HIL's own test covers commands that would hang or reset
				record[offsetof(lease::Request, sqe)] = NVME_ADMIN_ABORT;
		}
		for (int times = 0; times < 3; times++)
			send(fd.get(), record.data(), record.size(), MSG_NOSIGNAL);
	}
	work(*queue, 5);
	controller->delete_queue(std::move(queue));
	EXPECT_TRUE(within(20s, [&] { return error_of([&] { expect_all_free(); }).empty(); })) << error_of([&] { expect_all_free(); });
}

TEST_P(Attach, OnlySoManyAtOnceAndOnlyThisUser)
{
	struct stat info {};
	ASSERT_EQ(stat((machine->run_directory() / lease::socket_name).c_str(), &info), 0);
	EXPECT_EQ(info.st_mode & 0777, 0600u);
	ASSERT_EQ(stat(machine->run_directory().c_str(), &info), 0);
	EXPECT_EQ(info.st_mode & 0777, 0700u);
	std::vector<std::unique_ptr<hz::Machine>> machines;
	std::vector<std::unique_ptr<hz::Controller>> guests;
	for (int i = 0; i < 64; i++) {
		machines.push_back(hz::Machine::attach(machine->run_directory()));
		guests.push_back(std::make_unique<hz::Controller>(*machines.back()));
	}
	auto another = hz::Machine::attach(machine->run_directory());
	EXPECT_EQ(error_of([&] { hz::Controller guest(*another); }), "64 other processes use the device already: end one of them first");
	guests.pop_back();
	machines.pop_back();
	EXPECT_TRUE(within(20s, [&] {
		auto again = hz::Machine::attach(machine->run_directory());
		return error_of([&] { hz::Controller guest(*again); }).empty();
	}));
}

// Silent connections, and one that waits for the owner, use no CPU time.
TEST_P(Attach, SilenceCostsNothing)
{
	std::vector<hz::Descriptor> silent;
	for (int i = 0; i < 10; i++) {
		const hz::UnixAddress address(machine->run_directory(), lease::socket_name);
		silent.emplace_back(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
		ASSERT_EQ(connect(silent.back().get(), address.get(), address.bytes), 0);
	}
	hz::Process other = ready_tenant("idle");
	const auto before = hz::load_of(getpid()).cpu;
	std::this_thread::sleep_for(1s);
	EXPECT_LE(hz::load_of(getpid()).cpu - before, 100ms);
}

TEST_P(Attach, NoResetWhileOthersAreAttached)
{
	hz::Process other = ready_tenant("busy");
	const char *const sentence = "the controller cannot be reset: 1 other processes are attached to it";
	EXPECT_EQ(error_of([&] { controller->enable(); }), sentence);
	EXPECT_EQ(error_of([&] { controller->disable(); }), sentence);
	EXPECT_GT(controller->namespace_info().zones, 0u);
	other.signal(SIGKILL);
	EXPECT_TRUE(within(20s, [&] { return error_of([&] { controller->enable(); }).empty(); }));
	expect_all_free();
	auto late = hz::Machine::attach(machine->run_directory());
	EXPECT_NE(error_of([&] { hz::Controller guest(*late); }).find("is not open to other programs"), std::string::npos);
	controller->serve();
	auto in_time = hz::Machine::attach(machine->run_directory());
	hz::Controller guest(*in_time);
	EXPECT_GT(guest.namespace_info().zones, 0u);
}

TEST_P(Attach, TheOwnersShutdownIsHeard)
{
	std::vector<hz::Process> others;
	for (int i = 0; i < 3; i++)
		others.push_back(ready_tenant(i == 1 ? "busy" : i == 2 ? "holding" : "idle", i));
	controller->shutdown();
	for (int i = 0; i < 3; i++) {
		EXPECT_TRUE(others[i].wait(10000)) << i;
		EXPECT_EQ(others[i].exit_code(), 1);
		EXPECT_NE(words(i).find("closed it or ended"), std::string::npos) << words(i);
	}
	EXPECT_NE(error_of([&] { controller->enable(); }).find("cannot be reset"), std::string::npos);
}

// Under the virtual clock the owner's open queue holds device time: queues of a dead process cannot
// be reclaimed, another one waits for its queue id, and neither delays the shutdown.
TEST_P(Attach, ShutdownWaitsForNobody)
{
	auto queue = controller->create_queue(64, {});
	hz::Process victim = ready_tenant("holding"), other = ready_tenant("waiting", 1);
	if (GetParam())
		queue->open(0);
	victim.signal(SIGKILL);
	std::this_thread::sleep_for(300ms);
	const auto start = std::chrono::steady_clock::now();
	controller->shutdown();
	EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
	EXPECT_TRUE(other.wait(10000));
}

TEST_P(Attach, TheMachinesEndIsHeard)
{
	hz::Process other = ready_tenant("holding");
	auto joined = hz::Machine::attach(machine->run_directory());
	hz::Controller guest(*joined);
	machine->kill();
	EXPECT_TRUE(other.wait(10000));
	EXPECT_EQ(other.exit_code(), 1) << words(0);
	EXPECT_NE(error_of([&] {
			  for (;;)
				  guest.namespace_info();
		  }),
		  "");
	EXPECT_NE(error_of([&] {
			  for (;;)
				  controller->namespace_info();
		  }),
		  "");
}

} // namespace

int main(int argc, char **argv)
{
	if (argc == 4 && std::string(argv[1]) == "--tenant") {
		try {
			play(argv[2], argv[3]);
			return 0;
		} catch (const std::exception &e) {
			std::fprintf(stderr, "%s\n", e.what());
			return 1;
		}
	}
	testing::InitGoogleTest(&argc, argv);
	return RUN_ALL_TESTS();
}
