// RunFlags: the options of the run command.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

#include "cli/machine_flags.hpp"
#include "cli/output.hpp"
#include "cli/power_cut.hpp"
#include "cli/trace_flags.hpp"
#include "workload/spec.hpp"

namespace hz::cli {

struct RunFlags {
	MachineFlags machine;
	TraceFlags reading;
	std::string attach, workload, trace, mapping, prepared, split, out, record, timeline, clock_jitter;
	PowerCutFlag power_cut;
	std::vector<uint32_t> namespaces;
	uint64_t threads = 0, queue_depth = 0, max_ops = 0, tailor_sectors = 0;
	double time_scale = 0;
	uint64_t ahead = UINT64_MAX; // not given
	bool iotailor = false, timestamps = false, as_recorded = false, by_dependencies = false, quick = false, no_verify = false,
	     race_check = false, format_image = false, overwrite = false;

	void add_to(CLI::App &command);
	// The workload file overlaid with the options, and the machine. Throw a sentence for
	// invalid combinations, and for options without an effect, before anything is started.
	wl::Workload load() const;
	MachineOptions machine_options() const;
	// A file that the run writes is none that it reads or keeps.
	void require_apart_from_inputs(const NamedFile &written) const;
	// Run folder to attach to, or empty.
	std::string folder() const;
	// Is the trace a recording of a served device, by an option?
	bool repeats() const { return as_recorded || by_dependencies; }
	// Then nothing is given that would have no effect.
	void check_repeat() const;

private:
	const CLI::App *command_ = nullptr;
	std::string given_for_new_device() const;
	void add_workload_options(CLI::App &command);
	void add_trace_options(CLI::App &command);
	void add_check_options(CLI::App &command);
	wl::Workload base() const;
	void apply_trace(wl::Workload &w) const;
	void apply_threads(wl::Workload &w) const;
	void apply_prepared(wl::Workload &w) const;
	void refuse_without_trace() const;
};

} // namespace hz::cli
