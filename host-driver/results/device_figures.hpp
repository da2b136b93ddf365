/* The device's own figures, as its vendor log pages C0h…C3h tell them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "logs.h"

#include <vector>

namespace hz::res {

struct DeviceFigures {
	hz_log_harts harts{};
	hz_log_flash flash{};
	hz_log_ftl ftl{};
	std::vector<hz_lock_entry> locks;
};

/* Leaves what the device did since `before`, figures of the same device from an earlier moment. Longest times and 99th percentiles of locks
 * cannot be told apart by time and stay as they are. */
void subtract(DeviceFigures &figures, const DeviceFigures &before);

} // namespace hz::res
