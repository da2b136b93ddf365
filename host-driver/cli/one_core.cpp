// OneCore: the core is chosen before the first child is there, so that all inherit it.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/one_core.hpp"

#include <algorithm>
#include <cstddef>
#include <sched.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <utility>

#include "session/machine/descriptor.hpp"
#include "session/machine/qemu_command.hpp"

namespace hz::cli {

namespace {

// An abstract name that one process of the host can hold, and that vanishes with it: no file is
// left behind. Empty if it is taken.
Descriptor claim(const std::string &name)
{
	sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
	const socklen_t bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.copy(address.sun_path + 1, name.size()));
	Descriptor held(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	if (held && bind(held.get(), reinterpret_cast<const sockaddr *>(&address), bytes))
		return {};
	return held;
}

bool take_core(size_t core)
{
	static Descriptor ours; // until this process ends
	cpu_set_t only;
	Descriptor held = claim("hartzone-core-" + std::to_string(core));
	CPU_ZERO(&only);
	CPU_SET(core, &only);
	if (!held || sched_setaffinity(0, sizeof(only), &only))
		return false;
	ours = std::move(held);
	return true;
}

// The core that we are on if it is free, else the first that is.
void take_a_core()
{
	const int here = sched_getcpu();
	cpu_set_t allowed;
	if (here < 0 || sched_getaffinity(0, sizeof(allowed), &allowed) || CPU_COUNT(&allowed) < 2 || take_core(static_cast<size_t>(here)))
		return;
	for (size_t core = 0; core < CPU_SETSIZE; core++)
		if (CPU_ISSET(core, &allowed) && take_core(core))
			return;
}

bool leaves_the_core_to_us(const MachineOptions &options)
{
	const auto words = split_options(options.plugin_options);
	return options.virtual_clock && std::ranges::none_of(words, [](const std::string &word) { return word.starts_with("pin="); });
}

} // namespace

void stay_on_one_core(const MachineOptions &options)
{
	if (leaves_the_core_to_us(options))
		take_a_core();
}

} // namespace hz::cli
