// Machine watch thread: parent of the children (their death signal is tied to it), the first to
// detect that one of them ended.
// SPDX-License-Identifier: BSD-3-Clause
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "session/machine/boot_watch.hpp"
#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"
#include "session/machine/locate.hpp"
#include "session/machine/machine_impl.hpp"
#include "session/machine/process_load.hpp"
#include "session/machine/unix_socket.hpp"

namespace hz {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {
constexpr int tick_ms = 200;
constexpr int dying_ms = 500;         // delay of a death before it is reported
constexpr int end_ms = 5000;          // a killed process ends as soon as the kernel gets round to it
constexpr auto awaited_within = 1s;   // since the last check_waiting()
constexpr auto daemon_patience = 30s; // of its CPU and sleep time; its death is detected at once
constexpr size_t last_words = 65536;  // of QEMU: the plugin reports each of 64 harts

// The daemon counts as a part of QEMU: on a loaded host one may sleep because the other has no CPU.
ProcessLoad both(ProcessLoad qemu, const ProcessLoad &daemon)
{
	qemu.cpu += daemon.cpu;
	qemu.wants_cpu |= daemon.wants_cpu;
	return qemu;
}

Descriptor connected_to(const fs::path &socket)
{
	const UnixAddress address(socket.parent_path(), socket.filename());
	Descriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	return fd && connect(fd.get(), address.get(), address.bytes) == 0 ? std::move(fd) : Descriptor();
}
}

void Machine::Impl::watch()
{
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, nullptr);
	try {
		start_children();
		while (!leaving.load())
			tick();
	} catch (const std::exception &e) {
		fail(e.what());
	}
	end_qemu();
	daemon = Process();
}

void Machine::Impl::start_children()
{
	const Descriptor connection = cid ? Descriptor() : start_daemon();
	if (!cid && !connection)
		throw Error("the vsock daemon (process " + std::to_string(daemon_pid) + ") did not start: " +
			    (daemon.running() ? "it did not listen within 30 s of the time that it had"
					      : "it ended with code " + std::to_string(daemon.exit_code())) +
			    " " + last_line(read_tail(command.daemon_log())));
	Process child = Process::start(command.arguments(connection.get()), command.qemu_log(),
				       {.kept = connection.get(), .folder = command.run_directory, .settings = command.settings()});
	std::lock_guard hold(lock);
	qemu = std::move(child);
	qemu_pid = qemu.pid();
	std::ofstream(command.qemu_pid()) << qemu.pid() << '\n';
	up = true;
	started = true;
	changed.notify_all();
}

// A connection for QEMU; none if the daemon does not come to listen. An existing socket file does
// not prove that: it is created before it listens, and QEMU tries only once.
Descriptor Machine::Impl::start_daemon()
{
	daemon = Process::start({locate_vsock_daemon().string(), "--guest-cid=3", "--socket=" + command.vhost_socket().filename().string(),
				 "--uds-path=" + command.vsock_path().filename().string()},
				command.daemon_log(), {.folder = command.run_directory});
	daemon_pid = daemon.pid();
	TimeGiven had;
	for (int i = 0; had.passed() < daemon_patience && !leaving.load() && daemon.running(); i++) {
		if (Descriptor connection = connected_to(command.vhost_socket()))
			return connection;
		if (i % 100 == 0)
			had.look(TimeGiven::Clock::now(), load_of(daemon_pid));
		usleep(1000);
	}
	return {};
}

void Machine::Impl::tick()
{
	pollfd items[3] = {{wake.get(), POLLIN, 0}, {qemu.pidfd(), POLLIN, 0}, {daemon.pidfd(), POLLIN, 0}};
	if (!up.load())
		items[2].fd = -1;
	if (qemu_pid < 0)
		items[1].fd = -1;
	poll(items, 3, tick_ms);
	if (leaving.load())
		return;
	const ProcessLoad load = load_of(qemu_pid), daemon_load = load_of(daemon_pid);
	note_time(both(load, daemon_load));
	if (!up.load())
		return note_late_end();
	std::string words = firmware_failure(*region);
	if (items[1].revents)
		return note_qemu_end();
	if (!words.empty())
		return fail(words);
	if (load.killed)
		return note_dying_qemu();
	if (items[2].revents || daemon_load.killed)
		return fail("the vsock daemon (process " + std::to_string(daemon_pid) + ") died");
	words = known_qemu_failure(read_tail(command.qemu_log(), 16384));
	if (words.empty())
		words = stalled(both(load, daemon_load));
	if (!words.empty())
		fail(words);
}

