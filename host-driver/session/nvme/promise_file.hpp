// PromiseFile: every user of a served device must update the record of its image
// (keep/ack_record.hpp): resets and overwrites revoke acknowledgements. The record's own user
// updates it itself.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>

#include "session/machine/descriptor.hpp"
#include "geometry.h"
#include "nvme.h"

namespace hz {

class Machine;

// Layout of the record.
inline constexpr uint64_t promise_entries_at = 4096, promise_entry_bytes = 32;
inline constexpr uint64_t promise_foreign_at = 2048; // a byte: not 0 once others have written sectors that can be overwritten

inline constexpr uint64_t promise_void = 0x30646b6361'7a68; // "hzackd0": first word of a void record, of any size

// Of a namespace: IMAGE.acked, IMAGE.acked.2, …
std::filesystem::path ack_record_of(const std::filesystem::path &image, uint32_t nsid = 1);

class PromiseFile {
public:
	// The owner, before it lets others in: they find the records through the run directory.
	static void show(const Machine &machine);
	// Before the admin command: revokes the acknowledgements of a deleted namespace. Throws
	// Error as below.
	static void before_admin(const Machine &machine, const nvme_sqe &sqe);
	// Nothing is done where no record is shown.
	explicit PromiseFile(const Machine &machine) : machine_(machine) {}
	// Before the command is submitted: from then on the sectors may change. data: of the
	// command, if known. Throws Error if the record cannot be written.
	void before(const nvme_sqe &sqe, std::span<const std::byte> data);

private:
	// Of a namespace.
	class Record {
	public:
		Record(const Machine &machine, uint32_t nsid);
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

	const Machine &machine_;
	std::map<uint32_t, Record> records_; // of namespaces addressed so far
};

} // namespace hz
