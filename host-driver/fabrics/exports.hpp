// Exports: the namespaces that hosts see. A zoned namespace of the device that begins with conventional zones is shown as two, because the
// ZNS command set has no such zones and Linux takes no namespace that reports one: its sequential zones under its own NSID, and its
// conventional ones, without the holes behind their capacities, as a namespace of the NVM command set.
//
// Also: whether Linux takes them, and what file systems it has for them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fabrics/backend.hpp"
#include "session/controller.hpp"

namespace hz::fabrics {

// What the device does for a part of a command's blocks.
struct Portion {
	nvme_sqe sqe;
	uint64_t offset = 0, bytes = 0; // of the command's data
	Bytes ranges;                   // in place of its data, of Deallocate and Copy
};

struct Export {
	uint32_t nsid = 0, device_nsid = 0;
	bool zoned = false, split = false;             // split: another export has the rest of the device's namespace
	uint64_t first = 0, blocks = 0;                // of the device's namespace
	uint64_t zone_blocks = 0, capacity_blocks = 0; // of its zones
	uint64_t zones = 0;
	uint32_t max_open = 0, max_active = 0; // 0 = no limit
	uint64_t unique = 0;                   // as EUI-64

	// Blocks of conventional zones are numbered without holes.
	bool packed() const { return !zoned && split && capacity_blocks != zone_blocks; }
	uint64_t device_block(uint64_t block) const;
	// How many blocks from here on lie one behind the other in the device.
	uint64_t run_from(uint64_t block) const;

	// A command of the export's as commands of the device's, none for one that has nothing to do; or the status that it is answered with.
	// data: what came with it.
	uint16_t portions(const nvme_sqe &sqe, std::span<const std::byte> data, std::vector<Portion> &out) const;
	// Addresses in what the device has answered.
	void translate_report(std::span<std::byte> report) const;
	uint64_t host_block(uint64_t device_block) const { return device_block - first; }
};

class Exports {
public:
	// Of the device's namespaces that are attached.
	Exports(const hz_device_config &config, std::span<const uint32_t> attached, std::string_view name);
	const std::vector<Export> &all() const { return all_; }
	const Export *find(uint32_t nsid) const;
	// Highest NSID.
	uint32_t count() const { return count_; }
	// Ascending, those above `after`; csi: of this command set, or all.
	std::vector<uint32_t> list(uint32_t after, int csi = -1) const;

private:
	std::vector<Export> all_; // by NSID
	uint32_t count_;
};

struct Verdict {
	bool taken = true;
	std::string why;                // not
	std::vector<std::string> notes; // what it may be used for, and what not
};
Verdict linux_verdict(const Export &one, const hz_device_config &config);
// A line for each export, and lines for its notes, indented.
std::string linux_text(const Exports &exports, const hz_device_config &config);

} // namespace hz::fabrics
