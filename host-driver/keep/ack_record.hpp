// Record of the data acknowledged as durable in one namespace of a NAND image: for each sector, its
// content. The file is IMAGE.acked, next to the image (IMAGE.acked.n for namespace n from 2 on); it
// is written as acknowledgements arrive, so it survives a power cut of the device and the death of
// the program.
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
	uint64_t seed = 0; // of the run's data patterns; 0: nothing acknowledged
	wl::Stamp stamp;
};

// Any thread may call promise and revoke. All throw Error if the file cannot be read or written, or is no such record.
class AckRecord {
public:
	// Creates the file if it is missing, or void since its namespace was deleted. sectors: of
	// the namespace; a record with another number is refused. 0: an existing record with any
	// number; a void one has 0 sectors.
	AckRecord(const std::filesystem::path &file, uint64_t sectors);
	~AckRecord();
	AckRecord(const AckRecord &) = delete;
	AckRecord &operator=(const AckRecord &) = delete;

	bool found() const { return found_; } // it existed: every write outside of runs is noted in it
	uint64_t sectors() const { return header_.sectors; }
	uint64_t runs() const { return header_.runs; }
	uint64_t last_start() const { return header_.last_start; } // power cycle of the image during the last run
	bool overwritable() const { return header_.overwritable; } // a run wrote sectors that can be overwritten
	void add_run(uint64_t start, bool overwritable);

	// Sectors [lba, lba + stamps) hold these.
	void promise(uint64_t lba, uint64_t seed, std::span<const wl::Stamp> stamps);
	// Acknowledgements for [lba, lba + count) no longer count: a reset is under way.
	void revoke(uint64_t lba, uint64_t count);
	void revoke_all();
	// Calls visit for each acknowledged sector in [lba, lba + count), in order, until it
	// returns false.
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
