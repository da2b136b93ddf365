// Child: a process in the foreground, waited for in short turns, so that no signal is missed.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/child.hpp"

#include <algorithm>
#include <csignal>
#include <sys/mman.h>
#include <unistd.h>

#include "session/machine/descriptor.hpp"
#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"
#include "session/machine/process.hpp"

namespace hz::cli {

namespace {

constexpr int turn_ms = 100;

} // namespace

int call(const Child &child)
{
	Process process = Process::start_in_foreground(child.words, child.settings, child.output);
	for (bool signalled = false; !process.wait(turn_ms);)
		if (!signalled && (stop_asked() || interrupted() || (child.forsaken && child.forsaken()))) {
			process.signal(SIGTERM);
			signalled = true;
		}
	return process.exit_code();
}

Printed listen_to(const std::vector<std::string> &words)
{
	const Descriptor file(memfd_create("printed", MFD_CLOEXEC));
	if (!file)
		throw_errno("no memory for what " + words[0] + " prints");
	Printed printed{call({.words = words, .settings = {}, .output = file.get()}), ""};
	printed.text.resize(static_cast<size_t>(lseek(file.get(), 0, SEEK_END)));
	const ssize_t got = pread(file.get(), printed.text.data(), printed.text.size(), 0);
	printed.text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
	return printed;
}

} // namespace hz::cli
