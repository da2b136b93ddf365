/* The device's own figures, from its vendor log pages C0h…C3h and C5h. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "logs.h"
#include "session/controller.hpp"

#include <vector>

namespace hz::res {

struct NamespaceFigures {
	uint32_t nsid = 0;
	hz_log_ftl ftl{};
};

struct DeviceFigures {
	hz_log_harts harts{};
	hz_log_flash flash{};
	hz_log_ftl ftl{};
	std::vector<hz_lock_entry> locks;
	std::vector<NamespaceFigures> namespaces; /* the attached ones, if the device has several: parts of `ftl` */
	hz_log_energy energy{};
};

/* Asks for them. */
DeviceFigures figures_of(Controller &controller);

/* Subtracts `before`, earlier figures of the same device. Maxima and 99th percentiles of locks
 * cannot be split by time and stay as they are. */
void subtract(DeviceFigures &figures, const DeviceFigures &before);

} // namespace hz::res
