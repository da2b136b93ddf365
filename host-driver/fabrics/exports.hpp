// Exports: the namespaces visible to hosts. A zoned namespace of the device that begins with
// conventional zones is shown as two, because the ZNS command set has no such zones and Linux
// rejects a namespace that reports one: its sequential zones under its own NSID, and its
// conventional ones, without the holes behind their capacities, as a namespace of the NVM command
// set.
//
// Also: whether Linux accepts them, and the file systems that it offers for them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fabrics/backend.hpp"
#include "session/controller.hpp"

namespace hz::fabrics {

// The device command for a part of a command's blocks.
struct Portion {
	nvme_sqe sqe;
	uint64_t offset = 0, bytes = 0; // of the command's data
	Bytes ranges;                   // replaces its data, for Deallocate and Copy
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
	// Number of blocks from here on that are contiguous on the device.
	uint64_t run_from(uint64_t block) const;

	// A command of the export as device commands (none for a no-op); or an error status. data:
	// received with it.
	uint16_t portions(const nvme_sqe &sqe, std::span<const std::byte> data, std::vector<Portion> &out) const;
	// Addresses in the device's answers.
	void translate_report(std::span<std::byte> report) const;
	uint64_t host_block(uint64_t device_block) const { return device_block - first; }
};

class Exports {
public:
	// Of the device's attached namespaces.
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
	std::vector<std::string> notes; // uses and limits
};
Verdict linux_verdict(const Export &one, const hz_device_config &config);
// A line for each export, and lines for its notes, indented.
std::string linux_text(const Exports &exports, const hz_device_config &config);

} // namespace hz::fabrics
