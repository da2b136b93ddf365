// KeptImage: state left by earlier runs, and the records of this one.
// SPDX-License-Identifier: BSD-3-Clause
#include "keep/kept_image.hpp"

#include <fstream>

namespace hz {

namespace fs = std::filesystem;

namespace {

std::unique_ptr<AckRecord> record_of(const fs::path &file, const FoundNamespace &found, uint64_t starts)
{
	if (starts == 1)
		fs::remove(file); // of a deleted image
	return std::make_unique<AckRecord>(file, found.device.size_sectors);
}

} // namespace

KeptNamespace::KeptNamespace(const fs::path &image, const FoundNamespace &found, uint64_t starts)
	: image_(image), starts_(starts), patterns_(found.workload.verify), volatile_cache_(found.device.volatile_cache),
	  record_(record_of(ack_record_of(image, found.nsid), found, starts))
{
	const bool unknown = starts > 1 && !record_->found(); // unrecorded writes are possible
	if (record_->runs() && record_->last_start() >= starts)
		throw wl::WorkloadError("the record " + ack_record_of(image, found.nsid).string() +
					" knows of later runs than the image, so it is of another one" + go_on());
	if (!found.zones.empty())
		view_ = ZoneView(found.device, found.zones);
	fresh_ = !unknown && !record_->overwritable();
	overwritable_ = unknown || overwrites(found);
	refuse_unless_beside(found);
	refuse_lost_zones(found);
	seed_ = found.workload.seed_of(found.nsid) + (record_->runs() << 32);
}

void KeptNamespace::refuse_unless_beside(const FoundNamespace &found) const
{
	const std::string image = found.name() + "the image " + image_.string();
	if (!fresh_ && overwrites(found))
		throw wl::WorkloadError(image + " was used before, and this workload would overwrite sectors of earlier runs" + go_on());
	if (names_zones(found.workload) && !view_.whole())
		throw wl::WorkloadError("the workload names its zones (first_zone), but " + std::to_string(view_.kept_zones()) +
					" zones of " + image + " hold data of earlier runs" + go_on());
}

// They would be written, and the loss could no longer be detected.
void KeptNamespace::refuse_lost_zones(const FoundNamespace &found) const
{
	const uint64_t size = found.device.zone_size_sectors;
	for (size_t z = 0; z < found.zones.size(); z++)
		if (found.zones[z].state >> 4 == NVME_ZS_EMPTY)
			record_->each(z * size, size, [&](uint64_t, const Promise &) -> bool {
				throw wl::WorkloadError("zone " + std::to_string(z) + " of " + found.name() + "the image " +
							image_.string() + " is empty, but by the record " +
							ack_record_of(image_, found.nsid).string() +
							" it holds data of an earlier run: ./hartzone verify --image " + image_.string() +
							" tells what is missing; " + (go_on() + 2));
			});
}

void KeptNamespace::note_run() { record_->add_run(starts_, overwritable_); }

KeptImage::KeptImage(fs::path image, bool format) : image_(std::move(image))
{
	std::error_code ignored;
	is_new_ = format || !fs::exists(image_, ignored);
	if (is_new_)
		for (uint32_t nsid = 1; nsid <= HZ_MAX_NAMESPACES; nsid++)
			fs::remove(ack_record_of(image_, nsid));
}

KeptImage::~KeptImage()
{
	std::error_code ignored;
	const fs::path file = ack_record_of(image_);
	if (is_new_ && namespaces_.empty() && fs::exists(image_, ignored) && !fs::exists(file, ignored))
		std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char *>(&promise_void), sizeof(promise_void));
}

void KeptImage::begin(const std::vector<FoundNamespace> &namespaces, uint64_t starts)
{
	for (const FoundNamespace &found : namespaces)
		namespaces_.push_back(std::make_unique<KeptNamespace>(image_, found, starts));
	for (auto &kept : namespaces_)
		kept->note_run();
}

} // namespace hz
