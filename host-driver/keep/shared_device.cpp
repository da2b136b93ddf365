// SharedDevice: empty zones are free to use, and nothing else unless the user says so.
// SPDX-License-Identifier: BSD-3-Clause
#include "keep/shared_device.hpp"

namespace hz {

void SharedDevice::begin(const wl::Workload &workload, const NamespaceInfo &device, const std::vector<nvme_zone_descriptor> &zones,
			 uint64_t now_ns)
{
	if (names_zones(workload))
		require_empty(workload, zones);
	else if (device.zoned)
		view_ = ZoneView(device, zones);
	fresh_ = false;
	seed_ = workload.seed + (now_ns << 32);
	if (overwrites(workload, device) && !overwrite_)
		throw wl::WorkloadError("this workload writes blocks that may hold data of others on this device: --overwrite lets it");
}

// Of those that it names; what is no zone of the device is the plan's to refuse.
void SharedDevice::require_empty(const wl::Workload &workload, const std::vector<nvme_zone_descriptor> &zones) const
{
	for (const wl::ThreadSpec &t : workload.threads)
		for (uint64_t i = 0, z = t.first_zone; i < t.zones && z < zones.size(); i++, z += t.zone_step)
			if (zones[z].type != NVME_ZT_CONVENTIONAL && zones[z].state >> 4 != NVME_ZS_EMPTY)
				throw wl::WorkloadError("the workload names zone " + std::to_string(z) +
							" (first_zone), which holds data of others" + go_on());
}

// Promises of this run are nobody's to check later: the device's owner has its image.
std::unique_ptr<KeptPort> SharedDevice::port(replay::Port &queue) const
{
	return std::make_unique<KeptPort>(queue, view_, nullptr, seed_, true);
}

} // namespace hz
