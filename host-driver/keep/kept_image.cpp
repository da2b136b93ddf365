// KeptImage: state left by earlier runs, and the records of this one.
// SPDX-License-Identifier: BSD-3-Clause
#include "keep/kept_image.hpp"

#include <fstream>

namespace hz {

namespace fs = std::filesystem;

namespace {

std::unique_ptr<AckRecord> record_of(const fs::path &file, const FoundSpace &space, uint64_t starts)
{
	if (starts == 1)
		fs::remove(file); // of a deleted image
	return std::make_unique<AckRecord>(file, space.device.size_sectors);
}

} // namespace

KeptSpace::KeptSpace(const fs::path &image, const FoundSpace &space, uint64_t starts)
	: image_(image), starts_(starts), patterns_(space.workload.verify), volatile_cache_(space.device.volatile_cache),
	  record_(record_of(ack_record_of(image, space.nsid), space, starts))
{
	const bool unknown = starts > 1 && !record_->found(); // unrecorded writes are possible
	if (record_->runs() && record_->last_start() >= starts)
		throw wl::WorkloadError("the record " + ack_record_of(image, space.nsid).string() +
					" knows of later runs than the image, so it is of another one" + go_on());
	if (!space.zones.empty())
		view_ = ZoneView(space.device, space.zones);
	fresh_ = !unknown && !record_->overwritable();
	overwritable_ = unknown || overwrites(space);
	refuse_unless_beside(space);
	refuse_lost_zones(space);
	seed_ = space.workload.seed_of(space.nsid) + (record_->runs() << 32);
}

void KeptSpace::refuse_unless_beside(const FoundSpace &space) const
{
	const std::string image = space.name() + "the image " + image_.string();
	if (!fresh_ && overwrites(space))
		throw wl::WorkloadError(image + " was used before, and this workload would overwrite sectors of earlier runs" + go_on());
	if (names_zones(space.workload) && !view_.whole())
		throw wl::WorkloadError("the workload names its zones (first_zone), but " + std::to_string(view_.kept_zones()) +
					" zones of " + image + " hold data of earlier runs" + go_on());
}

// They would be written, and the loss could no longer be detected.
void KeptSpace::refuse_lost_zones(const FoundSpace &space) const
{
	const uint64_t size = space.device.zone_size_sectors;
	for (size_t z = 0; z < space.zones.size(); z++)
		if (space.zones[z].state >> 4 == NVME_ZS_EMPTY)
			record_->each(z * size, size, [&](uint64_t, const Promise &) -> bool {
				throw wl::WorkloadError("zone " + std::to_string(z) + " of " + space.name() + "the image " +
							image_.string() + " is empty, but by the record " +
							ack_record_of(image_, space.nsid).string() +
							" it holds data of an earlier run: ./hartzone verify --image " + image_.string() +
							" tells what is missing; " + (go_on() + 2));
			});
}

void KeptSpace::note_run() { record_->add_run(starts_, overwritable_); }

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
	if (is_new_ && spaces_.empty() && fs::exists(image_, ignored) && !fs::exists(file, ignored))
		std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char *>(&promise_void), sizeof(promise_void));
}

void KeptImage::begin(const std::vector<FoundSpace> &spaces, uint64_t starts)
{
	for (const FoundSpace &space : spaces)
		spaces_.push_back(std::make_unique<KeptSpace>(image_, space, starts));
	for (auto &space : spaces_)
		space->note_run();
}

} // namespace hz
