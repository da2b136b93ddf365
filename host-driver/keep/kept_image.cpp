// KeptImage: what earlier runs left, and the record of this one.
// SPDX-License-Identifier: BSD-3-Clause
#include "keep/kept_image.hpp"

namespace hz {

namespace fs = std::filesystem;

KeptImage::KeptImage(fs::path image, bool format) : image_(std::move(image))
{
	std::error_code ignored;
	if (format || !fs::exists(image_, ignored) || !fs::file_size(image_, ignored))
		fs::remove(ack_record_of(image_));
}

void KeptImage::refuse_unless_beside(const wl::Workload &workload, const NamespaceInfo &device) const
{
	if (!fresh_ && overwrites(workload, device))
		throw wl::WorkloadError("the image " + image_.string() +
					" was used before, and this workload would overwrite sectors of earlier runs" + go_on());
	if (names_zones(workload) && !view_.whole())
		throw wl::WorkloadError("the workload names its zones (first_zone), but " + std::to_string(view_.kept_zones()) +
					" zones of the image " + image_.string() + " hold data of earlier runs" + go_on());
}

// They would be written, and nobody could tell any more what was lost.
void KeptImage::refuse_lost_zones(const NamespaceInfo &device, const std::vector<nvme_zone_descriptor> &zones) const
{
	for (size_t z = 0; z < zones.size(); z++)
		if (zones[z].state >> 4 == NVME_ZS_EMPTY)
			record_->each(z * device.zone_size_sectors, device.zone_size_sectors, [&](uint64_t, const Promise &) -> bool {
				throw wl::WorkloadError("zone " + std::to_string(z) + " of the image " + image_.string() +
							" is empty, but by the record " + ack_record_of(image_).string() +
							" it holds data of an earlier run: ./hartzone verify --image " + image_.string() +
							" tells what is missing; " + (go_on() + 2));
			});
}

void KeptImage::begin(const wl::Workload &workload, const NamespaceInfo &device, const std::vector<nvme_zone_descriptor> &zones,
		      uint64_t starts)
{
	const fs::path file = ack_record_of(image_);
	if (starts == 1)
		fs::remove(file); // of an image that is gone
	record_ = std::make_unique<AckRecord>(file, device.size_sectors);
	const bool unknown = starts > 1 && !record_->runs(); // somebody else may have written anything
	if (record_->runs() && record_->last_start() >= starts)
		throw wl::WorkloadError("the record " + file.string() + " knows of later runs than the image, so it is of another one" +
					go_on());
	if (device.zoned)
		view_ = ZoneView(device, zones);
	fresh_ = !unknown && !record_->overwritable();
	patterns_ = workload.verify;
	volatile_cache_ = device.volatile_cache;
	refuse_unless_beside(workload, device);
	refuse_lost_zones(device, zones);
	seed_ = workload.seed + (record_->runs() << 32);
	record_->add_run(starts, unknown || overwrites(workload, device));
}

} // namespace hz
