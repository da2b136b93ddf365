// MachineRun: a workload on a booted machine: its queues, its phases in order, and their results.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "keep/kept_image.hpp"
#include "keep/shared_device.hpp"
#include "replay/plan.hpp"
#include "replay/recorded_phase.hpp"
#include "replay/runner.hpp"
#include "results/run_facts.hpp"
#include "session/controller.hpp"

namespace hz::cli {

// Call begin or begin_shared, one of the preparations, measure, read_back if data can be verified,
// end. All throw Error and its subclasses.
class MachineRun {
public:
	using Trace = std::shared_ptr<const replay::TraceSurvey>;

	// most_spans: commands of each queue recorded for a timeline.
	MachineRun(Machine &machine, const wl::Workload &workload, std::string title, size_t most_spans);

	// For our own machine; its image may be kept (else null).
	void begin(KeptImage *kept);
	// For a running machine of another process. overwrite: as in SharedDevice.
	void begin_shared(bool overwrite);

	void prepare(const Trace &trace, res::RunFacts &facts);
	// The same, and records the answers; throws on failures.
	std::vector<replay::RecordedPhase> prepare_recorded(const Trace &trace);
	// Instead of a preparation: restores an earlier one, with these answers.
	void recall(const Trace &trace, std::vector<replay::RecordedPhase> phases, res::RunFacts &facts);

	void measure(res::RunFacts &facts);
	// Reads all data that the workload left behind; outside the measurement.
	void read_back(res::RunFacts &facts);
	// Shuts down our own machine.
	void end();

private:
	void note_tailor(res::RunFacts &facts) const;
	void rest(const std::vector<res::QueueAccount> &prepared);
	void begin_accounts();
	void make_queues();
	std::vector<FoundNamespace> found_namespaces();
	void add_others(std::vector<FoundNamespace> &found);
	size_t target_of(size_t thread) const { return thread % targets_.size(); }
	void look_beside();
	uint64_t kept_zones() const;
	uint64_t pattern_seed(size_t thread) const;
	replay::Plan plan_for(const Trace &trace) const;
	std::vector<wl::Source *> sources() const;
	std::vector<replay::Port *> ports() const;
	uint64_t next_start();
	replay::ThreadOptions thread_options(size_t thread, uint64_t start_ns) const;
	bool may_place_ahead() const;
	std::vector<res::QueueAccount> phase(const std::string &title, const std::vector<replay::PhaseThread> &threads);
	std::vector<replay::PhaseThread> threads_of(const std::vector<wl::Source *> &sources, const std::vector<replay::Port *> &ports,
						    uint64_t start_ns) const;
	void abort();

	Machine &machine_;
	const wl::Workload &workload_;
	std::string title_;
	size_t most_spans_;
	uint64_t image_starts_ = 0; // starts of the device on a kept image
	Controller controller_;
	std::vector<replay::Target> targets_; // usable part of each namespace, in the order of the workload
	std::vector<const Beside *> beside_;  // existing data there, in the same order; empty: the run owns the whole device
	std::vector<std::unique_ptr<SharedDevice>> shared_;
	replay::Plan plan_;
	res::DeviceFigures before_; // at the begin of the measurement: all zero on our own device
	std::vector<std::unique_ptr<QueuePair>> queues_;
	std::vector<std::unique_ptr<replay::Port>> ports_;
	std::vector<std::unique_ptr<KeptPort>> kept_ports_; // wrap the ports on a device with others' data
};

} // namespace hz::cli
