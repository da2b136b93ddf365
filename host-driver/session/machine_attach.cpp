// Machine attach: a machine of another process. Its owner ends it; this side only notices.
#include <csignal>
#include <fstream>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/boot_watch.hpp"
#include "session/error.hpp"
#include "session/machine_impl.hpp"

namespace hz {

namespace {
constexpr int tick_ms = 200;
}

// A region without a QEMU process (a device in software) is taken for alive.
void Machine::Impl::follow()
{
	int pid = -1;
	std::ifstream(command.qemu_pid()) >> pid;
	up = true;
	if (pid <= 0)
		return;
	foreign = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
	pollfd ended{foreign, POLLIN, 0}; // a process that nobody has waited for yet can still be opened
	if (foreign < 0 || poll(&ended, 1, 0) > 0)
		throw Error("the machine in " + command.run_directory.string() + " does not run any more");
	wake = eventfd(0, EFD_CLOEXEC);
	if (wake < 0)
		throw_errno("cannot make an eventfd");
	watcher = std::thread([this, pid] { watch_foreign(pid); });
}

void Machine::Impl::watch_foreign(int pid)
{
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, nullptr);
	pollfd items[2] = {{wake, POLLIN, 0}, {foreign, POLLIN, 0}};
	while (poll(items, 2, tick_ms) >= 0 && !leaving.load()) {
		std::string words = firmware_failure(*region);
		const bool ended = items[1].revents != 0;
		if (words.empty())
			words = ended ? "the machine in " + command.run_directory.string() + " ended" : stalled(pid);
		if (!words.empty())
			return tell(words, ended);
	}
}

} // namespace hz
