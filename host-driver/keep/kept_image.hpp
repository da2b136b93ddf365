// KeptImage: what a run on an image that outlives it must know of the runs before, and leaves for those after it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "keep/beside.hpp"

namespace hz {

class KeptImage final : public Beside {
public:
	// Before the device starts. format: the image begins anew, and so does its record.
	KeptImage(std::filesystem::path image, bool format);
	// The device has started for the `starts`th time on this image. Throws wl::WorkloadError, which says how to go on, if the workload cannot run
	// beside what is there.
	void begin(const wl::Workload &workload, const NamespaceInfo &device, const std::vector<nvme_zone_descriptor> &zones,
		   uint64_t starts);

	const char *go_on() const override { return ": --format-image begins with an empty image, another --image with another one"; }
	std::unique_ptr<KeptPort> port(replay::Port &queue) const override
	{
		return std::make_unique<KeptPort>(queue, view_, patterns_ ? record_.get() : nullptr, seed_, volatile_cache_);
	}

private:
	void refuse_unless_beside(const wl::Workload &workload, const NamespaceInfo &device) const;
	void refuse_lost_zones(const NamespaceInfo &device, const std::vector<nvme_zone_descriptor> &zones) const;

	std::filesystem::path image_;
	bool patterns_ = true, volatile_cache_ = true;
	std::unique_ptr<AckRecord> record_;
};

} // namespace hz
