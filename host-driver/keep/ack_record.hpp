// Record of what a NAND image's runs were promised in one namespace: for each sector that was acknowledged as durable, what it holds. It lies
// beside the image, in IMAGE.acked (of namespace n from 2 on IMAGE.acked.n), and is written as the acknowledgements come, so it outlives a
// power cut of the device and the death of the program.
//
// A sparse file: a header, then 32 bytes for each sector of the namespace. Every entry is written at once and has a checksum.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include "session/nvme/promise_file.hpp"
#include "workload/source.hpp"

namespace hz {

struct Promise {
	uint64_t seed = 0; // of the run's data patterns; 0: nothing is promised
	wl::Stamp stamp;
};

// Any thread may call promise and revoke. All throw Error if the file cannot be read or written, or is no such record.
class AckRecord {
public:
	// Makes the file if it is missing, or void since its namespace was deleted. sectors: of the namespace; a record of another number of them
	// is refused. 0: a record that exists, of whatever number; a void one is of 0 sectors.
	AckRecord(const std::filesystem::path &file, uint64_t sectors);
	~AckRecord();
	AckRecord(const AckRecord &) = delete;
	AckRecord &operator=(const AckRecord &) = delete;

	bool found() const { return found_; } // it was there: whatever was written without it is noted in it
	uint64_t sectors() const { return header_.sectors; }
	uint64_t runs() const { return header_.runs; }
	uint64_t last_start() const { return header_.last_start; } // power cycle of the image in which the last run took place
	bool overwritable() const { return header_.overwritable; } // a run wrote sectors that can be overwritten
	void add_run(uint64_t start, bool overwritable);

	// Sectors [lba, lba + stamps) hold these.
	void promise(uint64_t lba, uint64_t seed, std::span<const wl::Stamp> stamps);
	// Whatever was promised of [lba, lba + count) no longer counts: a reset is on its way.
	void revoke(uint64_t lba, uint64_t count);
	void revoke_all();
	// Calls visit for each promise in [lba, lba + count), in order, until it says false.
	void each(uint64_t lba, uint64_t count, const std::function<bool(uint64_t lba, const Promise &)> &visit) const;

private:
	struct Header {
		uint64_t magic, sectors, runs, last_start, overwritable, check;
	};
	bool is_void() const;
	bool foreign() const;
	void create(uint64_t sectors);
	void read_header(uint64_t sectors);
	void write_header();
	void write_at(uint64_t offset, std::span<const std::byte> bytes);
	[[noreturn]] void damaged(const std::string &what) const;

	std::filesystem::path file_;
	int fd_ = -1;
	bool found_ = false;
	Header header_{};
};

} // namespace hz
