// ZoneView: the zones that a run may use, numbered without gaps: conventional ones, and those
// sequential ones that are empty.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nvme.h"
#include "session/controller.hpp"

namespace hz {

class ZoneView {
public:
	ZoneView() = default; // all there is, as it is
	ZoneView(const NamespaceInfo &device, const std::vector<nvme_zone_descriptor> &zones);

	bool whole() const { return kept_ == 0; }
	// The device as a run sees it: these zones only, and the active zones that remain. Throws
	// wl::WorkloadError if none remains; the message ends with `go_on`.
	NamespaceInfo seen(NamespaceInfo device, const std::string &go_on) const;
	uint64_t zone_size() const { return zone_size_; }                    // sectors
	uint64_t kept_zones() const { return kept_; }                        // sequential ones that hold data
	bool sequential(uint64_t lba) const { return lba >= conventional_; } // on the device
	uint64_t to_device(uint64_t lba) const;
	uint64_t from_device(uint64_t lba) const;

private:
	uint64_t zone_size_ = 1, kept_ = 0;
	uint64_t conventional_ = UINT64_MAX; // sectors that can be overwritten
	uint32_t active_ = 0, areas_ = 0;    // partly written zones that were there; those with a random write area
	std::vector<uint64_t> device_zone_;  // by number in the view
	std::vector<uint64_t> seen_zone_;    // by number on the device
};

} // namespace hz
