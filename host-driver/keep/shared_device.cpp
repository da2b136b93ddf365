// SharedDevice: empty zones are free to use; all else needs the user's permission.
// SPDX-License-Identifier: BSD-3-Clause
#include "keep/shared_device.hpp"

namespace hz {

SharedDevice::SharedDevice(const FoundSpace &space, bool overwrite, uint64_t now_ns)
{
	if (names_zones(space.workload))
		require_empty(space);
	else if (space.device.zoned)
		view_ = ZoneView(space.device, space.zones);
	fresh_ = false;
	seed_ = space.workload.seed_of(space.nsid) + (now_ns << 32);
	if (overwrites(space) && !overwrite)
		throw wl::WorkloadError("this workload writes blocks that may hold data of others on this device: --overwrite lets it");
}

// Zones named by the workload; zone numbers out of range are refused by the plan.
void SharedDevice::require_empty(const FoundSpace &space) const
{
	const std::vector<nvme_zone_descriptor> &zones = space.zones;
	for (const wl::ThreadSpec &t : space.workload.threads)
		for (uint64_t i = 0, z = t.first_zone; i < t.zones && z < zones.size(); i++, z += t.zone_step)
			if (zones[z].type != NVME_ZT_CONVENTIONAL && zones[z].state >> 4 != NVME_ZS_EMPTY)
				throw wl::WorkloadError("the workload names zone " + std::to_string(z) + " (first_zone)" +
							(space.only ? "" : " of namespace " + std::to_string(space.nsid)) +
							", which holds data of others" + go_on());
}

// Acknowledgements of this run are not recorded: the device's owner has its image.
std::unique_ptr<KeptPort> SharedDevice::port(replay::Port &queue) const
{
	return std::make_unique<KeptPort>(queue, view_, nullptr, seed_, true);
}

} // namespace hz
