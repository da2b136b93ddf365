// ZoneView: numbers back and forth.
// SPDX-License-Identifier: BSD-3-Clause
#include "keep/zone_view.hpp"

#include <algorithm>

#include "workload/source.hpp"

namespace hz {

ZoneView::ZoneView(const NamespaceInfo &device, const std::vector<nvme_zone_descriptor> &zones)
	: zone_size_(device.zone_size_sectors), conventional_(device.conventional_zones * device.zone_size_sectors)
{
	seen_zone_.resize(zones.size());
	for (size_t z = 0; z < zones.size(); z++) {
		const auto state = static_cast<nvme_zone_state>(zones[z].state >> 4);
		const bool mine = zones[z].type == NVME_ZT_CONVENTIONAL || state == NVME_ZS_EMPTY;
		seen_zone_[z] = device_zone_.size();
		if (mine)
			device_zone_.push_back(z);
		kept_ += !mine;
		areas_ += (zones[z].attributes & NVME_ZA_ZRWA_VALID) != 0;
		active_ += state == NVME_ZS_IMPLICIT_OPEN || state == NVME_ZS_EXPLICIT_OPEN || state == NVME_ZS_CLOSED;
	}
}

NamespaceInfo ZoneView::seen(NamespaceInfo device, const std::string &go_on) const
{
	if (whole())
		return device;
	if (device.max_active && active_ >= device.max_active)
		throw wl::WorkloadError(std::to_string(active_) +
					" zones are partly written, not by this run, and the device allows no more active ones" + go_on);
	if (device_zone_.empty())
		throw wl::WorkloadError("all " + std::to_string(kept_) + " zones hold data, not of this run" + go_on);
	device.zones = device_zone_.size();
	device.size_sectors = device.zones * zone_size_;
	if (device.max_active)
		device.max_active -= active_;
	device.zrwa_zones -= std::min(device.zrwa_zones, areas_);
	return device;
}

uint64_t ZoneView::to_device(uint64_t lba) const
{
	return whole() ? lba : device_zone_.at(lba / zone_size_) * zone_size_ + lba % zone_size_;
}

uint64_t ZoneView::from_device(uint64_t lba) const
{
	return whole() ? lba : seen_zone_.at(lba / zone_size_) * zone_size_ + lba % zone_size_;
}

} // namespace hz