void Machine::Impl::note_time(const ProcessLoad &load)
{
	given.look(Clock::now(), load);
	fair_time.store(given.passed(), std::memory_order_relaxed);
}

std::string Machine::Impl::stalled(ProcessLoad load)
{
	const auto now = StallWatch::Clock::now();
	const bool awaited = now.time_since_epoch() - awaited_at.load(std::memory_order_relaxed) < awaited_within;
	const uint32_t heartbeat = std::atomic_ref(region->header().heartbeat).load(std::memory_order_relaxed);
	return stall.look(now, heartbeat, awaited, load);
}

std::string Machine::Impl::end_reason(int code) const
{
	std::string words = firmware_failure(*region);
	if (!words.empty())
		return words;
	if (code == HZ_POWER_CUT)
		return "the power was cut, as injected";
	const std::string log = read_tail(command.qemu_log(), last_words);
	if (code == 128 + SIGBUS)
		return "QEMU could not write its memory or the NAND image: there is no room left in " +
		       command.run_directory.parent_path().string() + " (HARTZONE_RUN_BASE names another folder) or in the image's folder";
	if (code >= 128)
		return "QEMU was killed by signal " + std::to_string(code - 128);
	words = plugin_failure(log);
	if (words.empty())
		words = last_line(log);
	if (words.empty())
		words = last_line(read_tail(command.console(), 16384));
	return "QEMU ended with code " + std::to_string(code) + (words.empty() ? "" : ": " + words);
}

// Wait for its end to get the full exit status: a thread other than its first may have called
// exit().
void Machine::Impl::note_dying_qemu()
{
	qemu.await(dying_ms);
	if (qemu.running())
		fail(end_reason(128 + SIGKILL));
	else
		note_qemu_end();
}

void Machine::Impl::note_qemu_end()
{
	if (qemu.running())
		return;
	const ExitStatus end = {true, qemu.exit_code(), end_reason(qemu.exit_code())};
	bool expected;
	{
		std::lock_guard hold(lock);
		status = end;
		qemu_pid = -1;
		expected = expected_end;
	}
	if (expected)
		tell(end.reason, true);
	else
		fail(end.reason);
}

// Report the first failure only, before any slow step; races found until then may be its cause.
void Machine::Impl::tell(const std::string &reason, bool exited)
{
	const std::string races = races_before(read_tail(command.qemu_log()));
	std::lock_guard hold(lock);
	if (failure.empty())
		failure = reason + races;
	if (exited && !status.exited)
		status = {true, 0, failure};
	up = false;
	changed.notify_all();
}

// Ends both children.
void Machine::Impl::fail(const std::string &reason)
{
	tell(reason);
	end_qemu();
	daemon = Process();
	daemon_pid = -1;
}

// Runs without the lock, so that others need not wait while QEMU dies.
void Machine::Impl::end_qemu()
{
	signal_qemu(SIGKILL);
	qemu.await(end_ms);
	note_late_end();
}

// The failing side reports at once; on a loaded host QEMU's end may be seen much later.
void Machine::Impl::note_late_end()
{
	if (qemu_pid <= 0 || qemu.running())
		return;
	std::lock_guard hold(lock);
	status = {true, qemu.exit_code(), failure};
	qemu_pid = -1;
	changed.notify_all();
}

void Machine::Impl::check() const
{
	check_interrupted();
	if (up.load(std::memory_order_relaxed))
		return;
	std::lock_guard hold(lock);
	if (status.exited && status.code == HZ_POWER_CUT)
		throw PowerCut(failure, region->header().kept, read_tail(command.plugin_report(), 64 << 20),
			       read_tail(command.qemu_greeting()));
	if (is_image_failure(*region))
		throw ImageError(failure);
	throw Error(failure.empty() ? "the machine is not running" : failure);
}

void Machine::Impl::check_waiting() const
{
	awaited_at.store(StallWatch::Clock::now().time_since_epoch(), std::memory_order_relaxed);
	check();
}

void Machine::Impl::signal_qemu(int number)
{
	std::lock_guard hold(lock);
	qemu.signal(number);
}

void Machine::Impl::expect_end()
{
	std::lock_guard hold(lock);
	expected_end = true;
}

Machine::Impl::~Impl()
{
	leaving = true;
	if (wake)
		eventfd_write(wake.get(), 1);
	if (watcher.joinable())
		watcher.join();
	if (!console_log.empty() && directory) {
		std::error_code ignored;
		fs::copy_file(command.console(), console_log, fs::copy_options::overwrite_existing, ignored);
	}
	if (!booted && status.code != HZ_POWER_CUT)
		undo_image();
}

} // namespace hz
