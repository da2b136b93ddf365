// Verdict: the plugin's own.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/verdict.hpp"

#include "cli/run_workload.hpp"
#include "results/run_facts.hpp"
#include "results/software.hpp"

namespace hz::cli {

void add_verdict(nlohmann::json &result, Machine &machine, const MachineOptions &options)
{
	if (!machine.is_ours()) {
		result["deterministic"] = false;
		result["deterministic_reason"] = "the device was shared with other processes";
		result["software"] = res::software_of_others();
		return;
	}
	const nlohmann::json verdict = res::verdict_of(machine.plugin_report());
	for (const char *key : {"deterministic", "deterministic_reason"})
		result[key] = verdict[key];
	result["software"] = software_of(options, machine.qemu_greeting());
}

} // namespace hz::cli
