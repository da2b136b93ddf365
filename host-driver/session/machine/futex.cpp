// Futex: without the PRIVATE flag, since the waiter may be QEMU.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/futex.hpp"

#include <cerrno>
#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hz {

bool futex_wait(const uint32_t *word, uint32_t expected, std::chrono::milliseconds timeout)
{
	auto ms = timeout.count();
	timespec limit{static_cast<time_t>(ms / 1000), static_cast<long>(ms % 1000) * 1000000};
	return syscall(SYS_futex, word, FUTEX_WAIT, expected, &limit, nullptr, 0) == 0 || errno != ETIMEDOUT;
}

void futex_wake_all(const uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

} // namespace hz
