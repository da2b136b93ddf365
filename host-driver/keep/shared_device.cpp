// SharedDevice: empty zones are free to use; all else needs the user's permission.
// SPDX-License-Identifier: BSD-3-Clause
#include "keep/shared_device.hpp"

namespace hz {

SharedDevice::SharedDevice(const FoundNamespace &found, bool overwrite, uint64_t now_ns)
{
	if (names_zones(found.workload))
		require_empty(found);
	else if (found.device.zoned)
		view_ = ZoneView(found.device, found.zones);
	fresh_ = false;
	seed_ = found.workload.seed_of(found.nsid) + (now_ns << 32);
	if (overwrites(found) && !overwrite)
		throw wl::WorkloadError("this workload writes blocks that may hold data of others on this device: --overwrite lets it");
}

// Zones named by the workload; zone numbers out of range are refused by the plan.
void SharedDevice::require_empty(const FoundNamespace &found) const
{
	const std::vector<nvme_zone_descriptor> &zones = found.zones;
	for (const wl::ThreadSpec &t : found.workload.threads)
		for (uint64_t i = 0, z = t.first_zone; i < t.zones && z < zones.size(); i++, z += t.zone_step)
			if (zones[z].type != NVME_ZT_CONVENTIONAL && zones[z].state >> 4 != NVME_ZS_EMPTY)
				throw wl::WorkloadError("the workload names zone " + std::to_string(z) + " (first_zone)" +
							(found.only ? "" : " of namespace " + std::to_string(found.nsid)) +
							", which holds data of others" + go_on());
}

// Acknowledgements of this run are not recorded: the device's owner has its image.
std::unique_ptr<KeptPort> SharedDevice::port(replay::Port &queue) const
{
	return std::make_unique<KeptPort>(queue, view_, nullptr, seed_, true);
}

} // namespace hz
