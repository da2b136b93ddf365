// Machine attach: a machine of another process. Its owner ends it; this side only detects the end.
// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <csignal>
#include <fstream>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/machine/boot_watch.hpp"
#include "session/machine/descriptor.hpp"
#include "session/machine/error.hpp"
#include "session/machine/lease_messages.hpp"
#include "session/machine/machine_impl.hpp"
#include "session/machine/process_load.hpp"
#include "session/machine/unix_socket.hpp"

namespace hz {

namespace {

constexpr int attach_tick_ms = 200;

// A descriptor that becomes readable when the process ends; a zombie can still be opened.
Descriptor open_process(int pid, const std::string &directory)
{
	Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
	pollfd ended{process.get(), POLLIN, 0};
	if (!process || poll(&ended, 1, 0))
		throw Error("the machine in " + directory + " does not run any more");
	return process;
}

// Invalid if there is no listener.
Descriptor call_owner(const std::filesystem::path &directory)
{
	const UnixAddress address(directory, lease::socket_name);
	Descriptor connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (!connection)
		throw_errno("cannot make a socket");
	if (connect(connection.get(), address.get(), address.bytes) == 0)
		return connection;
	if (errno != ENOENT && errno != ECONNREFUSED)
		throw_errno("cannot reach the owner of the device in " + directory.string());
	return Descriptor();
}

} // namespace

// A device in software, as tests have it, may be without a QEMU process.
void Machine::Impl::follow()
{
	int pid = -1;
	std::ifstream(command.qemu_pid()) >> pid;
	if (pid > 0)
		foreign = open_process(pid, command.run_directory.string());
	owner = call_owner(command.run_directory);
	up = true;
	make_wake();
	watcher = std::thread([this, pid] { watch_foreign(pid); });
}

void Machine::Impl::watch_foreign(int pid)
{
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, nullptr);
	const std::string where = " in " + command.run_directory.string();
	pollfd items[3] = {{wake.get(), POLLIN, 0}, {foreign.get(), POLLIN, 0}, {owner.get(), POLLRDHUP, 0}};
	while (poll(items, 3, attach_tick_ms) >= 0 && !leaving.load()) {
		std::string words = firmware_failure(*region);
		if (words.empty() && items[1].revents)
			words = "the machine" + where + " ended";
		if (words.empty() && items[2].revents)
			words = "the owner of the device" + where + " closed it or ended";
		const ProcessLoad load = pid > 0 ? load_of(pid) : ProcessLoad();
		note_time(load);
		if (words.empty() && pid > 0)
			words = stalled(load);
		if (!words.empty())
			return tell(words, items[1].revents != 0);
	}
}

} // namespace hz
