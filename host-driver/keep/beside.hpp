// Beside: what a run leaves alone on a device that is not its own: zones with others' data, and how its commands avoid them. One for each
// namespace.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "keep/kept_port.hpp"
#include "workload/spec.hpp"

namespace hz {

// A namespace as a run finds it.
struct FoundSpace {
	uint32_t nsid = 1;
	wl::Workload workload; // what this namespace has of it; no threads: the run leaves it alone
	NamespaceInfo device;
	std::vector<nvme_zone_descriptor> zones; // empty of a block namespace, and of one that the run leaves alone
	bool only = true;                        // the device has no other

	// As the beginning of what is said of it.
	std::string name() const { return only ? "" : "namespace " + std::to_string(nsid) + " of "; }
};

class Beside {
public:
	virtual ~Beside() = default;

	const ZoneView &view() const { return view_; }
	bool fresh() const { return fresh_; }           // sectors that can be overwritten never were written
	uint64_t pattern_seed() const { return seed_; } // of this run's data: another one for each run
	// How a user frees what is not free, as the end of a sentence.
	virtual const char *go_on() const = 0;
	virtual std::unique_ptr<KeptPort> port(replay::Port &queue) const = 0;

protected:
	ZoneView view_;
	uint64_t seed_ = 0;
	bool fresh_ = true;
};

// The workload writes sectors that may hold data already: of a block device, or of conventional zones.
bool overwrites(const FoundSpace &space);
// The workload says which zones it uses, so that it cannot do with others.
bool names_zones(const wl::Workload &workload);

} // namespace hz
