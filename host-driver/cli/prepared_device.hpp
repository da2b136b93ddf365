// PreparedDevice: the flash of a device after a workload's preparation, cached for all runs with
// the same preparation.
//
// The key is a hash of its inputs: the flash and its policies, the workload's preparation, the
// seeds, the firmware, the programs. Harts, locks and costs of the measured device are not part of
// it (config/preparing_device.hpp), so all points of a study of these begin with the same flash,
// which is written once.
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

	// The image exists as long as these do.
	std::unique_ptr<PreparedEntry> entry;
	std::unique_ptr<Machine> maker;
};

// Loads the entry from the user's folder, or prepares a device, shuts it down and stores the entry.
// An unusable folder is reported in the story and has no other effect. software: programs of the
// run, with the virtual clock. Throws Error and its subclasses.
PreparedDevice prepared_device(const MachineOptions &options, const wl::Workload &workload, const MachineRun::Trace &trace,
			       const std::string &title, const nlohmann::json &software);

} // namespace hz::cli
