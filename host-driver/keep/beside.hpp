// Beside: existing data that a run must leave alone on a shared or kept device, and the mapping of
// its commands around them. One for each namespace.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "keep/kept_port.hpp"
#include "workload/spec.hpp"

namespace hz {

// A namespace as a run finds it.
struct FoundNamespace {
	uint32_t nsid = 1;
	wl::Workload workload; // this namespace's part; no threads: the run leaves the namespace alone
	NamespaceInfo device;
	std::vector<nvme_zone_descriptor> zones; // empty for a block namespace, and for one that the run leaves alone
	bool only = true;                        // the device has no other

	// Prefix of messages about it.
	std::string name() const { return only ? "" : "namespace " + std::to_string(nsid) + " of "; }
};

class Beside {
public:
	virtual ~Beside() = default;

	const ZoneView &view() const { return view_; }
	bool fresh() const { return fresh_; }           // sectors that can be overwritten never were written
	uint64_t pattern_seed() const { return seed_; } // of this run's data; differs for each run
	// How a user frees used space, as the end of a sentence.
	virtual const char *go_on() const = 0;
	virtual std::unique_ptr<KeptPort> port(replay::Port &queue) const = 0;

protected:
	ZoneView view_;
	uint64_t seed_ = 0;
	bool fresh_ = true;
};

// The workload overwrites sectors in place: on a block device, or in conventional zones.
bool overwrites(const FoundNamespace &found);
// The workload selects its zones, so that it cannot use others.
bool names_zones(const wl::Workload &workload);

} // namespace hz
