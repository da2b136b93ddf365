// Interrupt: a signal is counted, everything else happens outside the handler.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/interrupt.hpp"

#include <atomic>
#include <csignal>

#include "session/machine/error.hpp"

namespace hz {

namespace {

constexpr int hard = 2; // number of signals that interrupt all waits
std::atomic<int> signals{0};
std::atomic<bool> gentle{false};
static_assert(std::atomic<int>::is_always_lock_free);

void on_signal(int number)
{
	if (signals.fetch_add(1, std::memory_order_relaxed) + 1 >= hard)
		signal(number, SIG_DFL);
}

} // namespace

void catch_interrupts()
{
	struct sigaction action {};
	action.sa_handler = on_signal;
	sigemptyset(&action.sa_mask);
	for (int number : {SIGINT, SIGTERM, SIGHUP})
		sigaction(number, &action, nullptr);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error with a sentence, here and in QEMU
}

bool interrupted() { return signals.load(std::memory_order_relaxed) >= (gentle.load(std::memory_order_relaxed) ? hard : 1); }

void set_interrupted(bool value) { signals.store(value ? hard : 0, std::memory_order_relaxed); }

void check_interrupted()
{
	if (interrupted())
		throw Interrupted();
}

GentleStop::GentleStop() { gentle.store(true, std::memory_order_relaxed); }
GentleStop::~GentleStop() { gentle.store(false, std::memory_order_relaxed); }

bool stop_asked() { return gentle.load(std::memory_order_relaxed) && signals.load(std::memory_order_relaxed) > 0; }

} // namespace hz
