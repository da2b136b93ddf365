// Beside: zones and sectors needed by a workload.
// SPDX-License-Identifier: BSD-3-Clause
#include "keep/beside.hpp"

#include <algorithm>

namespace hz {

bool overwrites(const FoundNamespace &found)
{
	const wl::Workload &workload = found.workload;
	const bool zoned = found.device.zoned;
	if (workload.trace)
		return !zoned && workload.thread_count();
	return std::any_of(workload.threads.begin(), workload.threads.end(), [&](const wl::ThreadSpec &t) {
		return (!zoned || t.area == wl::Area::conventional) && (t.read_ratio < 1 || t.prefill > 0);
	});
}

bool names_zones(const wl::Workload &workload)
{
	return std::any_of(workload.threads.begin(), workload.threads.end(),
			   [](const wl::ThreadSpec &t) { return t.first_zone != wl::any_zone; });
}

} // namespace hz
