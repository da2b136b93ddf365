// PreparedDevice: the flash of a device behind a workload's preparation, kept for all runs that are prepared alike.
//
// It is told by a hash of what made it: the flash and its policies, the workload's preparation, the seeds, the firmware, the programs. Which
// harts, locks and costs the measured device has is not part of it (config/preparing_device.hpp), so the points of a study of these begin
// with the same flash, which is written once.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/machine_run.hpp"
#include "keep/prepared_entry.hpp"
#include "session/machine/machine.hpp"

namespace hz::cli {

struct PreparedDevice {
	std::string key;   // 64 hexadecimal digits
	std::string story; // a sentence: where it came from
	std::filesystem::path image;
	std::vector<replay::RecordedPhase> phases; // of each thread

	// The image lies there as long as these do.
	std::unique_ptr<PreparedEntry> entry;
	std::unique_ptr<Machine> maker;
};

// Takes it from the user's folder, or makes it, shuts it down and puts it there. A folder that cannot be used is told in the story and
// changes nothing else. software: what the run is made of, with the virtual clock. Throws Error and its like.
PreparedDevice prepared_device(const MachineOptions &options, const wl::Workload &workload, const MachineRun::Trace &trace,
			       const std::string &title, const nlohmann::json &software);

} // namespace hz::cli
