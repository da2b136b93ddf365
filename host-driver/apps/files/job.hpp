// Job: what the command files does with files, measured in the device's time.
//
// update: a file, and then writes of a block somewhere in it, each synced.
// fragment: ZUFS's way to fragment a device (FAST 2026, section 5.5): small files, half of them removed, then a large one that is
// written, synced, read back and kept; until files have hardly room.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include <random>

#include "apps/files/files_options.hpp"
#include "apps/hzfs/file_layer.hpp"
#include "apps/hzfs/stack/device_work.hpp"
#include "storage/queue/hartzone_device.hpp"

namespace hz::files {

class Job {
public:
	Job(Controller &controller, store::HartzoneDevice &device, fs::FileLayer &layer, const FilesOptions &options)
		: controller_(controller), device_(device), layer_(layer), options_(options), random_(options.seed)
	{
	}
	// Prints a table; returns the job's part of files.json. Throws DeviceError, NoSpace, or
	// Damaged if data read differ from data written.
	nlohmann::json run();
	// Of the measured part: all iterations, or all updates.
	const store::DeviceAccount &account() const { return account_; }

private:
	nlohmann::json update();
	void update_block(fs::File &file, uint64_t number);
	nlohmann::json fragment();
	nlohmann::json iteration(uint64_t number);
	void require_hold(uint64_t wanted) const;
	void make_room(uint64_t wanted);
	void reread();

	Controller &controller_;
	store::HartzoneDevice &device_;
	fs::FileLayer &layer_;
	const FilesOptions &options_;
	std::mt19937_64 random_;
	std::vector<std::string> small_, large_; // of fragment: files that exist
	store::DeviceAccount account_;
};

} // namespace hz::files
