// KeptImage: what a run on an image that outlives it must know of the runs before, and leaves for those after it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "keep/kept_port.hpp"
#include "workload/spec.hpp"

namespace hz {

class KeptImage {
public:
	// Before the device starts. format: the image begins anew, and so does its record.
	KeptImage(std::filesystem::path image, bool format);
	// The device has started for the `starts`th time on this image. Throws wl::WorkloadError, which says how to go on, if the workload cannot run
	// beside what is there.
	void begin(const wl::Workload &workload, const NamespaceInfo &device, const std::vector<nvme_zone_descriptor> &zones,
		   uint64_t starts);

	const ZoneView &view() const { return view_; }
	bool fresh() const { return fresh_; }           // sectors that can be overwritten never were written
	uint64_t pattern_seed() const { return seed_; } // of this run's data: another one for each run
	std::unique_ptr<KeptPort> port(replay::Port &queue)
	{
		return std::make_unique<KeptPort>(queue, view_, patterns_ ? record_.get() : nullptr, seed_, volatile_cache_);
	}

private:
	void refuse_unless_beside(const wl::Workload &workload, const NamespaceInfo &device) const;
	void refuse_lost_zones(const NamespaceInfo &device, const std::vector<nvme_zone_descriptor> &zones) const;

	std::filesystem::path image_;
	ZoneView view_;
	uint64_t seed_ = 0;
	bool fresh_ = true, patterns_ = true, volatile_cache_ = true;
	std::unique_ptr<AckRecord> record_;
};

} // namespace hz
