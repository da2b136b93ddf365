// PromiseFile: what all users of a served device owe the record of its image (keep/ack_record.hpp): what they reset or overwrite was
// promised to nobody any more. The record's own user keeps it by itself.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "descriptor.hpp"
#include "geometry.h"
#include "nvme.h"

namespace hz {

class Machine;

// Layout of the record.
inline constexpr uint64_t promise_entries_at = 4096, promise_entry_bytes = 32;
inline constexpr uint64_t promise_foreign_at = 2048; // a byte: not 0 once others have written sectors that can be overwritten

std::filesystem::path ack_record_of(const std::filesystem::path &image);

class PromiseFile {
public:
	// The owner, before it lets others in: they find the record through the run directory.
	static void show(const Machine &machine);
	// Nothing is done where no record is shown.
	explicit PromiseFile(const Machine &machine);
	// Before the command is submitted: from then on the sectors may hold something else. data: what it brings, if that is known. Throws
	// Error if the record cannot be written. The record is of namespace 1.
	void before(const nvme_sqe &sqe, std::span<const std::byte> data);

private:
	void revoke(uint64_t lba, uint64_t count);
	// in_place: sectors of sequential zones too.
	void overwrite(uint64_t lba, uint64_t count, bool in_place);
	void deallocate(std::span<const std::byte> ranges);
	void copy(uint64_t to_lba, std::span<const std::byte> ranges);
	void reset(uint64_t lba, bool all);

	Descriptor file_;
	hz_shape shape_{};
	uint64_t overwritable_ = 0; // sectors from 0 on
};

} // namespace hz
