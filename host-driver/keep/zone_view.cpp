// ZoneView: numbers back and forth.
// SPDX-License-Identifier: BSD-3-Clause
#include "keep/zone_view.hpp"

#include "workload/source.hpp"

namespace hz {

ZoneView::ZoneView(const NamespaceInfo &device, const std::vector<nvme_zone_descriptor> &zones) : zone_size_(device.zone_size_sectors)
{
	std::vector<uint64_t> usable;
	seen_zone_.resize(zones.size());
	for (size_t z = 0; z < zones.size(); z++) {
		const auto state = static_cast<nvme_zone_state>(zones[z].state >> 4);
		const bool mine = zones[z].type == NVME_ZT_CONVENTIONAL || state == NVME_ZS_EMPTY;
		seen_zone_[z] = usable.size();
		if (mine)
			usable.push_back(z);
		kept_ += !mine;
		active_ += state == NVME_ZS_IMPLICIT_OPEN || state == NVME_ZS_EXPLICIT_OPEN || state == NVME_ZS_CLOSED;
	}
	if (kept_)
		device_zone_ = usable;
}

NamespaceInfo ZoneView::seen(NamespaceInfo device) const
{
	if (whole())
		return device;
	if (device.max_active && active_ >= device.max_active)
		throw wl::WorkloadError("earlier runs left " + std::to_string(active_) +
					" zones of the image partly written, and the device allows no more "
					"active ones: --format-image erases them, another --image has none");
	device.zones = device_zone_.size();
	device.size_sectors = device.zones * zone_size_;
	if (device.max_active)
		device.max_active -= active_;
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
