// Interrupt: a signal sets one flag, everything else happens outside the handler.
#include "session/interrupt.hpp"

#include <atomic>
#include <csignal>

#include "session/error.hpp"

namespace hz {

namespace {
std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);
void on_signal(int) { flag.store(true, std::memory_order_relaxed); }
} // namespace

void catch_interrupts()
{
	struct sigaction action{};
	action.sa_handler = on_signal;
	sigemptyset(&action.sa_mask);
	for (int number : {SIGINT, SIGTERM, SIGHUP})
		sigaction(number, &action, nullptr);
	signal(SIGPIPE, SIG_IGN);
}

bool interrupted() { return flag.load(std::memory_order_relaxed); }

void set_interrupted(bool value) { flag.store(value, std::memory_order_relaxed); }

void check_interrupted()
{
	if (interrupted())
		throw Interrupted();
}

} // namespace hz
