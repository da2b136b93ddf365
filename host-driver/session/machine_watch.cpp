// Machine watch thread: parent of the children (their death signal is tied to it), first to know that one of them ended.
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <unistd.h>

#include "session/boot_watch.hpp"
#include "session/error.hpp"
#include "session/interrupt.hpp"
#include "session/locate.hpp"
#include "session/machine_impl.hpp"

namespace hz {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {
constexpr int tick_ms = 200;
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
	std::lock_guard hold(lock);
	qemu = Process();
	daemon = Process();
}

void Machine::Impl::start_children()
{
	if (!cid && !start_daemon())
		throw Error("the vsock daemon did not start: " + last_line(read_tail(command.daemon_log())));
	std::lock_guard hold(lock);
	qemu = Process::start(arguments, command.qemu_log());
	qemu_pid = qemu.pid();
	up = true;
	started = true;
	changed.notify_all();
}

// True when the daemon listens for QEMU.
bool Machine::Impl::start_daemon()
{
	{
		std::lock_guard hold(lock);
		daemon = Process::start({locate_vsock_daemon().string(), "--guest-cid=3", "--socket=" + command.vhost_socket().string(),
					 "--uds-path=" + command.vsock_path().string()},
					command.daemon_log());
		daemon_pid = daemon.pid();
	}
	for (int i = 0; i < 500 && !leaving.load() && daemon.running(); i++) {
		if (fs::exists(command.vhost_socket()))
			return true;
		usleep(10000);
	}
	return false;
}

void Machine::Impl::tick()
{
	pollfd items[3] = {{wake, POLLIN, 0}, {qemu.pidfd(), POLLIN, 0}, {daemon.pidfd(), POLLIN, 0}};
	if (!up.load())
		items[1].fd = items[2].fd = -1;
	poll(items, 3, tick_ms);
	if (!up.load() || leaving.load())
		return;
	std::string words = firmware_failure(*region);
	if (items[1].revents)
		return note_qemu_end();
	if (!words.empty())
		return fail(words);
	if (items[2].revents)
		return fail("the vsock daemon (process " + std::to_string(daemon_pid) + ") died");
	words = known_qemu_failure(read_tail(command.qemu_log(), 16384));
	if (!words.empty())
		fail(words);
}

std::string Machine::Impl::end_reason(int code) const
{
	std::string words = firmware_failure(*region);
	if (!words.empty())
		return words;
	if (code == HZ_POWER_CUT)
		return "the power was cut, as injected";
	std::string how = code >= 128 ? "was killed by signal " + std::to_string(code - 128) : "ended with code " + std::to_string(code);
	words = last_line(read_tail(command.qemu_log(), 16384));
	if (words.empty())
		words = last_line(read_tail(command.console(), 16384));
	return "QEMU " + how + (words.empty() ? "" : ": " + words);
}

void Machine::Impl::note_qemu_end()
{
	std::unique_lock hold(lock);
	if (qemu.running())
		return;
	status.exited = true;
	status.code = qemu.exit_code();
	status.reason = end_reason(status.code);
	qemu_pid = -1;
	bool expected = expected_end;
	hold.unlock();
	if (expected) {
		std::lock_guard again(lock);
		failure = status.reason;
		up = false;
		changed.notify_all();
	} else {
		fail(status.reason);
	}
}

// The first failure is the one that is told. Ends both children.
void Machine::Impl::fail(const std::string &reason)
{
	std::lock_guard hold(lock);
	if (failure.empty())
		failure = reason;
	if (qemu.running()) {
		qemu.signal(SIGKILL);
		qemu.wait(5000);
		status.exited = true;
		status.code = qemu.exit_code();
		status.reason = failure;
		qemu_pid = -1;
	}
	daemon = Process();
	daemon_pid = -1;
	up = false;
	changed.notify_all();
}

void Machine::Impl::check() const
{
	check_interrupted();
	if (up.load(std::memory_order_relaxed))
		return;
	std::lock_guard hold(lock);
	if (status.exited && status.code == HZ_POWER_CUT)
		throw PowerCut(failure);
	throw Error(failure.empty() ? "the machine is not running" : failure);
}

void Machine::Impl::signal_qemu(int number)
{
	std::lock_guard hold(lock);
	if (qemu.running())
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
	if (wake >= 0) {
		uint64_t one = 1;
		if (write(wake, &one, sizeof(one)) < 0)
			leaving = true;
	}
	if (watcher.joinable())
		watcher.join();
	if (!console_log.empty() && directory) {
		std::error_code ignored;
		fs::copy_file(command.console(), console_log, fs::copy_options::overwrite_existing, ignored);
	}
	region.reset();
	if (wake >= 0)
		close(wake);
	if (image_lock >= 0)
		close(image_lock);
}

} // namespace hz
